"""The best softmin, the simplest policy that the learned ones have to beat."""

import math

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from mfc_lb.model import ConstantPolicy, ScoreRule
from mfc_lb.systems import MeanFieldSystem


def best_softmin(
    system: MeanFieldSystem,
    levels: NDArray[np.int64],
    *,
    largest: float,
    keys: ArrayLike | None = None,
) -> float:
    """Return the β of the softmin that drops least on given paths.

    Parameters
    ----------
    system : MeanFieldSystem
        The system.
    levels : ndarray of int, shape (R, E)
        Paths of arrival levels, the same for all β.
    largest : float
        The search is between 0.01 and this.
    keys : array_like, shape (S,), optional
        The scores are −β keys; the fillings z when omitted.

    Returns
    -------
    float
        The minimiser of the mean drops, to three digits.
    """
    weights = np.asarray(system.parameters.fillings if keys is None else keys, dtype=np.float64)

    def mean_drops(log_beta: float) -> float:
        rule = ScoreRule(-math.exp(log_beta) * weights, system.parameters.num_choices)
        return float(system.simulate(ConstantPolicy(rule), levels).total_drops.mean())

    bounds = (math.log(0.01), math.log(largest))
    best = scipy.optimize.minimize_scalar(
        mean_drops, bounds=bounds, method="bounded", options={"xatol": 1e-3}
    )
    return math.exp(best.x)
