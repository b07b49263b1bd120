"""Jupyter Book in a process of its own, with every warning an error."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import shorten

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.figure_search import index_figures
from mfc_lb.companion.formulas import plain_text, typeset
from mfc_lb.companion.kernel import library_path
from mfc_lb.companion.page_weight import lighten

_PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL|SEVERE|Error|Exception)\b")
# Browsers refuse to preload fonts for a page that is opened as a file; the fonts load without it.
_FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\s*')
# An ARIA role that is no longer one; the list of references is a list.
_ENTRY_ROLE = ('role="doc-biblioentry"', 'role="listitem"')
# A label that hides from screen readers the words that a fold shows.
_FOLD_LABEL = re.compile(r'(?<=<summary) aria-label="[^"]*"')
# Sphinx, docutils and the theme each say it.
_VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>\s*')
_TITLE = re.compile(r"(?<=<title>)(.+?) &#8212; \1(?=</title>)")
# The form on the page itself; the other one, in the dialog, has the same identifier.
_SEARCH_FORM = re.compile(r'(<div class="bd-search-container">.*?)\bid="search-input"', re.DOTALL)
_PARAGRAPH = re.compile(r'<article class="bd-article">.*?</h1>.*?<p>(.*?)</p>', re.DOTALL)
_DESCRIPTION_LENGTH = 160  # characters; search engines show no more
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def build_html(sources: Path, where: str) -> Path:
    """Build the HTML of a folder that has ``_config.yml``, ``_toc.yml`` and their pages.

    Parameters
    ----------
    sources : Path
        The staged book; its outputs come under ``_build``.
    where : str
        What is built, for messages.

    Returns
    -------
    Path
        Folder of the finished pages.

    Raises
    ------
    CompanionError
        If there is a warning or an error; all of them are in its details.
    """
    script = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", script, "build", "-W", "-n", "--keep-going", "-q", "."]
    done = subprocess.run(
        command,
        cwd=sources,
        env=os.environ | {"PYTHONPATH": library_path(), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    problems = _problems(done.stdout, sources)
    if done.returncode or problems:
        summary = "\n".join(problems[:10]) or f"exit status {done.returncode}"
        raise CompanionError(f"{where}: the pages have problems\n{summary}", done.stdout)
    pages = sources / "_build" / "html"
    for page in pages.rglob("*.html"):
        page.write_text(_mended(page.read_text("utf-8")), "utf-8")
    typeset(pages)
    for page in pages.glob("*.html"):
        page.write_text(_described(page.read_text("utf-8")), "utf-8")
    lighten(pages)
    index_figures(pages)
    return pages


def _mended(page: str) -> str:
    """Return a page without what its tools say twice or wrongly."""
    for pattern in (_FONT_PRELOAD, _FOLD_LABEL):
        page = pattern.sub("", page)
    first = _VIEWPORT.search(page)
    if first is not None:
        page = page[: first.end()] + _VIEWPORT.sub("", page[first.end() :])
    page = _SEARCH_FORM.sub(r'\1id="search-words"', _TITLE.sub(r"\1", page))
    return page.replace(*_ENTRY_ROLE)


def _described(page: str) -> str:
    """Return a page that tells search engines its first paragraph."""
    first = _PARAGRAPH.search(page)
    words = plain_text(first[1]) if first else ""
    if not words:
        return page
    short = html.escape(shorten(words, _DESCRIPTION_LENGTH, placeholder=" …"))
    return page.replace("<title>", f'<meta name="description" content="{short}" />\n    <title>', 1)


def _problems(output: str, sources: Path) -> list[str]:
    """Return the lines of Sphinx's output that say what is wrong, with short file names."""
    plain = _COLOURS.sub("", output).replace(f"{sources}{os.sep}", "")
    lines = [line.strip() for line in plain.splitlines() if _PROBLEM.search(line)]
    return list(dict.fromkeys(lines))
