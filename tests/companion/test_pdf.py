"""The whole book as one PDF."""

from datetime import UTC, datetime
from io import BytesIO

import pytest
from click.testing import CliRunner
from pypdf import PdfReader

from mfc_lb.cli import main
from mfc_lb.companion.pdf import print_book
from tests.book.browser import needs_chromium

DATE = datetime(2022, 8, 29, 12, tzinfo=UTC)
PAGE = """<!DOCTYPE html><html><head><link rel="stylesheet" href="none.css" /></head><body>
<nav><h1>Elsewhere</h1></nav><article class="bd-article"><section id="{name}">
<h1>{title}<a class="headerlink" href="#{name}">#</a></h1><p>Words of {name}, see
<a href="{other}.html#part">the other</a> and <a href="files/data.csv">data</a>.</p>
<h2 id="part">Part &amp; more of {name}<a class="headerlink" href="#part">#</a></h2>
<details><summary>Folded</summary><p>Unfolded {name}.</p></details>
<noscript>Without a script {name}.</noscript><script>document.write("With one");</script>
</section></article></body></html>"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, other in (("first", "second"), ("second", "first")):
        text = PAGE.format(name=name, title=f"The {name} chapter", other=other)
        (folder / f"{name}.html").write_text(text, "utf-8")
    return folder


def printed(pages):
    return print_book(pages, ["first", "second"], "A book", "Its authors", DATE)


@pytest.fixture(scope="module")
def reader(pages):
    return PdfReader(BytesIO(printed(pages)))


@needs_chromium
def test_the_book_has_a_title_contents_with_numbers_and_its_chapters(reader):
    title, contents, first, second = [page.extract_text() for page in reader.pages]
    assert "A book" in title
    assert "Its authors" in title
    lines = [line.strip() for line in contents.splitlines()]
    assert "The first chapter 3" in " ".join(lines)
    assert "The second chapter 4" in " ".join(lines)
    assert "Words of first" in first
    assert "Unfolded first" in first
    assert "Without a script first" in first
    assert "With one" not in first
    assert "Words of second" in second
    assert "4" in second.splitlines()


@needs_chromium
def test_bookmarks_and_links_lead_to_their_pages(reader):
    first, parts, second, more = reader.outline
    assert [entry.title for entry in (first, *parts, second, *more)] == [
        "The first chapter",
        "Part & more of first",
        "The second chapter",
        "Part & more of second",
    ]
    assert reader.get_destination_page_number(second) == 3
    addresses = [
        str(annotation.get_object().get("/A", {}).get("/URI", ""))
        for page in reader.pages
        for annotation in page.get("/Annots", [])
    ]
    assert set(addresses) <= {""}, "no link leads to a file of the machine that printed"


@needs_chromium
def test_the_same_pages_print_to_the_same_bytes(pages, reader):
    again = printed(pages)
    assert again == printed(pages)
    assert reader.metadata.creation_date == DATE
    assert (reader.metadata.title, reader.metadata.author) == ("A book", "Its authors")


def test_without_chromium_one_line_says_so(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    done = CliRunner().invoke(main, ["book", "pdf", "--size", "quick"])
    assert done.exit_code == 2
    assert done.stderr.startswith("mfc-lb: a PDF of the book is printed by Chromium")
    assert len(done.stderr.splitlines()) == 1
