"""N agents on M queues, exact in O(M) per epoch for any N.

Given the queue states, agents are independent and alike, so only the numbers of agents that do the
same matter, and these are multinomial. First the agents are divided over the outcomes of their
sampling, then the picks of each outcome are spread uniformly over the queues of a group.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import read_only
from mfc_lb.compiled import njit
from mfc_lb.errors import check_int, require
from mfc_lb.model import DecisionRule, SystemParameters
from mfc_lb.systems.queue_system import QueueSystem

#: Numbers of agents up to this are exact in float64.
MAX_AGENTS = 2**53

Routing = Literal["per_packet", "per_epoch"]


class FiniteSystem(QueueSystem):
    """N agents and M queues.

    Parameters
    ----------
    parameters : SystemParameters
        The model's parameters.
    num_agents : int, 1 to 2^53
        Number N of agents; each sends packets at rate λM/N.
    num_queues : int, >= 1
        Number M of queues.
    routing : {"per_packet", "per_epoch"}
        An agent draws its choice among the d sampled queues anew for every packet (the paper's
        experiments), or once per epoch (the paper's equations).
    distinct_queues : bool, optional
        Agents sample d distinct queues, only with ``routing="per_epoch"``; the model's default is
        with replacement.

    Raises
    ------
    InvalidInput
        If a value is out of range.

    Examples
    --------
    >>> FiniteSystem(SystemParameters(), num_agents=10_000, num_queues=100)
    FiniteSystem(num_agents=10000, num_queues=100, routing='per_packet')
    """

    def __init__(
        self,
        parameters: SystemParameters,
        num_agents: int,
        num_queues: int,
        routing: Routing = "per_packet",
        *,
        distinct_queues: bool = False,
    ) -> None:
        super().__init__(parameters, num_queues, distinct_queues=distinct_queues)
        self.num_agents = check_int("num_agents", num_agents, 1, MAX_AGENTS)
        known = isinstance(routing, str) and routing in ("per_packet", "per_epoch")
        require(known, "routing", routing, "'per_packet' or 'per_epoch'")
        possible = routing == "per_epoch" or not distinct_queues
        require(possible, "routing", routing, "'per_epoch' when distinct_queues is True")
        self.routing = routing

    def __repr__(self) -> str:
        """Show size and routing."""
        size = f"num_agents={self.num_agents}, num_queues={self.num_queues}"
        distinct = ", distinct_queues=True" if self.distinct_queues else ""
        return f"FiniteSystem({size}, routing={self.routing!r}{distinct})"

    def _queue_rates(
        self,
        states: NDArray[np.int64],
        counts: NDArray[np.int64],
        arrival_rate: float,
        rule: DecisionRule,
        sampling: np.random.Generator,
    ) -> NDArray[np.float64]:
        per_agent = arrival_rate * self.num_queues / self.num_agents
        if self.routing == "per_epoch":
            shares = self._whole_picks(states, counts, rule, sampling)
        else:
            shares = self._split_picks(states, counts, rule, sampling)
        return per_agent * shares

    def _whole_picks(
        self,
        states: NDArray[np.int64],
        counts: NDArray[np.int64],
        rule: DecisionRule,
        sampling: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Every agent picks one queue; divide the agents by the state of that queue."""
        chances = counts * self._rates_by_state(counts, 1.0, rule)
        picks = sampling.multinomial(self.num_agents, chances / chances.sum())
        every_state = read_only(np.arange(self.parameters.num_states))
        ones = read_only(np.ones(self.parameters.num_states))
        return spread_picks(states, every_state, picks, every_state, ones, sampling)

    def _split_picks(
        self,
        states: NDArray[np.int64],
        counts: NDArray[np.int64],
        rule: DecisionRule,
        sampling: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Every agent splits its rate; divide the agents by what they sampled."""
        split = rule.packet_split
        chances = split.probabilities(counts / self.num_queues)
        agents = sampling.multinomial(self.num_agents, chances / chances.sum())
        return spread_picks(
            states,
            split.group_of_state,
            split.picks(agents),
            split.cell_group,
            split.cell_share,
            sampling,
        )


@njit()
def spread_picks(
    states: Any,
    group_of_state: Any,
    picks: Any,
    pick_group: Any,
    pick_share: Any,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Spread picks uniformly and independently over the queues of their groups.

    Parameters
    ----------
    states : ndarray of int, shape (M,)
        State of each queue.
    group_of_state : ndarray of int, shape (S,)
        Group of each state.
    picks : ndarray of int, shape (K,)
        Number of picks of each kind.
    pick_group : ndarray of int, shape (K,)
        Group over whose queues the picks of each kind fall.
    pick_share : ndarray of float, shape (K,)
        What one pick of each kind adds to its queue.
    generator : numpy.random.Generator
        The stream of sampling.

    Returns
    -------
    ndarray, shape (M,)
        Sum of the shares that fell on each queue.
    """
    num_queues = states.size
    num_groups = group_of_state.max() + 1
    ends = np.zeros(num_groups + 1, dtype=np.int64)
    for queue in range(num_queues):
        ends[group_of_state[states[queue]] + 1] += 1
    ends = np.cumsum(ends)
    members = np.empty(num_queues, dtype=np.int64)
    filled = ends.copy()
    for queue in range(num_queues):
        group = group_of_state[states[queue]]
        members[filled[group]] = queue
        filled[group] += 1
    loads = np.zeros(num_queues)
    for kind in range(picks.size):
        first, last = ends[pick_group[kind]], ends[pick_group[kind] + 1]
        left = picks[kind]
        if left < 8 * (last - first):
            # Few picks: throwing each one is cheaper than a binomial draw for each queue.
            for _ in range(left):
                queue = members[first + int(generator.random() * (last - first))]
                loads[queue] += pick_share[kind]
            continue
        for place in range(first, last - 1):
            count = generator.binomial(left, 1.0 / (last - place))
            loads[members[place]] += pick_share[kind] * count
            left -= count
        loads[members[last - 1]] += pick_share[kind] * left
    return loads
