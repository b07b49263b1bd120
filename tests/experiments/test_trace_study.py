"""The trace study and delay on traces: the orderings, and what must be equal."""

import math

import numpy as np
import pytest

from mfc_lb.cluster import ClusterParameters, RoundRobin, simulate_cluster, study_trace
from mfc_lb.experiments import load
from mfc_lb.experiments.cases import total_drops
from mfc_lb.experiments.trace_delay import DelayCase, TraceDelaySize, _cells, _runs
from mfc_lb.experiments.trace_study import EXPERIMENT, STUDY_BALANCERS
from mfc_lb.results.experiment import cell_seed
from mfc_lb.systems import Estimate


def whole_runs(reference="none"):
    """Measures of whole runs by trace, balancer and measure."""
    table = load("trace_study")
    table = table[np.isinf(table.window_end) & (table.reference == reference)]
    return table.set_index(["trace", "balancer", "measure"]).sort_index()


# --- trace_study ------------------------------------------------------------------------------


def test_random_is_worst_on_every_trace():
    rows = whole_runs("random")
    assert (rows.num_runs >= 20).all()
    for trace in EXPERIMENT.size("quick").traces:
        for balancer in STUDY_BALANCERS[1:]:
            for measure in ("response_time", "load_mean", "load_standard_deviation"):
                assert rows.loc[trace, balancer, measure].interval_high < 0


def test_least_loaded_is_better_than_round_robin_where_service_differs():
    rows = whole_runs("round-robin").xs("least-loaded", level="balancer")
    for trace in ("constant_trimodal", "ramp_trimodal"):
        assert (rows.loc[trace].interval_high < 0).all()


def test_round_robin_and_least_loaded_are_close_where_service_is_constant():
    rows = whole_runs("round-robin").xs("least-loaded", level="balancer")
    assert (rows.loc["constant_constant"].estimate == 0).all()
    # Under the ramp, round robin is a little better: the study's two are not quite equal.
    difference = rows.loc["ramp_constant", "response_time"]
    assert 0 < difference.interval_low < difference.interval_high < 0.005


def test_kurtosis_of_three_workers_says_nothing():
    rows = whole_runs()
    kurtosis = rows.xs("load_excess_kurtosis", level="measure")
    assert kurtosis.estimate.to_numpy() == pytest.approx(-1.5, abs=1e-9)
    skewness = rows.xs("load_skewness", level="measure")
    assert (skewness.estimate.abs() <= 1 / math.sqrt(2) + 1e-9).all()


def test_numbers_are_those_of_single_runs():
    seed = cell_seed(cell_seed(EXPERIMENT.seed, "ramp_constant"), 0)
    trace = study_trace("ramp_constant", seed=seed)
    result = simulate_cluster(trace, ClusterParameters(), RoundRobin(), seed=seed)
    found = whole_runs().loc["ramp_constant", "round-robin", "response_time"]
    assert found.estimate == pytest.approx(result.response_times_us.mean() / 1e6, rel=1e-9)


def test_curves_and_averages_are_of_the_same_loads():
    table = load("trace_study")
    curves = table[np.isfinite(table.window_end)]
    size = EXPERIMENT.size("quick")
    curve = curves[
        (curves.trace == "constant_trimodal")
        & (curves.balancer == "least-loaded")
        & (curves.measure == "load_mean")
    ]
    assert curve.window_start.tolist() == size.edges[:-1].tolist()
    within = curve[curve.window_end <= 60]
    average = whole_runs().loc["constant_trimodal", "least-loaded", "load_mean"]
    assert within.estimate.mean() == pytest.approx(average.estimate, rel=0.01)


# --- trace_delay ------------------------------------------------------------------------------

SIZE = TraceDelaySize(num_workers=20, delta_ts=(0.0, 5.0), intervals=(0.0, 1.0), num_runs=2)


@pytest.mark.parametrize("balancer", ["random", "jsq:2", "mean-field"])
def test_modulated_trace_is_the_infinite_agent_system(balancer):
    case = DelayCase("modulated", 5.0, balancer, 20)
    mine = np.array(_runs(case, 20, 4)["drops"])
    limit = total_drops(case.infinite_agents, 20, cell_seed(4, "modulated", 5.0))
    difference = Estimate.of(mine - np.array(limit))
    assert abs(difference.mean) < 4.5 * difference.standard_error


def test_fresh_news_have_no_learned_policy_and_no_infinite_agents():
    keys = [cell.key for cell in _cells(SIZE, 1)]
    fresh = [key for key in keys if "modulated_20_0_" in key]
    assert fresh == [
        f"modulated_20_0_{name}" for name in ("random", "round-robin", "least-loaded", "jsq:2")
    ]
    assert len(set(keys)) == len(keys)


def test_what_does_not_look_does_not_mind_old_news():
    table = load("trace_delay")
    plain = table[(table.reference == "none") & (table.trace != "modulated")]
    for balancer in ("random", "round-robin"):
        group = plain[plain.balancer == balancer].groupby("trace").estimate
        assert (group.nunique() == 1).all()


def test_old_news_make_least_loaded_worse_than_random_and_the_power_of_two_mitigates():
    table = load("trace_delay").set_index(
        ["trace", "measure", "refresh_interval", "balancer", "reference"]
    )
    table = table.sort_index()
    for trace, measure in (
        ("modulated", "drops"),
        ("constant_trimodal", "response_time"),
        ("ramp_trimodal", "response_time"),
    ):
        rows = table.loc[trace, measure]
        assert rows.loc[0.0, "least-loaded", "random"].interval_high < 0
        assert rows.loc[5.0, "least-loaded", "random"].interval_low > 0
        assert rows.loc[5.0, "jsq:2", "least-loaded"].interval_high < 0


def test_only_a_bounded_worker_drops():
    table = load("trace_delay")
    assert set(table[table.measure == "drops"].trace) == {"modulated"}
