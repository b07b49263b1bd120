"""The four orderings of the trace study, as paired differences of mean response times."""

from functools import cache

import numpy as np
import pytest

from mfc_lb.cluster import (
    STUDY_TRACES,
    ClusterParameters,
    LeastLoaded,
    Random,
    RoundRobin,
    simulate_cluster,
    study_trace,
)
from mfc_lb.systems import Estimate

BALANCERS = {"random": Random(), "round robin": RoundRobin(), "least loaded": LeastLoaded()}
SEEDS = range(24)


@cache
def mean_responses(name):
    """Mean response times in ms, shape (seeds,), by balancer; a seed's trace serves all of them."""
    traces = [study_trace(name, seed) for seed in SEEDS]
    return {
        key: np.array([response_of(trace, balancer, seed) for seed, trace in enumerate(traces)])
        for key, balancer in BALANCERS.items()
    }


def response_of(trace, balancer, seed):
    result = simulate_cluster(trace, ClusterParameters(), balancer, seed=seed)
    return result.response_times_us.mean() / 1000


def excess(name, worse, better):
    responses = mean_responses(name)
    return Estimate.of(responses[worse] - responses[better])


@pytest.mark.parametrize("name", list(STUDY_TRACES))
def test_random_is_worst(name):
    assert excess(name, "random", "round robin").interval(0.999)[0] > 0
    assert excess(name, "random", "least loaded").interval(0.999)[0] > 0


@pytest.mark.parametrize("name", ["constant_trimodal", "ramp_trimodal"])
def test_least_loaded_is_best_where_service_times_differ(name):
    assert excess(name, "round robin", "least loaded").interval(0.999)[0] > 0


@pytest.mark.parametrize("name", ["constant_constant", "ramp_constant"])
def test_the_two_are_about_equal_where_service_times_are(name):
    """Within a hundredth of the response time; random is further away by far."""
    mean = mean_responses(name)["least loaded"].mean()
    gap = excess(name, "round robin", "least loaded")
    assert abs(gap.mean) + 4 * gap.standard_error < 0.01 * mean
    assert excess(name, "random", "least loaded").mean > 0.1 * mean


@pytest.mark.parametrize("name", list(STUDY_TRACES))
def test_random_spreads_the_load_most(name):
    """The study's other measure: the standard deviation of the loads over the workers."""
    trace = study_trace(name, seed=1)
    spread = [
        simulate_cluster(trace, ClusterParameters(), balancer, seed=1).summary()
        .load_standard_deviation
        for balancer in BALANCERS.values()
    ]  # fmt: skip
    assert spread[0] > max(spread[1:])
