"""Figures in the search: Sphinx finds the pages whose captions have a word, not the figures."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

from mfc_lb.companion.formulas import plain_text

_FIGURE = re.compile(
    r'<figure\b[^>]*\bid="(?P<place>[^"]+)".*?(?P<image><img\b[^>]*>).*?'
    r'<span class="caption-number">(?P<number>.*?)</span>'
    r'<span class="caption-text">(?P<caption>.*?)</span><a class="headerlink"',
    re.DOTALL,
)
_PICTURE = re.compile(r'\bsrc="([^"]+)"')
_ALTERNATIVE = re.compile(r'\balt="([^"]*)"')
_RESULTS = '<div id="search-results">'


def index_figures(pages: Path) -> None:
    """Give the search page number, caption, picture and place of every figure of all pages.

    The script ``figure-search.js`` shows those whose number is asked for, or whose captions or text
    alternatives have the words that are searched. They are in the order of their numbers.
    """
    search = pages / "search.html"
    if not search.is_file():
        return
    found = [figure for page in sorted(pages.glob("*.html")) for figure in _figures(page)]
    found.sort(key=lambda figure: _parts(figure["number"]))
    data = json.dumps(found, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/json" id="figure-captions">{data}</script>\n'
    text = search.read_text("utf-8")
    search.write_text(text.replace(_RESULTS, f"{script}{_RESULTS}"), "utf-8")


def _figures(page: Path) -> Iterator[dict[str, str]]:
    for figure in _FIGURE.finditer(page.read_text("utf-8")):
        yield {
            "address": f"{page.name}#{figure['place']}",
            "picture": _attribute(_PICTURE, figure["image"]),
            "alternative": _attribute(_ALTERNATIVE, figure["image"]),
            "number": plain_text(figure["number"]),
            "caption": plain_text(figure["caption"]),
        }


def _attribute(pattern: re.Pattern[str], image: str) -> str:
    found = pattern.search(image)
    return html.unescape(found[1]) if found else ""


def _parts(number: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", number)]
