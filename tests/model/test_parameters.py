"""Parameters: the paper's defaults, and every kind of wrong value refused where it enters."""

import re

import numpy as np
import pytest

from mfc_lb import ArrivalProcess, InvalidInput, SystemParameters


def test_defaults_are_the_papers():
    p = SystemParameters()
    assert (p.buffer_size, p.num_choices, p.delta_t) == (5, 2, 1.0)
    assert (p.service_rates, p.class_fractions) == ((1.0,), (1.0,))
    assert p.arrivals.rates == (0.9, 0.6)
    assert p.arrivals.kernel == ((0.8, 0.2), (0.5, 0.5))
    assert p.arrivals.initial == (0.5, 0.5)


def test_states_are_class_times_filling():
    p = SystemParameters(buffer_size=2, service_rates=(1.0, 0.5), class_fractions=(0.25, 0.75))
    assert p.num_states == 6
    assert p.fillings.tolist() == [0, 1, 2, 0, 1, 2]
    assert p.state_service_rates.tolist() == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
    assert p.empty_distribution.tolist() == [0.25, 0, 0, 0.75, 0, 0]


@pytest.mark.parametrize(("delta_t", "epochs"), [(1, 500), (3, 167), (7, 71), (10, 50), (1e6, 1)])
def test_evaluation_has_round_500_over_delta_t_epochs(delta_t, epochs):
    assert SystemParameters(delta_t=delta_t).num_epochs() == epochs


def test_numpy_scalars_and_lists_are_stored_as_plain_values():
    p = SystemParameters(np.int64(3), np.int32(2), [np.float32(1)], np.array([1.0]), delta_t=2)
    assert type(p.buffer_size) is int
    assert p.service_rates == (1.0,)
    assert p == SystemParameters(buffer_size=3, delta_t=2.0)
    assert hash(p) == hash(SystemParameters(buffer_size=3, delta_t=2.0))


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("buffer_size", 0, "an integer >= 1 and <= 1000000"),
        ("buffer_size", 2.5, "an integer >= 1 and <= 1000000"),
        ("buffer_size", "5", "an integer >= 1 and <= 1000000"),
        ("buffer_size", True, "an integer >= 1 and <= 1000000"),
        ("num_choices", 0, "an integer >= 1 and <= 1000"),
        ("num_choices", -1, "an integer >= 1 and <= 1000"),
        ("num_choices", 1100, "an integer >= 1 and <= 1000"),
        ("delta_t", 1j, "a finite number > 0"),
        ("delta_t", 0.0, "a finite number > 0"),
        ("delta_t", -1.0, "a finite number > 0"),
        ("delta_t", float("nan"), "a finite number > 0"),
        ("delta_t", float("inf"), "a finite number > 0"),
        ("delta_t", "1", "a finite number > 0"),
        ("delta_t", None, "a finite number > 0"),
        ("service_rates", 1.0, "a sequence of numbers"),
        ("service_rates", (), "a sequence of at least one number"),
        ("arrivals", 0.9, "an ArrivalProcess"),
    ],
)
def test_a_wrong_value_is_refused_with_field_value_and_range(field, value, allowed):
    with pytest.raises(InvalidInput) as refusal:
        SystemParameters(**{field: value})
    assert str(refusal.value) == f"{field} must be {allowed}, got {value!r}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"service_rates": (1.0, -1.0)}, "service_rates[1] must be a finite number > 0, got -1.0"),
        ({"service_rates": (0.0,)}, "service_rates[0] must be a finite number > 0, got 0.0"),
        ({"class_fractions": (float("nan"),)}, "class_fractions[0] must be a finite number >= 0"),
        ({"class_fractions": (0.5,)}, "class_fractions must sum to 1 within 1e-09, got a sum of"),
        (
            {"service_rates": (1.0, 2.0)},
            "class_fractions must be one fraction for each of the 2 service_rates, got (1.0,)",
        ),
    ],
)
def test_wrong_server_classes_are_refused(changes, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        SystemParameters(**changes)


def test_numbers_beyond_float64_are_refused():
    with pytest.raises(InvalidInput, match="delta_t must be a finite number > 0, got 1000"):
        SystemParameters(delta_t=10**400)
    with pytest.raises(InvalidInput, match=r"horizon must be less than 1e\+09 epochs long"):
        SystemParameters(delta_t=1e-300).num_epochs(1e300)


def test_replace_checks_again():
    with pytest.raises(InvalidInput, match="delta_t must be"):
        SystemParameters().replace(delta_t=-2.0)
    assert SystemParameters().replace(arrivals=ArrivalProcess.constant(0)).arrivals.rates == (0.0,)
