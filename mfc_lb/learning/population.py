"""The systems on which the pathwise gradient is taken."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mfc_lb.model import LevelPaths
from mfc_lb.systems import MeanFieldSystem
from mfc_lb.systems.differentiable import differentiable_step

#: Queues forget within about so many mean service times what was done to them.
MEMORY = 100.0

#: From distributions (n, S) and levels (n,) to scores (n, S).
Scores = Callable[[Tensor, Tensor], Tensor]


class Population:
    """Mean-field systems that go on from window to window, spread over the policy's occupancy.

    Parameters
    ----------
    system : MeanFieldSystem
        The system.
    count : int
        How many there are.
    episode : int
        A system begins anew, empty, after so many epochs. They begin at random ages, so that they
        do not all begin anew at the same time.
    discount : float
        Weight of an epoch relative to the one before in its episode.
    generator : numpy.random.Generator
        For ages and arrival levels.
    """

    def __init__(
        self,
        system: MeanFieldSystem,
        count: int,
        episode: int,
        discount: float,
        generator: np.random.Generator,
    ) -> None:
        p = system.parameters
        self._system, self._episode, self._discount = system, episode, discount
        self._generator = generator
        self._empty = torch.tensor(p.empty_distribution)
        self._rates = torch.tensor(p.arrivals.rates, dtype=torch.float64)
        window = round(MEMORY / p.delta_t)
        #: Epochs through which the gradient goes.
        self.window = min(max(window, 10), episode)
        self.nu = self._empty.repeat(count, 1)
        self._arrivals = LevelPaths(p.arrivals, count, episode)
        self._arrivals.begin(np.ones(count, dtype=bool), [generator])
        self.ages = generator.integers(0, episode, count)
        self._arrivals.skip_to(self.ages)

    def mean_drops(self, scores: Scores) -> Tensor:
        """Go on by one window and return the weighted mean of an epoch's drops.

        Parameters
        ----------
        scores : callable
            The policy.

        Returns
        -------
        Tensor
            A number, differentiable in whatever the scores depend on.
        """
        nu, total, weight = self.nu, torch.zeros((), dtype=torch.float64), 0.0
        for _ in range(self.window):
            level, weights = torch.from_numpy(self.levels), self._discount**self.ages
            nu, drops = differentiable_step(self._system, nu, self._rates[level], scores(nu, level))
            total = total + (torch.from_numpy(weights) * drops).sum()
            weight += float(weights.sum())
            nu = self._next_epoch(nu)
        self.nu = nu.detach()
        return total / weight

    @property
    def levels(self) -> NDArray[np.int64]:
        """Present arrival level of each system, shape (n,)."""
        return self._arrivals.levels

    def _next_epoch(self, nu: Tensor) -> Tensor:
        # New arrays: the graph holds on to the old ones.
        self.ages = self.ages + 1
        self._arrivals.advance(self.ages, [self._generator])
        ended = self.ages >= self._episode
        if not ended.any():
            return nu
        self._arrivals.begin(ended, [self._generator])
        self.ages[ended] = 0
        return torch.where(torch.from_numpy(ended)[:, None], self._empty, nu)

    def state(self) -> dict[str, Any]:
        """Return all that the future depends on."""
        levels, ages = torch.from_numpy(self.levels), torch.from_numpy(self.ages)
        generator = self._generator.bit_generator.state
        position = {"nu": self.nu, "levels": levels, "ages": ages, "generator": generator}
        return {**position, "paths": torch.from_numpy(self._arrivals.paths)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        self.nu = state["nu"]
        self._arrivals.levels, self.ages = state["levels"].numpy(), state["ages"].numpy()
        self._arrivals.paths = state["paths"].numpy()
        self._generator.bit_generator.state = state["generator"]
