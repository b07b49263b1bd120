"""The decision rules of the field: random, JSQ(d), SED(d), softmin and any scores."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import as_float_array, check_real, require
from mfc_lb.model.parameters import SystemParameters, require_parameters
from mfc_lb.model.rules import DecisionRule, PriorityRule, ScoreRule, TableRule


def random_choice(parameters: SystemParameters) -> PriorityRule:
    """Return the rule that ignores the states (RND).

    Parameters
    ----------
    parameters : SystemParameters
        Gives S and d.

    Returns
    -------
    PriorityRule
        Every sampled queue is chosen with probability 1/d; λ(s) = λ.
    """
    require_parameters(parameters)
    return PriorityRule(np.zeros(parameters.num_states), parameters.num_choices)


def join_shortest_queue(parameters: SystemParameters) -> PriorityRule:
    """Return the rule that joins the shortest sampled queue, JSQ(d), with even ties.

    Parameters
    ----------
    parameters : SystemParameters
        Gives the fillings and d.

    Returns
    -------
    PriorityRule
        Keys are the fillings z, of all server classes alike.
    """
    require_parameters(parameters)
    return PriorityRule(parameters.fillings, parameters.num_choices)


def shortest_expected_delay(parameters: SystemParameters) -> PriorityRule:
    """Return the rule that joins the queue with the shortest expected delay, SED(d).

    Parameters
    ----------
    parameters : SystemParameters
        Gives the fillings, the service rates and d.

    Returns
    -------
    PriorityRule
        Keys are (z+1)/α: the expected time until a packet that joins now has been served.
    """
    require_parameters(parameters)
    with np.errstate(over="ignore"):
        keys = (parameters.fillings + 1) / parameters.state_service_rates
    finite = bool(np.isfinite(keys).all())
    require(finite, "service_rates", parameters.service_rates, "such that delays are finite")
    # Delays that are equal on paper, such as 2/0.2 and 1/0.1, must tie.
    return PriorityRule([float(f"{key:.12g}") for key in keys], parameters.num_choices)


def softmin(parameters: SystemParameters, beta: ArrayLike) -> ScoreRule:
    """Return the rule that chooses slot k with probability proportional to exp(−β z_k).

    Parameters
    ----------
    parameters : SystemParameters
        Gives the fillings and d.
    beta : array_like, shape (...), >= 0
        Sharpness: 0 is random routing, β → ∞ is JSQ(d). An array gives a batch of rules, so that
        ``softmin(parameters, betas[level])`` serves one level and many.

    Returns
    -------
    ScoreRule
        With scores −β z, of shape (..., S).
    """
    require_parameters(parameters)
    sharpness = _checked_sharpness(beta, parameters.buffer_size)
    return score_rule(parameters, -sharpness * parameters.fillings)


def _checked_sharpness(beta: Any, buffer_size: int) -> NDArray[np.float64] | float:
    if not isinstance(beta, Iterable) or isinstance(beta, (str, bytes)):
        sharpness = check_real("beta", beta)
        finite = sharpness * buffer_size < np.inf
        require(finite, "beta", beta, "a finite number >= 0, times the buffer size too")
        return sharpness
    sharpnesses = as_float_array("beta", beta)
    finite = bool(((sharpnesses >= 0) & (sharpnesses < np.finfo(float).max / buffer_size)).all())
    require(finite, "beta", beta, "finite numbers >= 0, times the buffer size too")
    return sharpnesses[..., None]


def score_rule(parameters: SystemParameters, scores: ArrayLike) -> ScoreRule:
    """Return the rule softmax_k g(s̄_k) for given scores.

    Parameters
    ----------
    parameters : SystemParameters
        Gives S and d.
    scores : array_like, shape (..., S)
        Finite score g of each state.

    Returns
    -------
    ScoreRule
        See its notes for why scores are enough.

    Raises
    ------
    InvalidInput
        If the number of scores is not S, or one is not finite.
    """
    require_parameters(parameters)
    rule = ScoreRule(scores, parameters.num_choices)
    if rule.num_states != parameters.num_states:
        expected = f"(..., {parameters.num_states}), one score for each state"
        require(False, "scores shape", rule.scores.shape, expected)
    return rule


def as_decision_rule(rule: Any, parameters: SystemParameters) -> DecisionRule:
    """Return `rule`, a `DecisionRule` or an array, checked against the parameters' S and d."""
    require_parameters(parameters)
    checked = rule if isinstance(rule, DecisionRule) else TableRule(rule)
    wanted = (parameters.num_states, parameters.num_choices)
    if (checked.num_states, checked.num_choices) != wanted:
        states, choices = wanted
        shape = f"({states},)*{choices} + ({choices},)"
        require(False, "decision_rule shape", checked.shape, shape)
    return checked
