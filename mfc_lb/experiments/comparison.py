"""The comparison of policies on the paper's grid: sizes M, N = M² and delays Δt."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from mfc_lb.experiments.cases import (
    CASE_COLUMNS,
    JSQ,
    MF,
    PAPER,
    POLICIES,
    RND,
    SOFTMIN,
    Case,
    Limit,
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

#: Paired differences that the table holds: policy minus reference.
PAIRS = ((JSQ, RND), (SOFTMIN, RND), (SOFTMIN, JSQ), (MF, RND), (MF, JSQ), (MF, SOFTMIN))


@dataclass(frozen=True)
class ComparisonSize:
    """Sizes of the comparison.

    Parameters
    ----------
    delta_ts : tuple of float
        Synchronisation delays.
    nums_queues : tuple of int
        Numbers M of queues; there are N = M² agents.
    num_runs : int
        Runs of each finite case; the paper's are 100.
    num_mean_field_runs : int
        Paths of the mean field; the first `num_runs` are those of the finite systems.
    num_beta_paths : int
        Paths on which β is chosen.
    routings : tuple of str
        How agents choose.
    policies : tuple of str
        Random routing, and any of the others.
    """

    delta_ts: tuple[float, ...]
    nums_queues: tuple[int, ...]
    num_runs: int
    num_mean_field_runs: int
    num_beta_paths: int
    routings: tuple[str, ...] = ("per_epoch", "per_packet")
    policies: tuple[str, ...] = POLICIES


def _groups(size: ComparisonSize) -> Iterator[list[Case]]:
    """Yield the policies in each system at each delay."""
    limits = [
        all_policies(delta_t, size.num_beta_paths, size.policies) for delta_t in size.delta_ts
    ]
    yield from limits
    for num_queues in size.nums_queues:
        for routing in size.routings:
            finite: dict[str, Any] = {"num_queues": num_queues, "num_agents": num_queues**2}
            for limit in limits:
                yield [replace(case, routing=routing, **finite) for case in limit]


def _cells(size: ComparisonSize, seed: int) -> list[Cell]:
    # All cases of one delay share their paths of arrival levels.
    return [
        drops_cell(case, _num_runs(size, case), cell_seed(seed, case.delta_t))
        for group in _groups(size)
        for case in group
    ]


def _num_runs(size: ComparisonSize, case: Case) -> int:
    return size.num_mean_field_runs if _is_limit(case) else size.num_runs


def _rows(size: ComparisonSize, results: Mapping[str, Result]) -> list[Row]:
    rows: list[Row] = []
    for group in _groups(size):
        totals = {case.policy: np.asarray(results[case.key]) for case in group}
        of = (
            Limit(group[0].parameters, totals[RND]).estimate if _is_limit(group[0]) else Estimate.of
        )
        for case in group:
            rows.append(_row(case, "none", of(totals[case.policy])))
            if not _is_limit(case):
                rows.append(_row(case, "mean_field", _distance_to_limit(case, results)))
        for case, (policy, reference) in product(group, PAIRS):
            if policy == case.policy and reference in totals:
                rows.append(_row(case, reference, of(totals[policy] - totals[reference])))
    return rows


def _is_limit(case: Case) -> bool:
    return math.isinf(case.num_queues)


def _distance_to_limit(case: Case, results: Mapping[str, Result]) -> Estimate:
    drops = np.asarray(results[case.key])
    limit = results[Case(case.delta_t, case.policy, case.beta).key]
    return Estimate.of(drops - np.asarray(limit)[: drops.size])


def _row(case: Case, reference: str, estimate: Estimate) -> Row:
    return {**case.columns(), "reference": reference, **estimate_columns(estimate)}


EXPERIMENT = Experiment(
    name="comparison",
    question="Which policy drops least, for which delay and system size?",
    seed=20221,
    sizes={
        "quick": ComparisonSize(
            delta_ts=(1.0, 3.0, 5.0, 7.0, 10.0),
            nums_queues=(20, 100),
            num_runs=10,
            num_mean_field_runs=50,
            num_beta_paths=20,
        ),
        "paper": ComparisonSize(
            delta_ts=tuple(float(delta_t) for delta_t in range(1, 11)),
            nums_queues=(100, 200, 400, 600, 800, 1000),
            num_runs=100,
            num_mean_field_runs=2000,
            num_beta_paths=200,
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    data=lambda size: policy_digests(size.delta_ts if MF in size.policies else ()),
    columns={
        **CASE_COLUMNS,
        "reference": "none: the estimate is of drops; a policy: of the paired difference from that "
        "policy; mean_field: of the paired difference from the same policy in the mean field",
        "estimate": "drops per queue over 500 mean service times, or a difference of two such",
        **ESTIMATE_COLUMNS,
    },
)
