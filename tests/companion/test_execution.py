"""Real runs of tiny notebooks."""

import json
import os
import sys
from pathlib import Path

import nbformat
import pytest

import mfc_lb
from mfc_lb import InvalidInput
from mfc_lb.companion import CompanionError, run
from mfc_lb.companion.kernel import library_path
from tests.companion.cells import VALUE, figure_cell, notebook, parameters_cell

WHERE = """\
import os, sys, mfc_lb
from mfc_lb.companion import record_value
record_value("python", sys.executable)
record_value("working_directory", os.getcwd())
record_value("library", mfc_lb.__file__)
record_value("startup", str("STARTED" in globals()))
"""


def expect(**values):
    return {
        name: {"value": value, "kind": "exact", "why": "as given"} for name, value in values.items()
    }


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """Return another working directory; the user has a broken kernel and a start-up script."""
    elsewhere = tmp_path / "else where {x}"
    kernel = elsewhere / "kernels" / "python3"
    startup = elsewhere / "ipython" / "profile_default" / "startup"
    for folder in (kernel, startup):
        folder.mkdir(parents=True)
    spec = {"argv": ["/bin/false"], "display_name": "Python 3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), "utf-8")
    (startup / "start.py").write_text("STARTED = True", "utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(elsewhere))
    monkeypatch.setenv("IPYTHONDIR", str(elsewhere / "ipython"))
    monkeypatch.chdir(elsewhere)
    return elsewhere


def test_a_run_works_from_anywhere_in_this_python_with_this_library(book, add, foreign):
    expected = expect(
        python=sys.executable,
        working_directory=str(book.root),
        library=mfc_lb.__file__,
        startup="False",
        delay=5.0,
    )
    expected["delay"]["tolerance"] = 0.0
    add("page", notebook(parameters_cell(), WHERE, VALUE, figure_cell()), expected)
    run("page", {}, foreign / "out", book)


def test_a_run_leaves_notebook_values_and_figures_and_repeats_itself_to_the_byte(book, add):
    expected = {"delay": {"value": 5.0, "tolerance": 0.0, "kind": "exact", "why": "the default"}}
    add("page", notebook(parameters_cell(), VALUE, figure_cell()), expected)
    runs = [run("page", {"delta_t": "3"}, book.root / f"out{index}", book) for index in (1, 2)]
    first, second = (files(finished.folder) for finished in runs)
    reports = [json.loads(found.pop("run-report.json")) for found in (first, second)]
    assert first == second
    assert [report["notebooks"].keys() for report in reports] == [{"page"}] * 2
    assert runs[0].values == {"delay": {"value": 3.0, "text": "3"}}
    assert runs[0].figures == ("decay",)
    content = nbformat.read(runs[0].path, as_version=4)
    assert content.metadata.papermill == {"parameters": {"delta_t": 3.0}}
    injected = [
        cell.source for cell in content.cells if "injected-parameters" in cell.metadata.tags
    ]
    assert injected == ["# Parameters\ndelta_t = 3.0\n"]
    assert str(book.root).encode() not in first["page.ipynb"]


def files(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nx / 0", r"^page: cell \[3\] failed: ZeroDivisionError: division by zero$"),
        ("import sys\nprint('!', file=sys.stderr)", r"^page: cell \[3\] wrote to stderr: !$"),
        ("import sys\nsys.exit(0)", r"page: the run stopped before the cell `from mfc_lb"),
        ("import os\nos._exit(3)", r"^page: the kernel did not finish: "),
        ("mfc_lb.SystemParameters(delta_t=-1)", r"failed: InvalidInput: delta_t must be .* got -1"),
    ],
)
def test_nothing_is_kept_of_a_failed_run(book, add, source, message):
    add("page", notebook(parameters_cell(), f"import mfc_lb\n{source}", VALUE))
    out = book.root / "out"
    with pytest.raises(CompanionError, match=message) as failed:
        run("page", {"size": "paper"}, out, book)
    assert all(line.startswith("page: ") for line in str(failed.value).splitlines())
    assert not out.exists()
    assert {path.name for path in book.root.iterdir()} == {"book"}


def test_a_failed_cell_is_shown_in_the_details(book, add):
    add("page", notebook(parameters_cell(), "raise KeyError('x' * 500)"))
    with pytest.raises(CompanionError) as failed:
        run("page", {}, book.root / "out", book)
    assert "----> 1 raise KeyError" in failed.value.details
    assert "\x1b" not in failed.value.details
    assert len(str(failed.value)) < 400


def test_a_value_that_only_the_library_can_judge_is_the_users_mistake(book, add):
    refuses = "import mfc_lb\nmfc_lb.SystemParameters(delta_t=-delta_t)"
    add("page", notebook(parameters_cell(), refuses))
    with pytest.raises(InvalidInput, match=r"^page: delta_t must be .* got -3.0$"):
        run("page", {"delta_t": 3.0}, book.root / "out", book)
    with pytest.raises(CompanionError, match="failed: InvalidInput"):
        run("page", {}, book.root / "out", book)
    assert not (book.root / "out").exists()


def test_a_missing_value_leaves_the_earlier_run_as_it_was(book, add):
    add("page", notebook(parameters_cell(), "print(delta_t)"), {})
    run("page", {}, book.root / "out", book)
    before = files(book.root / "out")
    add("page", notebook(parameters_cell(), "print(delta_t)"), expect(delay=5))
    with pytest.raises(CompanionError, match="the value 'delay' was not recorded"):
        run("page", {}, book.root / "out", book)
    assert files(book.root / "out") == before


@pytest.mark.parametrize(
    ("name", "given", "output"),
    [
        ("pag", {}, "out"),
        ("page", {"delta": "3"}, "out"),
        ("page", {"delta_t": "abc"}, "out"),
        ("page", {"num_queues": "3.5"}, "out"),
        ("page", {"num_queues": "0"}, "out"),
        ("page", {}, "book"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(book, add, name, given, output, monkeypatch):
    monkeypatch.setattr("papermill.execute_notebook", None)
    add("page", notebook(parameters_cell()))
    with pytest.raises(InvalidInput) as refused:
        run(name, given, book.root / output, book)
    assert "\n" not in str(refused.value)
    assert not (book.root / "out").exists()


def test_the_library_of_a_child_comes_first(monkeypatch):
    here = str(Path(mfc_lb.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert library_path() == f"{here}{os.pathsep}/elsewhere"
    monkeypatch.delenv("PYTHONPATH")
    assert library_path() == here
