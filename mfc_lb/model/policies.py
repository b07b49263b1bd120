"""Upper-level policies: what decision rule the agents use, given ν and the arrival level."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.arrays import WithoutCaches
from mfc_lb.errors import InvalidInput, require
from mfc_lb.model.decision_rules import as_decision_rule
from mfc_lb.model.parameters import SystemParameters, require_parameters
from mfc_lb.model.rules import DecisionRule, TableRule


class Policy(Protocol):
    """Anything that maps the system's state to a decision rule; one object for all systems.

    Notes
    -----
    `mfc_lb.evaluate` asks once per epoch and run in a system of M queues, with ν of shape (S,) and
    one level. In the mean field it follows all runs at once: ν has shape (R, S) and the levels
    shape (R,), and the rules of all runs are returned as one, with a leading axis R. A score rule
    takes scores of shape (..., S) and serves both; it is also much cheaper than a table. The arrays
    that a policy is given are its own. `check_policy` tries a policy both ways.

    Examples
    --------
    A softmin for each arrival level:

    >>> import numpy as np
    >>> from mfc_lb import MeanFieldSystem, SystemParameters, check_policy, evaluate, softmin
    >>> parameters = SystemParameters(delta_t=5.0)
    >>> betas = np.array([0.4, 1.0])  # at the high and at the low level
    >>> def policy(nu, level):
    ...     return softmin(parameters, betas[level])
    >>> check_policy(policy, parameters)
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


def require_policy(policy: Any, parameters: SystemParameters) -> None:
    """Refuse what is no policy, or a policy that was made for another system, without asking it.

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
    is_policy = callable(policy) and not isinstance(policy, type)
    require(is_policy, "policy", policy, "a policy, such as ConstantPolicy(rule)")
    if hasattr(policy, "require_fit"):
        policy.require_fit(parameters)


class ConstantPolicy(WithoutCaches):
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


#: Rates of a rule may differ by this much between the two ways of asking for it.
RATE_TOLERANCE = 1e-9


def check_policy(policy: Policy, parameters: SystemParameters) -> None:
    """Try whether a policy keeps the contract of all three systems, see `Policy`.

    It is asked for the rules of a few distributions at every arrival level, one by one, as a system
    of M queues asks, and all at once, as the mean field does; the rules have to be the same.

    Parameters
    ----------
    policy : Policy
        The policy; it is called.
    parameters : SystemParameters
        Of the systems that it is for.

    Raises
    ------
    InvalidInput
        If it fails or gives no decision rule of these parameters when asked in one of the ways, or
        other rules than in the other way.

    Examples
    --------
    >>> from mfc_lb.model import random_choice, softmin
    >>> p = SystemParameters()
    >>> check_policy(lambda nu, level: softmin(p, 1.0 + level), p)
    >>> check_policy(lambda nu, level: [random_choice(p), softmin(p, 1.0)][level], p)
    Traceback (most recent call last):
    mfc_lb.errors.InvalidInput: policy must serve nu of shape (6, 6) with levels of shape (6,), \
got TypeError: only integer scalar arrays can be converted to a scalar index
    """
    require_parameters(parameters)
    require_policy(policy, parameters)
    some = _some_distributions(parameters)
    levels = np.arange(parameters.arrivals.num_levels)
    nus, each = np.repeat(some, len(levels), axis=0), np.tile(levels, len(some))
    single = [
        _asked(policy, nu, int(level), "one rule", parameters)
        for nu, level in zip(nus, each, strict=True)
    ]
    together = _asked(policy, nus, each, "rules that broadcast to one for each", parameters)
    differ = float(np.abs(together - np.stack(single)).max())
    same = "the same whether asked one by one or all at once; by how much rates differ"
    require(differ < RATE_TOLERANCE, "rules of the policy", differ, same)


def _some_distributions(parameters: SystemParameters) -> NDArray[np.float64]:
    """Return distributions with every queue empty, every queue full, and all fillings as often."""
    empty, width = parameters.empty_distribution, parameters.buffer_size + 1
    by_class = empty.reshape(-1, width)
    spread = np.repeat(by_class.sum(axis=1) / width, width)
    return np.stack([empty, by_class[:, ::-1].ravel(), spread])


def _asked(
    policy: Policy, nu: NDArray[np.float64], level: Any, wanted: str, parameters: SystemParameters
) -> NDArray[np.float64]:
    """Return λ(s)/λ of the rules that a policy gives, of the shape of ν."""
    levels = f"levels of shape {level.shape}" if np.ndim(level) else "one level"
    try:
        rule = as_decision_rule(policy(nu.copy(), level), parameters)
        rates = np.asarray(rule.arrival_rates(nu, 1.0))
    except Exception as error:
        told = f"policy must serve nu of shape {nu.shape} with {levels}"
        raise InvalidInput(f"{told}, got {type(error).__name__}: {error}") from error
    require(rates.shape == nu.shape, "shape of the policy's rule", rule.shape, wanted)
    return rates
