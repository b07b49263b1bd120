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

from mfc_lb.errors import require

# The integrand is analytic for |Im u| < π/2: the error is about exp(−π²/STEP) = 7e-18.
STEP = 0.25
# exp(−38) = 3e-17 of a clock's mass lies left of its mean, in logarithmic time, by more than 38.
LEFT, RIGHT = 38.0, 4.0
# Scores that differ by more are compared as if by this much: exp(−60) is far below rounding.
MAX_GAP = 60.0
#: Largest table of times and states, in entries: there are two, of 2 GiB each.
MAX_ENTRIES = 2**28


class ExponentialRace:
    """The race of one score rule: its quadrature, set up once.

    Parameters
    ----------
    scores : ndarray, shape (S,)
        Finite scores; a batch of them is refused.
    num_choices : int
        Number d of sampled queues.
    """

    def __init__(self, scores: NDArray[np.float64], num_choices: int) -> None:
        single = isinstance(scores, np.ndarray) and scores.ndim == 1
        require(single, "scores shape", scores.shape, "(S,) where S^d is too large for a table")
        compressed = _compress_gaps(scores)
        _require_small(compressed)
        times = np.arange(-compressed.max() - LEFT, -compressed.min() + RIGHT, STEP)
        # In place, for these arrays may be large.
        hazard = times[:, None] + compressed
        np.exp(np.minimum(hazard, 50.0, out=hazard), out=hazard)
        self._survival = np.exp(-hazard)
        self._density = np.multiply(hazard, self._survival, out=hazard)
        self._num_choices = num_choices

    def rates(self, nu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return λ(s)/λ at distributions ν of shape (..., S), with error about 1e-15 times d."""
        rivals = (nu @ self._survival.T) ** (self._num_choices - 1)
        return np.asarray(STEP * self._num_choices * rivals @ self._density)


def _require_small(scores: NDArray[np.float64]) -> None:
    width = float(scores.max() - scores.min())
    entries = scores.size * (width + LEFT + RIGHT) / STEP
    given = f"{scores.size} scores from {-width:g} to 0"
    few = f"so few and so close together that their race has at most {MAX_ENTRIES} numbers"
    require(entries <= MAX_ENTRIES, "scores", given, few)


def _compress_gaps(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    values, index = np.unique(scores, return_inverse=True)
    steps: Any = np.minimum(np.diff(values), MAX_GAP)
    return np.asarray(np.concatenate([[0.0], np.cumsum(steps)])[index])
