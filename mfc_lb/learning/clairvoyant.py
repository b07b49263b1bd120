"""An estimate of how much better than a policy anything could be: with the future known.

On a *known* path of arrival levels the mean field is deterministic, so the scores of all epochs can
be optimised at once. No policy, which must act without knowing the future, can drop less on that
path than the global optimum. The search ends in local optima, at or above it, so what it finds is
no bound: the gap to it is an estimate from below of the gap to the global optimum. Two searches are
reported: from the policy's own scores, and from those of random routing. That they agree speaks for
a global optimum and does not prove it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from mfc_lb.arrays import ArrayRecord
from mfc_lb.errors import as_float_array, check_int, require
from mfc_lb.learning.training import isolated_torch
from mfc_lb.model import Policy, ScoreRule, SystemParameters
from mfc_lb.systems import Estimate, MeanFieldSystem, rate_paths
from mfc_lb.systems.differentiable import differentiable_step
from mfc_lb.systems.trajectory import check_levels

Floats = NDArray[np.float64]

# Adam's settings. Gradients shrink exponentially as rules become sharp, so that a long memory of
# their size would stop the optimisation early: with Adam's usual 0.999 it ends up to 15 % too high.
_RATE, _MEMORIES, _TINY = 0.6, (0.9, 0.9), 1e-14
# Widest gap between neighbouring scores at the start.
_WIDEST_GAP = 4.0


@dataclass(frozen=True, eq=False)
class Certificate(ArrayRecord):
    """What a policy drops and what a search for the clairvoyant finds, on the same paths.

    It certifies nothing: the search may have missed lower drops, and `gap` and `ratio` are then
    too small.

    Attributes
    ----------
    policy, from_policy, from_random : ndarray, shape (R,)
        Total drops per queue on each path: of the policy, and at the end of the search from the
        policy's scores (made gentle, where they are so sharp that they have no gradient) and from
        random routing.
    """

    policy: Floats
    from_policy: Floats
    from_random: Floats

    @property
    def best(self) -> Floats:
        """The lower of what the two searches found on each path."""
        return np.minimum(self.from_policy, self.from_random)

    @property
    def gap(self) -> Estimate:
        """Estimate of how many more packets the policy drops than the search found."""
        return Estimate.of(self.policy - self.best)

    @property
    def difference_of_starts(self) -> Estimate:
        """Estimate of the value from random routing minus that from the policy."""
        return Estimate.of(self.from_random - self.from_policy)

    @property
    def ratio(self) -> Estimate:
        """Estimate of the policy's mean drops over those found."""
        return Estimate.ratio(self.policy, self.best)


def certify(
    policy: Policy,
    parameters: SystemParameters,
    *,
    num_runs: int = 16,
    num_epochs: int | None = None,
    seed: int = 0,
    levels: ArrayLike | None = None,
    num_steps: int = 300,
) -> Certificate:
    """Compare a policy in the mean field with a clairvoyant, who knows all arrival rates to come.

    The clairvoyant's drops are a local minimum: an estimate, from above, of the fewest that are
    possible on a path. So the gap that this shows is a *lower* estimate of the policy's gap to that
    optimum; it proves no bound, and not that the policy is good. Two optimisations start from
    different scores; that they end alike speaks for the minimum being global, without proof.
    Besides, no policy knows the future: against the best that a policy could do, the gap to the
    clairvoyant's optimum is too large by what foresight is worth.

    Parameters
    ----------
    policy : Policy
        Gives score rules, as learned policies, softmin and random routing as scores do.
    parameters : SystemParameters
        The model.
    num_runs : int, >= 1, optional
        Number R of paths of arrival levels.
    num_epochs : int, >= 1, optional
        Length E of the paths; ``parameters.num_epochs()`` when omitted.
    seed : int, >= 0, optional
        The paths are those on which `mfc_lb.evaluate` runs with this seed.
    levels : array_like of int, shape (R, E), optional
        These paths instead.
    num_steps : int, >= 1, optional
        Gradient steps of each optimisation.

    Returns
    -------
    Certificate
        Drops on each path; its ``gap`` and ``ratio`` are estimates with standard errors.

    Raises
    ------
    InvalidInput
        If a value is out of range, or the policy's rules are not score rules.

    Examples
    --------
    >>> from mfc_lb import ConstantPolicy, softmin
    >>> p = SystemParameters(delta_t=10.0)
    >>> found = certify(ConstantPolicy(softmin(p, 0.3)), p, num_runs=2, num_epochs=5, num_steps=20)
    >>> bool((found.best <= found.policy).all())
    True
    """
    system = MeanFieldSystem(parameters)
    epochs = parameters.num_epochs() if num_epochs is None else num_epochs
    if levels is None:
        levels = rate_paths(parameters, epochs, num_runs, seed)
    paths = _checked_paths(levels, parameters)
    scores, drops = follow(policy, system, paths)
    from_policy = clairvoyant_drops(system, paths, _gentle(scores), num_steps)
    from_random = clairvoyant_drops(system, paths, np.zeros_like(scores), num_steps)
    # A sharp policy can be better than the optimum that its gentler version leads to.
    return Certificate(drops, np.minimum(drops, from_policy), from_random)


def _checked_paths(levels: ArrayLike, parameters: SystemParameters) -> NDArray[np.int64]:
    paths = check_levels(levels, parameters)
    require(paths.ndim == 2 and paths.size > 0, "levels shape", paths.shape, "(R, E), R paths")
    return paths


def _gentle(scores: Floats) -> Floats:
    """Return scores in the same order without wide gaps, across which there is no gradient."""
    order = np.argsort(scores, axis=-1)
    gaps = np.diff(np.take_along_axis(scores, order, axis=-1), axis=-1, prepend=0.0)
    gentle = np.cumsum(np.minimum(gaps, _WIDEST_GAP), axis=-1)
    result = np.empty_like(scores)
    np.put_along_axis(result, order, gentle, axis=-1)
    return result


def follow(
    policy: Policy, system: MeanFieldSystem, levels: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return a policy's scores, shape (R, E, S), and total drops, shape (R,), along paths."""
    trajectory = system.simulate(policy, levels)
    scores = np.empty((*levels.shape, system.parameters.num_states))
    for epoch in range(levels.shape[1]):
        # Copies: what a policy writes into what it sees is nobody's state.
        rule = policy(trajectory.distributions[:, epoch].copy(), levels[:, epoch].copy())
        is_score = isinstance(rule, ScoreRule)
        require(is_score, "policy", policy, "one whose decision rules are score rules")
        assert isinstance(rule, ScoreRule)
        scores[:, epoch] = rule.scores
    return scores, trajectory.total_drops


def clairvoyant_drops(
    system: MeanFieldSystem, levels: ArrayLike, scores: ArrayLike, num_steps: int
) -> Floats:
    """Optimise the scores of every epoch of every path.

    Parameters
    ----------
    system : MeanFieldSystem
        The system.
    levels : array_like of int, shape (R, E)
        Paths of arrival levels, each known from its beginning.
    scores : array_like, shape (R, E, S)
        Where to start.
    num_steps : int
        Gradient steps.

    Returns
    -------
    ndarray, shape (R,)
        The lowest total drops per queue found on each path, never above those of `scores`.

    Raises
    ------
    InvalidInput
        If a shape is wrong, a score not finite, or the number of steps less than one.
    """
    steps = check_int("num_steps", num_steps, 1)
    paths = _checked_paths(levels, system.parameters)
    start, shape = as_float_array("scores", scores), (*paths.shape, system.parameters.num_states)
    require(start.shape == shape, "scores shape", start.shape, str(shape))
    require(bool(np.isfinite(start).all()), "scores", scores, "finite numbers")
    with isolated_torch():
        lowest = np.full(len(paths), np.inf)
        for drops in _descend(system, paths, torch.tensor(start, requires_grad=True), steps):
            lowest = np.minimum(lowest, drops)
        return lowest


def _descend(
    system: MeanFieldSystem, levels: NDArray[np.int64], scores: Tensor, num_steps: int
) -> Iterator[Floats]:
    """Yield the drops on each path before each step and after the last."""
    optimizer = torch.optim.Adam([scores], lr=_RATE, betas=_MEMORIES, eps=_TINY)
    for step in range(num_steps):
        optimizer.param_groups[0]["lr"] = _RATE * (1 + math.cos(math.pi * step / num_steps)) / 2
        optimizer.zero_grad()
        drops = _total_drops(system, levels, scores)
        yield drops.detach().numpy()
        drops.sum().backward()
        optimizer.step()
    with torch.no_grad():
        yield _total_drops(system, levels, scores).numpy()


def _total_drops(system: MeanFieldSystem, levels: NDArray[np.int64], scores: Tensor) -> Tensor:
    p = system.parameters
    rates = torch.tensor(p.arrivals.rates, dtype=torch.float64)[torch.tensor(levels)]
    nu = torch.tensor(p.empty_distribution).expand(len(levels), -1)
    total = torch.zeros(len(levels), dtype=torch.float64)
    # Unbound at once: the gradient of an index would be an array of all epochs for each epoch.
    for rate, score in zip(rates.unbind(1), scores.unbind(1), strict=True):
        nu, drops = differentiable_step(system, nu, rate, score)
        total = total + drops
    return total
