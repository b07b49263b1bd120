"""Names of figures are addresses that others cite: none may vanish."""

from collections.abc import Iterable
from pathlib import Path

from mfc_lb.companion import list_figures

LIST = Path(__file__).with_name("figure_identifiers.txt")


def faults(listed: list[str], published: Iterable[str]) -> list[str]:
    names = set(published)
    vanished = [f"{name} is published no more" for name in listed if name not in names]
    unlisted = [f"add {name} to {LIST.name}" for name in sorted(names - set(listed))]
    return vanished + unlisted


def test_no_figure_has_vanished_and_new_ones_are_listed(book):
    listed = LIST.read_text("utf-8").split()
    assert faults(listed, (figure.identifier for figure in list_figures(book))) == []
    assert listed == sorted(set(listed))


def test_a_renamed_figure_is_found_out():
    assert faults(["a", "b"], ["a", "c"]) == [
        "b is published no more",
        "add c to figure_identifiers.txt",
    ]
