"""The mean-field system (∞, ∞): ν moves deterministically, given the arrival rates."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import InvalidInput, as_float_array, require
from mfc_lb.model import DecisionRule, Policy, SystemParameters, as_decision_rule
from mfc_lb.model.parameters import require_parameters
from mfc_lb.model.policies import require_policy
from mfc_lb.systems.initial_law import check_distributions, check_initial_law
from mfc_lb.systems.propagator import EpochPropagator
from mfc_lb.systems.trajectory import Trajectory, check_levels


class MeanFieldSystem:
    """Infinitely many queues and agents.

    Parameters
    ----------
    parameters : SystemParameters
        The model's parameters.

    Notes
    -----
    One epoch (section 2 of Tahir, Cui and Koeppl, ICPP 2022, with exact discretisation):
    ν'(c,z') = Σ_z ν(c,z) [exp(Q̄Δt) e_z]_{z'} and D = Σ_s ν(s) [exp(Q̄Δt) e_z]_{B+1}, with the rate
    λ(s) of the decision rule in the rate matrix of state s.

    Examples
    --------
    >>> from mfc_lb.model import join_shortest_queue
    >>> p = SystemParameters()
    >>> nu, drops = MeanFieldSystem(p).step(p.empty_distribution, 0.9, join_shortest_queue(p))
    >>> nu.round(3).tolist(), round(float(drops), 6)
    ([0.559, 0.299, 0.107, 0.028, 0.006, 0.001], 0.000211)
    """

    def __init__(self, parameters: SystemParameters) -> None:
        require_parameters(parameters)
        self.parameters = parameters
        self.propagator = EpochPropagator(parameters)

    def __repr__(self) -> str:
        """Show the delay."""
        return f"MeanFieldSystem(delta_t={self.parameters.delta_t:g})"

    def step(
        self, nu: ArrayLike, arrival_rate: ArrayLike, rule: DecisionRule | ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Advance a batch of distributions by one epoch.

        Parameters
        ----------
        nu : array_like, shape (..., S)
            Distributions over queue states.
        arrival_rate : array_like, shape (...), >= 0
            Arrival rate λ per queue.
        rule : DecisionRule or array_like, shape (..., S, ..., S, d)
            Decision rule h.

        Returns
        -------
        nu_next : ndarray, shape (..., S)
            Distributions at the end of the epoch.
        drops : ndarray, shape (...)
            Expected drops per queue in the epoch.

        Raises
        ------
        InvalidInput
            If ν is not a distribution over the S states, λ is negative or not finite, or h does not
            fit the parameters.
        """
        distribution = check_distributions(nu, self.parameters)
        rate = _checked_rate(arrival_rate)
        return self._advance(distribution, rate, as_decision_rule(rule, self.parameters))

    def simulate(
        self, policy: Policy, levels: NDArray[np.int64], nu: ArrayLike | None = None
    ) -> Trajectory:
        """Follow a policy along given paths of arrival levels.

        Parameters
        ----------
        policy : Policy
            Upper-level policy.
        levels : ndarray of int, shape (..., E)
            Arrival level in each epoch; leading axes are a batch of paths.
        nu : array_like, shape (..., S), optional
            Initial distributions; all queues empty when omitted.

        Returns
        -------
        Trajectory
            Distributions of shape (..., E+1, S) and expected drops of shape (..., E).

        Raises
        ------
        InvalidInput
            If an initial distribution gives a server class another mass than its fraction, or the
            policy gives no rule of these parameters.
        """
        require_policy(policy, self.parameters)
        paths = check_levels(levels, self.parameters)
        start = self.parameters.empty_distribution if nu is None else nu
        present = check_initial_law(start, self.parameters)
        present = _one_for_each(present, paths.shape[:-1])
        rates = np.asarray(self.parameters.arrivals.rates)[paths]
        # Copies for the policy, which may write into what it is given.
        told, distributions, drops = paths.copy(), [present], []
        for epoch in range(paths.shape[-1]):
            chosen = policy(present.copy(), told[..., epoch])
            rule = as_decision_rule(chosen, self.parameters)
            present, dropped = self._advance(present, rates[..., epoch], rule)
            distributions.append(present)
            drops.append(dropped)
        lost = np.stack(drops, axis=-1) if drops else np.zeros(paths.shape)
        return Trajectory(np.stack(distributions, axis=-2), lost)

    def _advance(
        self, nu: NDArray[np.float64], rate: Any, rule: DecisionRule
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        try:
            rates = rule.arrival_rates(nu.copy(), rate)  # a rule may write into what it is given
        except ValueError as error:
            if _broadcast(nu, rate, rule):
                raise  # what went wrong is the rule's own matter
            batches = f"batches of nu {nu.shape[:-1]}, arrival_rate {np.shape(rate)} and rule"
            raise InvalidInput(f"{batches} {rule.shape} must broadcast") from error
        if rates.shape != nu.shape:
            nu, rates = (np.array(array) for array in np.broadcast_arrays(nu, rates))
        return self.propagator.push_forward(nu, rates)


def _one_for_each(nu: NDArray[np.float64], batch: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a distribution for each path of a batch."""
    shape = (*batch, nu.shape[-1])
    try:
        return np.broadcast_to(nu, shape)
    except ValueError:
        allowed = f"one that broadcasts to {shape}, a distribution for each path of levels"
        raise InvalidInput(f"nu shape must be {allowed}, got {nu.shape}") from None


def _broadcast(nu: NDArray[np.float64], rate: Any, rule: DecisionRule) -> bool:
    batch = rule.shape[: -rule.num_choices - 1]
    try:
        np.broadcast_shapes(nu.shape[:-1], np.shape(rate), batch)
    except ValueError:
        return False
    return True


def _checked_rate(arrival_rate: ArrayLike) -> NDArray[np.float64] | float:
    array = as_float_array("arrival_rate", arrival_rate)
    rate = array.copy() if array.ndim else float(array)  # plain floats are quicker than 0-d arrays
    lowest, highest = (array.min(), array.max()) if array.size > 1 else (rate, rate)
    # Written so that NaN does not pass.
    if not (array.size > 0 and lowest >= 0.0 and highest < np.inf):
        require(False, "arrival_rate", arrival_rate, "finite and >= 0")
    return rate
