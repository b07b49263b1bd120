"""The real book, built once in its quick size, from an empty cache."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from mfc_lb.companion import Book, build_book
from tests.book.browser import chromium
from tests.book.live_page import faultless_pages, write_page

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def book() -> Book:
    """Return the book of this checkout."""
    return Book(ROOT)


@pytest.fixture(scope="session")
def pages(book, tmp_path_factory) -> Path:
    """Return the folder of the finished pages; every notebook ran, and recomputed its results.

    The runs are in ``runs`` beside it. All workers share one build: the first one that needs it
    makes it, which takes every core, and the others wait.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "book"
    with locked(shared / "book.lock"):
        if not (folder / "html").is_dir():
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("MFC_LB_RESULTS", str(folder / "results"))
                build_book("quick", folder / "html", book, folder / "runs")
    return folder / "html"


@pytest.fixture(scope="module")
def live_page(book, tmp_path_factory) -> Path:
    """Return the live page, without the book around it."""
    return write_page(book, tmp_path_factory.mktemp("live"))


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """Return a Chromium that is started once for a module."""
    with chromium() as context:
        yield context


@pytest.fixture
def opened(browser, live_page) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the live page with settings in its address."""
    with faultless_pages(browser, live_page) as open_at:
        yield open_at


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
