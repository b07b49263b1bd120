"""How finite systems approach their limits: N → ∞ at fixed M, and M → ∞ with N = M²."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mfc_lb.experiments.cases import (
    CASE_COLUMNS,
    JSQ,
    PAPER,
    RND,
    Case,
    mean_field_system,
    rate_paths,
)
from mfc_lb.results.experiment import (
    ESTIMATE_COLUMNS,
    Cell,
    Experiment,
    Result,
    Row,
    cell_seed,
    estimate_columns,
    root_mean_square,
)
from mfc_lb.systems import Estimate, QueueSystem, simulate_runs

#: The two limits, as the table's column ``limit`` names them.
AGENTS, QUEUES = "agents", "queues"

POLICIES = {JSQ: math.inf, RND: 0.0, "softmin(1)": 1.0}


@dataclass(frozen=True)
class ConvergenceSize:
    """Sizes of the convergence study.

    Parameters
    ----------
    delta_ts : tuple of float
        Synchronisation delays.
    num_queues : int
        Fixed M while N grows.
    nums_agents : tuple of int
        Numbers N of agents at that M.
    num_agents_runs : int
        Runs at each of them.
    nums_queues : tuple of int
        Numbers M of queues that grow together with N = M².
    nums_queues_runs : tuple of int
        Runs at each of them.
    """

    delta_ts: tuple[float, ...]
    num_queues: int
    nums_agents: tuple[int, ...]
    num_agents_runs: int
    nums_queues: tuple[int, ...]
    nums_queues_runs: tuple[int, ...]


@dataclass(frozen=True)
class _Task:
    limit: str
    case: Case
    num_runs: int

    @property
    def key(self) -> str:
        return f"{self.limit}_{self.case.key}"


def _tasks(size: ConvergenceSize) -> Iterator[_Task]:
    cases = [Case(delta_t, *named) for delta_t in size.delta_ts for named in POLICIES.items()]
    for num_agents in (*size.nums_agents, math.inf):
        routing = "none" if math.isinf(num_agents) else "per_epoch"
        finite: dict[str, Any] = {"num_queues": size.num_queues, "num_agents": num_agents}
        for case in cases:
            yield _Task(AGENTS, replace(case, routing=routing, **finite), size.num_agents_runs)
    for num_queues, num_runs in zip(size.nums_queues, size.nums_queues_runs, strict=True):
        finite = {"num_queues": num_queues, "num_agents": num_queues**2, "routing": "per_epoch"}
        for case in cases:
            yield _Task(QUEUES, replace(case, **finite), num_runs)


def _cells(size: ConvergenceSize, seed: int) -> Sequence[Cell]:
    return [
        Cell(task.key, partial(_compare_with_limit, task.case, task.num_runs, _seed(task, seed)))
        for task in _tasks(size)
    ]


def _seed(task: _Task, seed: int) -> int:
    # All N at a fixed M are paired with infinitely many agents; different M are independent.
    return cell_seed(seed, task.limit, task.case.delta_t, task.case.num_queues)


def _compare_with_limit(case: Case, num_runs: int, seed: int) -> dict[str, list[float]]:
    """Return each run's drops, those of the mean field on its path, and the distance of H to ν."""
    system, policy = case.make_system(), case.make_policy()
    assert isinstance(system, QueueSystem)
    levels = rate_paths(case.parameters, num_runs, seed)
    limit = mean_field_system(case.delta_t).simulate(policy, levels)
    drops, distances = [], []
    for run, nu in zip(
        simulate_runs(system, policy, levels, seed), limit.distributions, strict=True
    ):
        drops.append(float(run.drops.sum()))
        # The beginning, where both systems are empty, does not count.
        distances.append(float(np.abs(run.distributions - nu)[1:].sum(axis=1).mean()))
    return {
        "drops": drops,
        "mean_field": limit.total_drops.tolist(),
        "distance": distances,
    }


def _rows(size: ConvergenceSize, results: Mapping[str, Result]) -> list[Row]:
    return [
        {
            "limit": task.limit,
            **task.case.columns(),
            "measure": measure,
            **estimate_columns(estimate),
        }
        for task in _tasks(size)
        for measure, estimate in _measures(task, results).items()
    ]


def _measures(task: _Task, results: Mapping[str, Result]) -> dict[str, Estimate]:
    result = {name: np.asarray(values) for name, values in results[task.key].items()}
    drops = result["drops"]
    measures = {"drops": Estimate.of(drops), "distance": Estimate.of(result["distance"])}
    if task.limit == QUEUES:
        difference = drops - result["mean_field"]
        return measures | {"bias": Estimate.of(difference), "rms": root_mean_square(difference)}
    reference = replace(task.case, num_agents=math.inf, routing="none")
    if task.case == reference:
        return measures
    limit = np.asarray(results[replace(task, case=reference).key]["drops"])
    return measures | {"bias": Estimate.of(drops - limit)}


EXPERIMENT = Experiment(
    name="convergence",
    question="How fast do finite systems approach infinitely many agents, and the mean field?",
    seed=20222,
    sizes={
        "quick": ConvergenceSize(
            delta_ts=(5.0, 10.0),
            num_queues=20,
            nums_agents=(20, 200, 600, 2000, 20_000),
            num_agents_runs=20,
            nums_queues=(10, 20, 50, 100),
            nums_queues_runs=(50, 50, 20, 20),
        ),
        "paper": ConvergenceSize(
            delta_ts=(1.0, 5.0, 10.0),
            num_queues=100,
            nums_agents=(10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
            num_agents_runs=100,
            nums_queues=(10, 20, 50, 100, 200, 500, 1000),
            nums_queues_runs=(1000, 1000, 500, 500, 300, 200, 200),
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    columns={
        "limit": "agents: N grows at fixed M, the limit is infinite_agents; queues: M grows with "
        "N = M², the limit is the mean field",
        **CASE_COLUMNS,
        "measure": "drops; distance: L1 distance of the queues' distribution to the mean field's "
        "on the same arrival path, averaged over the epochs; bias: paired difference of drops "
        "from the limit; rms: root mean square of that difference",
        "estimate": "distance: a number from 0 to 2; else drops per queue over 500 mean service "
        "times",
        **ESTIMATE_COLUMNS,
    },
)
