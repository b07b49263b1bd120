"""Launch buttons: on notebooks' pages where the repository's address is known, nowhere else."""

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from mfc_lb import InvalidInput
from mfc_lb.cli import main
from mfc_lb.companion import Book, Repository
from mfc_lb.companion.context import Context, write_context
from mfc_lb.companion.html import build_html
from mfc_lb.companion.settings import read_config, read_toc
from mfc_lb.companion.staging import _stage
from tests.companion.cells import ROOT, notebook, parameters_cell

URL = "https://github.com/somebody/a.book"
HOSTS = re.compile(r'"(https://(?:mybinder\.org|colab\.research\.google\.com|github\.com)[^"]*)"')


@pytest.fixture(scope="module", params=[None, Repository(URL, "v1.0")], ids=["none", "known"])
def built(request, tmp_path_factory):
    """Return a book with and without an address, and its pages."""
    import nbformat

    book = Book(tmp_path_factory.mktemp("book"), request.param)
    for folder in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / folder, book.sources / folder)
    shutil.copy(ROOT / "_config.yml", book.root)
    (book.sources / "references.bib").touch()
    (book.sources / "plain.md").write_text("# Words\n", "utf-8")
    nbformat.write(notebook(parameters_cell()), book.sources / "counted.ipynb")
    book.toc.write_text("format: jb-book\nroot: book/counted\nchapters:\n- file: book/plain\n")
    folder = tmp_path_factory.mktemp("staged")
    _stage(book, (), read_toc(book)[0], folder)
    for path in read_toc(book)[1]:
        shutil.copy(path, folder)
    write_context(Context(), folder)
    return book, build_html(folder, "the book")


def links(pages, name):
    return set(HOSTS.findall((pages / f"{name}.html").read_text("utf-8")))


def test_buttons_lead_to_the_notebook_in_the_repository(built):
    book, pages = built
    expected = {
        "https://mybinder.org/v2/gh/somebody/a.book/v1.0?urlpath=lab/tree/book/counted.ipynb",
        "https://colab.research.google.com/github/somebody/a.book/blob/v1.0/book/counted.ipynb",
    }
    assert links(pages, "counted") == (expected if book.repository else set())
    for link in links(pages, "counted"):
        path = re.search(r"book/counted\.ipynb$", link)[0]
        assert (book.root / path).is_file()


def test_plain_pages_have_none(built):
    _, pages = built
    assert links(pages, "plain") == set()


def test_without_an_address_the_settings_are_those_of_the_file():
    assert read_config(Book(ROOT)).keys().isdisjoint({"repository", "launch_buttons"})


@pytest.mark.parametrize(
    ("url", "branch", "message"),
    [
        ("github.com/a/b", "main", "repository must be https://github.com/OWNER/NAME"),
        ("http://github.com/a/b", "main", "repository must be"),
        ("https://example.org/a/b", "main", "repository must be"),
        ("https://github.com/a", "main", "repository must be"),
        ("https://github.com/a/b/", "main", "repository must be"),
        ("https://github.com/a/b.git", "main", "repository must be"),
        ("https://github.com/a/b?x=1", "main", "repository must be"),
        ("https://github.com/a/..", "main", "repository must be"),
        ("https://github.com/a/.", "main", "repository must be"),
        ("https://github.com/-/c", "main", "repository must be"),
        ("https://github.com/a/b\u00e9", "main", "repository must be"),
        ("", "main", "repository must be"),
        (URL, "", "branch must be the name of a branch"),
        (URL, "a/b", "branch must be"),
        (URL, "a b", "branch must be"),
        (URL, "\u00e9", "branch must be"),
    ],
)
def test_other_addresses_are_refused_in_one_line(url, branch, message):
    with pytest.raises(InvalidInput, match=message) as refused:
        Repository(url, branch)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "variables"),
    [(["--repository", "nowhere"], {}), ([], {"MFC_LB_REPOSITORY": "nowhere"})],
)
def test_the_command_line_refuses_it_before_anything_runs(words, variables):
    done = CliRunner().invoke(main, ["book", "build", *words], env=variables)
    assert done.exit_code == 2
    assert done.stderr == (
        "mfc-lb: repository must be https://github.com/OWNER/NAME, got 'nowhere'\n"
    )


def test_address_and_branch_reach_the_book(monkeypatch):
    books = []

    def remember(*given: object, **_: object) -> Path:
        books.extend(value for value in given if isinstance(value, Book))
        return ROOT

    monkeypatch.setattr("mfc_lb.companion.build_book", remember)
    variables = {"MFC_LB_REPOSITORY": URL, "MFC_LB_BRANCH": "dev"}
    for words, env in (([], {}), (["--repository", URL], {}), ([], variables)):
        assert CliRunner().invoke(main, ["book", "build", *words], env=env).exit_code == 0
    assert [book.repository for book in books] == [None, Repository(URL), Repository(URL, "dev")]
