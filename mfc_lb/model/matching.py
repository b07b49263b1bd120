"""The scores that reproduce given arrival rates: the dual of a maximum-entropy problem."""

from typing import Any

import numpy as np
import scipy.optimize
import scipy.special
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import as_float_array, check_int, require
from mfc_lb.model.packet_split import MAX_OUTCOMES
from mfc_lb.model.parameters import MAX_CHOICES
from mfc_lb.model.probabilities import check_probabilities
from mfc_lb.model.rules import ScoreRule

#: Largest accepted difference between the wanted rates and those of the matching rule.
MATCH_TOLERANCE = 1e-8
#: Scores beyond this are as good as infinite.
SCORE_BOUND = 40.0


def matching_score_rule(rates: ArrayLike, nu: ArrayLike, num_choices: int) -> ScoreRule:
    """Return the score rule whose arrival rates at ν are the given ones.

    Parameters
    ----------
    rates : array_like, shape (S,)
        Wanted rates λ(s)/λ, positive, with Σ_s ν(s) rates(s) = 1.
    nu : array_like, shape (S,)
        Distribution over queue states, positive everywhere.
    num_choices : int, >= 1
        Number d of sampled queues.

    Returns
    -------
    ScoreRule
        With mean score zero.

    Raises
    ------
    InvalidInput
        If no rule of finite scores has these rates within 1e-8.

    Notes
    -----
    Among all decision rules with the given rates, the one of maximum entropy is a score rule. Its
    scores minimise the convex dual Σ_s̄ Π_i ν(s̄_i) log Σ_k exp g(s̄_k) − Σ_s ν(s) rates(s) g(s),
    whose gradient is ν(s) (λ_g(s)/λ − rates(s)).
    """
    mass = check_probabilities("nu", nu)
    wanted = as_float_array("rates", rates)
    choices = check_int("num_choices", num_choices, 1, MAX_CHOICES)
    tuples = max(2, mass.shape[-1]) ** choices
    require(tuples <= MAX_OUTCOMES, "num_choices", choices, f"such that S^d <= {MAX_OUTCOMES}")
    require(mass.ndim == 1, "nu shape", mass.shape, "(S,)")
    matches = wanted.shape == mass.shape and bool((wanted > 0).all() and (mass > 0).all())
    require(matches, "rates", rates, f"{mass.size} positive rates, at a positive nu")
    total = float(mass @ wanted)
    require(abs(total - 1.0) < 1e-9, "rates", total, "1 on average over nu; their average")

    def excess(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        rule = ScoreRule(scores, choices)
        return np.asarray(mass * (rule.arrival_rates(mass, 1.0) - wanted))

    def dual(scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value = _expected_log_sum(scores, mass, choices) - float(scores @ (mass * wanted))
        return value, excess(scores)

    def centred_excess(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(excess(scores) + scores.mean())

    # Rates at or beyond the boundary would send the scores to infinity; the bounds stop them.
    bounds = [(-SCORE_BOUND, SCORE_BOUND)] * mass.size
    start = scipy.optimize.minimize(dual, np.zeros(mass.size), jac=True, bounds=bounds)
    # The dual's own value is known to 1e-16 only, so its minimiser to 1e-8: finish on the gradient.
    polished: Any = scipy.optimize.root(centred_excess, start.x, tol=1e-15)
    miss = float(np.abs(excess(polished.x) / mass).max())
    require(miss < MATCH_TOLERANCE, "rates", rates, "the rates of some score rule")
    return ScoreRule(polished.x - polished.x.mean(), choices)


def _expected_log_sum(
    scores: NDArray[np.float64], mass: NDArray[np.float64], num_choices: int
) -> float:
    grid = np.stack(np.meshgrid(*(scores,) * num_choices, indexing="ij"))
    expected = scipy.special.logsumexp(grid, axis=0)
    for _ in range(num_choices):
        expected = expected @ mass
    return float(expected)
