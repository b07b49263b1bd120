"""The mean-field step in torch, for gradients through a roll-out.

Both halves of an epoch, the rates of a score rule and the propagator, bring their own adjoint, so
that an epoch is one node of the graph; there is no second copy of the model.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from mfc_lb.model.score_rates import score_rates, score_rates_adjoint
from mfc_lb.systems.mean_field import MeanFieldSystem


class _Epoch(torch.autograd.Function):
    """One epoch under score rules, differentiable in ν and the scores."""

    @staticmethod
    def forward(
        ctx: Any, nu: Tensor, arrival_rate: Tensor, scores: Tensor, system: MeanFieldSystem
    ) -> tuple[Tensor, Tensor]:
        ctx.arrays = nu.numpy(), arrival_rate.numpy()[..., None], scores.numpy()
        ctx.system = system
        before, arrival_rates, given = ctx.arrays
        ctx.rates = arrival_rates * score_rates(given, before, system.parameters.num_choices)
        nu_next, drops = system.propagator.push_forward(before, ctx.rates)
        return torch.from_numpy(nu_next), torch.from_numpy(np.asarray(drops))

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor, None, Tensor, None]:
        nu, arrival_rates, scores = ctx.arrays
        of_nu, of_drops = (cotangent.numpy() for cotangent in cotangents)
        per_nu, per_rate = ctx.system.propagator.pull_back(nu, ctx.rates, of_nu, of_drops)
        choices = ctx.system.parameters.num_choices
        per_score, more = score_rates_adjoint(scores, nu, choices, arrival_rates * per_rate)
        return torch.from_numpy(per_nu + more), None, torch.from_numpy(per_score), None


def differentiable_step(
    system: MeanFieldSystem, nu: Tensor, arrival_rate: Tensor, scores: Tensor
) -> tuple[Tensor, Tensor]:
    """Advance a batch of distributions by one epoch under score rules, as `system.step` does.

    Parameters
    ----------
    system : MeanFieldSystem
        The system.
    nu : Tensor of float64, shape (..., S)
        Distributions over queue states; not checked.
    arrival_rate : Tensor of float64, shape (...)
        Arrival rate λ per queue.
    scores : Tensor of float64, shape (..., S)
        Score of each state, see `mfc_lb.model.ScoreRule`; broadcasts against `nu`.

    Returns
    -------
    nu_next : Tensor, shape (..., S)
        Distributions at the end of the epoch, differentiable in `nu` and `scores`.
    drops : Tensor, shape (...)
        Expected drops per queue in the epoch.
    """
    shape = torch.broadcast_shapes(nu.shape, scores.shape)
    nu, scores = nu.expand(shape), scores.expand(shape)
    pushed: tuple[Tensor, Tensor] = _Epoch.apply(nu, arrival_rate, scores, system)  # type: ignore[no-untyped-call]
    return pushed
