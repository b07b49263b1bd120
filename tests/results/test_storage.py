"""Tables and manifests."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mfc_lb import files
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import EXPERIMENTS, find, load
from mfc_lb.experiments.comparison import EXPERIMENT
from mfc_lb.results import storage
from mfc_lb.results.folders import committed_results_folder, results_folder
from mfc_lb.results.storage import (
    read_table,
    table_bytes,
    write_bytes,
)


def test_floats_have_ten_digits_and_lines_end_in_newlines():
    row = {"name": "a", "count": 10**12, "value": math.pi, "zero": -0.0, "endless": math.inf}
    content = table_bytes([row], list(row))
    assert content == b"name,count,value,zero,endless\na,1000000000000,3.141592654,0,inf\n"


def test_numpy_scalars_are_written_like_python_numbers():
    row = {"value": np.float64(0.1), "count": np.int64(3)}
    assert table_bytes([row], list(row)) == b"value,count\n0.1,3\n"


def test_table_survives_reading(tmp_path):
    write_bytes(
        tmp_path / "a.csv", b"system,num_agents,reference\nfinite,100,none\nfinite,inf,none\n"
    )
    table = read_table(tmp_path / "a.csv")
    assert table.num_agents.tolist() == [100.0, math.inf]
    assert table.reference.tolist() == ["none", "none"]


def test_rows_must_have_the_columns():
    with pytest.raises(AssertionError, match="extra"):
        table_bytes([{"a": 1, "extra": 2}], ["a"])


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    write_bytes(tmp_path / "a.csv", b"old")
    monkeypatch.setattr(files.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(InvalidInput, match="results cannot be written: full"):
        write_bytes(tmp_path / "a.csv", b"new")
    assert (tmp_path / "a.csv").read_bytes() == b"old"


def test_results_folder_may_be_named(monkeypatch, tmp_path):
    monkeypatch.delenv("MFC_LB_RESULTS", raising=False)
    assert results_folder().parts[-2:] == ("data", "results")
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path))
    assert results_folder() == tmp_path


def test_committed_paper_results_are_found_beside_other_results(tmp_path, monkeypatch):
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path))
    assert load("training", "paper").equals(
        storage.read_table(committed_results_folder() / "training-paper.csv")
    )
    assert list(tmp_path.iterdir()) == []


def test_unknown_names_are_refused_in_one_line():
    with pytest.raises(InvalidInput, match=r"experiment must be one of trajectories, .*'nonsense'"):
        find("nonsense")
    with pytest.raises(InvalidInput, match="size must be 'quick' or 'paper', got 'big'"):
        load("comparison", "big")


@pytest.mark.parametrize("name", ["comparison", "populations", "certificate", "trace_delay"])
@pytest.mark.parametrize("size", ["quick", "paper"])
def test_what_cannot_be_computed_is_refused_before_any_work(name, size, tmp_path, monkeypatch):
    """As where the library is installed without its checkout."""
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr("mfc_lb.experiments.cases.policies_folder", lambda: tmp_path)
    monkeypatch.setattr("mfc_lb.experiments.committed_results_folder", lambda: tmp_path)
    with pytest.raises(InvalidInput, match="stored") as refused:
        load(name, size)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_load_trusts_paper_results_of_other_code_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path))
    ran = []
    monkeypatch.setattr(
        "mfc_lb.experiments.run",
        lambda _, size, *__, **___: ran.append(size) or stored(size),
    )

    def stored(size: str) -> storage.StoredResult:
        return storage.StoredResult(tmp_path, experiment, size)

    row = dict.fromkeys(EXPERIMENT.columns, 1.0)
    experiment = replace(EXPERIMENT, rows=lambda *_: [row])
    for size in EXPERIMENT.sizes:
        stored(size).write({}, storage.inputs(EXPERIMENT, size), 0.0, {})
        load("comparison", size)
    assert ran == []
    monkeypatch.setattr(storage, "code_digest", lambda _: "other")
    for size in EXPERIMENT.sizes:
        load("comparison", size)
    assert ran == ["quick"]
    for size in EXPERIMENT.sizes:
        stored(size).table.write_bytes(b"damaged")
    load("comparison", "quick")
    assert ran == ["quick", "quick"]
    # Nobody who asks for a table waits for minutes without knowing it.
    with pytest.raises(InvalidInput, match=r"comparison-paper must be stored .*run comparison"):
        load("comparison", "paper")


@pytest.mark.parametrize("experiment", [find(name) for name in EXPERIMENTS], ids=EXPERIMENTS)
def test_experiments_are_described(experiment):
    assert list(experiment.sizes) == ["quick", "paper"]
    assert experiment.question.endswith("?")
    assert "estimate" in experiment.columns
    assert all(text for text in experiment.columns.values())
    assert len({other.seed for other in map(find, EXPERIMENTS)}) == len(EXPERIMENTS)


@pytest.mark.parametrize("experiment", [find(name) for name in EXPERIMENTS], ids=EXPERIMENTS)
def test_readme_of_the_data_explains_every_column(experiment):
    readme = (Path(storage.__file__).parents[2] / "data" / "README.md").read_text("utf-8")
    sections = readme.split("\n## ")[1:]
    (own,) = (section for section in sections if section.startswith(f"{experiment.name}: "))
    (shared,) = (section for section in sections if section.startswith("Columns of every table"))
    explained = set(re.findall(r"`(\w+)`", shared + own))
    assert own.startswith(f"{experiment.name}: {experiment.question[0].lower()}")
    assert set(experiment.columns) <= explained
