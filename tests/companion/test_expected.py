"""Recorded values against the expected ones."""

import json
import re

import pytest

from mfc_lb.companion import CompanionError, check_book
from mfc_lb.companion.expected import check_files, check_values, read_expected
from mfc_lb.companion.notebooks import find_notebook
from tests.companion.cells import notebook, parameters_cell
from tests.companion.demo import demo_book

LOSS = {"value": 0.1134, "tolerance": 2e-7, "kind": "exact", "why": "known in closed form"}
DROPS = {
    "value": 28.4,
    "tolerance": 0.1,
    "kind": "sampling",
    "standard_error": 0.02,
    "why": "five standard errors",
}
QUEUES = {"value": 100, "kind": "exact", "why": "the default"}
TRAINED = LOSS | {"tolerance": 0.05, "optimised": True}
SECONDS = {"value": 3.0, "tolerance": 60.0, "kind": "timing", "why": "depends on the machine"}


@pytest.fixture
def compare(book, add, tmp_path):
    """Return a function that compares recorded values with the expected ones of a page."""

    def compared(recorded, expected, parameters=None, error=0.02, text="some"):
        add("page", notebook(parameters_cell()), expected)
        values = {
            name: {"value": value, "text": text, "standard_error": error}
            for name, value in recorded.items()
        }
        (tmp_path / "values.json").write_text(json.dumps(values), "utf-8")
        check_values(find_notebook("page", book), parameters or {}, tmp_path, book)

    return compared


def test_values_within_tolerance_pass(compare):
    compare({"drops": 28.49, "queues": 100}, {"drops": DROPS, "queues": QUEUES})
    compare({"loss": 0.1134, "seconds": 50.0}, {"loss": LOSS, "seconds": SECONDS})
    compare({}, {})
    compare({"drops": 28.4}, {"drops": DROPS}, error=0.025)
    compare({"loss": 0.16}, {"loss": TRAINED})
    compare({"drops": 28.35}, {"drops": DROPS}, {"size": "paper"})
    compare({"drops": 28.35}, {"drops": DROPS}, {"delta_t": 5.0})


@pytest.mark.parametrize(
    ("recorded", "entry"),
    [
        (28.6, DROPS),
        (0.1135, LOSS),
        (0.17, TRAINED),
        (101, QUEUES),
        ("one", QUEUES),
        (70.0, SECONDS),
    ],
)
def test_drift_names_page_value_got_expected_tolerance_and_kind(compare, recorded, entry):
    with pytest.raises(CompanionError) as failed:
        compare({"x_seconds": recorded}, {"x_seconds": entry})
    tolerance = f" ± {entry['tolerance']!r}" if "tolerance" in entry else ""
    assert str(failed.value) == (
        f"page: the value 'x_seconds' is {recorded!r}, expected {entry['value']!r}{tolerance} "
        f"({entry['kind']}: {entry['why']})"
    )


@pytest.mark.parametrize("error", [0.027, 0.015, 0.0, None])
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
        ({"tolerance": None}, "a finite 'tolerance' >= 0"),
        ({"tolerance": -0.1}, "a finite 'tolerance' >= 0"),
        ({"tolerance": "0.1"}, "a finite 'tolerance' >= 0"),
        ({"tolerance": True}, "a finite 'tolerance' >= 0"),
        ({"why": None}, "a 'why'"),
        ({"why": " "}, "a 'why'"),
        ({"kind": None}, "a 'kind' that is one of exact, sampling, timing"),
        ({"kind": "rough"}, "a 'kind'"),
        ({"kind": "timing"}, "another 'kind' than 'timing', since its name does not end in"),
        ({"value": None}, "a 'value' that is a finite number or a word"),
        ({"value": [1.0]}, "a 'value' that is a finite number or a word"),
        ({"note": "x"}, "no field 'note'"),
        ({"standard_error": None}, "a 'standard_error' > 0 and a 'tolerance' that is 4 to 5 times"),
        ({"standard_error": 0.0}, "a 'standard_error' > 0"),
        ({"standard_error": 0.03}, ".*4 to 5 times"),
        ({"standard_error": 0.01}, ".*4 to 5 times"),
        ({"kind": "exact", "tolerance": 0}, "no 'standard_error', since its kind is 'exact'"),
        ({"shown_times": 10}, "a 'shown_times' that is one of 1, 100, 1000"),
        ({"optimised": True}, "an 'optimised' that is true, and only if its kind is 'exact'"),
        ({"kind": "exact", "tolerance": 0, "optimised": False}, "an 'optimised' that is true"),
    ],
)
def test_an_expected_value_needs_value_tolerance_kind_and_reason(book, add, change, fault):
    entry = {name: value for name, value in (DROPS | change).items() if value is not None}
    add("page", notebook(parameters_cell()), {"drops": entry})
    with pytest.raises(CompanionError, match=f"page: quick/drops in page.json must have {fault}"):
        read_expected("page", book)


@pytest.mark.parametrize(
    ("entry", "tolerance", "widest"),
    [
        (LOSS, 3e-7, "2.27e-07"),
        (LOSS | {"value": 0.0, "tolerance": 1e-7}, 2e-7, "1e-07"),
        (LOSS | {"value": -50.0}, 2e-4, "0.0001"),
        (LOSS | {"value": 1e9}, 1e9, "2e+03"),
        (TRAINED, 0.06, "0.0567"),
        (QUEUES, 1, "0.0002"),
        (QUEUES | {"value": "JSQ"}, 1e-9, "0"),
    ],
)
def test_the_tolerance_of_what_is_exact_is_for_rounding_alone(book, add, entry, tolerance, widest):
    add("page", notebook(parameters_cell()), {"x": entry})
    read_expected("page", book)
    add("page", notebook(parameters_cell()), {"x": entry | {"tolerance": tolerance}})
    with pytest.raises(CompanionError, match=rf"a 'tolerance' of at most {re.escape(widest)}, "):
        read_expected("page", book)


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
@pytest.mark.parametrize("name", ["value", "tolerance", "standard_error"])
@pytest.mark.parametrize("entry", [DROPS, LOSS, SECONDS])
def test_numbers_that_are_not_finite_are_refused(book, entry, name, number):
    changed = json.dumps({"quick": {"x_seconds": entry | {name: "here"}}}).replace('"here"', number)
    (book.expected / "page.json").write_text(changed, "utf-8")
    with pytest.raises(CompanionError, match=r"quick/x_seconds in page.json must have (a|no) "):
        read_expected("page", book)


def test_an_entry_or_a_field_that_comes_twice_is_refused(book):
    for text in ('{"quick": {"x": 1, "x": 2}}', '{"quick": {"x": {"why": "a", "why": "b"}}}'):
        (book.expected / "page.json").write_text(text, "utf-8")
        with pytest.raises(CompanionError, match=r"the key '(x|why)' comes twice"):
            read_expected("page", book)


def test_a_size_that_no_notebook_has_is_refused(book):
    (book.expected / "page.json").write_text('{"quick": {}, "papr": {}}', "utf-8")
    with pytest.raises(CompanionError, match=r"page: unknown size 'papr' in page.json"):
        read_expected("page", book)


def test_a_file_for_no_notebook_is_refused(book, add):
    add("page", notebook(parameters_cell()), {})
    check_files(["page", "other"], book)
    with pytest.raises(CompanionError, match=r"^book/expected: page.json is for no notebook"):
        check_files(["other"], book)


def test_the_check_of_a_book_reads_its_list_of_files(tmp_path):
    small = demo_book(tmp_path)
    check_book(small)
    (small.expected / "ghost.json").write_text("{}", "utf-8")
    with pytest.raises(CompanionError, match=r"ghost.json is for no notebook"):
        check_book(small)


# --- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"delta_t": 9.0}])
def test_a_text_that_does_not_show_its_value_fails_every_run(compare, parameters):
    compare({"x": 0.1134}, {"x": LOSS}, parameters, text="11 %")
    for text, times in (("99.9", ""), ("113 %", " times 100"), ("113", "")):
        with pytest.raises(CompanionError) as failed:
            compare({"x": 0.1134}, {"x": LOSS}, parameters, text=text)
        assert str(failed.value) == (
            f"page: the text {text!r} does not show the value 0.1134{times}, recorded as 'x'"
        )


def test_an_entry_says_by_which_factor_its_value_is_shown(compare):
    compare({"x": 0.1134}, {"x": LOSS | {"shown_times": 1000}}, text="113")
    compare({"x": 0.1134}, {"x": LOSS | {"shown_times": 1}}, text="0.11 %")
    with pytest.raises(CompanionError, match=r"'0.113' does not show the value 0.1134 times 1000"):
        compare({"x": 0.1134}, {"x": LOSS | {"shown_times": 1000}}, text="0.113")


def test_an_interval_fits_the_standard_error(compare):
    in_thousandths = {"drops": DROPS | {"shown_times": 1000}}
    compare({"drops": 28.4}, {"drops": DROPS}, text="28.40 (28.36 to 28.44)")
    compare({"drops": 28.411}, in_thousandths, text="28411 (28371 to 28451)")
    narrow = {"text": "28.40 (28.38 to 28.42)"}
    compare({"drops": 28.4}, {"drops": DROPS}, {"delta_t": 9.0}, **narrow)
    with pytest.raises(CompanionError, match=r"does not fit the standard error 0\.02 of 'drops'"):
        compare({"drops": 28.4}, {"drops": DROPS}, **narrow)


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
