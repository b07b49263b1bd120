"""The simulator against other simulators and against queueing theory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.usual_cluster import (
    least_loaded,
    round_robin,
    simulate_with_ciw,
    simulate_with_simpy,
)
from mfc_lb.cluster import (
    ClusterParameters,
    LeastLoaded,
    RoundRobin,
    Trace,
    poisson_trace,
    simulate_cluster,
)
from mfc_lb.systems import Estimate

SAME = [(RoundRobin(), round_robin), (LeastLoaded("first"), least_loaded)]
MANY_TIES = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([0, 1, 2, 3, 5, 5, 10])), min_size=1, max_size=60
)
CORES = st.lists(st.sampled_from([1, 2, 3, 4, 64]), min_size=1, max_size=5).map(tuple)


@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=["round robin", "least loaded"])
@given(jobs=MANY_TIES, cores=CORES)
def test_times_equal_simpy_with_many_ties(ours, theirs, jobs, cores):
    arrivals, services = zip(*jobs, strict=True)
    trace = Trace.from_arrays(list(arrivals), list(services))
    assert_same_times(trace, cores, ours, simulate_with_simpy(trace, cores, theirs))


@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=["round robin", "least loaded"])
def test_times_equal_simpy_on_a_long_trace(ours, theirs):
    generator = np.random.default_rng(1)
    arrivals = np.cumsum(generator.integers(0, 3, 5000))
    trace = Trace.from_arrays(arrivals, generator.choice([0, 4, 10, 30], 5000))
    assert_same_times(trace, (4, 1, 7), ours, simulate_with_simpy(trace, (4, 1, 7), theirs))


def test_times_equal_ciw_without_ties():
    """Ciw serves simultaneous events in random order, so this trace has none."""
    trace = poisson_trace(num_jobs=2000, mean_interval_us=47_000, seed=2)
    usual = simulate_with_ciw(trace, (4, 4, 4))
    assert_same_times(trace, (4, 4, 4), LeastLoaded("first"), usual)


def assert_same_times(trace, cores, balancer, usual):
    result = simulate_cluster(trace, ClusterParameters(cores), balancer)
    start, finish = usual
    assert result.start_time_us.tolist() == start.tolist()
    assert result.finish_time_us.tolist() == finish.tolist()


@pytest.mark.parametrize(("cores", "utilisation"), [(1, 0.5), (1, 0.8), (4, 0.7), (64, 0.9)])
def test_waiting_times_equal_erlang_c(cores, utilisation):
    """M/M/c within 4.5 standard errors, over independent runs, after a warm-up."""
    service, num_jobs, warm_up = 1_000_000, 20_000, 4_000
    interval = service / (cores * utilisation)
    means = []
    for seed in range(40):
        trace = poisson_trace(
            num_jobs=num_jobs, mean_interval_us=interval, mean_duration_us=service, seed=seed
        )
        result = simulate_cluster(trace, ClusterParameters((cores,)), RoundRobin())
        means.append(result.waiting_times_us[warm_up:].mean() / service)
    wait = Estimate.of(means)
    expected = erlang_c(cores, cores * utilisation) / (cores * (1 - utilisation))
    assert abs(wait.mean - expected) < 4.5 * wait.standard_error
    assert wait.standard_error < 0.1 * expected


def erlang_c(servers, load):
    """Probability of waiting in M/M/c."""
    busy = load**servers / math.factorial(servers) / (1 - load / servers)
    return busy / (sum(load**k / math.factorial(k) for k in range(servers)) + busy)


def test_little_holds_in_a_long_run():
    """Mean number of jobs = rate of arrivals × mean response time."""
    trace = poisson_trace(num_jobs=50_000, mean_interval_us=50_000, seed=3)
    result = simulate_cluster(trace, ClusterParameters(), LeastLoaded())
    jobs = 12 * result.load_moments.time_averages()["mean"]  # on 12 cores, equally many each
    rate = len(trace) / result.log.end_us
    assert jobs == pytest.approx(rate * result.response_times_us.mean(), rel=1e-12)
