"""Rates of a score rule for many states and choices, as a race of exponential clocks.

softmax_k g_k is the chance that an exponential clock of rate exp(g_k) rings first. Conditioning on
when it rings turns the sum over S^(d−1) tuples of rivals into one integral,

    λ(s) = λ d ∫_0^∞ w_s e^{−t w_s} φ(t)^{d−1} dt,    w_s = e^{g(s)},  φ(t) = Σ_s ν(s) e^{−t w_s},

and with t = e^u the integrand is analytic and decays doubly exponentially to the right and
exponentially to the left, so the trapezoidal rule converges geometrically.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The integrand is analytic for |Im u| < π/2: the error is about exp(−π²/STEP) = 7e-18.
STEP = 0.25
# exp(−38) = 3e-17 of a clock's mass lies left of its mean, in logarithmic time, by more than 38.
LEFT, RIGHT = 38.0, 4.0
# Scores that differ by more are compared as if by this much: exp(−60) is far below rounding.
MAX_GAP = 60.0


def race_rates(
    nu: NDArray[np.float64], scores: NDArray[np.float64], num_choices: int
) -> NDArray[np.float64]:
    """Return λ(s)/λ of the score rule, with error about 1e-15 times d.

    Parameters
    ----------
    nu : ndarray, shape (..., S)
        Distribution over states.
    scores : ndarray, shape (S,)
        Finite scores, one rule for the whole batch.
    num_choices : int
        Number d of sampled queues.

    Returns
    -------
    ndarray, shape (..., S)
        The rates per unit of λ.
    """
    compressed = _compress_gaps(scores)
    times = np.arange(-compressed.max() - LEFT, -compressed.min() + RIGHT, STEP)
    log_hazard = np.minimum(times[:, None] + compressed, 50.0)
    survival = np.exp(-np.exp(log_hazard))
    rivals = nu @ survival.T
    density = np.exp(log_hazard) * survival
    return np.asarray(STEP * num_choices * rivals ** (num_choices - 1) @ density)


def _compress_gaps(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    values, index = np.unique(scores, return_inverse=True)
    steps: Any = np.minimum(np.diff(values), MAX_GAP)
    return np.asarray(np.concatenate([[0.0], np.cumsum(steps)])[index])
