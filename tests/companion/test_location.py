"""The book is found from anywhere."""

import pytest

from mfc_lb import InvalidInput
from mfc_lb.companion import find_book, location
from tests.companion.cells import ROOT


def test_the_checkout_that_holds_the_library_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_book().root == ROOT


def test_an_installed_library_finds_the_checkout_around_it(book, tmp_path, monkeypatch):
    monkeypatch.setattr(location, "LIBRARY", tmp_path / "site-packages" / "mfc_lb")
    book.toc.touch()
    assert find_book(book.expected) == book


def test_without_a_checkout_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(location, "LIBRARY", tmp_path / "site-packages" / "mfc_lb")
    with pytest.raises(InvalidInput, match="no book found") as refused:
        find_book(tmp_path)
    assert "\n" not in str(refused.value)
