"""M queues with finite buffers, simulated exactly from epoch to epoch.

Within an epoch a queue's arrival rate is constant, so the queue is a uniformised walk: a Poisson
number of events with mean (λ_j + α_j)Δt, each an arrival with probability λ_j/(λ_j + α_j) and a
service otherwise. No clock is needed, and by memorylessness the epochs are independent given the
queue states at their beginnings.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.compiled import njit
from mfc_lb.errors import check_int, check_seed, require
from mfc_lb.model import DecisionRule, Policy, SystemParameters, as_decision_rule
from mfc_lb.model.parameters import require_few_events, require_parameters
from mfc_lb.model.policies import require_policy
from mfc_lb.systems.initial_law import allocate_queues
from mfc_lb.systems.trajectory import Trajectory, check_levels

#: Largest number of queues.
MAX_QUEUES = 10**8


class QueueSystem(ABC):
    """M queues whose arrival rates within an epoch depend on their states at its beginning.

    Attributes
    ----------
    parameters : SystemParameters
        The model's parameters.
    num_queues : int
        Number M of queues.
    distinct_queues : bool
        Whether an agent's d sampled queues are distinct; with replacement otherwise.
    """

    def __init__(
        self, parameters: SystemParameters, num_queues: int, *, distinct_queues: bool = False
    ) -> None:
        require_parameters(parameters)
        self.parameters = parameters
        is_flag = isinstance(distinct_queues, bool)
        require(is_flag, "distinct_queues", distinct_queues, "True or False")
        self.distinct_queues = distinct_queues
        fewest = parameters.num_choices if distinct_queues else 1
        self.num_queues = check_int("num_queues", num_queues, fewest, MAX_QUEUES)
        require_few_events(parameters, self.num_queues * max(parameters.arrivals.rates))

    def initial_states(self, nu: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the states of M queues that are distributed as nearly like ν as M allows.

        Parameters
        ----------
        nu : array_like, shape (S,), optional
            Distribution to imitate; all queues empty when omitted.

        Returns
        -------
        ndarray of int64, shape (M,)
            Index of each queue's state, in increasing order. The numbers of queues per state are
            M·ν rounded by largest remainders, so they are not random.

        Raises
        ------
        InvalidInput
            If ν is not a distribution over the S states with the classes' masses.
        """
        p = self.parameters
        counts = allocate_queues(p.empty_distribution if nu is None else nu, p, self.num_queues)
        return np.repeat(np.arange(p.num_states), counts)

    def simulate(
        self,
        policy: Policy,
        levels: NDArray[np.int64],
        seed: int | np.random.SeedSequence,
        nu: ArrayLike | None = None,
    ) -> Trajectory:
        """Simulate one run along a path of arrival levels.

        Parameters
        ----------
        policy : Policy
            Upper-level policy; it sees the empirical distribution of the queues.
        levels : ndarray of int, shape (E,)
            Arrival level in each epoch.
        seed : int, >= 0, or numpy.random.SeedSequence
            Seed of the run, which alone it depends on; sampling and service draw from two streams
            of their own.
        nu : array_like, shape (S,), optional
            Initial distribution, see `initial_states`.

        Returns
        -------
        Trajectory
            Empirical distributions, and drops, arrivals and departures per queue.
        """
        require_policy(policy, self.parameters)
        sampling, service = (np.random.default_rng(child) for child in _two_seeds(seed))
        states = self.initial_states(nu)
        path = check_levels(levels, self.parameters, axes=1)
        num_epochs = len(path)
        distributions = np.empty((num_epochs + 1, self.parameters.num_states))
        totals = np.empty((num_epochs, 3))
        counts = self._count(states)
        distributions[0] = counts / self.num_queues
        for epoch, level in enumerate(path):
            rule = self._rule(policy(distributions[epoch].copy(), int(level)))
            rate = self.parameters.arrivals.rates[level]
            rates = self._queue_rates(states, counts, rate, rule, sampling)
            totals[epoch] = self._serve(states, rates, service)
            counts = self._count(states)
            distributions[epoch + 1] = counts / self.num_queues
        arrivals, departures, drops = totals.T / self.num_queues
        return Trajectory(distributions, drops, arrivals, departures)

    def _rule(self, chosen: DecisionRule | ArrayLike) -> DecisionRule:
        rule = as_decision_rule(chosen, self.parameters)
        single = len(rule.shape) == rule.num_choices + 1
        require(single, "decision_rule shape", rule.shape, "that of one rule, not of a batch")
        return rule

    @abstractmethod
    def _queue_rates(
        self,
        states: NDArray[np.int64],
        counts: NDArray[np.int64],
        arrival_rate: float,
        rule: DecisionRule,
        sampling: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return the arrival rate λ_j of each queue in this epoch, shape (M,)."""

    def _rates_by_state(
        self, counts: NDArray[np.int64], arrival_rate: float, rule: DecisionRule
    ) -> NDArray[np.float64]:
        """Return the expected rate of a queue in each state, shape (S,)."""
        if self.distinct_queues:
            return rule.distinct_arrival_rates(counts.copy(), arrival_rate)  # a rule may write
        return np.asarray(rule.arrival_rates(counts / self.num_queues, arrival_rate))

    def _count(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(states, minlength=self.parameters.num_states)

    def _serve(
        self,
        states: NDArray[np.int64],
        rates: NDArray[np.float64],
        service: np.random.Generator,
    ) -> tuple[int, int, int]:
        p = self.parameters
        service_rates = p.state_service_rates[:: p.buffer_size + 1]
        return serve_epoch(states, rates, service_rates, p.buffer_size, p.delta_t, service)


def _two_seeds(seed: int | np.random.SeedSequence) -> list[np.random.SeedSequence]:
    """Return the first two children of a seed, whether or not it had some before."""
    if not isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(check_seed(seed)).spawn(2)
    pool = seed.pool_size
    return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key, pool_size=pool).spawn(2)


@njit()
def serve_epoch(
    states: Any,
    rates: Any,
    service_rates: Any,
    buffer_size: int,
    delta_t: float,
    generator: np.random.Generator,
) -> tuple[int, int, int]:
    """Advance every queue by one epoch, in place.

    Parameters
    ----------
    states : ndarray of int, shape (M,)
        State of each queue; overwritten.
    rates : ndarray, shape (M,)
        Arrival rate λ_j of each queue.
    service_rates : ndarray, shape (C,)
        Service rate of each server class.
    buffer_size : int
        Buffer size B.
    delta_t : float
        Length of the epoch.
    generator : numpy.random.Generator
        The stream of service.

    Returns
    -------
    tuple of int
        Arrivals (drops included), departures and drops, of all queues together.
    """
    arrivals, departures, drops = 0, 0, 0
    for queue in range(states.size):
        server_class, filling = divmod(states[queue], buffer_size + 1)
        total_rate = rates[queue] + service_rates[server_class]
        for _ in range(generator.poisson(total_rate * delta_t)):
            if generator.random() * total_rate < rates[queue]:
                arrivals += 1
                if filling < buffer_size:
                    filling += 1
                else:
                    drops += 1
            elif filling > 0:
                filling -= 1
                departures += 1
        states[queue] = server_class * (buffer_size + 1) + filling
    return arrivals, departures, drops
