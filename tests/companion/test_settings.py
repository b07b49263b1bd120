"""Settings that Jupyter Book would silently ignore are refused."""

import pytest
import yaml

from mfc_lb import InvalidInput
from mfc_lb.companion import Book
from mfc_lb.companion.settings import read_config, read_toc
from tests.companion.cells import ROOT

CONFIG = (ROOT / "_config.yml").read_text("utf-8")


@pytest.fixture
def write(book):
    """Return a function that writes one of the two files."""
    for name in ("intro.md", "both.md", "both.ipynb", "text.txt"):
        (book.sources / name).touch()
    return lambda name, text: (book.root / name).write_text(text, "utf-8")


def test_our_own_settings_are_known_and_safe():
    config = read_config(Book(ROOT))
    assert config["only_build_toc_files"] is True
    assert config["execute"] == {"execute_notebooks": "off", "stderr_output": "error"}
    assert "sphinx-mathjax-offline" in config["sphinx"]["config"]["extensions"]
    assert "sphinx.ext.intersphinx" not in config["sphinx"]["config"]["extensions"]


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ("autor: nobody", "_config.yml: unknown key 'autor'; did you mean author"),
        ("html: {favicn: x}", "_config.yml: unknown key 'html.favicn'; did you mean favicon"),
        ("html: {analytics: {id: x}}", "unknown key 'html.analytics.id'"),
        ("execute: {stderr_output: loud}", "the value of 'execute.stderr_output'"),
        ("title: 3", "the value of 'title'"),
        ("title: [", "_config.yml is not YAML"),
    ],
)
def test_unknown_keys_and_wrong_values_are_refused_in_one_line(book, write, addition, message):
    key = addition.partition(":")[0]
    others = {name: value for name, value in yaml.safe_load(CONFIG).items() if name != key}
    write("_config.yml", f"{yaml.safe_dump(others)}\n{addition}\n")
    with pytest.raises(InvalidInput, match=message) as refused:
        read_config(book)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "- a list", "word"])
def test_settings_are_a_mapping(book, write, text):
    write("_config.yml", text)
    with pytest.raises(InvalidInput, match=r"_config.yml must hold 'key: value' lines"):
        read_config(book)


def test_a_missing_file_is_refused(book):
    for read, name in ((read_config, "_config.yml"), (read_toc, "_toc.yml")):
        with pytest.raises(InvalidInput, match=f"{name} cannot be read: No such file"):
            read(book)


def test_pages_come_in_reading_order(book, write):
    write("_toc.yml", "format: jb-book\nroot: book/intro\nchapters:\n- file: book/both.ipynb\n")
    assert [page.name for page in read_toc(book)[1]] == ["intro.md", "both.ipynb"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chapters: [{fil: book/both.md}]", "does not contain one of"),
        ("chapters: [{file: book/none}]", "there is no file for 'book/none'"),
        ("chapters: [{file: book/text.txt}]", "there is no file for 'book/text.txt'"),
        ("chapters: [{file: book/both}]", "both a notebook and a Markdown page"),
        ("chapters: [{file: book/intro}]", "used multiple times: 'book/intro'"),
        ("chapers: [{file: book/both.md}]", "Unknown keys found: {'chapers'}"),
        ("parts: [{captoin: A, chapters: [{file: book/both.md}]}]", "unknown key 'captoin'"),
        ("chapters: 3", "not a non-empty list"),
        ("chapters: [", "_toc.yml is not YAML"),
    ],
)
def test_a_wrong_table_of_contents_is_refused_in_one_line(book, write, text, message):
    write("_toc.yml", f"format: jb-book\nroot: book/intro\n{text}\n")
    with pytest.raises(InvalidInput, match=message) as refused:
        read_toc(book)
    assert "\n" not in str(refused.value)


def test_a_table_of_contents_without_a_root_is_refused(book, write):
    write("_toc.yml", "format: jb-book\n")
    with pytest.raises(InvalidInput, match="'root' key not found"):
        read_toc(book)
