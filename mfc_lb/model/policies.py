"""Upper-level policies: what decision rule the agents use, given ν and the arrival level."""

from typing import Any, Protocol

from numpy.typing import ArrayLike

from mfc_lb.errors import require
from mfc_lb.model.parameters import SystemParameters
from mfc_lb.model.rules import DecisionRule, TableRule


class Policy(Protocol):
    """Anything that maps the system's state to a decision rule; one object for all systems.

    Notes
    -----
    `mfc_lb.evaluate` asks once per epoch and run in a system of M queues, with ν of shape (S,) and
    one level. In the mean field it follows all runs at once: ν has shape (R, S) and the levels
    shape (R,), and the rules of all runs are returned as one, with a leading axis R. A score rule
    takes scores of shape (..., S) and serves both; it is also much cheaper than a table.

    Examples
    --------
    Scores by arrival level, for a buffer of 5 packets:

    >>> import numpy as np
    >>> from mfc_lb import MeanFieldSystem, SystemParameters, evaluate, score_rule
    >>> parameters = SystemParameters(delta_t=5.0)
    >>> betas = np.array([0.4, 1.0])  # at the high and at the low level
    >>> def policy(nu, level):
    ...     return score_rule(parameters, -betas[level][..., None] * np.arange(6.0))
    >>> result = evaluate(MeanFieldSystem(parameters), policy, num_epochs=100, num_runs=10, seed=1)
    >>> result.drops.shape
    (10, 100)
    """

    def __call__(self, nu: Any, level: Any) -> DecisionRule | ArrayLike:
        """Return the rule of an epoch.

        Parameters
        ----------
        nu : array, shape (..., S)
            Distribution over queue states (empirical in a system of M queues).
        level : int, or array of int of shape (...)
            Index of the arrival level.

        Returns
        -------
        DecisionRule or array_like
            The decision rule h.
        """
        ...


def check_policy(policy: Any, parameters: SystemParameters) -> None:
    """Refuse what is no policy, or a policy that was made for another system.

    Parameters
    ----------
    policy : Any
        What a user gave. If it has a method ``require_fit``, that is asked.
    parameters : SystemParameters
        Of the system.

    Raises
    ------
    InvalidInput
        If it cannot be called, or does not fit.
    """
    require(callable(policy), "policy", policy, "a policy, such as ConstantPolicy(rule)")
    if hasattr(policy, "require_fit"):
        policy.require_fit(parameters)


class ConstantPolicy:
    """The policy that uses one decision rule always.

    Parameters
    ----------
    rule : DecisionRule or array_like, shape (S,)*d + (d,)
        The rule; an array is checked once, here.

    Raises
    ------
    InvalidInput
        If an array is not a decision rule.
    """

    def __init__(self, rule: DecisionRule | ArrayLike) -> None:
        self.rule = rule if isinstance(rule, DecisionRule) else TableRule(rule)

    def __repr__(self) -> str:
        """Show the rule."""
        return f"ConstantPolicy({self.rule!r})"

    def __call__(self, nu: Any, level: Any) -> DecisionRule:
        """Return the rule."""
        return self.rule
