"""The map of the sources: what it names must exist."""

import pytest
import yaml

from mfc_lb.companion import CompanionError
from mfc_lb.companion.paper_map import PAPER_MAP_FILE, check_paper_map, read_paper_map
from tests.companion.demo import demo_book

ENTRY = {
    "what": "Decay of $x$",
    "state": "reproduced",
    "why": "It decays within {value}`finite_system/delay`.",
    "at": {"finite_system": ["The rate"], "introduction": []},
    "figures": ["decay"],
    "functions": ["mfc_lb.MeanFieldSystem.step", "mfc_lb.evaluate"],
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return demo_book(tmp_path_factory.mktemp("demo"))


def write(book, **changes):
    parts = [{"title": "The model", "entries": [ENTRY | changes]}]
    text = yaml.safe_dump({"parts": parts}, allow_unicode=True)
    (book.sources / PAPER_MAP_FILE).write_text(text, "utf-8")


def test_a_map_whose_names_all_exist_passes(small):
    write(small)
    check_paper_map(small)
    (part,) = read_paper_map(small.sources / PAPER_MAP_FILE)
    assert part.entries[0].at["finite_system"] == ("The rate",)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"state": "done"}, "its state 'done' is not one of reproduced, extended"),
        ({"why": " "}, "it does not say why"),
        ({"at": {"finite": [], "introduction": []}}, "no page 'finite'"),
        ({"at": {"finite_system": ["The rates"]}}, "no heading 'The rates' on finite_system"),
        ({"at": {"finite_system": []}}, "no entry leads to the notebook 'introduction'"),
        ({"figures": ["decey"]}, "no figure 'decey'"),
        ({"equations": ["eq-none"]}, "no equation 'eq-none'"),
        (
            {"functions": ["mfc_lb.MeanFieldSystem.stop"]},
            "no function 'mfc_lb.MeanFieldSystem.stop'",
        ),
        ({"functions": ["mfc_lb.nothing.here"]}, "no function 'mfc_lb.nothing.here'"),
        ({"why": "{value}`finite_system/none`"}, "no value finite_system/none"),
    ],
)
def test_what_does_not_exist_is_named(small, changes, fault):
    write(small, **changes)
    with pytest.raises(CompanionError, match=r"paper_map\.yml: ") as caught:
        check_paper_map(small)
    assert fault in str(caught.value)


def test_a_map_of_another_form_is_refused(small):
    (small.sources / PAPER_MAP_FILE).write_text("parts:\n- title: x\n")
    with pytest.raises(CompanionError, match=r"paper_map\.yml is not of the form: 'entries'"):
        read_paper_map(small.sources / PAPER_MAP_FILE)
    write(small, when="now")
    with pytest.raises(CompanionError, match=r"is not of the form: .*'when'"):
        read_paper_map(small.sources / PAPER_MAP_FILE)
