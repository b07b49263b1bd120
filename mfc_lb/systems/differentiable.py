"""The mean-field step in torch, for gradients through a roll-out.

The rates come from the decision rule's own formulas, which work on tensors, and the epoch from the
propagator and its adjoint: there is no second copy of the model.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from mfc_lb.model import ScoreRule
from mfc_lb.systems.mean_field import MeanFieldSystem
from mfc_lb.systems.propagator import EpochPropagator


class _PushForward(torch.autograd.Function):
    """`EpochPropagator.push_forward`, differentiated by `EpochPropagator.pull_back`."""

    @staticmethod
    def forward(
        ctx: Any, nu: Tensor, rates: Tensor, propagator: EpochPropagator
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(nu, rates)
        ctx.propagator = propagator
        nu_next, drops = propagator.push_forward(nu.numpy(), rates.numpy())
        return torch.from_numpy(nu_next), torch.from_numpy(np.asarray(drops))

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor, Tensor, None]:
        given = (tensor.numpy() for tensor in (*ctx.saved_tensors, *cotangents))
        per_nu, per_rates = ctx.propagator.pull_back(*given)
        return torch.from_numpy(per_nu), torch.from_numpy(per_rates), None


def differentiable_step(
    system: MeanFieldSystem, nu: Tensor, arrival_rate: Tensor, rule: ScoreRule
) -> tuple[Tensor, Tensor]:
    """Advance a batch of distributions by one epoch, as `MeanFieldSystem.step` does.

    Parameters
    ----------
    system : MeanFieldSystem
        The system.
    nu : Tensor of float64, shape (..., S)
        Distributions over queue states; not checked.
    arrival_rate : Tensor of float64, shape (...)
        Arrival rate λ per queue.
    rule : ScoreRule
        With a tensor of scores, shape (..., S).

    Returns
    -------
    nu_next : Tensor, shape (..., S)
        Distributions at the end of the epoch, differentiable in `nu` and the rule's scores.
    drops : Tensor, shape (...)
        Expected drops per queue in the epoch.
    """
    rates = rule.arrival_rates(nu, arrival_rate)
    shape = np.broadcast_shapes(nu.shape, rates.shape)
    nu, rates = nu.expand(shape), rates.expand(shape)
    pushed: tuple[Tensor, Tensor] = _PushForward.apply(nu, rates, system.propagator)  # type: ignore[no-untyped-call]
    return pushed
