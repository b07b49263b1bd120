"""What is refused before a notebook runs, and how the refusal reads."""

import math

import numpy as np
import pytest

from mfc_lb import InvalidInput
from mfc_lb.companion.parameters import (
    Parameter,
    convert_parameters,
    did_you_mean,
    parse_assignments,
)

DELAY = Parameter("delta_t", "float", 5.0, "the delay", 0.1, 50.0)
QUEUES = Parameter("num_queues", "int", 100, "number of queues", 1.0, 10_000.0)
SIZE = Parameter("size", "str", "quick", "the results", choices=("quick", "paper"))
TIES = Parameter("ties", "bool", False, "whether ties are split")
CHOICES = Parameter("num_choices", "int", 2, "queues sampled", choices=(1, 2, 4))
FILE = Parameter("trace", "str", "ramp", "name of a file")


@pytest.mark.parametrize(
    ("parameter", "given", "converted"),
    [
        (DELAY, "3", 3.0),
        (DELAY, " 3.5 ", 3.5),
        (DELAY, "1e1", 10.0),
        (DELAY, 3, 3.0),
        (DELAY, np.float64(0.1), 0.1),
        (DELAY, "50", 50.0),
        (QUEUES, "500", 500),
        (QUEUES, "+1", 1),
        (QUEUES, np.int64(10_000), 10_000),
        (SIZE, "paper", "paper"),
        (TIES, "True", True),
        (TIES, "false", False),
        (TIES, True, True),
        (CHOICES, "4", 4),
        (FILE, " my trace.csv ", "my trace.csv"),
    ],
)
def test_values_are_converted_to_the_declared_type(parameter, given, converted):
    value = parameter.convert(given)
    assert (value, type(value)) == (converted, type(converted))


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        (DELAY, "abc"),
        (DELAY, ""),
        (DELAY, "nan"),
        (DELAY, "inf"),
        (DELAY, "1e999"),
        (DELAY, math.nan),
        (DELAY, -math.inf),
        (DELAY, 10**400),
        (DELAY, "0.09"),
        (DELAY, "50.1"),
        (DELAY, -1),
        (DELAY, "1,2,5"),
        (DELAY, "1 2"),
        (DELAY, [1.0, 2.0]),
        (DELAY, None),
        (DELAY, True),
        (DELAY, 1j),
        (QUEUES, "3.5"),
        (QUEUES, "3.0"),
        (QUEUES, "1e3"),
        (QUEUES, 3.0),
        (QUEUES, "0"),
        (QUEUES, "-5"),
        (QUEUES, 10_001),
        (QUEUES, True),
        (QUEUES, "0x10"),
        (SIZE, "big"),
        (SIZE, "Quick"),
        (SIZE, ""),
        (SIZE, 1),
        (TIES, "1"),
        (TIES, 1),
        (TIES, "yes"),
        (CHOICES, "3"),
        (FILE, 3),
    ],
)
def test_other_values_are_refused_in_one_line_with_name_value_and_what_is_allowed(parameter, given):
    with pytest.raises(InvalidInput) as refused:
        parameter.convert(given)
    message = str(refused.value)
    assert "\n" not in message
    for part in (parameter.name, parameter.allowed, repr(given)):
        assert part in message


def test_what_is_allowed_is_said_in_words():
    assert DELAY.allowed == "one number, 0.1 to 50"
    assert QUEUES.allowed == "one integer, 1 to 10000"
    assert SIZE.allowed == "one of quick, paper"
    assert TIES.allowed == "true or false"
    assert FILE.allowed == "any text"


def test_an_unknown_name_is_refused_with_the_nearest_ones():
    with pytest.raises(InvalidInput, match="page has no parameter 'deltat'; did you mean delta_t"):
        convert_parameters([DELAY, QUEUES], {"deltat": "3"}, "page")


def test_a_name_like_none_is_refused_with_all():
    with pytest.raises(InvalidInput, match="there are: delta_t, num_queues"):
        convert_parameters([DELAY, QUEUES], {"xyz": "3"}, "page")


def test_of_many_names_the_nearest_are_named():
    many = [f"drops-by-{letter * 9}" for letter in "abcdefghijklm"]
    for unknown in ("xyz", "ñ", "drops of all systems"):
        assert did_you_mean(unknown, many).count("drops-by") == 3
        assert did_you_mean(unknown, many).startswith("; did you mean drops-by-")
        assert did_you_mean(unknown, many[:1]) == f"; there are: {many[0]}"
    assert did_you_mean("the K figure: kkk", many) == f"; did you mean {many[10]}?"


def test_only_given_parameters_are_returned():
    assert convert_parameters([DELAY, QUEUES], {"delta_t": "3"}, "page") == {"delta_t": 3.0}


def test_assignments_may_hold_spaces_and_further_equals_signs():
    assert parse_assignments([" delta_t = 3 ", "name=a=b"]) == {"delta_t": "3", "name": "a=b"}


@pytest.mark.parametrize("word", ["delta_t", "=3", "delta_t=", "", "="])
def test_a_word_that_is_no_assignment_is_refused(word):
    with pytest.raises(InvalidInput, match="NAME=VALUE"):
        parse_assignments([word])


def test_several_values_for_one_name_are_refused():
    with pytest.raises(InvalidInput, match="delta_t is given twice, as '3' and as '5'"):
        parse_assignments(["delta_t=3", "delta_t=5"])
