"""From an action, a vector of real numbers, to a decision rule: one mapping for all uses.

Training, evaluation and stored policies go through `decision_rule_of` alike. Both kinds of action
are unbounded, so that no clipping distorts the probabilities of a stochastic policy's actions; who
needs bounds finds in `action_bound` some that leave nothing out.
"""

import math
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import as_float_array, require
from mfc_lb.model import ScoreRule, SystemParameters, TableRule

#: Largest number of entries of a table that a policy may give.
MAX_TABLE_ENTRIES = 2**16


class ActionKind(StrEnum):
    """What an action's numbers mean.

    ``score`` has S numbers, the scores of a `ScoreRule`; they reach every arrival rate that any
    rule reaches. ``table`` has the paper's S^d·d numbers: a sigmoid brings each into [0, 1], and
    the d numbers that belong to one tuple of sampled states are divided by their sum.
    """

    SCORE = "score"
    TABLE = "table"

    @classmethod
    def _missing_(cls, value: object) -> None:
        require(False, "kind", value, "'score' or 'table'")


def action_size(parameters: SystemParameters, kind: ActionKind | str) -> int:
    """Return how many numbers an action has.

    Parameters
    ----------
    parameters : SystemParameters
        Gives S and d.
    kind : ActionKind or str
        What they mean.

    Raises
    ------
    InvalidInput
        If a table would have more than 65536 entries.
    """
    states, choices = parameters.num_states, parameters.num_choices
    if ActionKind(kind) is ActionKind.SCORE:
        return states
    entries = float(states) ** choices * choices
    require(entries <= MAX_TABLE_ENTRIES, "entries of a table", entries, "at most 65536")
    return int(entries)


def action_bound(parameters: SystemParameters, kind: ActionKind | str) -> float:
    """Return a bound so large that actions beyond it make no difference.

    Parameters
    ----------
    parameters : SystemParameters
        Gives S.
    kind : ActionKind or str
        What an action's numbers mean.

    Returns
    -------
    float
        37 for tables and 37·(S−1)/2 for scores, where 37 stands for log 2^53.

    Notes
    -----
    What is chosen with a probability of e^−37 beside something else is below the rounding of 1.
    Scores, in order, may therefore be moved together until no two neighbours are further apart than
    37, and then by a constant, until they are inside the bounds: the rule is the same to rounding.
    """
    sharp = 53.0 * math.log(2.0)
    scores = ActionKind(kind) is ActionKind.SCORE
    return sharp * (parameters.num_states - 1) / 2.0 if scores else sharp


def decision_rule_of(
    action: ArrayLike, kind: ActionKind | str, num_states: int, num_choices: int
) -> ScoreRule | TableRule:
    """Return the decision rule that an action means.

    Parameters
    ----------
    action : array_like, shape (..., A)
        Finite numbers.
    kind : ActionKind or str
        What they mean.
    num_states : int
        Number S of queue states.
    num_choices : int
        Number d of sampled queues.

    Returns
    -------
    ScoreRule or TableRule
        With the action's batch axes.

    Examples
    --------
    >>> decision_rule_of([1000.0, -1000.0], ActionKind.SCORE, 2, 2)[0, 1]
    array([1., 0.])
    >>> decision_rule_of([-1000.0] * 8, ActionKind.TABLE, 2, 2)[0, 1]
    array([0.5, 0.5])
    """
    if ActionKind(kind) is ActionKind.SCORE:
        return ScoreRule(action, num_choices)
    numbers = as_float_array("action", action)
    require(bool(np.isfinite(numbers).all()), "action", action, "finite numbers")
    shape = (*numbers.shape[:-1], *(num_states,) * num_choices, num_choices)
    return TableRule(_normalised_sigmoids(numbers.reshape(shape)))


def _normalised_sigmoids(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    # In logarithms, so that rows of tiny numbers keep their proportions.
    log_sigmoids = -np.logaddexp(0.0, -numbers)
    shares = np.exp(log_sigmoids - log_sigmoids.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
