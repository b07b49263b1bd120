"""How three balancers share the jobs of the trace study's four traces.

The study gives the cluster, the balancers, the shape of the arrivals and the durations of trimodal
service. The other numbers of the traces are ours: rates, lengths and the constant duration (see
`mfc_lb.cluster.trace_generators`). They were chosen after a look at this comparison, so that a
ramp ends a little above the cluster's capacity; with a steeper ramp, round robin's lead over least
loaded under ramp/constant grows. Where the study's orderings hold with our numbers, and where they
do not, is what the differences of this table say.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.balancers import BALANCERS
from mfc_lb.cluster.load_moments import MOMENTS
from mfc_lb.cluster.load_windows import window_averages
from mfc_lb.cluster.parameters import ClusterParameters
from mfc_lb.cluster.results import SimulationResult
from mfc_lb.cluster.simulator import simulate_cluster
from mfc_lb.cluster.trace_generators import STUDY_TRACES, study_trace
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

#: The study's balancers, by their names on the command line.
STUDY_BALANCERS = ("random", "round-robin", "least-loaded")

#: Paired differences that the table holds: balancer minus reference.
STUDY_PAIRS = (
    ("round-robin", "random"),
    ("least-loaded", "random"),
    ("least-loaded", "round-robin"),
)

#: Measures of a whole run whose differences are taken.
COMPARED = ("response_time", "load_mean", "load_standard_deviation")
#: What tells balancers apart over time, and all moments of the load.
CURVES, MOMENT_CURVES = COMPARED[1:], tuple(f"load_{name}" for name in MOMENTS)
#: Measures of a whole run.
MEASURES = ("response_time", *MOMENT_CURVES)
#: Measures of runs with ramps: the load in the second spike minus that in the first.
SPIKES = ("second_spike_mean", "second_spike_standard_deviation")
#: Between the first and the last two edges: the last five seconds of each ramp.
SPIKE_EDGES = (25.0, 30.0, 55.0, 60.0)
#: A moment over time is in the table where it exists in at least this fraction of the runs.
ENOUGH = 0.5

MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class TraceStudySize:
    """Sizes of the study.

    Parameters
    ----------
    num_runs : int
        Runs of each case; each has its own trace and its own seed of the balancer. Response times
        are skewed over the runs: of 40 runs, intervals of 95 % missed in 6.4 % of trials under
        constant/trimodal and random; of 100 runs in 5.4 %, of 400 in 5.2 %.
    window : float
        Length of the windows over which curves are averaged, in seconds.
    end : float
        Where curves end, in seconds; all traces end within a minute.
    traces : tuple of str
        Names in `STUDY_TRACES`.
    """

    num_runs: int
    window: float
    end: float
    traces: tuple[str, ...] = tuple(STUDY_TRACES)

    @property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the windows, in seconds."""
        return np.linspace(0.0, self.end, 1 + round(self.end / self.window))


def _cases(size: TraceStudySize) -> Iterator[tuple[str, str]]:
    for trace in size.traces:
        for balancer in STUDY_BALANCERS:
            yield trace, balancer


def _cells(size: TraceStudySize, seed: int) -> Sequence[Cell]:
    return [
        Cell(f"{trace}_{balancer}", partial(_runs, trace, balancer, size, cell_seed(seed, trace)))
        for trace, balancer in _cases(size)
    ]


def _runs(trace: str, balancer: str, size: TraceStudySize, seed: int) -> dict[str, Any]:
    """Return each run's measures, and its curves."""
    runs = [_measured(trace, balancer, size, cell_seed(seed, run)) for run in range(size.num_runs)]
    return {
        "whole": {name: [whole[name] for whole, _ in runs] for name in _measures_of(trace)},
        "curves": {name: [curves[name] for _, curves in runs] for name in MOMENT_CURVES},
    }


def _measures_of(trace: str) -> tuple[str, ...]:
    return (*MEASURES, *SPIKES) if trace.startswith("ramp") else MEASURES


def _measured(
    trace: str, balancer: str, size: TraceStudySize, seed: int
) -> tuple[dict[str, float], dict[str, list[float]]]:
    result = _simulate(trace, balancer, seed)
    averages = window_averages(result.load_moments, size.edges * MICROSECONDS)
    return _measures(result), {f"load_{name}": v.tolist() for name, v in averages.items()}


def _simulate(trace: str, balancer: str, seed: int) -> SimulationResult:
    jobs = study_trace(trace, seed=seed)
    return simulate_cluster(jobs, ClusterParameters(), BALANCERS[balancer](), seed=seed)


def _measures(result: SimulationResult) -> dict[str, float]:
    """Return the measures of a run; loads are averaged from the first arrival to the last."""
    arrivals = result.trace.arrival_time_us
    averages = result.load_moments.time_averages(int(arrivals[0]), int(arrivals[-1]))
    return {
        "response_time": float(result.response_times_us.mean()) / MICROSECONDS,
        **{f"load_{name}": value for name, value in averages.items()},
        **spikes(result),
    }


def spikes(result: SimulationResult) -> dict[str, float]:
    """Return how much higher the load is at the end of the study's second ramp than of its first.

    Parameters
    ----------
    result : SimulationResult
        Of a trace with two ramps of half a minute.

    Returns
    -------
    dict of str to float
        Of the load's mean and standard deviation over the workers, each averaged over the last five
        seconds of a ramp: `SPIKES`.
    """
    averages = window_averages(result.load_moments, MICROSECONDS * np.array(SPIKE_EDGES))
    ends = (averages[name.removeprefix("load_")] for name in CURVES)
    return {name: float(end[2] - end[0]) for name, end in zip(SPIKES, ends, strict=True)}


def _rows(size: TraceStudySize, results: Mapping[str, Result]) -> list[Row]:
    rows: list[Row] = []
    for trace, balancer in _cases(size):
        mine = results[f"{trace}_{balancer}"]
        rows += [_row(trace, balancer, name, samples) for name, samples in mine["whole"].items()]
        for reference in (other for first, other in STUDY_PAIRS if first == balancer):
            theirs = results[f"{trace}_{reference}"]["whole"]
            for name in COMPARED:
                difference = np.subtract(mine["whole"][name], theirs[name])
                rows.append(_row(trace, balancer, name, difference, reference))
        rows += _curve_rows(size, trace, balancer, mine["curves"])
    return rows


def _curve_rows(
    size: TraceStudySize, trace: str, balancer: str, curves: Mapping[str, Any]
) -> Iterator[Row]:
    edges = size.edges.tolist()
    for name in MOMENT_CURVES:
        samples = np.asarray(curves[name])
        for start, end, values in zip(edges, edges[1:], samples.T, strict=False):
            there = values[~np.isnan(values)]
            if there.size >= ENOUGH * values.size:
                yield _row(trace, balancer, name, there, window=(start, end))


def _row(
    trace: str,
    balancer: str,
    measure: str,
    samples: Any,
    reference: str = "none",
    window: tuple[float, float] = (0.0, math.inf),
) -> Row:
    return {
        "trace": trace,
        "balancer": balancer,
        "reference": reference,
        "measure": measure,
        "window_start": window[0],
        "window_end": window[1],
        **estimate_columns(Estimate.of(samples)),
    }


EXPERIMENT = Experiment(
    name="trace_study",
    question="How do random, round robin and least loaded share the jobs of the four traces?",
    seed=20230,
    sizes={
        "quick": TraceStudySize(num_runs=100, window=2.0, end=66.0),
        "paper": TraceStudySize(num_runs=1000, window=1.0, end=66.0),
    },
    cells=_cells,
    rows=_rows,
    columns={
        "trace": "one of the study's four: arrivals (constant, ramp), then service (constant, "
        "trimodal)",
        "balancer": "random, round-robin or least-loaded; the cluster is 3 workers with 4 cores",
        "reference": "none: the estimate is of the measure; a balancer: of the paired difference "
        "from it",
        "measure": "response_time: mean over a run's jobs, in seconds; load_mean and "
        "load_standard_deviation: over the workers, of their jobs divided by their cores, averaged "
        "over time; load_skewness and load_excess_kurtosis: likewise, while they exist, and in a "
        "window only if they do in half of the runs; second_spike_mean and "
        "second_spike_standard_deviation: of the load in the last 5 s of the second ramp, minus "
        "that in the last 5 s of the first",
        "window_start": "the average over time begins here, in seconds",
        "window_end": "it ends here, in seconds; inf stands for the last arrival, and for averages "
        "over all jobs",
        "estimate": "mean over the runs of the measure or of its difference",
        **ESTIMATE_COLUMNS,
    },
)
