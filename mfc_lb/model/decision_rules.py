"""The decision rules of the field: random, JSQ(d), SED(d), softmin and any scores."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mfc_lb.errors import check_real, require
from mfc_lb.model.parameters import SystemParameters
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
    keys = (parameters.fillings + 1) / parameters.state_service_rates
    # Delays that are equal on paper, such as 2/0.2 and 1/0.1, must tie.
    return PriorityRule([float(f"{key:.12g}") for key in keys], parameters.num_choices)


def softmin(parameters: SystemParameters, beta: float) -> ScoreRule:
    """Return the rule that chooses slot k with probability proportional to exp(−β z_k).

    Parameters
    ----------
    parameters : SystemParameters
        Gives the fillings and d.
    beta : float, >= 0
        Sharpness: 0 is random routing, β → ∞ is JSQ(d).

    Returns
    -------
    ScoreRule
        With scores −β z.
    """
    sharpness = check_real("beta", beta)
    finite = sharpness * parameters.buffer_size < np.inf
    require(finite, "beta", beta, "a finite number >= 0, times the buffer size too")
    return score_rule(parameters, -sharpness * parameters.fillings)


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
    rule = ScoreRule(scores, parameters.num_choices)
    expected = f"(..., {parameters.num_states}), one score for each state"
    require(rule.num_states == parameters.num_states, "scores shape", rule.scores.shape, expected)
    return rule


def as_decision_rule(rule: Any, parameters: SystemParameters) -> DecisionRule:
    """Return `rule`, a `DecisionRule` or an array, checked against the parameters' S and d."""
    checked = rule if isinstance(rule, DecisionRule) else TableRule(rule)
    wanted = (parameters.num_states, parameters.num_choices)
    if (checked.num_states, checked.num_choices) != wanted:
        states, choices = wanted
        shape = f"({states},)*{choices} + ({choices},)"
        require(False, "decision_rule shape", checked.shape, shape)
    return checked
