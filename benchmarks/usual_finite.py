"""The finite system as it is usually written: every agent is an entry of an array.

Written for JSQ(2) and one class of servers. It is as fast as NumPy makes it: no loop over agents or
queues, and no draw that is not needed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfc_lb import SystemParameters


@dataclass(frozen=True)
class AgentLevelSystem:
    """N agents that join the shorter of two queues.

    Parameters
    ----------
    parameters : SystemParameters
        The model's parameters.
    num_agents, num_queues : int
        Numbers N of agents and M of queues.
    routing : {"per_epoch", "per_packet"}
        One choice for the whole epoch, or one for each packet.
    """

    parameters: SystemParameters
    num_agents: int
    num_queues: int
    routing: str = "per_epoch"

    def simulate(
        self, arrival_rates: NDArray[np.float64], states: NDArray[np.int64], seed: int
    ) -> NDArray[np.float64]:
        """Return the drops per queue in each epoch, from the given fillings on."""
        generator = np.random.default_rng(seed)
        drops = np.empty(len(arrival_rates))
        for epoch, arrival_rate in enumerate(arrival_rates):
            loads = self._loads(states, generator)
            rates = arrival_rate * self.num_queues / self.num_agents * loads
            states, lost = self._serve(states, rates, generator)
            drops[epoch] = lost / self.num_queues
        return drops

    def _loads(
        self, states: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return how many agents send to each queue; an agent may send half its packets."""
        first, second = generator.integers(self.num_queues, size=(2, self.num_agents))
        filling, other = states[first], states[second]
        if self.routing == "per_epoch":
            # With equal fillings the first is as random as a toss of a coin.
            choice = np.where(other < filling, second, first)
            return np.bincount(choice, minlength=self.num_queues).astype(np.float64)
        share = 0.5 + 0.5 * np.sign(other - filling)
        of_first = np.bincount(first, weights=share, minlength=self.num_queues)
        return of_first + np.bincount(second, weights=1.0 - share, minlength=self.num_queues)

    def _serve(
        self,
        states: NDArray[np.int64],
        rates: NDArray[np.float64],
        generator: np.random.Generator,
    ) -> tuple[NDArray[np.int64], int]:
        """Return the fillings at the end of the epoch and the number of drops."""
        p = self.parameters
        total_rates = rates + p.service_rates[0]
        num_events = generator.poisson(total_rates * p.delta_t)
        arrival_chances, drops = rates / total_rates, 0
        for event in range(num_events.max()):
            happens = event < num_events
            arrives = generator.random(self.num_queues) < arrival_chances
            drops += np.count_nonzero(happens & arrives & (states == p.buffer_size))
            moved = np.clip(states + np.where(arrives, 1, -1), 0, p.buffer_size)
            states = np.where(happens, moved, states)
        return states, drops
