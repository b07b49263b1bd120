"""Folders that appear whole or not at all."""

from pathlib import Path

import pytest

from mfc_lb import InvalidInput
from mfc_lb.companion.folders import copy_contents, replacing


def fill(output, text):
    with replacing(output) as folder:
        (folder / "page.html").write_text(text, "utf-8")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_folder_appears_with_its_parents(tmp_path):
    fill(tmp_path / "a" / "html", "new")
    assert (tmp_path / "a" / "html" / "page.html").read_text("utf-8") == "new"
    assert names(tmp_path / "a") == ["html"]


def test_an_earlier_folder_of_ours_is_replaced_as_a_whole(tmp_path):
    fill(tmp_path / "html", "old")
    (tmp_path / "html" / "stale.html").write_text("stale", "utf-8")
    fill(tmp_path / "html", "new")
    assert (tmp_path / "html" / "page.html").read_text("utf-8") == "new"
    assert "stale.html" not in names(tmp_path / "html")


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "html").mkdir()
    fill(tmp_path / "html", "new")
    assert "page.html" in names(tmp_path / "html")


def test_the_earlier_folder_stays_when_the_block_fails(tmp_path):
    fill(tmp_path / "html", "old")
    with pytest.raises(TypeError):
        fill(tmp_path / "html", None)
    assert (tmp_path / "html" / "page.html").read_text("utf-8") == "old"
    assert names(tmp_path) == ["html"]


def test_nothing_is_left_when_the_first_block_fails(tmp_path):
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "html"):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_a_folder_of_somebody_else_is_refused_untouched(tmp_path):
    (tmp_path / "thesis.tex").write_text("chapter", "utf-8")
    with pytest.raises(InvalidInput, match="output must be a new or empty folder"):
        fill(tmp_path, "new")
    assert names(tmp_path) == ["thesis.tex"]


def test_a_file_is_refused(tmp_path):
    (tmp_path / "html").write_text("file", "utf-8")
    with pytest.raises(InvalidInput, match="output must be a folder"):
        fill(tmp_path / "html", "new")


def test_a_place_where_nothing_can_be_written_is_refused():
    with pytest.raises(InvalidInput, match="output cannot be written"):
        fill(Path("/proc/html"), "new")


def test_what_is_copied_from_a_read_only_folder_can_be_written(tmp_path):
    deep = tmp_path / "source" / "deep"
    deep.mkdir(parents=True)
    (deep / "page.html").write_text("text", "utf-8")
    (deep / "left").touch()
    for path, mode in ((deep / "page.html", 0o444), (deep, 0o555), (deep.parent, 0o555)):
        path.chmod(mode)
    copy_contents(tmp_path / "source", tmp_path / "copy", lambda name: name == "left")
    copies = [tmp_path / "copy", *(tmp_path / "copy").rglob("*")]
    assert [path.name for path in copies] == ["copy", "deep", "page.html"]
    assert all(path.stat().st_mode & 0o200 for path in copies)
    assert copies[-1].read_text("utf-8") == "text"
