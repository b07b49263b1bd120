"""The built book, as its readers open it: from files, in a browser."""

import re
import subprocess
import sys

import nbformat
import pytest

from mfc_lb.companion.settings import read_toc
from tests.book.browser import CHROMIUM, NO_CHROMIUM, chromium, faults

LOADED = re.compile(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//[^"]*"')
LINKED = re.compile(r'<link\b[^>]*\bhref="(?:https?:)?//[^"]*"[^>]*>')


def test_every_page_is_there(book, pages):
    built = {path.stem for path in pages.glob("*.html")}
    assert {path.stem for path in read_toc(book)[1]} | {"index", "search"} == built


def test_every_notebook_was_executed(book, pages):
    for source in book.sources.glob("*.ipynb"):
        executed = nbformat.read(pages / "_sources" / source.name, as_version=4)
        cells = [cell for cell in executed.cells if cell.cell_type == "code" and cell.source]
        assert all(cell.execution_count for cell in cells), source.stem


def test_no_page_loads_anything_from_another_host(pages):
    for page in pages.glob("*.html"):
        html = page.read_text("utf-8")
        assert LOADED.findall(html) + LINKED.findall(html) == [], page.name


def test_every_published_figure_is_shown_with_links_to_its_files(pages):
    html = "\n".join(page.read_text("utf-8") for page in pages.glob("*.html"))
    files = sorted((pages / "figures").iterdir())
    assert files != []
    for file in files:
        assert f'id="fig-{file.stem}"' in html
        assert f'href="figures/{file.name}"' in html


@pytest.mark.skipif(not CHROMIUM, reason=NO_CHROMIUM)
def test_every_page_opens_without_a_fault(pages):
    paths = [path for path in sorted(pages.glob("*.html")) if path.stem != "index"]
    with chromium() as browser:
        assert [fault for path in paths for fault in faults(browser, path)] == []


def test_plain_papermill_runs_a_notebook_from_the_top_folder(book, tmp_path):
    output = tmp_path / "out.ipynb"
    command = [sys.executable, "-m", "papermill", "--no-progress-bar"]
    command += ["book/introduction.ipynb", str(output), "-p", "size", "quick"]
    subprocess.run(command, cwd=book.root, check=True, capture_output=True)
    sources = [cell.source for cell in nbformat.read(output, as_version=4).cells]
    assert '# Parameters\nsize = "quick"\n' in sources
