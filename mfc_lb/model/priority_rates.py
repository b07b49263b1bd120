"""Rates of a priority rule, from the masses of the states that are worse than a given one.

With T the mass of the states whose key is as large as that of s or larger, and T' of those whose
key is larger, some queue as bad as s is chosen with probability T^d − T'^d. These queues share the
packets evenly, so that each receives

    λ(s) = λ (T^d − T'^d)/(T − T') = λ Σ_i T^i T'^(d−1−i).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import as_rows
from mfc_lb.compiled import njit


class PriorityOrder(NamedTuple):
    """States in the order of their keys, worst first.

    Attributes
    ----------
    worst_first : ndarray of int, shape (S,)
        The states, largest key first.
    num_worse, num_as_bad : ndarray of int, shape (S,)
        For each state, how many states have a larger key; and a key as large or larger.
    """

    worst_first: NDArray[np.int64]
    num_worse: NDArray[np.int64]
    num_as_bad: NDArray[np.int64]

    @classmethod
    def of(cls, keys: NDArray[np.float64]) -> "PriorityOrder":
        """Return the order of the given keys, shape (S,)."""
        worst_first = np.argsort(-keys, kind="stable")
        ascending = -keys[worst_first]
        num_worse = np.searchsorted(ascending, -keys, side="left")
        return cls(worst_first, num_worse, np.searchsorted(ascending, -keys, side="right"))


def priority_rates(
    nu: NDArray[np.float64], order: PriorityOrder, num_choices: int
) -> NDArray[np.float64]:
    """Return λ(s)/λ for distributions ν of shape (..., S)."""
    return np.asarray(_sum_powers(as_rows(nu), *order, num_choices).reshape(nu.shape))


def distinct_priority_rates(
    counts: NDArray[np.int64], order: PriorityOrder, num_choices: int
) -> NDArray[np.float64]:
    """Return λ(s)/λ for `counts` (S,) of queues of which an agent samples d distinct ones."""
    num_queues = int(counts.sum())
    running = np.append(0, np.cumsum(counts[order.worst_first]))
    tail, worse = running[order.num_as_bad], running[order.num_worse]
    chosen = _chance_all_within(tail, num_queues, num_choices)
    chosen -= _chance_all_within(worse, num_queues, num_choices)
    return np.asarray(num_queues * chosen / np.maximum(tail - worse, 1))


@njit()
def _sum_powers(
    nu: Any, worst_first: Any, num_worse: Any, num_as_bad: Any, num_choices: int
) -> Any:
    num_rows, num_states = nu.shape
    sums, running = np.empty((num_rows, num_states)), np.zeros(num_states + 1)
    for row in range(num_rows):
        for place in range(num_states):
            running[place + 1] = running[place] + nu[row, worst_first[place]]
        for state in range(num_states):
            tail, worse = running[num_as_bad[state]], running[num_worse[state]]
            total, power = 1.0, 1.0
            for _ in range(num_choices - 1):
                power *= worse
                total = total * tail + power
            sums[row, state] = total
    return sums


def _chance_all_within(
    subset: NDArray[np.int64], num_queues: int, num_choices: int
) -> NDArray[np.float64]:
    """Return the chance that d distinct queues all lie in a subset of the given size."""
    chance = np.ones(subset.shape)
    for drawn in range(num_choices):
        chance *= np.maximum(subset - drawn, 0.0) / (num_queues - drawn)
    return chance
