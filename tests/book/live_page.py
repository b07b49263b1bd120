"""The live page without the book around it: its own HTML, scripts and data in a folder."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

from mfc_lb.companion import Book
from mfc_lb.companion.live_figure import write_live_figure
from tests.book.browser import listen

RAW = re.compile(r"```\{raw\} html\n(.*?)```", re.DOTALL)
BUTTON = re.compile(r"<button .*</button>")


def write_page(book: Book, folder: Path) -> Path:
    """Write the page into an empty folder."""
    text = (book.sources / "explore.md").read_text("utf-8")
    write_live_figure(book, folder)
    (widget,) = RAW.findall(text)
    body = "\n".join([*BUTTON.findall(RAW.sub("", text)), widget])
    page = folder / "page.html"
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Try it</title>'
    page.write_text(f"{head}<body>{body}</body></html>", "utf-8")
    return page


def open_page(browser: BrowserContext, path: Path, fragment: str = "") -> tuple[Page, list[str]]:
    """Open the page with settings in its address; return it and the faults that it will show."""
    page = browser.new_page()
    heard: list[str] = []
    listen(page, heard)
    page.goto(f"{path.as_uri()}#{fragment}")
    return page, heard


@contextmanager
def faultless_pages(browser: BrowserContext, path: Path) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the page; in the end, none of them may have had a fault."""
    pages = []

    def open_at(fragment: str = "") -> Page:
        pages.append(open_page(browser, path, fragment))
        return pages[-1][0]

    yield open_at
    for page, heard in pages:
        page.close()
        assert heard == []
