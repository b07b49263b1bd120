"""The simple policies, and the choice among them and the trained ones."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.learning.networks import NetworkPolicy, constant_scores
from mfc_lb.learning.softmin import best_softmin
from mfc_lb.learning.training import CurvePoint, TrainingResult
from mfc_lb.systems import Estimate, MeanFieldSystem
from mfc_lb.systems.evaluation import rate_paths

# With scores -40 z the chance of the longer of two queues is below rounding: that is JSQ.
_SHARP = 40.0
# Beyond this a softmin is a JSQ with a gradient too small to learn from.
_LARGEST_BETA, _GENTLE_BETA = 10.0, 4.0
# A candidate must be better by so many standard errors to be preferred to a simpler one.
_CLEARLY = 2.0


class Selection:
    """Paths for comparing candidates, which no gradient step sees.

    Parameters
    ----------
    system : MeanFieldSystem
        The system.
    num_epochs : int
        Length of the paths.
    discount : float
        Weight of an epoch's drops relative to the one before.
    num_paths : int
        Number of paths.
    seed : int
        Of the training run.
    """

    def __init__(
        self, system: MeanFieldSystem, num_epochs: int, discount: float, num_paths: int, seed: int
    ) -> None:
        self._system = system
        # Not the paths that `evaluate` draws from the same seed.
        own = int(np.random.SeedSequence([seed, 1]).generate_state(1, np.uint64)[0])
        self._levels = rate_paths(system.parameters, num_epochs, num_paths, own)
        self._weights = discount ** np.arange(num_epochs)

    @cached_property
    def _softmin(self) -> dict[str, tuple[NDArray[np.float64], float]]:
        """Keys and best β of softmins of the queue and, if servers differ, of the delay."""
        p = self._system.parameters
        keys = {"queue": p.fillings.astype(np.float64)}
        if len(set(p.service_rates)) > 1:
            keys["delay"] = (p.fillings + 1) / p.state_service_rates
        search = {"largest": _LARGEST_BETA}
        return {
            name: (key, best_softmin(self._system, self._levels, keys=key, **search))
            for name, key in keys.items()
        }

    @cached_property
    def simple(self) -> dict[str, NetworkPolicy]:
        """The policies of constant scores that need no training, simplest first."""
        scores = {"random": np.zeros(self._system.parameters.num_states)}
        for name, (keys, _) in self._softmin.items():
            scores[f"shortest {name}"] = -_SHARP * keys
        for name, (keys, beta) in self._softmin.items():
            scores[f"softmin of the {name}"] = -beta * keys
        return {name: self._constant(score) for name, score in scores.items()}

    def gentle_start(self) -> NDArray[np.float64]:
        """Return the scores of the best softmin, but none so sharp that it has no gradient."""

        def mean_drops(name: str) -> float:
            return float(self._drops(self.simple[f"softmin of the {name}"]).mean())

        keys, beta = self._softmin[min(self._softmin, key=mean_drops)]
        return -min(beta, _GENTLE_BETA) * keys

    def result(
        self,
        trained: Mapping[str, NetworkPolicy],
        settings: Mapping[str, Any],
        seconds: float,
        curve: list[CurvePoint],
    ) -> TrainingResult:
        """Return the simplest policy than which none is clearly better.

        Parameters
        ----------
        trained : mapping from str to NetworkPolicy
            The trained candidates, simplest first.
        settings, seconds, curve
            See `TrainingResult`.
        """
        policies = {**self.simple, **trained}
        drops = {name: self._drops(policy) for name, policy in policies.items()}
        chosen, *others = drops
        for name in others:
            gain = Estimate.of(drops[chosen] - drops[name])
            if gain.mean > _CLEARLY * gain.standard_error:
                chosen = name
        candidates = {name: Estimate.of(samples) for name, samples in drops.items()}
        excess = {name: Estimate.of(samples - drops[chosen]) for name, samples in drops.items()}
        return TrainingResult(
            policies[chosen], settings, seconds, curve, candidates, excess, chosen
        )

    def _drops(self, policy: NetworkPolicy) -> NDArray[np.float64]:
        return np.asarray(self._system.simulate(policy, self._levels).drops @ self._weights)

    def _constant(self, scores: NDArray[np.float64]) -> NetworkPolicy:
        p = self._system.parameters
        return NetworkPolicy(constant_scores(np.tile(scores, (p.arrivals.num_levels, 1))), p)
