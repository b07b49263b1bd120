"""Epochs of the finite system: an array of agents, or counts of agents that do the same."""

import numpy as np

from benchmarks.timing import Measured, measure_pair
from benchmarks.usual_finite import AgentLevelSystem
from mfc_lb import (
    ConstantPolicy,
    FiniteSystem,
    MeanFieldSystem,
    SystemParameters,
    join_shortest_queue,
)

#: Targets by routing.
TARGETS = {"per_epoch": 100.0, "per_packet": 20.0}
OUR_EPOCHS, USUAL_EPOCHS = 100, 2


def measure(routing: str, pairs: int, num_agents: int = 10**6, num_queues: int = 1000) -> Measured:
    """Measure epochs under JSQ(2) at Δt = 1, from the limit's typical queue states on."""
    p = SystemParameters(delta_t=1.0)
    policy = ConstantPolicy(join_shortest_queue(p))
    ours = FiniteSystem(p, num_agents, num_queues, routing)
    usual = AgentLevelSystem(p, num_agents, num_queues, routing)
    levels = np.zeros(OUR_EPOCHS, dtype=np.int64)
    nu = MeanFieldSystem(p).simulate(policy, levels).distributions[-1]
    states = ours.initial_states(nu)
    rates = np.full(USUAL_EPOCHS, p.arrivals.rates[0])
    return measure_pair(
        f"epoch, {routing}, N = {num_agents:,}, M = {num_queues:,}",
        lambda: usual.simulate(rates, states, seed=1),
        lambda: ours.simulate(policy, levels, np.random.SeedSequence(1), nu),
        pairs=pairs,
        units=(USUAL_EPOCHS, OUR_EPOCHS),
        target=TARGETS[routing],
    )
