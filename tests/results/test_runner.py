"""Cells are stored as they finish: kills, processes and stale cells do not change a result."""

import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from mfc_lb import baseline
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import find
from mfc_lb.results.experiment import Cell, Experiment
from mfc_lb.results.folders import results_folder
from mfc_lb.results.reproduction import reproduce
from mfc_lb.results.runner import _timed, run
from mfc_lb.results.storage import (
    State,
    StoredResult,
    inputs,
    read_json,
    write_json,
)


@dataclass(frozen=True)
class Size:
    num_cells: int
    factor: float = 1.0


def square(number: int, seed: int, log: str) -> dict[str, float]:
    with Path(log).open("a") as file:
        file.write(f"{number}\n")
    if number == 13:
        raise RuntimeError("interrupted in cell 13")
    return {"square": math.sqrt(2) * number**2 + seed}


def make(log: Path, size: Size) -> Experiment[Size]:
    return Experiment(
        name="squares",
        question="What are squares?",
        seed=7,
        constants={"shared": 5},
        sizes={"quick": size},
        cells=lambda size, seed: [
            Cell(f"cell-{n}", partial(square, n, seed, str(log))) for n in range(size.num_cells)
        ],
        rows=lambda size, results: [
            {"key": key, "value": size.factor * result["square"]} for key, result in results.items()
        ],
        columns={"key": "cell", "value": "its square"},
    )


def computed(log: Path) -> list[int]:
    return sorted(int(line) for line in log.read_text().split())


def test_interrupted_run_computes_only_what_is_missing(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(RuntimeError, match="cell 13"):
        run(make(log, Size(20)), "quick", tmp_path / "results", processes=1)
    assert computed(log) == list(range(13, 20))
    work = tmp_path / "results" / ".squares-quick.work"
    assert (work / "cell-19.json").is_file()
    for number in range(14):
        write_json(work / f"cell-{number}.json", {"seconds": 0.0, "result": {"square": 0.5}})
    stored = run(make(log, Size(20)), "quick", tmp_path / "results", processes=1)
    assert computed(log) == list(range(13, 20))
    assert not work.exists()
    assert stored.read().value.tolist() == [0.5] * 14 + [
        pytest.approx(square(n, 7, os.devnull)["square"], rel=1e-9) for n in range(14, 20)
    ]


def test_an_interrupted_reproduction_goes_on(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "results"
    run(make(tmp_path / "first", Size(3)), "quick", folder, processes=1)
    whole, interrupted = make(log, Size(3)), replace(make(log, Size(20)), name="more")
    with pytest.raises(RuntimeError, match="cell 13"):
        reproduce([whole, interrupted], "quick", folder, processes=1)
    once = [0, 1, 2, *range(13, 20)]
    assert computed(log) == once
    assert [verdict.agrees for verdict in reproduce([whole], "quick", folder, processes=1)] == [
        True
    ]
    assert computed(log) == once
    assert not (folder / ".reproduction").exists()
    # What has been compared is forgotten: the next reproduction computes from nothing.
    reproduce([whole], "quick", folder, processes=1)
    assert computed(log) == sorted([*once, 0, 1, 2])


@pytest.mark.parametrize("content", ["", "{", '{"seconds": 1.0'])
def test_broken_cell_file_is_computed_again(tmp_path, content):
    log = tmp_path / "log"
    experiment = make(log, Size(3))
    work = tmp_path / ".squares-quick.work"
    write_json(work / "inputs.json", inputs(experiment, "quick"))
    (work / "cell-1.json").write_text(content)
    run(experiment, "quick", tmp_path, processes=1)
    assert computed(log) == [0, 1, 2]


def test_cells_of_other_parameters_are_discarded(tmp_path):
    log = tmp_path / "log"
    work = tmp_path / ".squares-quick.work"
    write_json(work / "inputs.json", inputs(make(log, Size(3, factor=2.0)), "quick"))
    write_json(work / "cell-1.json", {"seconds": 0.0, "result": {"square": -1.0}})
    stored = run(make(log, Size(3)), "quick", tmp_path, processes=1)
    assert computed(log) == [0, 1, 2]
    assert (stored.read().value >= 0).all()


def test_current_result_is_not_computed_again(tmp_path):
    log = tmp_path / "log"
    run(make(log, Size(3)), "quick", tmp_path, processes=1)
    run(make(log, Size(3)), "quick", tmp_path, processes=1)
    assert computed(log) == [0, 1, 2]


def test_states_of_a_stored_result(tmp_path):
    log = tmp_path / "log"
    stored = StoredResult(tmp_path, make(log, Size(3)), "quick")
    assert stored.state is State.MISSING
    run(make(log, Size(3)), "quick", tmp_path, processes=1)
    assert stored.state is State.CURRENT
    assert StoredResult(tmp_path, make(log, Size(4)), "quick").state is State.OTHER_PARAMETERS
    manifest = read_json(stored.manifest)
    write_json(stored.manifest, manifest | {"code": {"version": "0", "sha256": "0"}})
    assert stored.state is State.OTHER_CODE
    write_json(stored.manifest, manifest | {"seed": 8})
    assert stored.state is State.OTHER_PARAMETERS
    write_json(stored.manifest, manifest)
    stored.table.write_text(stored.table.read_text().replace("0", "1"))
    assert stored.state is State.DAMAGED
    for content in ("{", "[]", "3", "null", '{"checked": null}', '{"sha256": "0", "cells": []}'):
        stored.manifest.write_text(content)
        assert stored.state is State.DAMAGED


def test_manifest_says_what_the_table_is(tmp_path):
    stored = run(make(tmp_path / "log", Size(3)), "quick", tmp_path, processes=1)
    manifest = read_json(stored.manifest)
    assert manifest["rows"] == 3
    assert manifest["seed"] == 7
    assert manifest["parameters"]["num_cells"] == 3
    assert manifest["parameters"]["shared"] == 5
    assert manifest["columns"] == {"key": "cell", "value": "its square"}
    assert manifest["wall_time_seconds"] >= 0
    assert set(manifest) >= {"experiment", "size", "question", "code", "sha256"}


def test_two_cells_with_one_key_are_refused(tmp_path):
    experiment = make(tmp_path / "log", Size(1))
    doubled = Experiment(
        **vars(experiment) | {"cells": lambda *_: [Cell("a", int), Cell("a", int)]}
    )
    with pytest.raises(AssertionError, match="one key"):
        run(doubled, "quick", tmp_path, processes=1)


def sees_a_terminal() -> bool:
    sys.stderr.write("but what it says arrives\n")
    return sys.stderr.isatty()


def test_progress_bars_within_cells_stay_away(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    key, done = _timed(Cell("one", sees_a_terminal))
    assert (key, done["result"]) == ("one", False)
    assert "but what it says arrives" in capsys.readouterr().err


@pytest.mark.parametrize("processes", [0, -2, 1.5, "two"])
def test_number_of_processes_is_checked(tmp_path, processes):
    with pytest.raises(InvalidInput, match="processes must be"):
        run(make(tmp_path / "log", Size(1)), "quick", tmp_path, processes=processes)


def test_killed_run_resumes_to_the_same_bytes(tmp_path):
    """With kill -9; the stored result came in one go."""
    program = "from mfc_lb.cli import main; main()"
    words = ["results", "run", "populations", "--output", str(tmp_path), "--processes", "2"]
    # Without the baseline, as the processes of this one.
    environment = os.environ | {baseline.VARIABLE: "off"}
    victim = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.DEVNULL, env=environment
    )
    work = tmp_path / ".populations-quick.work"
    deadline = time.monotonic() + 60
    while not list(work.glob("M=*.json")) and time.monotonic() < deadline:
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    finished = {path.name: path.stat().st_mtime_ns for path in work.glob("M=*.json")}
    assert finished, "nothing had been computed when the run was killed"
    assert not (tmp_path / "populations-quick.csv").exists()
    stored = run(find("populations"), "quick", tmp_path, processes=1)
    assert not work.exists()
    in_one_go = run(find("populations"), "quick", results_folder())
    assert stored.table.read_bytes() == in_one_go.table.read_bytes()
