"""Which notebooks there are, and what each declares."""

import pytest
from nbformat.v4 import new_code_cell

from mfc_lb import InvalidInput
from mfc_lb.companion import CompanionError, find_notebook, list_notebooks
from mfc_lb.companion.parameters import Parameter
from tests.companion.cells import notebook, parameters_cell


def test_notebooks_are_listed_with_titles_and_parameters(book, add):
    add("second", notebook(parameters_cell(), title="Before\n\n## Not this\n\n# Two queues"))
    add("first", notebook(parameters_cell("")))
    first, second = list_notebooks(book)
    assert (first.name, first.title, first.parameters) == ("first", "A page", ())
    assert (second.name, second.title) == ("second", "Two queues")
    assert second.parameters == (
        Parameter(
            "delta_t", "float", 5.0, "synchronisation delay, in mean service times", 0.1, 50.0
        ),
        Parameter("num_queues", "int", 100, "number of queues M", 1.0, 10_000.0),
        Parameter("size", "str", "quick", "which results are shown", choices=("quick", "paper")),
    )


def test_an_unknown_notebook_is_refused_with_the_nearest_ones(book, add):
    add("finite_system", notebook(parameters_cell()))
    with pytest.raises(
        InvalidInput, match="no notebook 'finite-sytem'; did you mean finite_system"
    ):
        find_notebook("finite-sytem", book)


def test_a_path_is_no_name(book, add):
    add("page", notebook(parameters_cell()))
    with pytest.raises(InvalidInput, match="there is no notebook"):
        find_notebook("../book/page", book)


@pytest.mark.parametrize("count", [0, 2])
def test_exactly_one_parameters_cell_is_needed(book, add, count):
    add("page", notebook(*[parameters_cell() for _ in range(count)]))
    with pytest.raises(CompanionError, match=f"page: {count} cells are tagged 'parameters'"):
        find_notebook("page", book)


@pytest.mark.parametrize(
    "line",
    [
        "delta_t = 5.0  # no type; 1 to 9",
        "import numpy",
        "delta_t: float = 2 * 3  # an expression; 1 to 9",
        "delta_t: float",
        "delta_t: float = ",
        "a.b: float = 1.0  # not a name; 0 to 9",
        "delta_t: float = 5.0  # no range",
        "delta_t: float = 5.0",
        "delta_t: float = 5.0  # backwards; 9 to 1",
        "delta_t: float = 5.0  # not numbers; low to high",
        "delta_t: float = 5.0  # not finite; 0 to inf",
        "delta_t: float = 5.0  # an equals sign, M = 3; 1 to 9",
        "delta_t: float = 50.0  # own default out of range; 1 to 9",
        "delta_t: int = 5.0  # a float in an int; 1 to 9",
        'delta_t: float = "5"  # a word in a float; 1 to 9',
        "delta_t: bool = 1  # an int in a bool",
        "delta_t: list = [1]  # a list; 1 to 9",
        'size: str = "quick"  # a range of words; a to z',
        'size: str = "a#b"  # a hash in a word; one of a#b, c',
        "d: int = 2  # a choice that is no integer; one of 2, two",
        "d: int = 2  # twice; 1 to 4\nd: int = 3  # twice; 1 to 4",
    ],
)
def test_a_line_that_says_not_enough_is_refused_in_one_line(book, add, line):
    add("page", notebook(parameters_cell(line)))
    with pytest.raises(CompanionError, match=r"^page: .*") as refused:
        find_notebook("page", book)
    assert "\n" not in str(refused.value)


def test_booleans_and_choices_of_numbers_are_declared_plainly(book, add):
    lines = "ties: bool = False  # split ties; evenly\nd: int = 2  # queues sampled; one of 1, 2\n"
    add("page", notebook(parameters_cell(lines)))
    assert find_notebook("page", book).parameters == (
        Parameter("ties", "bool", False, "split ties; evenly"),
        Parameter("d", "int", 2, "queues sampled", choices=(1, 2)),
    )


def test_a_file_that_is_no_notebook_is_refused_in_one_line(book):
    (book.sources / "page.ipynb").write_text("{", "utf-8")
    with pytest.raises(CompanionError, match="page: not a readable notebook") as refused:
        find_notebook("page", book)
    assert "\n" not in str(refused.value)


def test_a_notebook_of_another_kernel_is_refused(book, add):
    content = notebook(parameters_cell())
    content.metadata.kernelspec.name = "my-environment"
    add("page", content)
    with pytest.raises(CompanionError, match=r"page: its kernel must be .* not 'my-environment'"):
        find_notebook("page", book)


def test_a_notebook_needs_a_title(book, add):
    add("page", notebook(parameters_cell(), new_code_cell("# no title"), title="Text"))
    with pytest.raises(CompanionError, match="page: no heading"):
        find_notebook("page", book)
