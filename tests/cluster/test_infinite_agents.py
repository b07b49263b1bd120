"""A balancer that samples d workers afresh for each job is the model's infinite-agent system.

Given the snapshot, each job goes to worker j with the same probability, independently: the workers'
arrivals are independent Poisson streams with the rates of `InfiniteAgentSystem`. One unit of the
model's time, the mean service time, is `UNIT` microseconds; rounding to these is beyond what the
samples can show.
"""

import numpy as np
import pytest

from mfc_lb import (
    ConstantPolicy,
    InfiniteAgentSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    random_choice,
    softmin,
)
from mfc_lb.cluster import (
    ClusterParameters,
    JoinShortestQueue,
    MeanFieldBalancer,
    modulated_poisson_trace,
    simulate_cluster,
)
from mfc_lb.systems import Estimate

UNIT = 10**6
NUM_WORKERS, NUM_RUNS, TIME, SEED = 20, 200, 60, 7


class ByLevelAndState:
    """Another rule when the arrival rate is low, and when the queues are full."""

    def __init__(self, parameters):
        self.rules = [join_shortest_queue(parameters), random_choice(parameters)]
        self.fillings = parameters.fillings

    def __call__(self, nu, level):
        return self.rules[int(level == 1 or self.fillings @ nu > 2.5)]


POLICIES = {
    "jsq": lambda p: ConstantPolicy(join_shortest_queue(p)),
    "random": lambda p: ConstantPolicy(random_choice(p)),
    "softmin": lambda p: ConstantPolicy(softmin(p, 0.5)),
    "by level and state": ByLevelAndState,
}


def cluster_drops(parameters, levels, make_balancer, delta_t):
    """Drops per worker in runs along the given paths of arrival levels."""
    epoch = round(parameters.delta_t * UNIT)
    cluster = ClusterParameters.uniform(
        NUM_WORKERS, 1, capacity=parameters.buffer_size, refresh_interval_us=round(delta_t * UNIT)
    )
    drops = []
    for run, path in enumerate(levels):
        rates = np.take(parameters.arrivals.rates, path)
        trace = modulated_poisson_trace(
            rates, num_workers=NUM_WORKERS, epoch_us=epoch, mean_duration_us=UNIT, seed=1000 + run
        )
        horizon = len(path) * epoch
        result = simulate_cluster(trace, cluster, make_balancer(path), seed=run, horizon_us=horizon)
        drops.append(result.num_dropped / NUM_WORKERS)
    return np.array(drops)


def difference(delta_t, policy_name, *, make_balancer=None, refreshed_every=None):
    """Estimate of the cluster's drops minus the system's, paired on paths of arrival levels."""
    p = SystemParameters(delta_t=delta_t)
    policy = POLICIES[policy_name](p)
    epochs = p.num_epochs(TIME)
    system = InfiniteAgentSystem(p, NUM_WORKERS)
    expected = evaluate(system, policy, num_epochs=epochs, num_runs=NUM_RUNS, seed=SEED)
    make = make_balancer or (lambda path: MeanFieldBalancer(policy, p, levels=path))
    drops = cluster_drops(p, expected.levels, make, refreshed_every or delta_t)
    return Estimate.of(drops - expected.total_drops), expected.mean


@pytest.mark.parametrize("delta_t", [2.0, 4.0, 10.0])
@pytest.mark.parametrize("policy_name", list(POLICIES))
def test_drops_are_those_of_the_infinite_agent_system(policy_name, delta_t):
    estimate, expected = difference(delta_t, policy_name)
    assert abs(estimate.mean) < 4.5 * estimate.standard_error
    assert estimate.standard_error < 0.1 * expected


def test_power_of_two_is_that_system_under_jsq():
    estimate, _ = difference(5.0, "jsq", make_balancer=lambda _: JoinShortestQueue(2))
    assert abs(estimate.mean) < 4.5 * estimate.standard_error


def test_the_comparison_can_tell_delays_apart():
    estimate, _ = difference(5.0, "jsq", refreshed_every=4.0)
    assert estimate.mean < -4.5 * estimate.standard_error
