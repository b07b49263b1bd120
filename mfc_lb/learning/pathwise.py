"""Pathwise training: gradient descent through the mean-field roll-out.

Only the arrival level is random in the mean field, and an epoch is differentiable in ν and in the
scores. So the gradient of the expected drops is the mean of the gradients along sampled paths of
levels, with no value function and no exploration.

Training has two stages: first constant scores for each level, starting from the best softmin; then
a network on top of them. In the end both and the simple rules are compared on paths that no
gradient step has seen, and the simplest that is not clearly worse than another is kept.
"""

import math
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from mfc_lb.errors import check_flag, check_int, check_real, require
from mfc_lb.learning.checkpoints import Checkpoint, File
from mfc_lb.learning.networks import NetworkPolicy, constant_scores, fresh_network, network_action
from mfc_lb.learning.population import Population
from mfc_lb.learning.selection import Selection
from mfc_lb.learning.training import (
    CurvePoint,
    Evaluate,
    TrainingResult,
    check_run,
    isolated_torch,
)
from mfc_lb.model import SystemParameters
from mfc_lb.model.rules import MAX_TABULATED_TUPLES
from mfc_lb.systems import MeanFieldSystem

# Gradient steps between two points of the curve, and between two chances to write a checkpoint.
_CURVE_STEPS = 10
# The weights that have a row for each arrival level.
_PER_LEVEL = ("base", "from_level")


class Objective(StrEnum):
    """What is minimised.

    ``evaluation`` is the expected drops over 500 mean service times from empty queues, as in the
    paper's evaluation. ``discounted`` is the paper's training objective: the expected drops of 500
    epochs from empty queues, discounted by 0.99 per epoch.
    """

    EVALUATION = "evaluation"
    DISCOUNTED = "discounted"

    @classmethod
    def _missing_(cls, value: object) -> None:
        require(False, "objective", value, "'evaluation' or 'discounted'")


@dataclass(frozen=True)
class PathwiseSettings:
    """Settings of pathwise training; the defaults serve any parameters.

    Parameters
    ----------
    objective : Objective or str
        What is minimised.
    constant_steps, network_steps : int
        Gradient steps of the two stages.
    constant_rate, network_rate : float
        Largest learning rate (Adam's) of each stage; it falls to zero as a cosine.
    num_paths : int
        Paths of a gradient step.
    width : int
        Width of the network's two hidden layers.
    sees_distribution, sees_level : bool
        What the policy knows. Without ν no network is trained, only constants.
    num_validation_paths : int
        Paths on which the candidates are compared.
    seed : int
        Of everything random.
    """

    objective: Objective | str = Objective.EVALUATION
    constant_steps: int = 100
    network_steps: int = 300
    constant_rate: float = 0.1
    network_rate: float = 0.01
    num_paths: int = 64
    width: int = 32
    sees_distribution: bool = True
    sees_level: bool = True
    num_validation_paths: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every field and keep it as Python's own, as checkpoints and cards write it."""
        kept: dict[str, Any] = {"objective": Objective(self.objective)}
        for name in ("constant_steps", "network_steps", "seed"):
            kept[name] = check_int(name, getattr(self, name), 0)
        for name in ("num_paths", "width"):
            kept[name] = check_int(name, getattr(self, name), 1)
        kept["num_validation_paths"] = check_int(
            "num_validation_paths", self.num_validation_paths, 2
        )
        for name in ("constant_rate", "network_rate"):
            kept[name] = check_real(name, getattr(self, name), strict=True)
        for name in ("sees_distribution", "sees_level"):
            kept[name] = check_flag(name, getattr(self, name))
        vars(self).update(kept)

    @property
    def num_steps(self) -> int:
        """Gradient steps of all stages."""
        return self.constant_steps + (self.network_steps if self.has_network else 0)

    @property
    def has_network(self) -> bool:
        """Whether there is a second stage."""
        return self.sees_distribution and self.network_steps > 0

    @property
    def discount(self) -> float:
        """Weight of an epoch relative to the one before."""
        return 0.99 if self.objective is Objective.DISCOUNTED else 1.0

    def episode(self, parameters: SystemParameters) -> int:
        """Return the number of epochs that count."""
        return 500 if self.objective is Objective.DISCOUNTED else parameters.num_epochs()


def train_pathwise(
    parameters: SystemParameters,
    settings: PathwiseSettings | None = None,
    *,
    evaluate: Evaluate | None = None,
    checkpoint: File | None = None,
) -> TrainingResult:
    """Train a policy of the mean-field system by pathwise gradients.

    Parameters
    ----------
    parameters : SystemParameters
        The model; S^d must be at most 32768.
    settings : PathwiseSettings, optional
        What is minimised, how, and the seed.
    evaluate : callable, optional
        From a policy to its drops: asked every ten gradient steps, for the learning curve.
    checkpoint : str or Path, optional
        File that keeps the state, so that a run that was killed goes on and ends with the same
        weights; removed in the end.

    Returns
    -------
    TrainingResult
        The policy and what is known of it.

    Raises
    ------
    InvalidInput
        If the parameters are too large, or the checkpoint belongs to another run.

    Examples
    --------
    >>> settings = PathwiseSettings(constant_steps=20, network_steps=0, num_validation_paths=10)
    >>> train_pathwise(SystemParameters(delta_t=10.0), settings).chosen
    'constants'
    """
    chosen = settings or PathwiseSettings()
    check_run(parameters, chosen, PathwiseSettings)
    kept = Checkpoint(checkpoint, parameters, chosen)
    tuples = float(parameters.num_states) ** parameters.num_choices
    small = tuples <= MAX_TABULATED_TUPLES
    require(small, "number of state tuples", tuples, f"at most {MAX_TABULATED_TUPLES} for training")
    with isolated_torch():
        return _Trainer(parameters, chosen).run(evaluate, kept)


class _Trainer:
    """A run: what is not in `_state` follows from the parameters and settings."""

    def __init__(self, parameters: SystemParameters, settings: PathwiseSettings) -> None:
        self.parameters, self.settings = parameters, settings
        self.step, self.seconds = 0, 0.0
        self.curve: list[CurvePoint] = []
        self.system, episode = MeanFieldSystem(parameters), settings.episode(parameters)
        self.selection = Selection(
            self.system, episode, settings.discount, settings.num_validation_paths, settings.seed
        )
        generator = np.random.default_rng(np.random.SeedSequence([settings.seed, 0]))
        self.population = Population(
            self.system, settings.num_paths, episode, settings.discount, generator
        )
        self.weights = self._first_weights(self.selection.gentle_start(), generator)
        self.constants = self.weights["base"].detach().clone()
        self.optimizer = self._new_optimizer()

    def _first_weights(
        self, scores: NDArray[np.float64], generator: np.random.Generator
    ) -> dict[str, Tensor]:
        # A policy that does not see the level has one row for all of them.
        rows = self.parameters.arrivals.num_levels if self.settings.sees_level else 1
        weights = fresh_network(np.tile(scores, (rows, 1)), self.settings.width, generator)
        return {name: torch.tensor(weight, requires_grad=True) for name, weight in weights.items()}

    def run(self, evaluate: Evaluate | None, kept: Checkpoint) -> TrainingResult:
        self._restore(kept.read())
        write, num_steps = kept.writer(), self.settings.num_steps
        with tqdm(total=num_steps, initial=self.step, unit="step", delay=2, disable=None) as bar:
            while self.step < num_steps:
                if self.step % _CURVE_STEPS == 0:
                    self._add_point(evaluate)
                    write(self._state)
                started = time.perf_counter()
                self._advance()
                self.seconds += time.perf_counter() - started
                bar.update()
        self._add_point(evaluate)
        result = self._result()
        kept.remove()
        return result

    def _advance(self) -> None:
        if self.step == self.settings.constant_steps:
            self.constants = self.weights["base"].detach().clone()
            self.optimizer = self._new_optimizer()
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        loss = self.population.mean_drops(self._scores)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._trained(), 1.0)
        self.optimizer.step()
        self.step += 1

    @property
    def _constant_stage(self) -> bool:
        return self.step < self.settings.constant_steps or not self.settings.has_network

    def _trained(self) -> list[Tensor]:
        return [self.weights["base"]] if self._constant_stage else list(self.weights.values())

    def _new_optimizer(self) -> torch.optim.Adam:
        return torch.optim.Adam(self._trained())

    def _learning_rate(self) -> float:
        s = self.settings
        if self._constant_stage:
            rate, progress = s.constant_rate, self.step / s.constant_steps
        else:
            rate = s.network_rate
            progress = (self.step - s.constant_steps) / s.network_steps
        return rate * (1.0 + math.cos(math.pi * progress)) / 2.0

    def _scores(self, nu: Tensor, level: Tensor) -> Tensor:
        return torch.as_tensor(
            network_action(self._present(self.weights), nu, level, torch.tanh, torch.matmul)
        )

    def _present(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the weights in use, with one row for each level."""
        levels = self.parameters.arrivals.num_levels
        used = {"base": weights["base"]} if self._constant_stage else weights
        per_level = {name: used[name].expand(levels, -1) for name in used if name in _PER_LEVEL}
        return {**used, **per_level}

    def _policy(self) -> NetworkPolicy:
        present = self._present(self.weights)
        arrays = {name: weight.detach().numpy() for name, weight in present.items()}
        return NetworkPolicy(arrays, self.parameters)

    def _add_point(self, evaluate: Evaluate | None) -> None:
        steps = self.step * self.settings.num_paths * self.population.window
        new = not self.curve or self.curve[-1].environment_steps < steps
        if evaluate is not None and new:
            self.curve.append(CurvePoint(steps, self.seconds, evaluate(self._policy())))

    def _result(self) -> TrainingResult:
        if self._constant_stage:
            trained = {"constants": self._policy()}
        else:
            constants = self.constants.expand(self.parameters.arrivals.num_levels, -1).numpy()
            simpler = NetworkPolicy(constant_scores(constants), self.parameters)
            trained = {"constants": simpler, "network": self._policy()}
        settings = {"method": "pathwise", **asdict(self.settings)}
        return self.selection.result(trained, settings, self.seconds, self.curve)

    def _state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "seconds": self.seconds,
            "curve": [asdict(point) for point in self.curve],
            "weights": {name: weight.detach() for name, weight in self.weights.items()},
            "constants": self.constants,
            "optimizer": self.optimizer.state_dict(),
            "population": self.population.state(),
        }

    def _restore(self, state: dict[str, Any] | None) -> None:
        if state is None:
            return
        self.step, self.seconds = state["step"], state["seconds"]
        self.curve = [CurvePoint.from_dict(point) for point in state["curve"]]
        self.weights = {name: one.requires_grad_() for name, one in state["weights"].items()}
        self.constants = state["constants"]
        self.optimizer = self._new_optimizer()
        # Between the stages, the next step begins with a new optimizer.
        if self.step != self.settings.constant_steps:
            self.optimizer.load_state_dict(state["optimizer"])
        self.population.restore(state["population"])
