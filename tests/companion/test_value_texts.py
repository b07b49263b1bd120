"""Texts and the values that they are to show."""

import pytest

from mfc_lb.companion.value_texts import error_faults, factors, text_faults, usual_factor

TRUE = [
    (28.41, "28.4 ± 0.1", 1),
    (28.41, "28", 1),
    (28.41, "28.41 (28.30 to 28.52)", 1),
    (-0.5, "−0.50", 1),
    (-0.5, "-0.50", 1),
    (0.165, "16 %", 100),
    (0.165, "17 %", 100),
    (-0.935, "−93.5 (−93.6 to −93.4) %", 100),
    (0.0306, "31", 1000),
    (2.2e-16, "2e-16", 1),
    (1.91e-10, "2e-08 %", 100),
    (5.66e-5, "0.000", 1),
    (495.55, "500", 1),
    (512000, "512 000", 1),
    (512000, "512\u202f000", 1),
    (123456.0, "1.235e+05", 1),
    (0.0, "exactly 0", 1),
    (0.0, "none", 1),
    (12, "12 cores", 1),
    (27.4, "25 to 27", 1),
    (25.4, "25 to 27", 1),
    ("JSQ(2)", "JSQ(2)", 1),
    ("per packet", "one by one", 1),
]
FALSE = [
    (28.41, "28.5 ± 0.1", 1),
    (28.41, "99.9", 1),
    (28.41, "-28.4", 1),
    (-0.5, "0.50", 1),
    (0.165, "165 %", 100),
    (0.165, "16.4 %", 100),
    (0.165, "0.165 %", 100),
    (0.0306, "3.1", 1000),
    (2.2e-16, "3e-16", 1),
    (2.2e-16, "2e-15", 1),
    (495.55, "510", 1),
    (1051.0, "1000", 1),
    (512001, "512 000", 1),
    (105, "100", 1),
    (26.4, "25 to 27 to 29", 1),
    (24.4, "25 to 27", 1),
    (12, "policy 2 of 12", 1),
    ("JSQ(2)", "JSQ(3)", 1),
    ("per packet", "28.4", 1),
]


@pytest.mark.parametrize(("value", "text", "factor"), TRUE)
def test_a_true_text_shows_its_value_to_its_digits(value, text, factor):
    assert list(text_faults(value, text, factor)) == []


@pytest.mark.parametrize(("value", "text", "factor"), FALSE)
def test_another_number_is_a_fault_that_names_text_and_value(value, text, factor):
    (fault,) = text_faults(value, text, factor)
    assert repr(text) in fault
    assert repr(value) in fault


@pytest.mark.parametrize("text", ["28.4 (28.5 to 28.6)", "28.4 (28.2 to 28.3)", "28.4 (29 to 28)"])
def test_a_number_outside_of_its_interval_is_a_fault(text):
    assert "outside of its interval" in next(text_faults(28.4, text, 1))


def test_a_text_in_percent_is_in_no_other_unit():
    assert factors("16 %") == (1, 100)
    assert factors("16") == (1, 100, 1000)
    assert (usual_factor("16 %"), usual_factor("16")) == (100, 1)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("6.70 (6.60 to 6.80)", 0.0289, 0.061),
        ("6.7 (6.2 to 7.4) %", 0.167, 0.382),
        ("28.4 ± 0.1", 0.051, 0.149),
    ],
)
def test_an_error_that_is_shown_is_the_recorded_one(text, least, most):
    for error in (least, most):
        assert list(error_faults(text, error)) == []
    for error in (least / 1.05, most * 1.05, -least):
        (fault,) = error_faults(text, error)
        assert text in fault


def test_a_text_without_an_error_says_nothing_of_it():
    assert list(error_faults("28.4", 5.0)) == []
