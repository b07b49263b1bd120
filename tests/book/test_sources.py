"""What the book's sources promise, without running them."""

import re

from mfc_lb.companion import check_book, list_notebooks
from mfc_lb.companion.expected import KINDS, SAMPLING, read_expected
from mfc_lb.companion.figures import list_figures
from mfc_lb.companion.notebooks import load
from mfc_lb.companion.settings import SUFFIXES, read_toc


def test_labels_values_and_settings_fit_together(book):
    assert check_book(book) != []


def test_citations_in_words_are_words_that_stand_alone(book):
    for figure in list_figures(book):
        citation = figure.cite({})["text"]
        assert not re.search(r"[\\${}^]|\b(cells?|just|this)\b", citation), citation


def test_every_page_is_in_the_table_of_contents(book):
    sources = {path for path in book.sources.iterdir() if path.suffix in SUFFIXES}
    assert sources == set(read_toc(book)[1])


def test_notebooks_hold_no_results(book):
    for path in sorted(book.sources.glob("*.ipynb")):
        cells = [cell for cell in load(path).cells if cell.cell_type == "code"]
        assert [cell.source for cell in cells if cell.outputs or cell.execution_count] == []


def test_every_notebook_has_both_sizes_and_starts_with_the_books(book):
    for notebook in list_notebooks(book):
        sizes = [parameter for parameter in notebook.parameters if parameter.name == "size"]
        assert [(size.default, size.choices) for size in sizes] == [("paper", ("quick", "paper"))]


def test_both_sizes_record_the_same_values(book):
    for notebook in list_notebooks(book):
        expected = read_expected(notebook.name, book)
        assert expected.keys() <= {"quick", "paper"}
        assert expected.get("quick", {}).keys() == expected.get("paper", {}).keys(), notebook.name


def test_what_is_judged_by_standard_errors_has_one(book):
    kinds = set()
    for notebook in list_notebooks(book):
        for name, entry in each_expected(notebook.name, book):
            sampled = "standard errors" in entry["why"]
            assert sampled == (entry["kind"] == SAMPLING), f"{notebook.name}: {name}"
            kinds.add(entry["kind"])
    assert kinds == set(KINDS)


def each_expected(name, book):
    return (item for entries in read_expected(name, book).values() for item in entries.items())
