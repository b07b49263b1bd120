"""The search page knows the figures."""

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from sphinx.search.en import SearchEnglish

from mfc_lb.companion.figure_search import index_figures
from tests.book.browser import chromium, needs_chromium

ROOT = Path(__file__).parents[2]
FIGURE = """<figure class="align-default" id="fig-a"><img alt="a" src="_images/a.webp" />
<figcaption><p><span class="caption-number">Fig. 1.2 </span><span class="caption-text">Drops for
<mjx-math><mjx-c></mjx-c></mjx-math><math><mi>λ</mi><mo>&lt;</mo><mn>1</mn></math>.</span><a
class="headerlink" href="#fig-a">#</a></p></figcaption></figure>"""


def test_figures_are_known_by_number_caption_picture_and_place(tmp_path):
    (tmp_path / "search.html").write_text('<div id="search-results"></div>', "utf-8")
    (tmp_path / "page.html").write_text(FIGURE.replace("<a\n", "<a "), "utf-8")
    index_figures(tmp_path)
    text = (tmp_path / "search.html").read_text("utf-8")
    (data,) = re.findall(r'id="figure-captions">(.*?)</script>', text)
    assert json.loads(data) == [
        {
            "address": "page.html#fig-a",
            "picture": "_images/a.webp",
            "alternative": "a",
            "number": "Fig. 1.2",
            "caption": "Drops for λ<1.",
        }
    ]


def test_a_page_alone_has_no_search(tmp_path):
    (tmp_path / "page.html").write_text(FIGURE, "utf-8")
    index_figures(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


# --- what is found ----------------------------------------------------------------------------

CAPTIONS = {
    "2.1": "Drops for <math><mi>N</mi><mo>=</mo><msup><mi>M</mi><mn>2</mn></msup></math>.",
    "3.1": "Drops against the delay.",
    "3.2": "How full the queues are, with 95 % bands: their filling.",
    "10.1": "Response times, for 3 delays.",
}
ONE = """<figure id="fig-{0}"><img alt="a straight line" src="a.webp" />
<span class="caption-number">Fig. {0} </span><span class="caption-text">{1}</span><a
class="headerlink"></a></figure>"""
SEARCH = """<!DOCTYPE html><meta charset="utf-8"><script>const DOCUMENTATION_OPTIONS = {};</script>
<script src="language_data.js"></script><script src="figure-search.js"></script>
<div id="search-results"></div>"""


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    """Return a function that searches: the numbers of the figures found, in their order."""
    folder = tmp_path_factory.mktemp("search")
    figures = [ONE.format(*each).replace("<a\n", "<a ") for each in reversed(CAPTIONS.items())]
    (folder / "page.html").write_text("".join(figures), "utf-8")
    (folder / "search.html").write_text(SEARCH, "utf-8")
    script = (ROOT / "book" / "_static" / "figure-search.js").read_text("utf-8")
    (folder / "figure-search.js").write_text(script, "utf-8")
    (folder / "language_data.js").write_text(SearchEnglish({}).js_stemmer_code, "utf-8")
    index_figures(folder)
    with chromium() as browser:
        page = browser.new_page()

        def found(query):
            page.goto(f"{(folder / 'search.html').as_uri()}?{urlencode({'q': query})}")
            links = page.locator(".found-figures a").all_inner_texts()
            return [link.split(": ")[0].removeprefix("Fig. ") for link in links]

        yield found


@needs_chromium
@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("Fig. 3", ["3.1", "3.2"]),
        ("figure 3.1", ["3.1"]),
        ("fig 1", []),
        ("3.2", ["3.2"]),
        ("3", ["3.1", "3.2", "10.1"]),
        ("dropped", ["2.1", "3.1"]),
        ('"delay"', ["3.1", "10.1"]),
        ("Δt", ["3.1", "10.1"]),
        ("queue length", ["3.2"]),
        ("M^2", ["2.1"]),
        ("m²", ["2.1"]),
        ("straight lines", ["2.1", "3.1", "3.2", "10.1"]),
        ("bands delay", []),
        ("figure", []),
        ("", []),
    ],
)
def test_figures_are_found_by_number_and_by_words_in_other_forms(search, query, numbers):
    assert search(query) == numbers
