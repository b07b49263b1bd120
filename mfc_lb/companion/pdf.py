"""The whole book as one PDF: its finished pages behind one another, printed by Chromium."""

import html
import logging
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.formulas import plain_text
from mfc_lb.companion.location import Book
from mfc_lb.companion.settings import read_config, read_toc
from mfc_lb.errors import InvalidInput

if TYPE_CHECKING:
    from pypdf import PdfReader
    from pypdf.generic import IndirectObject

#: Names under which Chromium is installed.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--no-pdf-header-footer",
)
_ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
_STYLES = re.compile(r'<link\b[^>]*rel="stylesheet"[^>]*>')
_HEADING = re.compile(
    r'<h([12])[^>]*>((?:(?!</h).)*?)<a class="headerlink" href="#([^"]*)"', re.DOTALL
)
_ID = re.compile(r'(?<=\s)id="([^"]+)"')
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
# Instead of what scripts do, the paper has what pages say without them.
_WITHOUT_SCRIPT = re.compile(r"</?noscript>")
_LINK = re.compile(r'href="(?!https?:|mailto:)([^"#]*)(?:#([^"]*))?"')

_PAGE = """\
<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8"><title>{title}</title>
{styles}
<style>
  @page {{ size: A4; margin: 20mm 18mm; @bottom-center {{ content: counter(page); }} }}
  @page :first {{ @bottom-center {{ content: none; }} }}
  html, body {{ background: #fff; font-size: 10pt; font-variant-ligatures: none; }}
  article, nav {{ break-before: page; }}
  .bd-main .bd-content .bd-article h1:first-of-type {{ display: block; }}
  details > *, .cell .cell_input {{ display: block; }}
  .title-page {{ padding-top: 8cm; text-align: center; }}
  .contents li {{ display: flex; list-style: none; }}
  .contents a {{ flex: 1; }}
</style>
</head>
<body>
<header class="title-page"><p style="font-size: 28pt">{title}</p><p>{subtitle}</p></header>
<nav class="contents"><h1>Contents</h1><ul>{contents}</ul></nav>
<main class="bd-main"><div class="bd-content"><div class="bd-article-container">
{articles}
</div></div></main>
</body>
</html>
"""
#: The PDF of the whole book, beside its pages.
PDF_NAME = "book.pdf"

_SIDEBAR_END = '<div class="sidebar-primary-items__end'
_PDF_LINK = f'<p class="sidebar-primary-item"><a href="{PDF_NAME}">The whole book (PDF)</a></p>\n'


def find_browser() -> str:
    """Return the Chromium of this machine.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise InvalidInput(
            f"a PDF of the book is printed by Chromium, but none of {', '.join(BROWSERS)} is "
            "installed"
        )
    return found


def add_pdf(pages: Path, book: Book) -> None:
    """Put a PDF of the whole book, ``book.pdf``, beside its finished pages, and link to it."""
    _, order = read_toc(book)
    config = read_config(book)
    printed = print_book(
        pages,
        [page.stem for page in order],
        config["title"],
        config["author"],
        _commit_time(book),
    )
    (pages / PDF_NAME).write_bytes(printed)
    for page in pages.glob("*.html"):
        text = page.read_text("utf-8")
        page.write_text(text.replace(_SIDEBAR_END, f"{_PDF_LINK}{_SIDEBAR_END}", 1), "utf-8")


def print_book(
    pages: Path, order: Sequence[str], title: str, subtitle: str, date: datetime
) -> bytes:
    """Print finished pages behind one another, with a table of contents, bookmarks and links.

    Parameters
    ----------
    pages : Path
        Folder of the finished pages.
    order : sequence of str
        Their names, in reading order.
    title, subtitle : str
        What stands on the first page.
    date : datetime
        What the PDF's metadata say about when it was made.

    Raises
    ------
    InvalidInput
        If Chromium is not installed.
    CompanionError
        If Chromium does not print.
    """
    from pypdf import PdfReader

    # It remarks on how Chromium counts the objects of a file.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    browser = find_browser()
    sources = {name: (pages / f"{name}.html").read_text("utf-8") for name in order}
    printed = b""
    numbers: dict[str, int] = {}
    for _ in ("once to know the numbers of the pages", "once with them"):
        printed = _print(_join(sources, title, subtitle, numbers), pages, browser)
        numbers = _page_numbers(PdfReader(BytesIO(printed)))
    return _finish(printed, sources, numbers, {"/Author": subtitle, **_stamps(date)})


def _join(sources: Mapping[str, str], title: str, subtitle: str, numbers: Mapping[str, int]) -> str:
    styles = dict.fromkeys(style for text in sources.values() for style in _STYLES.findall(text))
    return _PAGE.format(
        title=title,
        subtitle=subtitle,
        styles="\n".join(styles),
        contents="\n".join(
            f'<li><a href="#{place}">{html.escape(words)}</a> {numbers.get(place, 0)}</li>'
            for name, text in sources.items()
            for level, words, place in _headings(name, text)
            if level == 1
        ),
        articles="\n".join(
            f'<article class="bd-article" id="{name}--">{_content(name, text, sources)}</article>'
            for name, text in sources.items()
        ),
    )


def _headings(name: str, text: str) -> list[tuple[int, str, str]]:
    """Return level, words and place of a page's first two levels of headings."""
    found = _ARTICLE.search(text)
    if found is None:
        raise CompanionError(f"{name}.html has no article to print")
    return [
        (int(level), plain_text(words), f"{name}--{place}")
        for level, words, place in _HEADING.findall(found[1])
    ]


def _content(name: str, text: str, sources: Mapping[str, str]) -> str:
    """Return a page's article with places and links that are unique in the whole book."""

    def moved(link: re.Match[str]) -> str:
        page = link[1].removesuffix(".html") or name
        return f'href="#{page}--{link[2] or ""}"' if page in sources else ""

    found = _ARTICLE.search(text)
    assert found is not None
    article = _WITHOUT_SCRIPT.sub("", _SCRIPT.sub("", found[1]))
    article = _LINK.sub(moved, _ID.sub(rf'id="{name}--\1"', article))
    return article.replace('loading="lazy"', "").replace("<details", "<details open")


def _print(text: str, pages: Path, browser: str) -> bytes:
    """Print a page that lies beside the others while it is printed."""
    with TemporaryDirectory() as scratch:
        copy = Path(scratch) / "pages"
        shutil.copytree(pages, copy)
        source, output = copy / "whole-book.html", Path(scratch) / "book.pdf"
        source.write_text(text, "utf-8")
        profile = f"--user-data-dir={scratch}/profile"
        command = [browser, *_FLAGS, profile, f"--print-to-pdf={output}", source.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not output.is_file():
            raise CompanionError("Chromium did not print the book", done.stderr)
        return output.read_bytes()


def _page_numbers(reader: "PdfReader") -> dict[str, int]:
    return {
        name.removeprefix("/"): (reader.get_destination_page_number(place) or 0) + 1
        for name, place in reader.named_destinations.items()
    }


def _finish(
    printed: bytes,
    sources: Mapping[str, str],
    numbers: Mapping[str, int],
    metadata: Mapping[str, str],
) -> bytes:
    """Return the PDF with bookmarks, and with more metadata than Chromium's."""
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=BytesIO(printed))
    for name, text in sources.items():
        chapter: IndirectObject | None = None
        for level, words, place in _headings(name, text):
            parent = chapter if level == 2 else None
            item = writer.add_outline_item(
                title=words, page_number=numbers.get(place, 1) - 1, parent=parent
            )
            chapter = item if level == 1 else chapter
    writer.add_metadata(dict(metadata))
    output = BytesIO()
    writer.write(output)
    return output.getvalue()


def _stamps(date: datetime) -> dict[str, str]:
    """Return the metadata that date a PDF, instead of when it was printed."""
    stamp = date.strftime("D:%Y%m%d%H%M%S+00'00'")
    return {"/CreationDate": stamp, "/ModDate": stamp}


def _commit_time(book: Book) -> datetime:
    """Return when the book's commit was made, so that the PDF has the same bytes at every build."""
    from mfc_lb.results.circumstances import commit_date

    said = commit_date(book.root)
    known = said != "unknown"
    return datetime.fromisoformat(said).astimezone(UTC) if known else datetime.fromtimestamp(0, UTC)
