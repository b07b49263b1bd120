"""Recorded values against the expected ones."""

import json

import pytest

from mfc_lb.companion import CompanionError
from mfc_lb.companion.expected import check_values, read_expected
from mfc_lb.companion.notebooks import find_notebook
from tests.companion.cells import notebook, parameters_cell

LOSS = {"value": 0.1134, "tolerance": 1e-6, "kind": "exact", "why": "known in closed form"}
DROPS = {
    "value": 28.4,
    "tolerance": 0.1,
    "kind": "sampling",
    "standard_error": 0.02,
    "why": "five standard errors",
}
QUEUES = {"value": 100, "kind": "exact", "why": "the default"}
SECONDS = {"value": 3.0, "tolerance": 60.0, "kind": "timing", "why": "depends on the machine"}


@pytest.fixture
def compare(book, add, tmp_path):
    """Return a function that compares recorded values with the expected ones of a page."""

    def compared(recorded, expected, parameters=None, error=0.02):
        add("page", notebook(parameters_cell()), expected)
        values = {
            name: {"value": value, "text": "", "standard_error": error}
            for name, value in recorded.items()
        }
        (tmp_path / "values.json").write_text(json.dumps(values), "utf-8")
        check_values(find_notebook("page", book), parameters or {}, tmp_path, book)

    return compared


def test_values_within_tolerance_pass(compare):
    compare({"drops": 28.49, "queues": 100}, {"drops": DROPS, "queues": QUEUES})
    compare({"loss": 0.1134, "seconds": 50.0}, {"loss": LOSS, "seconds": SECONDS})
    compare({}, {})
    compare({"drops": 28.35}, {"drops": DROPS}, {"size": "paper"})
    compare({"drops": 28.35}, {"drops": DROPS}, {"delta_t": 5.0})


@pytest.mark.parametrize(
    ("recorded", "entry"),
    [(28.6, DROPS), (0.1135, LOSS), (101, QUEUES), ("100", QUEUES), (70.0, SECONDS)],
)
def test_drift_names_page_value_got_expected_tolerance_and_kind(compare, recorded, entry):
    with pytest.raises(CompanionError) as failed:
        compare({"x": recorded}, {"x": entry})
    tolerance = f" ± {entry['tolerance']!r}" if "tolerance" in entry else ""
    assert str(failed.value) == (
        f"page: the value 'x' is {recorded!r}, expected {entry['value']!r}{tolerance} "
        f"({entry['kind']}: {entry['why']})"
    )


@pytest.mark.parametrize("error", [0.041, 0.009, 0.0, None])
def test_a_standard_error_that_is_missing_or_far_off_is_a_drift(compare, error):
    with pytest.raises(
        CompanionError, match=r"page: the standard error of .drops. is .* about 0\.02"
    ):
        compare({"drops": 28.4}, {"drops": DROPS}, error=error)


def test_other_parameters_give_other_numbers_but_the_same_names(compare):
    compare({"drops": 99.0}, {"drops": DROPS}, {"delta_t": 9.0})
    with pytest.raises(CompanionError, match="'drops' was not recorded"):
        compare({}, {"drops": DROPS}, {"delta_t": 9.0})


def test_a_value_that_is_missing_or_not_expected_fails(compare):
    with pytest.raises(CompanionError) as failed:
        compare({"b": 1.0}, {"a": DROPS})
    lines = str(failed.value).splitlines()
    assert lines == [
        "page: the value 'a' was not recorded",
        "page: the value 'b' = 1.0 has no entry in book/expected/page.json for size 'quick'",
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"tolerance": None}, "a 'tolerance' >= 0"),
        ({"tolerance": -0.1}, "a 'tolerance' >= 0"),
        ({"tolerance": "0.1"}, "a 'tolerance' >= 0"),
        ({"tolerance": True}, "a 'tolerance' >= 0"),
        ({"why": None}, "a 'why'"),
        ({"why": " "}, "a 'why'"),
        ({"kind": None}, "a 'kind' that is one of exact, sampling, timing"),
        ({"kind": "rough"}, "a 'kind'"),
        ({"value": None}, "a 'value' that is a number or a word"),
        ({"value": [1.0]}, "a 'value' that is a number or a word"),
        ({"note": "x"}, "no field 'note'"),
        ({"standard_error": None}, "a 'standard_error' > 0 and a 'tolerance' that is 4 to 5 times"),
        ({"standard_error": 0.0}, "a 'standard_error' > 0"),
        ({"standard_error": 0.03}, ".*4 to 5 times"),
        ({"standard_error": 0.01}, ".*4 to 5 times"),
        ({"kind": "exact"}, "no 'standard_error', since its kind is 'exact'"),
    ],
)
def test_an_expected_value_needs_value_tolerance_kind_and_reason(book, add, change, fault):
    entry = {name: value for name, value in (DROPS | change).items() if value is not None}
    add("page", notebook(parameters_cell()), {"drops": entry})
    with pytest.raises(CompanionError, match=f"page: quick/drops in page.json must have {fault}"):
        read_expected("page", book)


@pytest.mark.parametrize("entry", [1.0, [], None])
def test_an_entry_that_is_no_object_is_refused(book, add, entry):
    add("page", notebook(parameters_cell()), {"drops": entry})
    with pytest.raises(CompanionError, match="must have the fields of an entry"):
        read_expected("page", book)


@pytest.mark.parametrize("text", ["{", "[]", '{"quick": 1}'])
def test_a_file_of_expected_values_of_another_form_is_refused(book, text):
    (book.expected / "page.json").write_text(text, "utf-8")
    with pytest.raises(CompanionError, match=r"page: page.json"):
        read_expected("page", book)
