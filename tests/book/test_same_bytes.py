"""Two builds of one commit, in two places, are the same to the byte."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from mfc_lb.companion.run_report import REPORT_FILE
from mfc_lb.results.circumstances import commit
from tests.book.conftest import ROOT
from tests.book.same_bytes import first_difference

# All that a build may make, and the environment: none of it is a source.
NOT_COPIED = ("_build", "build", ".venv", "__pycache__", ".*_cache", ".hypothesis")
BUILD = "from mfc_lb.cli import main; main()"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Return the folder of a second build: a copy of the tree, far from the first.

    Nothing is kept of the first build: the copy has no cache, and its results are recomputed.
    """
    folder = tmp_path_factory.mktemp("an other place") / "deep" / "down"
    tree = folder / "copy of the tree"
    # Git may refuse to read a repository of another user, and would not refuse a copy of it.
    unknown = [".git"] if commit(ROOT) == "unknown" else []
    left_out = shutil.ignore_patterns(*NOT_COPIED, *unknown)
    shutil.copytree(ROOT, tree, ignore=left_out, symlinks=True)
    differences = {
        "PYTHONPATH": str(tree),
        "PYTHONHASHSEED": "20221",
        "MFC_LB_RESULTS": str(folder / "results"),
        "TZ": "Asia/Kathmandu",
        "COLUMNS": "60",
    }
    command = [sys.executable, "-c", BUILD, "book", "build", "--size", "quick"]
    subprocess.run(command, cwd=folder, env=os.environ | differences, check=True)
    return tree / "_build"


def test_every_page_figure_and_search_index_is_the_same(pages, elsewhere):
    assert first_difference(pages, elsewhere / "html") is None


def test_every_executed_notebook_value_and_figure_of_the_runs_is_the_same(pages, elsewhere):
    assert first_difference(pages.parent / "runs", elsewhere / "runs", {REPORT_FILE}) is None


def test_times_are_in_the_run_report_only(pages, elsewhere):
    report = json.loads((elsewhere / REPORT_FILE).read_text("utf-8"))
    assert report["size"] == "quick"
    assert {entry["state"] for entry in report["notebooks"].values()} == {"executed"}
    assert "live_training" in report["notebooks"]["training"]["measurements"]
    assert [*pages.rglob(REPORT_FILE)] == []


# --- the comparison itself --------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    """Return two folders with the same files."""
    for name in ("a", "b"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "page.html").write_text("one\ntwo\nthree", "utf-8")
        (tmp_path / name / "report.json").write_text(name, "utf-8")
    return tmp_path / "a", tmp_path / "b"


def test_equal_folders_do_not_differ(two):
    assert first_difference(*two, {"report.json"}) is None


def test_the_first_differing_file_and_position_are_named(two):
    assert first_difference(*two) == (
        "1 of 2 files differ, the first is report.json: byte 0 (line 1): b'a' became b'b'"
    )
    (two[1] / "deep" / "page.html").write_text("one\ntwo\nthere", "utf-8")
    found = first_difference(*two)
    assert found.startswith("2 of 2 files differ, the first is deep/page.html: byte 10 (line 3): ")


def test_a_file_that_is_cut_or_missing_differs(two):
    (two[1] / "deep" / "page.html").write_text("one\ntwo", "utf-8")
    assert "byte 7 (line 2)" in first_difference(*two)
    (two[1] / "deep" / "page.html").unlink()
    assert first_difference(*two) == f"deep/page.html is only in {two[0]}"
