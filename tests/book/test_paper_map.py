"""The map from the paper and the trace study to this book."""

from mfc_lb.companion.figures import list_figures
from mfc_lb.companion.paper_map import PAPER_MAP_FILE, check_paper_map, read_paper_map
from mfc_lb.companion.typed_numbers import _parts, _states_result, _without, read_allowed


def test_all_that_the_map_names_exists_and_every_notebook_is_in_it(book):
    check_paper_map(book)


def test_every_figure_is_in_the_map(book):
    parts = read_paper_map(book.sources / PAPER_MAP_FILE)
    named = {name for part in parts for entry in part.entries for name in entry.figures}
    assert {figure.identifier for figure in list_figures(book)} - named == set()


def test_the_map_states_no_result_that_was_typed_by_hand(book):
    allowed = [entry for entry in read_allowed(book) if entry.page == "all"]
    path = book.sources / PAPER_MAP_FILE
    kept = [_without(part, allowed)[0] for part in _parts(path)]
    assert [part for part in kept if _states_result(part)] == []
