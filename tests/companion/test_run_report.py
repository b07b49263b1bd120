"""The run report: the only file of a build that has times and places in it."""

import json
import platform
from datetime import UTC, datetime

import pytest

from mfc_lb.companion import build_book, build_page, pages
from mfc_lb.companion.run_report import book_report
from tests.companion.demo import demo_book

MEASURE = """\
from mfc_lb.companion import record_measurement, record_value
record_measurement("training", 98764.5 / 8, "s")
record_value("delay", delta_t)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the small book, one of whose notebooks measures something, and its report's path."""
    import nbformat

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("demo")
        book = demo_book(folder)
        system = nbformat.read(book.sources / "finite_system.ipynb", 4)
        system.cells[-1].source = MEASURE
        nbformat.write(system, book.sources / "finite_system.ipynb")
        # The kept runs stay valid while somebody edits the library that is under test.
        patch.setattr("mfc_lb.companion.cache.LIBRARY", folder / "book" / "_ext")
        build_book("quick", folder / "out", book)
        yield book


def read(path):
    return json.loads(path.read_text("utf-8"))


def test_it_says_of_each_notebook_when_how_long_and_what_it_measured(built):
    report = read(built.root / "out-run-report.json")
    assert report["size"] == "quick"
    assert report["python"] == platform.python_version()
    assert "numpy" in report["packages"]
    assert {"commit", "machine", "started", "seconds"} <= report.keys()
    assert report["notebooks"].keys() == {"introduction", "finite_system"}
    entry = report["notebooks"]["finite_system"]
    assert entry["state"] == "executed"
    assert entry["parameters"] == {"size": "quick"}
    assert entry["measurements"] == {"training": {"value": 12345.5625, "unit": "s"}}
    assert 0 < entry["seconds"] < report["seconds"]
    assert datetime.fromisoformat(entry["started"]) <= datetime.now(UTC)


def test_a_kept_run_is_said_to_be_kept_with_its_own_times(built, monkeypatch):
    monkeypatch.setattr(pages, "Parallel", None)
    monkeypatch.setattr("mfc_lb.companion.cache.LIBRARY", built.sources / "_ext")
    first = read(built.root / "out-run-report.json")["notebooks"]["finite_system"]
    build_book("quick", book=built)
    again = read(built.build / "run-report.json")["notebooks"]["finite_system"]
    assert again == first | {"state": "kept"}


def test_nothing_of_it_is_among_the_pages(built):
    files = [path for path in (built.root / "out").rglob("*") if path.is_file()]
    assert [path.name for path in files if b"12345.5625" in path.read_bytes()] == []
    assert not {path.name for path in files} & {"run-report.json", "measurements.json"}


def test_one_notebook_has_its_report_in_its_folder(built):
    build_page("finite_system", {"delta_t": "3"}, built.root / "page", built)
    report = read(built.root / "page" / "run-report.json")
    assert report["notebooks"].keys() == {"finite_system"}
    entry = report["notebooks"]["finite_system"]
    assert entry["parameters"] == {"delta_t": 3.0}
    assert not (built.root / "page" / "measurements.json").exists()


def test_it_lies_beside_the_pages(tmp_path):
    assert book_report(tmp_path / "html", tmp_path) == tmp_path / "run-report.json"
    assert book_report(tmp_path / "mine", tmp_path) == tmp_path / "mine-run-report.json"
