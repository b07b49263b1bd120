"""Other readings of the trace study."""

import numpy as np
import pandas as pd
import pytest

from mfc_lb.cluster import ClusterParameters, Dispatcher, LeastLoaded, RoundRobin, simulate_cluster
from mfc_lb.cluster.trace_generators import ramp_trace
from mfc_lb.experiments import load
from mfc_lb.experiments.open_trace_choices import (
    FewestWaiting,
    cut_offs,
    other_least_loaded,
    other_ramps,
    relative_excess,
)
from mfc_lb.results.experiment import estimate_columns
from mfc_lb.systems import Estimate

CORES = np.array([4, 4, 4])


def chosen(balancer, jobs):
    dispatcher = Dispatcher(balancer, CORES, seed=1)
    return {dispatcher.choose(np.array(jobs)) for _ in range(100)}


def test_jobs_in_service_do_not_count_for_the_fewest_waiting():
    assert chosen(FewestWaiting(), [3, 0, 4]) == {0, 1, 2}
    assert chosen(LeastLoaded(), [3, 0, 4]) == {1}


def test_waiting_jobs_do():
    assert chosen(FewestWaiting(), [6, 5, 7]) == {1}
    assert chosen(FewestWaiting(), [6, 2, 3]) == {1, 2}


def test_least_loaded_read_otherwise():
    table = other_least_loaded(5, seed=1).set_index(["trace", "reading"])
    # Nothing waits there, so whom ties prefer does not matter; who looks at nothing loses.
    assert table.estimate["constant_constant", "first"] == 0
    assert (table.interval_low.xs("waiting", level="reading") > 0).all()


def test_a_ramp_that_ends_below_the_capacity_makes_no_difference():
    table = other_ramps((40.0, 44.0), (500.0,), 5, seed=1).set_index("floor_ms")
    assert table.offered.tolist() == pytest.approx([500 / 40 / 12, 500 / 44 / 12])
    assert table.estimate[44.0] == 0
    assert table.interval_low[40.0] > 0


# --- where a ramp ends ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ends():
    keys = ["rate", "trace", "measure", "balancer", "reference"]
    return cut_offs((25.0, 40.0), 6, seed=1).set_index(keys).sort_index()


def test_the_study_s_ramp_is_one_of_them(ends):
    table = load("trace_study")
    stored = table[(table.trace == "ramp_constant") & np.isinf(table.window_end)]
    stored = stored.set_index(["measure", "balancer", "reference"]).estimate
    for measure in ("load_mean", "load_standard_deviation", "second_spike_mean"):
        found = ends.loc[25.0, "ramp_constant", measure, "round-robin", "none"]
        expected = stored[measure, "round-robin", "none"]
        assert found.estimate == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_what_a_second_spike_finds_is_what_the_first_left(ends):
    """At 40 jobs per second more jobs come than are served until the second ramp is under way."""
    trace = ramp_trace(floor_us=25_000)
    result = simulate_cluster(trace, ClusterParameters(), RoundRobin(), seed=1)
    averages = [
        result.load_moments.time_averages(start, start + 5_000_000)["mean"]
        for start in (25_000_000, 55_000_000)
    ]
    row = ends.loc[40.0, "ramp_constant", "second_spike_mean", "round-robin", "none"]
    assert row.estimate == pytest.approx(averages[1] - averages[0], rel=1e-9)
    assert row.estimate > 2


def test_differences_of_loads_are_paired(ends):
    of = ends.estimate.loc[40.0, "ramp_trimodal", "load_mean"]
    assert of["least-loaded", "round-robin"] == pytest.approx(
        of["least-loaded", "none"] - of["round-robin", "none"]
    )


def test_a_relative_excess_is_that_of_the_means_with_the_error_of_a_ratio():
    rng = np.random.default_rng(1)
    theirs = rng.normal(2.0, 0.3, 400)
    mine = 1.2 * theirs + rng.normal(0.0, 0.05, 400)
    rows = [pd.Series(estimate_columns(Estimate.of(one))) for one in (mine, theirs, mine - theirs)]
    found = relative_excess(*rows)
    assert found.estimate == pytest.approx(mine.mean() / theirs.mean() - 1, rel=1e-12)
    linear = (mine - mine.mean() / theirs.mean() * theirs) / theirs.mean()
    assert found.standard_error == pytest.approx(linear.std(ddof=1) / 20, rel=1e-9)
    assert found.interval_high - found.estimate == pytest.approx(1.96 * found.standard_error)
