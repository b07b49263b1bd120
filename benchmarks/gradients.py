"""Gradients through a roll-out: matrix exponentials differentiated by torch, or our adjoint."""

import numpy as np
import torch

from benchmarks import usual_gradients
from benchmarks.timing import Measured, measure_pair
from mfc_lb import MeanFieldSystem, SystemParameters
from mfc_lb.systems.differentiable import differentiable_step

#: The design promises 20 to 50 times over `torch.linalg.matrix_exp`.
TARGET = 20.0


class RollOutCase:
    """A batch of paths under constant scores.

    Parameters
    ----------
    batch, num_epochs : int
        Number and length of the paths.
    delta_t : float
        Length of an epoch.
    """

    def __init__(self, batch: int, num_epochs: int, delta_t: float) -> None:
        self.parameters = SystemParameters(delta_t=delta_t)
        self.system = MeanFieldSystem(self.parameters)
        generator = np.random.default_rng(1)
        rates = generator.choice(self.parameters.arrivals.rates, (num_epochs, batch))
        self.rates = torch.from_numpy(rates)
        self.start = torch.from_numpy(generator.dirichlet(np.ones(6), batch))
        self.scores = torch.from_numpy(generator.standard_normal(6)).requires_grad_()

    def usual(self) -> torch.Tensor:
        """Return the gradient of the mean drops by automatic differentiation of all of it."""
        step = usual_gradients.step
        return self._gradient(lambda nu, rate: step(nu, rate, self.scores, self.parameters.delta_t))

    def ours(self) -> torch.Tensor:
        """Return the same gradient through `differentiable_step`."""
        step = differentiable_step
        return self._gradient(lambda nu, rate: step(self.system, nu, rate, self.scores))

    def _gradient(self, step) -> torch.Tensor:
        nu, total = self.start, torch.zeros((), dtype=torch.float64)
        for rate in self.rates:
            nu, drops = step(nu, rate)
            total = total + drops.mean()
        (gradient,) = torch.autograd.grad(total, self.scores)
        return gradient


def measure(pairs: int, batch: int = 64, num_epochs: int = 20, delta_t: float = 5.0) -> Measured:
    """Measure one gradient of a batch of paths."""
    case = RollOutCase(batch, num_epochs, delta_t)
    steps = batch * num_epochs
    return measure_pair(
        f"gradient of a roll-out, batch {batch}, Δt = {delta_t:g}",
        case.usual,
        case.ours,
        pairs=pairs,
        units=(steps, steps),
        target=TARGET,
    )
