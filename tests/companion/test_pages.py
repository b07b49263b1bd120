"""The way from notebooks to HTML, with a small book that has one of everything."""

import json
import re
import shutil

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

from mfc_lb import InvalidInput
from mfc_lb.companion import (
    Book,
    CompanionError,
    build_book,
    build_page,
    check_book,
    make_figure,
    pages,
)
from mfc_lb.companion.settings import read_toc
from tests.book.browser import NARROW, chromium, faults, needs_chromium
from tests.book.cards import card_faults
from tests.companion.cells import ROOT, figure_cell, notebook, parameters_cell
from tests.companion.demo import demo_book

#: What a figure's and its card's places on a page begin with.
PLACES = ("fig", "card")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the small book, built."""
    with pytest.MonkeyPatch.context() as patch:
        # The kept runs stay valid while somebody edits the library that is under test.
        patch.setattr("mfc_lb.companion.cache.LIBRARY", ROOT / "tests" / "companion")
        book = demo_book(tmp_path_factory.mktemp("demo"))
        build_book("quick", book=book)
        yield book


@pytest.fixture(scope="module")
def page(built):
    """Return the page of one notebook with another parameter, built alone."""
    return build_page("finite_system", {"delta_t": "3"}, built.root / "page", built)


def text(path):
    return path.read_text("utf-8")


# --- the whole book ---------------------------------------------------------------------------


def test_every_page_is_built_at_a_short_address(built):
    html = built.build / "html"
    for source in read_toc(built)[1]:
        assert (html / f"{source.stem}.html").is_file()
    assert "url=introduction.html" in text(html / "index.html")


def test_prose_shows_recorded_values_and_resolved_references(built):
    prose = re.sub(r"<[^>]+>", "", text(built.build / "html" / "introduction.html"))
    prose = " ".join(prose.split())
    assert "The delay is 5.00 ± 0.01, in Fig. 1.1, (1.1), The rate, A page, the finite" in prose


def test_a_figure_has_its_caption_alternative_text_and_files(built):
    html = text(built.build / "html" / "finite_system.html")
    assert 'id="fig-decay"' in html
    assert 'alt="A straight line from one to zero"' in html
    for suffix in ("png", "svg", "pdf", "csv"):
        assert f'href="figures/decay.{suffix}"' in html
        assert (built.build / "html" / "figures" / f"decay.{suffix}").is_file()


def test_every_card_is_true(built):
    assert list(card_faults(built.build / "html", built)) == []
    assert (built.build / "html" / "figures" / "decay.json").is_file()


def test_a_card_that_is_not_true_is_found_out(built, tmp_path):
    html = shutil.copytree(built.build / "html", tmp_path / "html")
    with (html / "figures" / "decay.csv").open("a", encoding="utf-8") as file:
        file.write("1,1\n")
    card = json.loads(text(html / "figures" / "decay.json"))
    card |= {"number": "7.7", "title": "Growth", "command": "mfc-lb figure make decay -p delta_t=3"}
    (html / "figures" / "decay.json").write_text(json.dumps(card), "utf-8")
    assert list(card_faults(html, built)) == [
        "decay: figures/decay.csv is not the file of the card",
        "decay: is numbered 7.7, but the page says 1.1",
        "decay: the png says that it is ('By eq-rate, $x$ decays', 'decay')",
        "decay: the svg says that it is ('By eq-rate, $x$ decays', 'decay')",
        "decay: the pdf says that it is ('By eq-rate, $x$ decays', 'decay')",
        "decay: its command gives other parameters than the card",
        "decay: is not cited as the command line says",
        "decay: its card lacks 'mfc-lb figure make decay -p delta_t=3'",
    ]


def test_the_gallery_leads_to_each_figure_and_its_card(built):
    html = text(built.build / "html" / "figures.html")
    assert '<img src="thumbnails/decay.webp" alt="A straight line from one to zero"' in html
    assert (built.build / "html" / "thumbnails" / "decay.webp").is_file()
    for address in ("finite_system.html", *(f"finite_system.html#{a}-decay" for a in PLACES)):
        assert f'href="{address}"' in html
    shown = " ".join(re.sub(r"<[^>]+>", "", html).split())
    assert re.search(r"Fig\. 1\.1 By \(1\.1\), .* decays\. decay", shown)  # with a formula


def test_a_figure_made_alone_has_the_bytes_of_the_book(built, tmp_path, monkeypatch):
    monkeypatch.setattr("mfc_lb.companion.cache.execute", None)  # the kept run is used
    for file in sorted((built.build / "html" / "figures").iterdir()):
        make_figure("decay", file.suffix[1:], {}, tmp_path / file.name, built)
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()
    assert len(list(tmp_path.iterdir())) == 5


def test_a_figure_with_another_parameter_says_so(built, tmp_path):
    given = {"delta_t": "2.5", "num_queues": "100"}
    make_figure("decay", "csv", given, tmp_path / "decay.csv", built)
    assert text(tmp_path / "decay.csv") == "time,drops\n0.0,1\n2.5,0\n"
    make_figure("decay", "json", given, tmp_path / "decay.json", built)
    card = json.loads(text(tmp_path / "decay.json"))
    assert (card["changed"], card["parameters"]["delta_t"]) == (["delta_t"], 2.5)
    assert card["command"] == "mfc-lb figure make decay -p delta_t=2.5"
    assert "(delta_t=2.5)" in card["citation"]["text"]


@pytest.mark.parametrize(
    ("output", "allowed"),
    [
        ("", "whose name ends in .svg"),
        ("decay.png", "whose name ends in .svg"),
        ("nowhere/decay.svg", "in an existing folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_a_run(built, tmp_path, output, allowed):
    with pytest.raises(InvalidInput, match=f"output must be a file {allowed}"):
        make_figure("decay", "svg", {"delta_t": 1.5}, tmp_path / output, built)


def test_the_executed_notebook_can_be_downloaded(built):
    executed = nbformat.read(built.build / "html" / "_sources" / "finite_system.ipynb", 4)
    assert any(cell.get("outputs") for cell in executed.cells)


def test_the_library_is_documented_from_its_docstrings(built):
    html = text(built.build / "html" / "api.html")
    assert 'id="mfc_lb.SystemParameters"' in html
    assert "Synchronisation delay" in html


def test_a_second_build_runs_nothing_and_gives_the_same_bytes(built, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "Parallel", None)
    again = build_book("quick", tmp_path / "again", built)
    first, second = (
        {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        for folder in (built.build / "html", again)
    )
    assert [name for name in first | second if first.get(name) != second.get(name)] == []


def test_what_is_written_elsewhere_leaves_the_checkout_as_it_is(built, monkeypatch, tmp_path):
    before = sorted((path, path.stat().st_mtime_ns) for path in built.root.rglob("*"))
    given = {"delta_t": 3.5}
    make_figure("decay", "svg", given, tmp_path / "decay.svg", built)
    build_page("finite_system", {}, tmp_path / "page", built)
    build_book("paper", tmp_path / "book", built)
    monkeypatch.setattr("mfc_lb.companion.cache.execute", None)  # the kept runs are used
    make_figure("decay", "csv", given, tmp_path / "decay.csv", built)
    after = sorted((path, path.stat().st_mtime_ns) for path in built.root.rglob("*"))
    assert after == before


def test_nothing_is_left_beside_the_pages(built):
    assert {path.name for path in built.build.iterdir()} == {"html", "run-report.json", "runs"}


@needs_chromium
def test_pages_open_without_a_fault(built, page):
    paths = [path for path in (built.build / "html").glob("*.html") if path.stem != "index"]
    with chromium() as browser:
        found = [fault for path in (*sorted(paths), page) for fault in faults(browser, path)]
    assert found == []


def test_every_page_has_a_description_and_an_icon(built):
    html = built.build / "html"
    for name in ("introduction", "finite_system", "notation", "api", "references"):
        assert text(html / f"{name}.html").count('<meta name="viewport"') == 1
        (icon,) = re.findall(r'<link rel="icon" href="([^"?]*)', text(html / f"{name}.html"))
        assert (html / icon).is_file()
    assert 'name="description" content="Many clients send' in text(html / "introduction.html")


# Names of parameters that are broken, and types that are not in one line of text with their name.
BROKEN = """() => [...document.querySelectorAll("dl.py dl.simple > dt")].filter(
  term => getComputedStyle(term).display !== "block"
    || term.querySelector("strong")?.getClientRects().length > 1).map(term => term.textContent)"""
# What paper would cut.
WIDE = """() => [...document.querySelectorAll("pre, .bd-article")].filter(
  box => box.scrollWidth > box.clientWidth + 1).map(box => box.textContent.trim().slice(0, 60))"""


@needs_chromium
def test_the_reference_of_the_library_can_be_read_on_a_phone_and_on_paper(built):
    with chromium() as browser:
        opened = browser.new_page()
        opened.set_viewport_size({"width": NARROW, "height": 900})
        opened.goto((built.build / "html" / "api.html").as_uri())
        assert opened.evaluate(BROKEN) == []
        opened.emulate_media(media="print")
        assert opened.evaluate(WIDE) == []


@needs_chromium
def test_a_figure_is_neither_dimmed_nor_framed_in_the_dark(built):
    with chromium() as browser:
        opened = browser.new_page()
        opened.emulate_media(color_scheme="dark")
        opened.goto((built.build / "html" / "finite_system.html").as_uri())
        assert opened.evaluate("document.documentElement.dataset.theme") == "dark"
        style = "getComputedStyle(document.querySelector('figure img'))"
        assert opened.evaluate(f"{style}.filter") == "none"
        assert opened.evaluate(f"{style}.padding") == "0px"


FAULTY = """<!DOCTYPE html><title>x</title><main style="width: 600px">
<script src="https://unpkg.com/x.js"></script><script>console.error("bad"); undefinedName</script>
<img src="none.png" alt="a b c"><img alt="0d1f7c4e0d1f7c4e0d1f7c4e is the hash"
src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><mjx-merror>x</mjx-merror>
<span class="math">\\(x\\)</span> see Fig. ?? and {value}`a/b` <code>{fine}`x`</code>
<a href="none.html">a</a><a href="#none">b</a></main>"""


@needs_chromium
def test_a_faulty_page_is_found_out(tmp_path):
    (tmp_path / "page.html").write_text(FAULTY, "utf-8")
    with chromium() as browser:
        found = "\n".join(faults(browser, tmp_path / "page.html"))
    for part in (
        "asks another host for https://unpkg.com/x.js",
        "console error: bad",
        "script error: undefinedName",
        "image not shown: none.png",
        "but '0d1f7c4e0d1f7c4e0d1f7c4e is the hash'",
        "TeX error: x",
        "formula not typeset: \\(x\\)",
        "left in the text: ??",
        "left in the text: {value}`",
        "leads nowhere: none.html",
        "no place in page.html: #none",
        "pixels wide",
    ):
        assert part in found
    assert "{fine}" not in found


@needs_chromium
def test_pages_link_to_the_pdf_of_the_book_only_if_it_is_made(built, tmp_path):
    folder = build_book("quick", tmp_path / "with-pdf", built, pdf=True)
    assert (folder / "book.pdf").read_bytes().startswith(b"%PDF")
    assert 'href="book.pdf"' in text(folder / "finite_system.html")
    assert 'href="book.pdf"' not in text(built.build / "html" / "finite_system.html")


# --- one page ---------------------------------------------------------------------------------


def test_a_page_alone_shows_the_given_parameters(page):
    assert page.name == "finite_system.html"
    assert 'delta_t</span> <span class="o">=</span> <span class="mf">3.0' in text(page)
    assert json.loads(text(page.parent / "values.json"))["delay"]["value"] == 3.0
    names = {path.name for path in page.parent.iterdir()}
    assert {"finite_system.ipynb", "finite_system.html", "figures", "_static"} <= names
    assert "introduction.html" not in names


def test_a_page_alone_names_the_others_in_words_and_lists_its_references(page):
    html = text(page)
    assert "the notation" in html
    assert "mfc_lb.evaluate" in html
    assert "Learning mean-field control" in html
    assert "notation.html" not in html


def test_a_page_alone_shows_expected_values_of_other_notebooks(built, tmp_path):
    alone = build_page("introduction", {}, tmp_path / "out", built)
    prose = " ".join(re.sub(r"<[^>]+>", "", text(alone)).split())
    assert (
        "The delay is 5, in a figure of the book, an equation of the book, a section of the book, "
        "A page, the finite system and notation."
    ) in prose


# --- what fails -------------------------------------------------------------------------------


@pytest.fixture
def broken(built, tmp_path):
    """Return a copy of the small book, with its kept runs and without its pages."""
    shutil.copytree(built.root, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "_build" / "html")
    return Book(tmp_path)


PROBLEMS = {
    "{value}``finite_system/dely``": "no value 'finite_system/dely'; did you mean",
    "{ref}`nowhere`": "undefined label: 'nowhere'",
    "{eq}`nothing`": "equation not found: nothing",
    "{numref}`fig-none`": "undefined label: 'fig-none'",
    "{doc}`missing`": "unknown document: 'missing'",
    "{cite}`nobody`": "nobody",
    "[text](missing.md)": "missing.md",
    "{py:func}`mfc_lb.nothing`": "mfc_lb.nothing",
    "{unknown}`role`": "unknown",
    "![no file](none.png)": "none.png",
    "(sec-rate)=\n## Again": "duplicate label",
    "```{figure-card} decey\n```": "no figure 'decey'; did you mean decay?",
}


def test_every_problem_of_a_page_fails_the_build_and_nothing_is_replaced(broken):
    html = broken.build / "html"
    build_book("quick", book=broken)
    before = text(html / "notation.html")
    (broken.sources / "notation.md").write_text(
        "# Changed\n\n" + "\n\n".join(PROBLEMS) + "\n", "utf-8"
    )
    with pytest.raises(CompanionError, match="the book: the pages have problems") as failed:
        build_book("quick", book=broken)
    missing = [part for part in PROBLEMS.values() if part not in failed.value.details]
    assert missing == []
    assert "notation.md:3: WARNING: no value" in str(failed.value)
    assert len(str(failed.value).splitlines()) < 15
    assert text(html / "notation.html") == before


def test_an_unknown_size_is_refused(broken):
    with pytest.raises(InvalidInput, match="size must be one of quick, paper, got 'big'"):
        build_book("big", book=broken)


def test_a_failing_notebook_fails_the_book_and_leaves_no_page(broken):
    nbformat.write(notebook(parameters_cell(), "1 / 0"), broken.sources / "introduction.ipynb")
    with pytest.raises(CompanionError, match=r"introduction: cell \[3\] failed: ZeroDivision"):
        build_book("quick", book=broken)
    assert not (broken.build / "html").exists()


def test_two_notebooks_with_one_figure_are_refused_before_running(broken, monkeypatch):
    monkeypatch.setattr(pages, "_complete", None)
    content = notebook(parameters_cell(), figure_cell())
    nbformat.write(content, broken.sources / "introduction.ipynb")
    with pytest.raises(CompanionError, match="'decay' is labelled in introduction, too"):
        build_book("quick", book=broken)


def test_a_value_in_prose_that_no_notebook_is_expected_to_record_is_refused(broken):
    content = notebook(parameters_cell(), new_markdown_cell("{value}`finite_system/nothing`"))
    nbformat.write(content, broken.sources / "introduction.ipynb")
    with pytest.raises(CompanionError, match="introduction: no value 'finite_system/nothing'"):
        check_book(broken)


def test_wrong_settings_are_refused_before_running(broken, monkeypatch):
    monkeypatch.setattr(pages, "_complete", None)
    broken.config.write_text("titel: x\n", "utf-8")
    with pytest.raises(InvalidInput, match="unknown key 'titel'"):
        build_book("quick", book=broken)
