"""Figures in the search: Sphinx finds the pages whose captions have a word, not the figures."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

_FIGURE = re.compile(
    r'<figure\b[^>]*\bid="(?P<place>[^"]+)".*?'
    r'<img\b[^>]*\bsrc="(?P<picture>[^"]+)".*?'
    r'<span class="caption-number">(?P<number>.*?)</span>'
    r'<span class="caption-text">(?P<caption>.*?)</span><a class="headerlink"',
    re.DOTALL,
)
_DRAWN = re.compile(r"<mjx-math\b.*?</mjx-math>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_RESULTS = '<div id="search-results">'


def index_figures(pages: Path) -> None:
    """Give the search page number, caption, picture and place of every figure of all pages.

    The script ``figure-search.js`` shows those whose captions have the words that are searched.
    """
    search = pages / "search.html"
    if not search.is_file():
        return
    found = [figure for page in sorted(pages.glob("*.html")) for figure in _figures(page)]
    data = json.dumps(found, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/json" id="figure-captions">{data}</script>\n'
    text = search.read_text("utf-8")
    search.write_text(text.replace(_RESULTS, f"{script}{_RESULTS}"), "utf-8")


def _figures(page: Path) -> Iterator[dict[str, str]]:
    for figure in _FIGURE.finditer(page.read_text("utf-8")):
        yield {
            "address": f"{page.name}#{figure['place']}",
            "picture": figure["picture"],
            "number": _words(figure["number"]),
            "caption": _words(figure["caption"]),
        }


def _words(markup: str) -> str:
    """Return the text of some HTML; of formulas, that of their MathML."""
    return " ".join(html.unescape(_TAG.sub("", _DRAWN.sub("", markup))).split())
