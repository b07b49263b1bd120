"""Random routing by finitely many agents, against simulation and against its limit."""

import math

import numpy as np
import pytest

from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters, evaluate, random_choice
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments.finite_agents import queue_rates, random_drops_by_population
from mfc_lb.systems import random_routing_drops


@pytest.mark.parametrize("num_choices", [2, 3])
@pytest.mark.parametrize("num_agents", [3, 40])
def test_drops_are_those_of_the_simulated_system(num_agents: int, num_choices: int) -> None:
    p = SystemParameters(delta_t=5.0, num_choices=num_choices)
    exact = random_drops_by_population(p, 10, (num_agents / 10,)).set_index("routing").estimate
    policy = ConstantPolicy(random_choice(p))
    for routing in ("per_epoch", "per_packet"):
        system = FiniteSystem(p, num_agents, 10, routing)
        result = evaluate(system, policy, num_epochs=p.num_epochs(), num_runs=400, seed=7)
        assert abs(result.mean - exact[routing]) < 4.5 * result.standard_error


def test_infinitely_many_agents_are_the_limit() -> None:
    p = SystemParameters(delta_t=5.0)
    table = random_drops_by_population(p, 100, (1e4, math.inf))
    drops = table.set_index(["routing", "agents_per_queue"]).estimate
    limit = random_routing_drops(p, p.num_epochs()).sum()
    assert drops["per_epoch", math.inf] == pytest.approx(limit, rel=1e-12)
    excess = drops["per_epoch", 1e4] - limit, drops["per_packet", 1e4] - limit
    # To leading order the excess is proportional to the variance, which splitting halves.
    assert excess[0] == pytest.approx(2 * excess[1], rel=1e-3)


def test_rates_have_the_mean_and_the_variance_of_the_binomial_law() -> None:
    table = queue_rates(0.9, num_queues=50, agents_per_queue=(0.1, 1.0, 20.0))
    for (ratio, routing), law in table.groupby(["agents_per_queue", "routing"]):
        chances = law.probability.to_numpy()
        picks_per_queue = ratio * (1 if routing == "per_epoch" else 2)
        variance = 0.81 / picks_per_queue * (1 - 1 / 50)
        assert chances.sum() == pytest.approx(1.0, abs=1e-11)
        assert law.rate @ chances == pytest.approx(0.9, rel=1e-10)
        assert (law.rate - 0.9) ** 2 @ chances == pytest.approx(variance, rel=1e-8)
        assert np.all(np.diff(law.rate) > 0)


def test_no_agent_at_all_is_refused() -> None:
    with pytest.raises(InvalidInput, match="agents_per_queue"):
        queue_rates(0.9, num_queues=10, agents_per_queue=(0.01,))


def test_several_server_classes_are_refused() -> None:
    p = SystemParameters(service_rates=(1.0, 2.0), class_fractions=(0.5, 0.5))
    with pytest.raises(InvalidInput, match="service_rates"):
        random_drops_by_population(p, 10, (1.0,))
