"""A small book without settings, for notebooks to be put in."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from mfc_lb.companion import Book


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory) -> Path:
    """Return an empty folder of kept runs, which takes the place of the user's."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("MFC_LB_CACHE", str(folder))
    return folder


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """Return a book without notebooks."""
    (tmp_path / "book" / "expected").mkdir(parents=True)
    return Book(tmp_path)


@pytest.fixture
def add(book: Book) -> Callable[..., None]:
    """Return a function that adds a notebook, and its expected values at both sizes."""

    def add_notebook(name: str, content: Any, expected: dict[str, Any] | None = None) -> None:
        nbformat.write(content, book.sources / f"{name}.ipynb")
        if expected is not None:
            text = json.dumps({"quick": expected, "paper": expected})
            (book.expected / f"{name}.json").write_text(text, "utf-8")

    return add_notebook
