"""What becomes of the policies when agents are not many more than queues."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mfc_lb.experiments.cases import (
    CASE_COLUMNS,
    JSQ,
    MF,
    PAPER,
    POLICIES,
    RND,
    SOFTMIN,
    Case,
    all_policies,
    drops_cell,
    policy_digests,
)
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

#: Paired differences between policies that the table holds: policy minus reference.
PAIRS = ((JSQ, RND), (SOFTMIN, RND), (MF, RND), (MF, SOFTMIN))


@dataclass(frozen=True)
class PopulationsSize:
    """Sizes of the study.

    Parameters
    ----------
    delta_ts : tuple of float
        Synchronisation delays.
    nums_queues : tuple of int
        Numbers M of queues.
    agents_per_queue : tuple of float
        Ratios N/M, besides infinitely many agents.
    num_runs : int
        Runs of each case.
    num_beta_paths : int
        Paths on which softmin's β is chosen.
    routings : tuple of str
        How agents choose.
    policies : tuple of str
        Random routing, and any of the others.
    """

    delta_ts: tuple[float, ...]
    nums_queues: tuple[int, ...]
    agents_per_queue: tuple[float, ...]
    num_runs: int
    num_beta_paths: int
    routings: tuple[str, ...] = ("per_epoch", "per_packet")
    policies: tuple[str, ...] = POLICIES


def _groups(size: PopulationsSize) -> Iterator[list[Case]]:
    """Yield the policies in each system at each delay."""
    limits = [
        all_policies(delta_t, size.num_beta_paths, size.policies) for delta_t in size.delta_ts
    ]
    for num_queues in size.nums_queues:
        for routing, num_agents in _populations(size, num_queues):
            for limit in limits:
                yield [
                    replace(case, routing=routing, num_queues=num_queues, num_agents=num_agents)
                    for case in limit
                ]


def _populations(size: PopulationsSize, num_queues: int) -> Iterator[tuple[str, float]]:
    for routing in size.routings:
        for ratio in size.agents_per_queue:
            yield routing, round(ratio * num_queues)
    yield "none", math.inf


def _cells(size: PopulationsSize, seed: int) -> Sequence[Cell]:
    return [
        drops_cell(case, size.num_runs, cell_seed(seed, case.delta_t, case.num_queues))
        for group in _groups(size)
        for case in group
    ]


def _rows(size: PopulationsSize, results: Mapping[str, Result]) -> list[Row]:
    rows: list[Row] = []
    for group in _groups(size):
        drops = {case.policy: np.asarray(results[case.key]) for case in group}
        for case in group:
            limit = np.asarray(results[_with_infinitely_many_agents(case).key])
            estimates = {"none": drops[case.policy]}
            if math.isfinite(case.num_agents):
                estimates["infinite_agents"] = drops[case.policy] - limit
            for policy, reference in PAIRS:
                if policy == case.policy and reference in drops:
                    estimates[reference] = drops[policy] - drops[reference]
            rows += [_row(case, reference, samples) for reference, samples in estimates.items()]
    return rows


def _with_infinitely_many_agents(case: Case) -> Case:
    return replace(case, num_agents=math.inf, routing="none")


def _row(case: Case, reference: str, samples: NDArray[np.float64]) -> Row:
    return {
        **case.columns(),
        "agents_per_queue": case.num_agents / case.num_queues,
        "reference": reference,
        **estimate_columns(Estimate.of(samples)),
    }


EXPERIMENT = Experiment(
    name="populations",
    question="What happens when agents are not many more than queues?",
    seed=20223,
    sizes={
        "quick": PopulationsSize(
            delta_ts=(5.0, 10.0),
            nums_queues=(20,),
            agents_per_queue=(0.1, 1.0, 10.0, 100.0),
            num_runs=10,
            num_beta_paths=20,
        ),
        "paper": PopulationsSize(
            delta_ts=(1.0, 5.0, 10.0),
            nums_queues=(100, 400),
            agents_per_queue=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
            num_runs=100,
            num_beta_paths=200,
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    data=lambda size: policy_digests(size.delta_ts if MF in size.policies else ()),
    columns={
        **CASE_COLUMNS,
        "agents_per_queue": "N/M; may be inf",
        "reference": "none: the estimate is of drops; infinite_agents: of the paired difference "
        "from the same policy with infinitely many agents; a policy: of that from it",
        "estimate": "drops per queue over 500 mean service times, or a difference of two such",
        **ESTIMATE_COLUMNS,
    },
)
