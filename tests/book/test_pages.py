"""The built book, as its readers open it: from files, in a browser."""

import json
import re
import subprocess
import sys
from io import BytesIO

import nbformat
import numpy as np
import pytest
from pypdf import PdfReader

from mfc_lb import ConstantPolicy, MeanFieldSystem, SystemParameters, join_shortest_queue
from mfc_lb.companion import list_figures
from mfc_lb.companion.settings import read_toc
from tests.book.browser import NARROW, chromium, faults, listen, needs_chromium, resize, too_wide
from tests.book.cards import card_faults

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


def test_every_figure_has_a_card_that_is_true(book, pages):
    names = {figure.identifier for figure in list_figures(book)}
    assert {path.stem for path in (pages / "figures").iterdir()} == names
    assert list(card_faults(pages, book)) == []


@needs_chromium
def test_every_page_opens_without_a_fault(pages):
    paths = [path for path in sorted(pages.glob("*.html")) if path.stem != "index"]
    with chromium() as browser:
        assert [fault for path in paths for fault in faults(browser, path)] == []


# The time that scripts may take to open a page is measured in times of a fixed piece of work in the
# same browser beside it: a slow phone, six times slower than a server, does it in a second.
WORK = """() => {
  const start = performance.now();
  let state = 1;
  for (let i = 0; i < 2e8; i++) state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return [(performance.now() - start) / 1000, state];
}"""


@needs_chromium
@pytest.mark.parametrize("name", ["introduction", "explore"])
def test_scripts_take_less_than_two_seconds_of_a_slow_processor(pages, name):
    with chromium() as browser:
        page = browser.new_page()
        tools = browser.new_cdp_session(page)
        tools.send("Performance.enable")
        page.goto((pages / f"{name}.html").as_uri())
        page.evaluate("new Promise(requestIdleCallback)")
        metrics = tools.send("Performance.getMetrics")["metrics"]
        (scripts,) = [each["value"] for each in metrics if each["name"] == "ScriptDuration"]
        assert 0 < scripts < 2 * page.evaluate(WORK)[0]


@needs_chromium
def test_the_search_finds_figures_by_words_of_their_captions(pages):
    with chromium() as browser:
        page = browser.new_page()
        listen(page, heard := [])
        for card in map(read_json, sorted(pages.glob("figures/*.json"))[:3]):
            words = re.findall(r"\b[a-z]{5,}\b", re.sub(r"\$.*?\$", "", card["caption"]))[:2]
            address = card["page"].partition("#")[0]
            page.goto((pages / "search.html").as_uri())
            page.locator("main input[name=q]").fill(" ".join(words))
            page.keyboard.press("Enter")
            page.wait_for_selector(f'.found-figures a[href$="#fig-{card["identifier"]}"] img')
            page.wait_for_selector(f'ul.search a[href^="{address}"]')
        assert heard == []  # of excerpts from other files, which browsers do not let a file read


def read_json(path):
    return json.loads(path.read_text("utf-8"))


@needs_chromium
def test_a_keyboard_reaches_the_text_the_search_the_modes_the_menu_and_wide_boxes(pages):
    with chromium() as browser:
        page = browser.new_page()
        page.goto((pages / "mean_field.html").as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
        page.set_viewport_size({"width": NARROW, "height": 900})
        reached = [press_tab(page) for _ in range(150)]
        for wanted in ("primary-toggle", "theme-switch", "copybtn", "scrolls-sideways"):
            assert any(wanted in found for found in reached), wanted
        page.locator("button.primary-toggle").focus()
        page.keyboard.press("Enter")
        assert page.locator("#pst-primary-sidebar-checkbox").is_checked()
        page.keyboard.press("Escape")
        assert not page.locator("#pst-primary-sidebar-checkbox").is_checked()


def press_tab(page):
    """Return the classes of what has the focus after the Tab key, and check that it is seen."""
    page.keyboard.press("Tab")
    found = page.evaluate(
        "(at => [at.className.toString(), getComputedStyle(at).outlineStyle,"
        " getComputedStyle(at).boxShadow])(document.activeElement)"
    )
    on_a_part = page.evaluate("document.activeElement !== document.body")
    assert not on_a_part or found[1:] != ["none", "none"], found
    return found[0]


FOCUS = "document.activeElement.className"


@needs_chromium
@pytest.mark.parametrize("width", [NARROW, 1280])
def test_the_search_keeps_the_focus_while_it_is_open_and_gives_it_back(pages, width):
    with chromium() as browser:
        page = browser.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((pages / "references.html").as_uri())
        page.locator(".search-button__button:visible").first.press("Enter")
        for _ in range(4):
            page.keyboard.press("Tab")
            assert page.evaluate(FOCUS) in ("", "form-control")  # the browser's own, or the field
        page.locator(".search-button__wrapper input").press("Escape")
        page.wait_for_function(f"{FOCUS}.includes('search-button__button')")
        page.keyboard.press("Tab")
        assert "search" not in page.evaluate(FOCUS)


# Other spaces between letters, words, lines and paragraphs must not cost any text (WCAG 1.4.12).
SPACED = """* { letter-spacing: 0.12em !important; line-height: 1.5 !important;
word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }"""
PARTS = ".bd-main :is(p, a, text, .sig span, h1, h2, h3)"
CUT = """parts => [...document.querySelectorAll(parts)].filter(
  part => !part.closest(".scrolls-sideways, pre, mjx-container, .bd-sidebar-secondary")
    && part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1
).map(part => part.textContent)"""


@needs_chromium
@pytest.mark.parametrize("name", ["convergence", "explore", "api"])
def test_nothing_is_cut_off_at_four_times_the_size_or_with_more_space(pages, name):
    with chromium() as browser:
        page = browser.new_page()
        page.goto((pages / f"{name}.html").as_uri())
        for style in ("/* as it is */", SPACED):
            page.add_style_tag(content=style)
            for width in (320, NARROW):
                resize(page, width)
                assert [*too_wide(page, width), *page.evaluate(CUT, PARTS)] == [], (width, style)


@needs_chromium
def test_what_is_folded_on_a_dark_screen_is_printed_in_light_colours(pages):
    with chromium() as browser:
        page = browser.new_page()
        page.emulate_media(color_scheme="dark")
        page.goto((pages / "convergence.html").as_uri())
        reader = PdfReader(BytesIO(page.pdf()))
        printed = without_blanks("".join(sheet.extract_text() for sheet in reader.pages))
        folded = page.locator("details.hide pre").all_text_contents()
        assert [code for code in folded if without_blanks(code) not in printed] == []
        themes = []
        for event in ("beforeprint", "afterprint"):
            page.evaluate("event => dispatchEvent(new Event(event))", event)
            themes.append(page.evaluate("document.documentElement.dataset.theme"))
        assert themes == ["light", "dark"]


def without_blanks(text):
    return "".join(text.split())


@needs_chromium
def test_on_paper_there_is_text_only_and_nothing_folded(pages):
    with chromium() as browser:
        page = browser.new_page()
        page.goto((pages / "comparison.html").as_uri())
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        for hidden in (".bd-sidebar-primary", ".bd-header-article", ".prev-next-footer"):
            assert not page.locator(hidden).first.is_visible(), hidden
        assert page.locator(".bd-article figure img").first.is_visible()
        folded = ".bd-article .cell details:not([open])"
        assert page.locator(folded).count() == 0


def test_plain_papermill_runs_a_notebook_from_the_top_folder(book, tmp_path):
    output = tmp_path / "out.ipynb"
    command = [sys.executable, "-m", "papermill", "--no-progress-bar"]
    command += ["book/introduction.ipynb", str(output), "-p", "size", "quick"]
    subprocess.run(command, cwd=book.root, check=True, capture_output=True)
    sources = [cell.source for cell in nbformat.read(output, as_version=4).cells]
    assert '# Parameters\nsize = "quick"\n' in sources


@needs_chromium
def test_the_live_figure_computes_in_the_built_book(pages):
    parameters = SystemParameters(delta_t=5.0)
    levels = parameters.arrivals.sample_levels(100, np.random.default_rng(1))
    policy = ConstantPolicy(join_shortest_queue(parameters))
    drops = MeanFieldSystem(parameters).simulate(policy, levels).drops
    with chromium() as browser:
        page = browser.new_page()
        page.goto((pages / "explore.html").as_uri())
        assert page.locator("#explore figure svg").count() == 5
        shown = page.evaluate("mfcLb.shown().runs.jsq.drops")
    assert abs(np.array(shown) - drops).max() < 1e-10


def test_only_its_own_page_loads_the_scripts_of_the_live_figure(pages):
    loading = [
        page.stem for page in pages.glob("*.html") if 'src="explore/' in page.read_text("utf-8")
    ]
    assert loading == ["explore"]
