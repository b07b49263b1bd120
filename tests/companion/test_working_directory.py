"""`mfc-lb notebook` from any working directory, with the library in a checkout or outside."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from mfc_lb.companion import find_notebook
from tests.companion.cells import ROOT, notebook, parameters_cell

READS = 'source: str = "none"  # what is read; any text\nsize: str = "quick"  # which; one of quick'
RECORDS = """\
from pathlib import Path
from mfc_lb.companion import record_value
record_value("words", len(Path(source).read_text().split()))
record_value("top", int(Path("_toc.yml").is_file()))
"""


@pytest.fixture
def checkout(book):
    """Return the folder of a book with one notebook, which reads a file, and a page."""
    for folder in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / folder, book.sources / folder)
    shutil.copy(ROOT / "_config.yml", book.root)
    (book.sources / "references.bib").touch()
    book.toc.write_text("format: jb-book\nroot: book/reader\n")
    expected = {
        name: {"value": value, "tolerance": 0.0, "kind": "exact", "why": "by hand"}
        for name, value in (("words", 3), ("top", 1))
    }
    (book.expected / "reader.json").write_text(json.dumps({"quick": expected}))
    nbformat.write(notebook(parameters_cell(READS), RECORDS), book.sources / "reader.ipynb")
    return book.root


def call(library: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, with the library from another one."""
    program = "from mfc_lb.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "notebook", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(library), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def installed(tmp_path_factory) -> Path:
    """Return a folder that holds the library alone, as site-packages does."""
    folder = tmp_path_factory.mktemp("site-packages")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "mfc_lb", folder / "mfc_lb", ignore=ignored)
    return folder


def test_an_installed_library_runs_notebooks_below_a_checkout(checkout, installed):
    below = checkout / "deep" / "below"
    below.mkdir(parents=True)
    (below / "words.txt").write_text("three short words")
    words = ("run", "reader", "-p", "source=words.txt", "--output", "page")
    done = call(installed, below, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Page:      page/reader.html\n")
    assert (below / "page" / "reader.html").is_file()
    values = (below / "page" / "values.json").read_text()
    assert '"value": 3' in values
    assert '"value": 1' in values


def test_an_installed_library_says_that_there_is_no_checkout(installed, tmp_path_factory):
    nowhere = tmp_path_factory.mktemp("nowhere")
    done = call(installed, nowhere, "list")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mfc-lb: no book found: the library is not in a checkout")
    assert done.stderr.count("\n") == 1


def test_the_library_of_a_checkout_finds_its_book_from_anywhere(tmp_path_factory):
    done = call(ROOT, tmp_path_factory.mktemp("nowhere"), "show", "introduction")
    assert done.returncode == 0, done.stderr
    assert "num_queues" in done.stdout


def test_a_file_is_named_from_where_the_user_is(checkout, book, monkeypatch):
    (checkout / "data").mkdir()
    for folder in (checkout, checkout / "data"):
        (folder / "jobs.csv").touch()
        (folder / "name").touch()
    reader = find_notebook("reader", book)

    def given(text: str) -> str:
        return reader.convert({"source": text, "size": "quick"})["source"]

    monkeypatch.chdir(checkout)
    assert given("data/jobs.csv") == "data/jobs.csv"
    monkeypatch.chdir(checkout / "data")
    assert given("jobs.csv") == str(checkout / "data" / "jobs.csv")
    assert given("../jobs.csv") == str(checkout / "data" / ".." / "jobs.csv")
    # What names no file is left to the notebook; so is a name without a suffix, as traces have.
    assert given("data/jobs.csv") == "data/jobs.csv"
    assert given("name") == "name"
    monkeypatch.chdir("/")
    assert given(str(checkout / "jobs.csv")) == str(checkout / "jobs.csv")
