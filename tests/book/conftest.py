"""The real book, built once in its quick size, from an empty cache."""

from pathlib import Path

import pytest

from mfc_lb.companion import Book, build_book

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def book() -> Book:
    """Return the book of this checkout."""
    return Book(ROOT)


@pytest.fixture(scope="session")
def pages(book, tmp_path_factory):
    """Return the folder of the finished pages; every notebook ran, and recomputed its results.

    Used in one file only, all of whose tests run in one worker (``--dist=loadfile``), so that the
    book is built once.
    """
    folder = tmp_path_factory.mktemp("book")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MFC_LB_RESULTS", str(folder / "results"))
        return build_book("quick", folder / "html", book, folder / "runs")
