"""How fast PPO and pathwise gradients learn, in environment steps and in time."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from mfc_lb.experiments.cases import PAPER, RND, Limit, baselines, mean_field_system, rate_paths
from mfc_lb.learning.actions import ActionKind
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.model import ConstantPolicy, SystemParameters, random_choice
from mfc_lb.results.experiment import (
    ESTIMATE_COLUMNS,
    Cell,
    Experiment,
    Result,
    Row,
    cell_seed,
    estimate_columns,
)
from mfc_lb.systems import Estimate

#: Ways of training, and names of the rows that are no training.
PPO, PATHWISE, NONE = "PPO", "pathwise", "none"


@dataclass(frozen=True)
class TrainingSize:
    """Sizes of the study.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay.
    num_steps : int
        Environment steps of PPO.
    gradient_steps : tuple of int
        Gradient steps of the two stages of pathwise training.
    score_seeds, table_seeds, pathwise_seeds : tuple of int
        Seeds of PPO with either kind of action, and of pathwise training.
    num_paths : int
        Paths on which every point of a curve is evaluated.
    """

    delta_t: float
    num_steps: int
    gradient_steps: tuple[int, int]
    score_seeds: tuple[int, ...]
    table_seeds: tuple[int, ...]
    pathwise_seeds: tuple[int, ...]
    num_paths: int


class _Evaluation:
    """The expected drops of a policy over the paper's horizon, always on the same paths."""

    def __init__(self, size: TrainingSize, seed: int) -> None:
        self._system = mean_field_system(size.delta_t)
        parameters = self._system.parameters
        self._levels = rate_paths(parameters, size.num_paths, cell_seed(seed, size.delta_t))
        random = self.drops(ConstantPolicy(random_choice(parameters)))
        self._limit = Limit(parameters, random)

    def drops(self, policy: Any) -> Any:
        """Return the drops on each path."""
        return self._system.simulate(policy, self._levels).total_drops

    def __call__(self, policy: NetworkPolicy) -> Estimate:
        return self._limit.estimate(self.drops(policy))


def _by_ppo(size: TrainingSize, seed: int, kind: ActionKind, training_seed: int) -> Result:
    from mfc_lb.learning.ppo import PPOSettings, train_ppo

    settings = PPOSettings(num_steps=size.num_steps, kind=kind, seed=training_seed)
    parameters = SystemParameters(delta_t=size.delta_t)
    trained = train_ppo(parameters, settings, evaluate=_Evaluation(size, seed))
    return [asdict(point) for point in trained.curve]


def _by_pathwise(size: TrainingSize, seed: int, training_seed: int) -> Result:
    from mfc_lb.learning.pathwise import PathwiseSettings, train_pathwise

    constant, network = size.gradient_steps
    settings = PathwiseSettings(constant_steps=constant, network_steps=network, seed=training_seed)
    parameters = SystemParameters(delta_t=size.delta_t)
    trained = train_pathwise(parameters, settings, evaluate=_Evaluation(size, seed))
    return [asdict(point) for point in trained.curve]


def _without_training(size: TrainingSize, seed: int) -> Result:
    evaluation = _Evaluation(size, seed)
    policies = baselines(size.delta_t, size.num_paths)
    return {case.policy: evaluation.drops(case.make_policy()).tolist() for case in policies}


def _runs(size: TrainingSize) -> list[tuple[str, ActionKind, int]]:
    """Return method, kind of action and seed of every run, the short ones first."""
    return [
        *((PATHWISE, ActionKind.SCORE, seed) for seed in size.pathwise_seeds),
        *((PPO, ActionKind.TABLE, seed) for seed in size.table_seeds),
        *((PPO, ActionKind.SCORE, seed) for seed in size.score_seeds),
    ]


def _cells(size: TrainingSize, seed: int) -> Sequence[Cell]:
    cells = [Cell(NONE, partial(_without_training, size, seed))]
    for method, kind, training_seed in _runs(size):
        ways = {
            PPO: partial(_by_ppo, size, seed, kind, training_seed),
            PATHWISE: partial(_by_pathwise, size, seed, training_seed),
        }
        cells.append(Cell(_key(method, kind, training_seed), ways[method]))
    return cells


def _key(method: str, kind: str, training_seed: int) -> str:
    return f"{method}_{kind}_{training_seed}"


def _rows(size: TrainingSize, results: Mapping[str, Result]) -> list[Row]:
    drops = {policy: np.asarray(samples) for policy, samples in results[NONE].items()}
    limit = Limit(SystemParameters(delta_t=size.delta_t), drops[RND])
    rows = [
        _row(policy, NONE, -1, {"environment_steps": 0, "seconds": 0.0}, limit.estimate(samples))
        for policy, samples in drops.items()
    ]
    for method, kind, seed in _runs(size):
        for point in results[_key(method, kind, seed)]:
            estimate = Estimate(**point["drops"])
            rows.append(_row(method, kind, seed, point, estimate))
    return rows


def _row(method: str, kind: str, seed: int, point: Any, estimate: Estimate) -> Row:
    return {
        "method": method,
        "kind": kind,
        "training_seed": seed,
        "environment_steps": int(point["environment_steps"]),
        "seconds": float(point["seconds"]),
        **estimate_columns(estimate),
    }


EXPERIMENT = Experiment(
    name="training",
    question="How fast do PPO and pathwise gradients learn?",
    seed=20226,
    sizes={
        "quick": TrainingSize(
            delta_t=5.0,
            num_steps=8_000,
            gradient_steps=(40, 40),
            score_seeds=(0,),
            table_seeds=(0,),
            pathwise_seeds=(0,),
            num_paths=50,
        ),
        "paper": TrainingSize(
            delta_t=5.0,
            num_steps=2_000_000,
            gradient_steps=(100, 300),
            score_seeds=(0, 1, 2),
            table_seeds=(0,),
            pathwise_seeds=(0, 1, 2),
            num_paths=500,
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    columns={
        "method": f"{PPO} or {PATHWISE} training; or the policy that needs none",
        "kind": "what an action's numbers mean: score (S of them) or table (S^d·d); or none",
        "training_seed": "seed of the training run; -1 without training",
        "environment_steps": "epochs simulated in training so far, summed over all systems",
        "seconds": "spent on training so far, on one core; no two runs agree on it",
        "estimate": "expected drops per queue over 500 mean service times of the policy so far, in "
        "the mean field",
        **ESTIMATE_COLUMNS,
    },
    measured=("seconds",),
    # Training amplifies rounding errors, which differ between processors.
    tolerance=0.1,
)
