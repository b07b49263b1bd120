"""How the agents that draw a choice for every packet split their rate over groups of queues.

Given the queue states, agents are independent and alike. An agent's *outcome* (which states it
sampled, or only what matters of them) decides which groups of queues receive which share of its
rate; within a group its picks are uniform and independent. So the numbers of agents per outcome are
multinomial, and nothing has to be simulated agent by agent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.errors import InvalidInput

#: Largest number of outcomes that is enumerated.
MAX_OUTCOMES = 2**20


@dataclass(frozen=True, eq=False)
class PacketSplit(ArrayRecord):
    """Outcomes of an agent's sample and the picks that they cause.

    Attributes
    ----------
    group_of_state : ndarray of int, shape (S,)
        Group of each state; picks are uniform over the queues of a group.
    probabilities : callable
        Maps ν of shape (S,) to the probabilities of the outcomes, shape (O,).
    outcome, cell, multiplicity : ndarray of int, shape (L,)
        An agent with outcome `outcome[l]` makes `multiplicity[l]` picks of kind `cell[l]`.
    cell_group : ndarray of int, shape (K,)
        Group in which a pick of each kind falls.
    cell_share : ndarray of float, shape (K,)
        Share of the agent's rate that such a pick carries.
    """

    group_of_state: NDArray[np.int64]
    probabilities: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    outcome: NDArray[np.int64]
    cell: NDArray[np.int64]
    multiplicity: NDArray[np.int64]
    cell_group: NDArray[np.int64]
    cell_share: NDArray[np.float64]

    def picks(self, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of picks of each kind, given the agents of each outcome."""
        totals = np.zeros(self.cell_group.size, dtype=np.int64)
        np.add.at(totals, self.cell, self.multiplicity * agents[self.outcome])
        return totals


def split_by_priority(group_of_state: NDArray[np.int64], num_choices: int) -> PacketSplit:
    """Return the split of a priority rule: outcomes are (best group, number r of ties)."""
    num_groups = int(group_of_state.max()) + 1
    ties = np.arange(1, num_choices + 1)
    ways = np.array([comb(num_choices, int(r)) for r in ties], dtype=np.float64)

    def probabilities(nu: NDArray[np.float64]) -> NDArray[np.float64]:
        mass: Any = np.bincount(group_of_state, weights=nu, minlength=num_groups)
        worse = np.append(np.cumsum(mass[::-1])[::-1][1:], 0.0)
        best, others = _powers(mass, num_choices), _powers(worse, num_choices)
        return np.asarray((ways * best[:, 1:] * others[:, -2::-1]).ravel())

    outcomes = np.arange(num_groups * num_choices)
    return PacketSplit(
        group_of_state=group_of_state,
        probabilities=probabilities,
        outcome=outcomes,
        cell=outcomes,
        multiplicity=np.tile(ties, num_groups),
        cell_group=np.repeat(np.arange(num_groups), num_choices),
        cell_share=np.tile(1.0 / ties, num_groups),
    )


def _powers(values: NDArray[np.float64], largest: int) -> NDArray[np.float64]:
    """Return the powers 0 to `largest` of each value, shape (n, largest + 1).

    By products: libraries' powers are rounded in one way on one processor, in another on the next,
    and a chance that differs in its last digit gives other draws.
    """
    factors = np.repeat(values[:, None], largest + 1, axis=1)
    factors[:, 0] = 1.0
    return np.asarray(np.multiply.accumulate(factors, axis=1))


def split_by_table(table: NDArray[np.float64]) -> PacketSplit:
    """Return the split of any rule: outcomes are the tuples of sampled states."""
    *shape, num_choices = table.shape
    shares = table.reshape(-1, num_choices)
    sampled = np.stack(np.unravel_index(np.arange(len(shares)), shape), axis=1)
    return _split_by_sample(sampled, shares, np.ones(len(shares)), shape[0])


def split_by_scores(scores: NDArray[np.float64], num_choices: int) -> PacketSplit:
    """Return the split of a score rule: its slots are alike, so outcomes are unordered samples."""
    samples = combinations_with_replacement(range(scores.size), num_choices)
    sampled = np.array(list(samples), dtype=np.int64)
    weights = np.exp(scores[sampled] - scores[sampled].max(axis=1, keepdims=True))
    shares = weights / weights.sum(axis=1, keepdims=True)
    repeats = (np.bincount(sample) for sample in sampled)
    orders = [factorial(num_choices) / prod(map(factorial, counts)) for counts in repeats]
    return _split_by_sample(sampled, shares, np.array(orders), scores.size)


def check_enumerable(num_outcomes: int, what: str) -> None:
    """Refuse to enumerate too many outcomes."""
    if num_outcomes > MAX_OUTCOMES:
        raise InvalidInput(
            f"routing='per_packet' with this decision rule needs at most {MAX_OUTCOMES} outcomes "
            f"of sampling, got {what} = {num_outcomes}; use routing='per_epoch'"
        )


def _split_by_sample(
    sampled: NDArray[np.int64],
    shares: NDArray[np.float64],
    orders: NDArray[np.float64],
    num_states: int,
) -> PacketSplit:
    """Return the split for samples (O, d) of states, each in a number of orders."""
    outcome, slot = np.nonzero(shares)
    # Picks with the same group and the same share are exchangeable, so they are counted together.
    kinds = np.stack([sampled[outcome, slot], shares[outcome, slot]], axis=1)
    cells, cell = np.unique(kinds, axis=0, return_inverse=True)

    def probabilities(nu: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(orders * np.prod(nu[sampled], axis=1))

    return PacketSplit(
        group_of_state=np.arange(num_states),
        probabilities=probabilities,
        outcome=outcome,
        cell=cell.ravel(),
        multiplicity=np.ones(len(outcome), dtype=np.int64),
        cell_group=cells[:, 0].astype(np.int64),
        cell_share=np.ascontiguousarray(cells[:, 1]),
    )
