"""Outcomes of balancers on a trace, as lines of a file and points of a picture."""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfc_lb.cli.table_file import Row
from mfc_lb.cluster import Balancer, ClusterParameters, Trace, simulate_cluster
from mfc_lb.systems import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Columns of the file, and the names that the library has for them.
TIMES = {
    "response_time": "response_mean",
    "response_time_p50": "response_p50",
    "response_time_p95": "response_p95",
    "response_time_p99": "response_p99",
}
OTHERS = {
    "drops": "dropped",
    "load_mean": "load_mean",
    "load_standard_deviation": "load_standard_deviation",
}
MEASURES = TIMES | OTHERS
SECOND = 1e6
#: Files with policies.
POLICIES = (".safetensors", ".json", ".npy", ".csv")


@dataclass(frozen=True)
class Outcome:
    """What the runs of one balancer gave.

    Attributes
    ----------
    cluster : ClusterParameters
        Its workers and the refresh interval.
    samples : dict of str to ndarray, shape (R,)
        Values of each of `MEASURES`; one alone, without an error, if the balancer is not random.
    """

    cluster: ClusterParameters
    samples: dict[str, "NDArray[np.float64]"]

    def estimate(self, measure: str) -> Estimate:
        """Return the estimate of a measure."""
        return Estimate.of(self.samples[measure])

    def difference(self, other: "Outcome", measure: str) -> Estimate:
        """Return that of the paired difference from another balancer."""
        return Estimate.of(self.samples[measure] - other.samples[measure])


#: Outcomes at one refresh interval, by balancer.
Group = dict[str, Outcome]


def num_runs(balancer: Balancer, runs: int) -> int:
    """Return how many runs a balancer needs: one if it is not random."""
    return runs if balancer.is_random else 1


def outcome_of(
    trace: Trace,
    cluster: ClusterParameters,
    balancer: Balancer,
    runs: int,
    seed: int,
    tell: Callable[[], Any],
) -> Outcome:
    """Simulate the runs of one balancer.

    Parameters
    ----------
    trace, cluster, balancer
        What is simulated.
    runs : int
        Number of runs, if the balancer is random.
    seed : int
        From which the runs' seeds derive.
    tell : callable
        Is called after each run.
    """
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for run_seed in _seeds(seed, num_runs(balancer, runs)):
        summary = asdict(simulate_cluster(trace, cluster, balancer, seed=run_seed).summary())
        for name, field in MEASURES.items():
            found[name].append(float(summary[field]))
        tell()
    return Outcome(cluster, {name: np.array(values) for name, values in found.items()})


def _seeds(seed: int, count: int) -> list[int]:
    """Return the seeds of the runs; those of two seeds have nothing in common."""
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0]) for child in children]


def rows(given: dict[str, Any], groups: list[Group]) -> list[Row]:
    """Return the lines of the file; times are in seconds."""
    return [
        _described(given, balancer, outcome)
        | {name: value for measure in MEASURES for name, value in _columns(outcome, measure)}
        | _difference_columns(outcome, next(iter(group.values())))
        for group in groups
        for balancer, outcome in group.items()
    ]


def _described(given: dict[str, Any], name: str, outcome: Outcome) -> Row:
    cluster = outcome.cluster
    return {
        "trace": given["trace"],
        "workers": cluster.num_workers,
        "cores": ",".join(map(str, given["cores"])),
        "capacity": "" if cluster.capacity is None else cluster.capacity,
        "refresh_interval": cluster.refresh_interval_us / SECOND,
        "balancer": name,
        "seed": given["seed"],
        "num_runs": len(outcome.samples["drops"]),
    }


def _columns(outcome: Outcome, measure: str) -> Iterable[tuple[str, Any]]:
    scale = SECOND if measure in TIMES else 1.0
    return _estimate_columns(measure, outcome.estimate(measure), scale).items()


def _difference_columns(outcome: Outcome, first: Outcome) -> Row:
    difference = outcome.difference(first, "response_time")
    return _estimate_columns("response_time_difference", difference, SECOND)


def _estimate_columns(name: str, estimate: Estimate, scale: float) -> Row:
    low, high = estimate.interval(0.95)
    values = {
        name: estimate.mean,
        f"{name}_standard_error": estimate.standard_error,
        f"{name}_low": low,
        f"{name}_high": high,
    }
    return {k: "" if math.isnan(value) else value / scale for k, value in values.items()}


def picture_table(given: dict[str, Any], groups: list[Group]) -> "pd.DataFrame":
    """Return the table that `mfc_lb.figures.cluster.refresh_curves` shows."""
    import pandas as pd

    shown = ["response_time", "response_time_p99"]
    if any(outcome.samples["drops"].any() for group in groups for outcome in group.values()):
        shown.append("drops")
    lines = [
        _point(name, outcome, measure)
        for measure in shown
        for group in groups
        for name, outcome in group.items()
    ]
    return pd.DataFrame(lines).assign(trace=Path(given["trace"]).name, reference="none")


def _point(name: str, outcome: Outcome, measure: str) -> Row:
    scale = SECOND if measure in TIMES else outcome.cluster.num_workers
    estimate = outcome.estimate(measure)
    low, high = estimate.interval(0.95)
    exact = math.isnan(low)
    return {
        "balancer": short_name(name),
        "refresh_interval": outcome.cluster.refresh_interval_us / SECOND,
        "measure": measure,
        "estimate": estimate.mean / scale,
        "interval_low": (estimate.mean if exact else low) / scale,
        "interval_high": (estimate.mean if exact else high) / scale,
    }


def short_name(balancer: str) -> str:
    """Return the name of a balancer without the folder and suffix of its policy."""
    kind, colon, rest = balancer.partition(":")
    return f"{kind}{colon}{Path(rest).stem if rest.endswith(POLICIES) else rest}"
