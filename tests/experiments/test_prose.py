"""How prose shows numbers, at the documented limits."""

import math

import pandas as pd
import pytest

from mfc_lb.experiments.prose import as_text, crossing_text

SHOWN = "6.70 (6.69 to 6.71)"


@pytest.mark.parametrize(
    ("share", "place", "text"),
    [
        (1.0, 6.7, SHOWN),
        (0.975, 6.7, SHOWN),
        (0.9745, 6.7, "uncertain"),
        (0.5, 6.7, "uncertain"),
        (0.025, 6.7, "uncertain"),
        (0.0245, 6.7, "none"),
        (0.0, math.nan, "none"),
        (0.3, math.nan, "uncertain"),
        (0.99, math.nan, "uncertain"),
    ],
)
def test_a_crossing_is_shown_if_975_of_1000_draws_have_it(share, place, text):
    ends = {"interval_low": 6.694, "interval_high": 6.705}
    crossing = pd.Series({"delta_t": place, "share": share, **ends})
    assert crossing_text(crossing, "delta_t", 2) == text


def test_a_crossing_stands_at_the_place_that_is_asked_for():
    ends = {"interval_low": -2.26, "interval_high": 3.44}
    crossing = pd.Series({"delta_t": 5.0, "agents_per_queue": -0.04, "share": 1.0, **ends})
    assert crossing_text(crossing, "agents_per_queue", 1) == "0.0 (−2.3 to 3.4)"


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [(-0.04, 1, "0.0"), (-1.26, 1, "−1.3"), (12.5, 2, "12.50"), (1234.0, 0, "1234")],
)
def test_numbers_have_their_digits_and_a_true_minus(number, digits, text):
    assert as_text(number, digits) == text
