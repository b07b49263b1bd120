"""After other code: a share of the cells is computed again, and checksums are compared."""

from dataclasses import dataclass
from functools import partial

import pytest

from mfc_lb.errors import InvalidInput
from mfc_lb.results import checksums, spot_check, storage
from mfc_lb.results.checksums import compute_checksums, keep_checksums, kept_checksums
from mfc_lb.results.experiment import Cell, Experiment
from mfc_lb.results.runner import run
from mfc_lb.results.storage import State, StoredResult, read_json, write_json


@dataclass(frozen=True)
class Size:
    num_cells: int = 100


def shifted(number, file):
    """Return a number plus what is in a file, which stands for code that changes."""
    return {"value": number + float(file.read_text()), "seconds": id(object()) + number}


@pytest.fixture
def shift(tmp_path):
    file = tmp_path / "shift"
    file.write_text("0.5")
    return file


@pytest.fixture
def experiment(shift):
    return Experiment(
        name="shifts",
        question="What is shifted?",
        seed=7,
        sizes={"quick": Size()},
        cells=lambda size, _: [
            Cell(f"cell-{n}", partial(shifted, n, shift)) for n in range(size.num_cells)
        ],
        rows=lambda _, results: [{"key": key, **result} for key, result in results.items()],
        columns={"key": "cell", "value": "its value", "seconds": "how long it took"},
        measured=("seconds",),
    )


@pytest.fixture
def stored(experiment, tmp_path, monkeypatch):
    run(experiment, "quick", tmp_path, processes=1)
    monkeypatch.setattr(storage, "code_digest", lambda _: "other code")
    result = StoredResult(tmp_path, experiment, "quick")
    assert result.state is State.OTHER_CODE
    return result


def test_code_that_gives_the_same_makes_a_result_current(stored):
    assert spot_check.spot_check(stored, seed=3, processes=1) == []
    assert stored.state is State.CURRENT
    checked = read_json(stored.manifest)["checked"]
    assert checked["cells"] == spot_check.chosen([f"cell-{n}" for n in range(100)], 3)
    assert (len(checked["cells"]), checked["seed"]) == (5, 3)
    assert checked["computed"].keys() >= {"commit", "finished", "baseline"}


def test_a_number_that_moved_is_found_and_the_result_stays_as_it_is(stored, shift):
    before = stored.manifest.read_bytes()
    shift.write_text("0.5000000001")
    assert spot_check.spot_check(stored, seed=3, processes=1) == spot_check.chosen(
        [f"cell-{n}" for n in range(100)], 3
    )
    assert stored.state is State.OTHER_CODE
    assert stored.manifest.read_bytes() == before


def test_still_other_code_needs_another_check(stored, monkeypatch):
    spot_check.spot_check(stored, seed=3, processes=1)
    monkeypatch.setattr(storage, "code_digest", lambda _: "newer code")
    assert stored.state is State.OTHER_CODE


def test_seeds_choose_other_cells_and_few_cells_are_all_tried():
    keys = [f"cell-{n}" for n in range(100)]
    assert spot_check.chosen(keys, 1) != spot_check.chosen(keys, 2)
    assert len(spot_check.chosen(keys, 1)) == 5
    assert spot_check.chosen(keys[:2], 1) == keys[:2]
    assert len(spot_check.chosen(keys[:20], 1)) == 3


def test_results_without_digests_or_without_a_table_are_refused(stored):
    manifest = read_json(stored.manifest)
    write_json(stored.manifest, {**manifest, "cells": {}})
    with pytest.raises(InvalidInput, match="the digest of cell cell-"):
        spot_check.spot_check(stored, seed=3, processes=1)
    stored.table.unlink()
    with pytest.raises(InvalidInput, match="must be stored and whole, got 'missing'"):
        spot_check.spot_check(stored, seed=3, processes=1)


def test_checksums_leave_out_times_and_notice_all_else(experiment, shift, tmp_path, monkeypatch):
    monkeypatch.setattr(checksums, "checksums_file", lambda: tmp_path / "checksums.json")
    assert kept_checksums("quick") == {"baseline": "none", "sha256": {}}
    found = compute_checksums([experiment], "quick", processes=1)
    keep_checksums("quick", found)
    assert kept_checksums("quick")["sha256"] == found
    assert compute_checksums([experiment], "quick", processes=1) == found
    shift.write_text("0.500001")
    assert compute_checksums([experiment], "quick", processes=1) != found
