"""The book's figures, known without a run."""

import pytest

from mfc_lb.companion import find_figure, list_figures
from mfc_lb.companion.citations import YEAR
from mfc_lb.companion.figures import _numbers
from mfc_lb.errors import InvalidInput
from tests.companion.demo import demo_book


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return demo_book(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def decay(small):
    return find_figure("decay", small)


def test_figures_are_listed_with_number_and_notebook(small):
    (found,) = list_figures(small)
    assert (found.identifier, found.number) == ("decay", "1.1")
    assert found.notebook.name == "finite_system"
    assert found.address == "finite_system.html#fig-decay"


def test_figures_are_numbered_by_chapter_and_together_outside_of_chapters():
    pages = ["introduction", "two", "two", "one", "afterword"]
    numbers = _numbers({"one": "1.", "two": "2."}, pages)
    assert numbers == ["1", "2.1", "2.2", "1.1", "2"]


def test_a_figure_is_found_by_its_label_too(small, decay):
    assert find_figure("fig-decay", small) == decay


def test_an_unknown_figure_is_refused(small):
    with pytest.raises(InvalidInput, match=r"no figure 'decey'; did you mean decay\?"):
        find_figure("decey", small)


def test_the_command_names_what_was_changed_and_nothing_else(decay):
    given = {"delta_t": 5.0, "num_queues": 7, "size": "paper"}
    assert decay.command(given) == "mfc-lb figure make decay -p num_queues=7 -p size=paper"
    assert decay.command({}) == "mfc-lb figure make decay"


def test_a_run_is_that_of_the_book_unless_something_is_changed(decay):
    assert decay.run_parameters({}) == {"size": "quick"}
    assert decay.run_parameters({"delta_t": "5", "size": "paper"}) == {"size": "paper"}
    assert decay.run_parameters({"delta_t": "3"}) == {"size": "quick", "delta_t": 3.0}


def test_bad_parameters_are_refused(decay):
    with pytest.raises(InvalidInput, match=r"delta_t must be one number, 0.1 to 50, got '99'"):
        decay.run_parameters({"delta_t": "99"})


def test_a_citation_names_the_figure_and_what_was_changed(decay):
    cited = decay.cite({"size": "paper", "delta_t": 3.0})
    assert "Figure decay (delta_t=3.0, size=paper) in mfc_lb: load" in cited["text"]
    assert "Figure decay (delta\\_t=3.0, size=paper) in mfc\\_lb: load" in " ".join(
        cited["bibtex"].split()
    )
    assert cited["text"].startswith(f"The mfc_lb developers ({YEAR}). By eq-rate, x decays. Figure")
