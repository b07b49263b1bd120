"""Moments of the load, from integers."""

import math
import re
from statistics import fmean

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from mfc_lb import InvalidInput
from mfc_lb.cluster import (
    ClusterParameters,
    LeastLoaded,
    LoadMoments,
    LoadOverTime,
    RoundRobin,
    Trace,
    moments_of,
    simulate_cluster,
)
from mfc_lb.cluster.load_moments import MOMENTS

WORKERS = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 4, 64])), min_size=1, max_size=9
)


@given(WORKERS)
def test_moments_equal_scipy(workers):
    jobs, cores = np.array(workers).T
    loads = jobs / cores
    assume(np.ptp(loads) > 1e-3 * loads.max())
    found = moments_of(jobs, cores)
    assert found["mean"] == pytest.approx(loads.mean(), rel=1e-12)
    assert found["standard_deviation"] == pytest.approx(loads.std(), rel=1e-9)
    assert found["skewness"] == pytest.approx(scipy.stats.skew(loads), rel=1e-6, abs=1e-6)
    assert found["excess_kurtosis"] == pytest.approx(
        scipy.stats.kurtosis(loads), rel=1e-6, abs=1e-6
    )


@given(st.integers(0, 10**9), st.lists(st.sampled_from([1, 3, 7, 64]), min_size=1, max_size=9))
def test_equal_loads_have_no_skewness(load, cores):
    """Whatever their size, also on unequal cores: exactly equal, from integers."""
    found = moments_of(np.array(cores) * load, cores)
    assert found["mean"] == load
    assert found["standard_deviation"] == 0.0
    assert math.isnan(found["skewness"])
    assert math.isnan(found["excess_kurtosis"])


def test_equal_loads_that_are_no_binary_fractions():
    """One third on each worker: in floating point, a mean of these differs from them."""
    assert math.isnan(moments_of([1, 2, 3, 1, 1, 1, 1], [3, 6, 9, 3, 3, 3, 3])["skewness"])


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=3), st.sampled_from([1, 4, 12]))
def test_three_workers_leave_these_moments_no_freedom(jobs, cores):
    assume(len(set(jobs)) > 1)
    found = moments_of(jobs, [cores] * 3)
    assert found["excess_kurtosis"] == pytest.approx(-1.5, abs=1e-12)
    assert abs(found["skewness"]) <= 1 / math.sqrt(2) + 1e-12


def test_the_bound_on_skewness_is_reached():
    assert moments_of([0, 0, 1], [1] * 3)["skewness"] == pytest.approx(1 / math.sqrt(2))


@pytest.fixture(scope="module")
def result():
    generator = np.random.default_rng(2)
    trace = Trace.from_arrays(generator.integers(0, 100, 300), generator.integers(0, 9, 300))
    cluster = ClusterParameters((4, 1, 2, 2), capacity=20)
    return simulate_cluster(trace, cluster, LeastLoaded(), horizon_us=95)


def test_steps_equal_the_moments_at_each_time(result):
    moments = result.load_moments
    jobs = result.load.jobs_at(moments.time_us)
    for step, present in enumerate(jobs):
        expected = moments_of(present, result.load.cores)
        found = {name: getattr(moments, name)[step] for name in MOMENTS}
        assert found == pytest.approx(expected, nan_ok=True)
    assert moments.time_us[0] == 0
    assert (np.diff(moments.time_us) > 0).all()
    assert moments.to_frame().columns.tolist() == ["time_us", *MOMENTS]


def test_time_averages_equal_those_over_every_microsecond(result):
    """Skewness is averaged over the time in which it exists."""
    jobs = result.load.jobs_at(np.arange(95))
    each = [moments_of(present, result.load.cores) for present in jobs]
    for name, found in result.load_moments.time_averages().items():
        values = [moments[name] for moments in each]
        assert found == pytest.approx(fmean(v for v in values if not math.isnan(v)))
    window = result.load_moments.time_averages(10, 30)["mean"]
    assert window == pytest.approx(fmean(moments["mean"] for moments in each[10:30]))


def test_jobs_at_counts_what_happens_at_that_instant():
    trace = Trace.from_arrays([2, 2], [3, 4])
    load = simulate_cluster(trace, ClusterParameters((1, 1)), RoundRobin()).load
    assert load.jobs_at([0, 2, 4, 5, 6]).tolist() == [[0, 0], [1, 1], [1, 1], [0, 1], [0, 0]]
    assert load.job_time_us().tolist() == [3, 4]


def test_windows_and_times_outside_the_run_are_refused(result):
    with pytest.raises(InvalidInput, match="end_us must be an integer >= 0 and <= 95"):
        result.load_moments.time_averages(0, 96)
    with pytest.raises(InvalidInput, match="times_us must be from 0 to the end of the run, 95"):
        result.load.jobs_at([96])


def test_moments_never_exist_while_nothing_happens():
    empty = simulate_cluster(Trace.from_arrays([], []), ClusterParameters(), RoundRobin())
    assert np.isnan(list(empty.load_moments.time_averages().values())).all()
    idle = simulate_cluster(
        Trace.from_arrays([], []), ClusterParameters(), RoundRobin(), horizon_us=9
    )
    averages = idle.load_moments.time_averages()
    assert (averages["mean"], averages["standard_deviation"]) == (0.0, 0.0)
    assert np.isnan(averages["skewness"])


def test_cores_without_a_small_common_multiple_are_refused():
    with pytest.raises(InvalidInput, match="cores must be such that their least common multiple"):
        moments_of([1, 1, 1], [9973, 9967, 9949])


def test_load_follows_from_the_log_alone(result):
    again = LoadMoments.of(LoadOverTime.of(result.log))
    assert again.mean.tolist() == result.load_moments.mean.tolist()


@pytest.mark.parametrize(
    ("jobs", "cores", "told"),
    [
        ([1, 2], [1], "jobs must be one number for each worker, got 2"),
        ([], [], "jobs must be one number for each worker, got 0"),
        ([-1], [1], "jobs must be an integer >= 0, got -1"),
        ([1], [0], "cores must be an integer >= 1, got 0"),
        ([1.5], [1], "jobs must be an integer >= 0, got 1.5"),
    ],
)
def test_moments_of_what_cannot_be_are_refused(jobs, cores, told):
    with pytest.raises(InvalidInput, match=re.escape(told)):
        moments_of(jobs, cores)
