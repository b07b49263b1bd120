"""What two choices of the model do: sampling with replacement, and routing every packet anew."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mfc_lb.experiments.cases import CASE_COLUMNS, JSQ, PAPER, RND, Case, drops_cell
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

POLICIES = {JSQ: math.inf, RND: 0.0}

#: The two choices, as the table's column ``choice`` names them.
DISTINCT_QUEUES, PER_PACKET = "distinct_queues", "per_packet"


@dataclass(frozen=True)
class ChoicesSize:
    """Sizes of the study.

    Parameters
    ----------
    delta_ts : tuple of float
        Synchronisation delays.
    nums_queues : tuple of int
        Numbers M of queues; finite systems have N = M² agents.
    nums_runs : tuple of int
        Runs of each case, for each number of queues.
    """

    delta_ts: tuple[float, ...]
    nums_queues: tuple[int, ...]
    nums_runs: tuple[int, ...]


@dataclass(frozen=True)
class _Comparison:
    choice: str
    baseline: Case
    alternative: Case
    num_runs: int


def _comparisons(size: ChoicesSize) -> Iterator[_Comparison]:
    cases = [Case(delta_t, *named) for delta_t in size.delta_ts for named in POLICIES.items()]
    for num_queues, num_runs in zip(size.nums_queues, size.nums_runs, strict=True):
        for case in cases:
            infinite = replace(case, num_queues=num_queues)
            finite = replace(infinite, num_agents=num_queues**2, routing="per_epoch")
            for choice, baseline, alternative in (
                (DISTINCT_QUEUES, infinite, replace(infinite, distinct_queues=True)),
                (DISTINCT_QUEUES, finite, replace(finite, distinct_queues=True)),
                (PER_PACKET, finite, replace(finite, routing="per_packet")),
            ):
                yield _Comparison(choice, baseline, alternative, num_runs)


def _cells(size: ChoicesSize, seed: int) -> Sequence[Cell]:
    # A dictionary, since one baseline serves two comparisons.
    cases = {
        case: comparison.num_runs
        for comparison in _comparisons(size)
        for case in (comparison.baseline, comparison.alternative)
    }
    return [
        drops_cell(case, num_runs, cell_seed(seed, case.delta_t, case.num_queues))
        for case, num_runs in cases.items()
    ]


def _rows(size: ChoicesSize, results: Mapping[str, Result]) -> list[Row]:
    return [_row(comparison, results) for comparison in _comparisons(size)]


def _row(comparison: _Comparison, results: Mapping[str, Result]) -> Row:
    baseline = np.asarray(results[comparison.baseline.key])
    alternative = np.asarray(results[comparison.alternative.key])
    ratio = Estimate.ratio(alternative, baseline)
    relative = replace(ratio, mean=ratio.mean - 1.0)
    low, high = relative.interval()
    return {
        "choice": comparison.choice,
        **comparison.baseline.columns(),
        "baseline_drops": float(baseline.mean()),
        **estimate_columns(Estimate.of(alternative - baseline)),
        "relative": relative.mean,
        "relative_low": low,
        "relative_high": high,
    }


EXPERIMENT = Experiment(
    name="modelling_choices",
    question="From which size on do the model's choices not matter?",
    seed=20224,
    sizes={
        "quick": ChoicesSize(
            delta_ts=(5.0, 10.0), nums_queues=(10, 30, 100), nums_runs=(20, 20, 10)
        ),
        "paper": ChoicesSize(
            delta_ts=(1.0, 5.0, 10.0),
            nums_queues=(10, 20, 50, 100, 200, 500, 1000),
            nums_runs=(400, 400, 300, 200, 200, 100, 100),
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    columns={
        "choice": "distinct_queues: agents sample distinct queues instead of with replacement; "
        "per_packet: every packet is routed anew instead of one choice per epoch",
        **CASE_COLUMNS,
        "baseline_drops": "drops with replacement (and per_epoch), per queue over 500 mean service "
        "times",
        "estimate": "paired difference of drops that the choice makes; same unit",
        **ESTIMATE_COLUMNS,
        "relative": "that difference as a fraction of baseline_drops",
        "relative_low": "lower end of its 95 % interval",
        "relative_high": "upper end of its 95 % interval",
    },
)
