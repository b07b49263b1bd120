"""Rates, crossings and sizes that suffice, on tables whose answers are known."""

import math

import numpy as np
import pandas as pd
import pytest

from mfc_lb.errors import InvalidInput
from mfc_lb.experiments.analysis import (
    average,
    crossings,
    rates,
    smallest_advantage,
    where_choices_stop_mattering,
    without_learned,
)
from mfc_lb.experiments.prose import as_text, crossing_text

SIZES = np.array([10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0])


def convergence_table() -> pd.DataFrame:
    rows = []
    for limit, measure, exponent in (
        ("queues", "distance", -0.5),
        ("queues", "bias", -1.0),
        ("agents", "bias", -1.0),
        ("agents", "distance", 0.0),
    ):
        for size in SIZES:
            agents = {"num_queues": 10, "num_agents": 100 * size}
            queues = {"num_queues": size, "num_agents": size**2}
            rows.append(
                {
                    "limit": limit,
                    "measure": measure,
                    **(queues if limit == "queues" else agents),
                    "delta_t": 5.0,
                    "policy": "RND",
                    "estimate": 2.0 * (size if limit == "queues" else 100 * size) ** exponent,
                    "standard_error": 1e-6,
                }
            )
    return pd.DataFrame(rows)


def test_rates_fit_each_measure_that_vanishes():
    fitted = rates(convergence_table()).set_index(["limit", "measure"])
    assert list(fitted.index) == [("queues", "distance"), ("queues", "bias"), ("agents", "bias")]
    assert fitted.exponent.tolist() == pytest.approx([-0.5, -1.0, -1.0], abs=1e-4)
    assert fitted.factor.tolist() == pytest.approx([2.0, 2.0, 2.0], rel=1e-3)


def differences(policy_minus_random, standard_error: float) -> pd.DataFrame:
    delays = np.arange(1.0, 11.0)
    return pd.DataFrame(
        {
            "system": "finite",
            "routing": "per_epoch",
            "num_queues": 100.0,
            "delta_t": delays,
            "policy": "JSQ(2)",
            "reference": "RND",
            "estimate": policy_minus_random(delays),
            "standard_error": standard_error,
            "num_runs": 100,
        }
    )


def test_crossing_is_the_root_and_its_error_follows_from_the_slope():
    table = differences(lambda delay: 4.0 * (delay - 6.7), standard_error=0.4)
    (crossing,) = crossings(table).itertuples()
    assert crossing.delta_t == pytest.approx(6.7, abs=1e-9)
    # Between two estimates the error is a little smaller than at one of them, 0.4/4.
    assert (crossing.interval_high - crossing.interval_low) / 3.92 == pytest.approx(0.08, rel=0.2)
    assert crossing.standard_error == pytest.approx(0.08, rel=0.2)
    assert crossing.interval_low < 6.7 < crossing.interval_high
    assert crossing.num_runs == 100


def test_interval_of_a_crossing_has_its_draws_quantiles_for_ends():
    """Between two estimates the root is a quotient, whose error is known."""
    table = differences(lambda delay: delay - 6.0, standard_error=0.02)
    table = table[table.delta_t.isin([5.0, 8.0])]
    (crossing,) = crossings(table, num_draws=20_000).itertuples()
    error = 0.02 * np.hypot(1.0, 2.0) / 3.0
    assert crossing.delta_t == pytest.approx(6.0)
    assert crossing.interval_low == pytest.approx(6.0 - 1.96 * error, abs=0.1 * error)
    assert crossing.interval_high == pytest.approx(6.0 + 1.96 * error, abs=0.1 * error)
    assert crossing.standard_error == pytest.approx(error, rel=0.05)


def test_no_crossing_is_no_number():
    (crossing,) = crossings(differences(lambda delay: 1.0 + delay, 0.01)).itertuples()
    assert math.isnan(crossing.delta_t)
    assert math.isnan(crossing.interval_low)


def test_any_pair_that_the_table_has_may_cross():
    other = differences(lambda delay: delay - 3.0, 0.01).assign(policy="MF", reference="softmin")
    table = pd.concat([differences(lambda delay: delay - 8.0, 0.01), other])
    (crossing,) = crossings(table, "MF", "softmin").itertuples()
    assert crossing.delta_t == pytest.approx(3.0)
    assert crossing.share == 1.0
    with pytest.raises(InvalidInput, match="policy and reference"):
        crossings(table, "MF", "RND")
    with pytest.raises(InvalidInput, match="along must be"):
        crossings(table, along="num_queues")


def by_population(difference) -> pd.DataFrame:
    ratios = np.array([0.1, 1.0, 10.0, 100.0, np.inf])
    cases = [
        differences(difference, 0.01).iloc[:5].assign(agents_per_queue=ratios, delta_t=delay)
        for delay in (5.0, 10.0)
    ]
    return pd.concat(cases).assign(estimate=lambda t: difference(t.agents_per_queue))


def test_crossing_along_the_agents_per_queue_is_sought_on_a_logarithmic_scale():
    table = by_population(lambda ratio: -np.log(np.minimum(ratio, 1e9) / 2.5))
    found = crossings(table, along="agents_per_queue").set_index("delta_t")
    assert found.agents_per_queue.tolist() == pytest.approx([2.5, 2.5])
    assert (found.interval_low < 2.5).all()
    assert (found.interval_high > 2.5).all()


@pytest.mark.parametrize(
    ("offset", "error", "text"),
    [(6.7, 0.01, "6.7 (6.7 to 6.7)"), (-5.0, 0.01, "none"), (0.9, 1.0, "uncertain")],
)
def test_a_crossing_in_words(offset, error, text):
    found = crossings(differences(lambda delay: delay - offset, error))
    assert crossing_text(found.iloc[0], "delta_t", 1) == text


def test_smallest_advantage_is_the_largest_difference():
    table = differences(lambda delay: -np.abs(delay - 4.0) - 0.5, 0.01)
    table = table.assign(interval_low=table.estimate - 0.02, interval_high=table.estimate + 0.02)
    (row,) = smallest_advantage(table, "JSQ(2)", "RND").itertuples()
    assert (row.delta_t, row.estimate, row.num_queues) == (4.0, -0.5, 100.0)
    (row,) = smallest_advantage(table, "JSQ(2)", "RND", shortest=6.0).itertuples()
    assert (row.delta_t, row.estimate) == (6.0, -2.5)


def test_average_of_independent_estimates():
    mean = average(pd.DataFrame({"estimate": [1.0, 3.0], "standard_error": [0.3, 0.4]}))
    assert mean.estimate == 2.0
    assert mean.standard_error == pytest.approx(0.25)
    assert as_text(mean, 2) == "2.00 (1.51 to 2.49)"


def test_without_learned_leaves_the_baselines():
    table = differences(lambda delay: delay, 0.1)
    learned = table.assign(policy="MF")
    assert without_learned(pd.concat([table, learned])).equals(table)


def choices(relative: list[float], width: float) -> pd.DataFrame:
    values = np.asarray(relative)
    return pd.DataFrame(
        {
            "choice": "per_packet",
            "system": "finite",
            "policy": "RND",
            "delta_t": 5.0,
            "num_queues": SIZES[: len(relative)],
            "relative": values,
            "relative_low": values - width,
            "relative_high": values + width,
        }
    )


@pytest.mark.parametrize(
    ("relative", "width", "expected"),
    [
        ([-0.1, -0.05, -0.005], 0.001, 50.0),
        ([-0.1, -0.05, -0.03], 0.001, math.inf),
        ([0.1, 0.005, 0.05, 0.002], 0.001, 100.0),
        ([0.1, 0.05, 0.03], 0.04, 50.0),
        ([0.001, 0.0, 0.0], 0.0, 10.0),
    ],
)
def test_size_from_which_on_a_choice_does_not_matter(relative, width, expected):
    (found,) = where_choices_stop_mattering(choices(relative, width)).itertuples()
    assert found.num_queues == expected
    assert found.relative == relative[0]
