"""Balancers on one trace, as a notebook simulates them."""

import math

import numpy as np
import pytest

from mfc_lb.cluster import LeastLoaded, RoundRobin, Trace, simulate_cluster, study_trace
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import live_traces as live
from mfc_lb.results.experiment import cell_seed

TRACE = Trace.from_arrays(np.arange(60) * 100_000, np.tile([100_000, 500_000, 900_000], 20))
CLUSTER = live.cluster_of(workers=3, cores=2, refresh_interval=0.0)


@pytest.mark.parametrize("name", ["constant_constant", "ramp_trimodal"])
def test_a_name_means_the_study_s_trace(name):
    assert live.open_trace(name).to_frame().equals(study_trace(name, seed=1).to_frame())


def test_a_path_means_a_file(tmp_path):
    path = tmp_path / "mine.csv"
    TRACE.write_csv(path)
    assert live.open_trace(str(path)).to_frame().equals(TRACE.to_frame())


@pytest.mark.parametrize("arrivals", [[], [5], [5, 5]])
def test_a_trace_without_duration_is_refused(tmp_path, arrivals):
    path = tmp_path / "short.csv"
    Trace.from_arrays(arrivals, arrivals).write_csv(path)
    with pytest.raises(InvalidInput, match="trace must be of at least two jobs"):
        live.open_trace(str(path))


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(
        InvalidInput, match=r"trace must be one of constant_.*, or a file, got 'ramp_trimodel'"
    ):
        live.open_trace("ramp_trimodel")


def test_no_capacity_means_no_bound():
    assert live.cluster_of(2, 8, 0.25).capacity is None
    cluster = live.cluster_of(2, 8, 0.25, capacity=7)
    assert (cluster.cores, cluster.capacity, cluster.refresh_interval_us) == ((8, 8), 7, 250_000)


# --- loads over time --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loads():
    return live.loads_over_time(TRACE, CLUSTER, num_runs=4, seed=3, num_windows=5)


def test_whole_runs_are_those_of_the_simulator(loads):
    whole = loads[np.isinf(loads.window_end)].set_index(["balancer", "reference", "measure"])
    result = simulate_cluster(TRACE, CLUSTER, RoundRobin())
    row = whole.loc["round-robin", "none", "response_time"]
    assert row.estimate == pytest.approx(result.response_times_us.mean() / 1e6, rel=1e-12)
    assert row.interval_low == pytest.approx(row.interval_high, rel=1e-12)
    runs = [
        simulate_cluster(TRACE, CLUSTER, LeastLoaded(), seed=cell_seed(3, "live", run))
        for run in range(4)
    ]
    means = [run.load_moments.time_averages(0, 5_900_000)["mean"] for run in runs]
    assert whole.loc["least-loaded", "none", "load_mean"].estimate == pytest.approx(np.mean(means))
    assert whole.loc["random", "none", "load_excess_kurtosis"].estimate == pytest.approx(-1.5)


def test_differences_are_paired(loads):
    whole = loads[np.isinf(loads.window_end)].set_index(["balancer", "reference", "measure"])
    of = whole.estimate.xs("load_mean", level="measure")
    paired = of["least-loaded", "round-robin"]
    assert paired == pytest.approx(of["least-loaded", "none"] - of["round-robin", "none"])
    assert ("random", "round-robin") not in of.index


def test_curves_average_to_the_whole(loads):
    curve = loads[np.isfinite(loads.window_end) & (loads.balancer == "random")]
    curve = curve[curve.measure == "load_mean"]
    assert curve.window_start.tolist() == pytest.approx([0.0, 1.18, 2.36, 3.54, 4.72])
    whole = loads[np.isinf(loads.window_end)].set_index(["balancer", "reference", "measure"])
    expected = whole.loc["random", "none", "load_mean"].estimate
    assert curve.estimate.mean() == pytest.approx(expected)


def test_time_begins_with_the_first_arrival(loads):
    late = Trace.from_arrays(TRACE.arrival_time_us + 10**15, TRACE.service_time_us)
    again = live.loads_over_time(late, CLUSTER, num_runs=4, seed=3, num_windows=5)
    numbers = ["window_start", "window_end", "estimate", "interval_low", "interval_high"]
    assert again[numbers].to_numpy() == pytest.approx(loads[numbers].to_numpy(), rel=1e-6, abs=1e-9)


# --- refresh interval -------------------------------------------------------------------------


def test_sweep_measures_drops_where_a_worker_can_be_full():
    sweep = live.refresh_sweep(TRACE, CLUSTER, (0.0, 1.0), num_runs=3, seed=1)
    assert set(sweep.measure) == {"response_time"}
    full = live.cluster_of(3, 1, 0.0, capacity=2)
    sweep = live.refresh_sweep(TRACE, full, (0.0, 1.0), num_runs=3, seed=1)
    drops = sweep[(sweep.reference == "none") & (sweep.measure == "drops")]
    drops = drops.set_index(["refresh_interval", "balancer"]).estimate
    assert drops[1.0, "least-loaded"] > drops[0.0, "least-loaded"]
    assert drops[1.0, "round-robin"] == drops[0.0, "round-robin"]
    assert "mean-field" not in drops[0.0].index


def test_learned_policy_is_the_nearest_and_told_the_nearest_level():
    # The mean service time is 0.5 s, and on 6 cores the offered load is 0.85.
    old = live.cluster_of(3, 2, 2.1)
    balancer = live.delay_balancers(TRACE, old)["mean-field"]
    assert (balancer.parameters.delta_t, balancer.levels) == (4.0, (0,))
    light = live.delay_balancers(TRACE, live.cluster_of(5, 2, 100.0))["mean-field"]
    assert (light.parameters.delta_t, light.levels) == (10.0, (1,))


def test_jobs_that_need_no_time_have_no_learned_policy():
    instant = Trace.from_arrays([0, 10**6], [0, 0])
    assert "mean-field" not in live.delay_balancers(instant, live.cluster_of(2, 1, 1.0))


@pytest.mark.parametrize("num_runs", [0, 1])
def test_intervals_need_two_runs(num_runs):
    with pytest.raises(InvalidInput, match="num_runs"):
        live.refresh_sweep(TRACE, CLUSTER, (0.0,), num_runs, seed=1)
    with pytest.raises(InvalidInput, match="num_runs"):
        live.loads_over_time(TRACE, CLUSTER, num_runs, seed=1)


def test_three_loads_have_one_kurtosis_and_a_bounded_skewness():
    table = live.moments_of_three(40)
    assert table.excess_kurtosis.to_numpy() == pytest.approx(np.full(41, -1.5))
    bound = 1 / math.sqrt(2)
    assert table.skewness.iloc[[0, 20, 40]].tolist() == pytest.approx([bound, 0.0, -bound])
    assert (table.skewness.diff().iloc[1:] < 0).all()
