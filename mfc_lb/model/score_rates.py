"""Arrival rates of a score rule and their adjoint, as compiled kernels.

The rivals of a queue in state s are d − 1 states in no order: a multiset m. With ratios
r(s, i) = exp(g_i − g_s),

    λ(s)/λ = d Σ_m P(m) u(s, m),    u(s, m) = 1 / (1 + Σ_{i ∈ m} r(s, i)),

where P(m) is the multinomial probability of m under ν. There are C(S+d−2, d−1) multisets instead of
S^(d−1) tuples, and S² exponentials are all that is needed.
"""

from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import as_rows, read_only
from mfc_lb.compiled import njit

# exp of it is finite, and a chance below exp(−700) is as good as none.
MAX_GAP = 700.0


@cache
def rivals(num_states: int, num_choices: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the multisets of d − 1 rivals, shape (K, d−1), and their multinomial coefficients.

    Parameters
    ----------
    num_states : int
        Number S of queue states.
    num_choices : int
        Number d of sampled queues.
    """
    multisets = list(combinations_with_replacement(range(num_states), num_choices - 1))
    orders = [
        factorial(num_choices - 1) // prod(factorial(multiset.count(i)) for i in set(multiset))
        for multiset in multisets
    ]
    shape = (len(multisets), num_choices - 1)
    numbers = np.array(multisets, dtype=np.int64).reshape(shape)
    return read_only(numbers), read_only(np.array(orders, dtype=np.float64))


def score_rates(
    scores: NDArray[np.float64], nu: NDArray[np.float64], num_choices: int
) -> NDArray[np.float64]:
    """Return λ(s)/λ of score rules.

    Parameters
    ----------
    scores : ndarray, shape (..., S)
        Finite scores g.
    nu : ndarray, shape (..., S)
        Distributions over queue states; the two broadcast.
    num_choices : int
        Number d of sampled queues.

    Returns
    -------
    ndarray, shape (..., S)
        A row depends on nothing but its own scores and its own ν.
    """
    if scores.shape != nu.shape:
        # Copies: what is broadcast must not be written to, for which the compiler would ask.
        scores, nu = (np.array(array) for array in np.broadcast_arrays(scores, nu))
    multisets, orders = rivals(nu.shape[-1], num_choices)
    rates = _rates(as_rows(scores), as_rows(nu), multisets, orders)
    return np.asarray(rates.reshape(nu.shape))


def score_rates_adjoint(
    scores: NDArray[np.float64],
    nu: NDArray[np.float64],
    num_choices: int,
    cotangent: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gradients of Σ cotangent · `score_rates` with respect to scores and ν.

    Parameters
    ----------
    scores, nu : ndarray, shape (..., S)
        Of the same shape, see `score_rates`.
    num_choices : int
        Number d of sampled queues.
    cotangent : ndarray, shape (..., S)
        Gradient of a scalar with respect to λ(s)/λ.

    Returns
    -------
    tuple of ndarray, shape (..., S)
        Gradients of the scalar with respect to `scores` and `nu`.
    """
    multisets, orders = rivals(nu.shape[-1], num_choices)
    per_score, per_nu = _adjoint(
        as_rows(scores), as_rows(nu), as_rows(cotangent), multisets, orders
    )
    return per_score.reshape(nu.shape), per_nu.reshape(nu.shape)


@njit(inline="always")
def _fill_ratios(ratios: Any, scores: Any) -> None:
    for own in range(len(scores)):
        ratios[own, own] = 1.0
        for other in range(own):
            gap = scores[other] - scores[own]
            larger = np.exp(min(abs(gap), MAX_GAP))
            ratios[own, other] = larger if gap > 0 else 1.0 / larger
            ratios[other, own] = 1.0 / larger if gap > 0 else larger


@njit(inline="always")
def _chance(nu: Any, multiset: Any, order: float, left_out: int) -> float:
    """Return P(m), or its derivative with respect to the factor of one place."""
    chance = order
    for place in range(len(multiset)):
        if place != left_out:
            chance *= nu[multiset[place]]
    return chance


@njit(inline="always")
def _wins(ratios: Any, own: int, multiset: Any) -> float:
    inverse = 1.0
    for rival in multiset:
        inverse += ratios[own, rival]
    return 1.0 / inverse


@njit()
def _rates(scores: Any, nu: Any, multisets: Any, orders: Any) -> Any:
    num_rows, num_states = nu.shape
    num_choices = multisets.shape[1] + 1
    rates, ratios = np.zeros((num_rows, num_states)), np.empty((num_states, num_states))
    for row in range(num_rows):
        _fill_ratios(ratios, scores[row])
        for index in range(len(multisets)):
            weight = num_choices * _chance(nu[row], multisets[index], orders[index], -1)
            for own in range(num_states):
                rates[row, own] += weight * _wins(ratios, own, multisets[index])
    return rates


@njit()
def _adjoint(scores: Any, nu: Any, cotangent: Any, multisets: Any, orders: Any) -> tuple[Any, Any]:
    num_rows, num_states = nu.shape
    num_choices = multisets.shape[1] + 1
    per_score, per_nu = np.zeros((num_rows, num_states)), np.zeros((num_rows, num_states))
    ratios = np.empty((num_states, num_states))
    for row in range(num_rows):
        _fill_ratios(ratios, scores[row])
        for index in range(len(multisets)):
            multiset, order = multisets[index], orders[index]
            weight = num_choices * _chance(nu[row], multiset, order, -1)
            per_chance = 0.0
            for own in range(num_states):
                wins = _wins(ratios, own, multiset)
                per_chance += num_choices * cotangent[row, own] * wins
                slope = weight * cotangent[row, own] * wins * wins
                for rival in multiset:
                    # d wins / d g_own = Σ r wins², and the same with the other sign for a rival.
                    change = slope * ratios[own, rival]
                    per_score[row, own] += change
                    per_score[row, rival] -= change
            for place in range(num_choices - 1):
                slope = per_chance * _chance(nu[row], multiset, order, place)
                per_nu[row, multiset[place]] += slope
    return per_score, per_nu
