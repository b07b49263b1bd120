"""The mean-field system (∞, ∞): ν moves deterministically, given the arrival rates."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import InvalidInput, as_float_array, require
from mfc_lb.model import DecisionRule, Policy, SystemParameters, as_decision_rule
from mfc_lb.model.policies import check_policy
from mfc_lb.model.probabilities import check_probabilities
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
        is_parameters = isinstance(parameters, SystemParameters)
        require(is_parameters, "parameters", parameters, "SystemParameters")
        self.parameters = parameters
        self.propagator = EpochPropagator(parameters)

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
        distribution = self._checked_distribution(nu)
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
        """
        check_policy(policy, self.parameters)
        paths = check_levels(levels, self.parameters)
        start = self.parameters.empty_distribution if nu is None else nu
        present = self._checked_distribution(start)
        present = np.broadcast_to(present, (*paths.shape[:-1], present.shape[-1]))
        rates = np.asarray(self.parameters.arrivals.rates)[paths]
        distributions, drops = [present], []
        for epoch in range(paths.shape[-1]):
            rule = as_decision_rule(policy(present, paths[..., epoch]), self.parameters)
            present, dropped = self._advance(present, rates[..., epoch], rule)
            distributions.append(present)
            drops.append(dropped)
        lost = np.stack(drops, axis=-1) if drops else np.zeros(paths.shape)
        return Trajectory(np.stack(distributions, axis=-2), lost)

    def _advance(
        self, nu: NDArray[np.float64], rate: Any, rule: DecisionRule
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        try:
            rates = rule.arrival_rates(nu, rate)
        except ValueError:
            batches = f"batches of nu {nu.shape[:-1]}, arrival_rate {np.shape(rate)} and rule"
            raise InvalidInput(f"{batches} {rule.shape} must broadcast") from None
        if rates.shape != nu.shape:
            nu, rates = np.broadcast_arrays(nu, rates)
        return self.propagator.push_forward(nu, rates)

    def _checked_distribution(self, nu: ArrayLike) -> NDArray[np.float64]:
        checked = check_probabilities("nu", nu)
        num_states = self.parameters.num_states
        if checked.shape[-1] != num_states:
            one_each = f"(..., {num_states}), one probability for each state"
            require(False, "nu shape", checked.shape, one_each)
        return checked


def _checked_rate(arrival_rate: ArrayLike) -> NDArray[np.float64] | float:
    array = as_float_array("arrival_rate", arrival_rate)
    rate = array if array.ndim else float(array)  # plain floats are quicker than 0-d arrays
    lowest, highest = (array.min(), array.max()) if array.size > 1 else (rate, rate)
    # Written so that NaN does not pass.
    if not (array.size > 0 and lowest >= 0.0 and highest < np.inf):
        require(False, "arrival_rate", arrival_rate, "finite and >= 0")
    return rate
