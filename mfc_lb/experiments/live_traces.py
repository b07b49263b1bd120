"""Balancers on one trace, simulated where a notebook shows them, and moments of three loads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.cluster import (
    BALANCERS,
    STUDY_TRACES,
    Balancer,
    ClusterParameters,
    MeanFieldBalancer,
    SimulationResult,
    Trace,
    moments_of,
    read_trace,
    simulate_cluster,
)
from mfc_lb.cluster.load_windows import window_averages
from mfc_lb.errors import check_int, check_real, require
from mfc_lb.experiments.cases import learned_policy
from mfc_lb.experiments.trace_delay import DROPS, RESPONSE
from mfc_lb.experiments.trace_study import CURVES, MICROSECONDS, STUDY_BALANCERS
from mfc_lb.results.experiment import cell_seed, estimate_columns
from mfc_lb.results.folders import data_folder
from mfc_lb.systems import Estimate

Samples = dict[str, NDArray[np.float64]]

#: Delays for which the library has learned policies, in mean service times.
LEARNED_DELAYS = range(1, 11)

_WHOLE = {"window_start": 0.0, "window_end": np.inf}
# Ends the name of a measure that has a value in each window.
_CURVE = " over time"


def open_trace(name: str) -> Trace:
    """Return a trace of the study, from ``data/traces``, or one from a file.

    Parameters
    ----------
    name : str
        Such as ``"ramp_trimodal"``, or the path of a file that `mfc_lb.cluster.read_trace` reads
        without being told its columns.

    Raises
    ------
    InvalidInput
        If there is no such file, or what is in it cannot be simulated here: at least two jobs that
        do not all arrive at one instant.
    """
    path = data_folder() / "traces" / f"{name}.csv" if name in STUDY_TRACES else Path(name)
    allowed = f"one of {', '.join(STUDY_TRACES)}, or a file"
    require(path.is_file(), "trace", name, allowed)
    trace = read_trace(path, tell=print)
    enough = len(trace) > 1 and trace.arrival_time_us[-1] > trace.arrival_time_us[0]
    require(enough, "trace", name, "of at least two jobs, at different times")
    return trace


def cluster_of(
    workers: int, cores: int, refresh_interval: float, capacity: int = 0
) -> ClusterParameters:
    """Return the cluster of a notebook's parameters.

    Parameters
    ----------
    workers, cores : int
        Number of workers, and cores of each.
    refresh_interval : float
        How old news get, in seconds.
    capacity : int
        Most jobs that a worker holds; 0 stands for any number.
    """
    refresh = round(check_real("refresh_interval", refresh_interval) * MICROSECONDS)
    return ClusterParameters.uniform(
        workers, cores, capacity=capacity or None, refresh_interval_us=refresh
    )


def study_balancers() -> dict[str, Balancer]:
    """Return the trace study's three balancers by name."""
    return {name: BALANCERS[name]() for name in STUDY_BALANCERS}


def delay_balancers(trace: Trace, cluster: ClusterParameters) -> dict[str, Balancer]:
    """Return the balancers that `refresh_sweep` compares, by name.

    Parameters
    ----------
    trace : Trace
        The jobs.
    cluster : ClusterParameters
        Its refresh interval decides on the learned policy.

    Returns
    -------
    dict of str to Balancer
        The study's, the power of two choices and, unless news are fresh, the library's policy whose
        delay is nearest to the refresh interval in mean service times, told the arrival level that
        is nearest to the offered load. It counts more than five jobs of a worker as five, and knows
        nothing of cores.
    """
    found: dict[str, Balancer] = {**study_balancers(), "jsq:2": BALANCERS["jsq"]()}
    mean = float(trace.service_time_us.mean())
    if cluster.refresh_interval_us > 0 and mean > 0:
        delay = cluster.refresh_interval_us / mean
        policy = learned_policy(float(min(LEARNED_DELAYS, key=lambda known: abs(known - delay))))
        load = trace.offered_load(sum(cluster.cores))
        level = int(np.abs(np.asarray(policy.parameters.arrivals.rates) - load).argmin())
        found["mean-field"] = MeanFieldBalancer(policy, policy.parameters, (level,))
    return found


def loads_over_time(
    trace: Trace, cluster: ClusterParameters, num_runs: int, seed: int, num_windows: int = 60
) -> pd.DataFrame:
    """Return loads and response times of the trace study's balancers on one trace.

    Parameters
    ----------
    trace : Trace
        The jobs, the same in all runs.
    cluster : ClusterParameters
        The workers.
    num_runs : int, >= 2
        Runs with seeds of their own; a balancer that draws nothing has the same in all.
    seed : int
        From which the runs' seeds derive.
    num_windows : int, >= 1
        Windows from the first arrival to the last over which curves are averaged.

    Returns
    -------
    DataFrame
        The columns of the experiment ``trace_study``. Its times are those since the first arrival,
        its references are balancers: paired differences from them.
    """
    check_int("num_runs", num_runs, 2)
    arrivals = trace.arrival_time_us
    edges = np.linspace(arrivals[0], arrivals[-1], 1 + check_int("num_windows", num_windows, 1))
    runs = {
        name: _samples(trace, cluster, balancer, num_runs, seed, partial(_loads, edges=edges))
        for name, balancer in study_balancers().items()
    }
    seconds = (edges - arrivals[0]) / MICROSECONDS
    rows = [row for name, samples in runs.items() for row in _load_rows(name, samples, seconds)]
    measures = [name for name, values in runs["random"].items() if values.ndim == 1]
    rows += [{**row, **_WHOLE} for row in _differences(runs, measures)]
    return pd.DataFrame(rows).assign(trace="trace")


def refresh_sweep(
    trace: Trace, cluster: ClusterParameters, intervals: Sequence[float], num_runs: int, seed: int
) -> pd.DataFrame:
    """Return response times and drops of balancers on one trace, by the age of their news.

    Parameters
    ----------
    trace : Trace
        The jobs, the same in all runs.
    cluster : ClusterParameters
        The workers and their capacity.
    intervals : sequence of float, >= 0
        Refresh intervals, in seconds.
    num_runs : int, >= 2
        Runs with seeds of their own.
    seed : int
        From which the runs' seeds derive.

    Returns
    -------
    DataFrame
        The columns of the experiment ``trace_delay``; drops only if a worker's capacity is bounded.
    """
    check_int("num_runs", num_runs, 2)
    measures = [RESPONSE] if cluster.capacity is None else [RESPONSE, DROPS]
    tables = []
    for interval in intervals:
        refresh = round(check_real("intervals", interval) * MICROSECONDS)
        here = ClusterParameters(cluster.cores, cluster.capacity, refresh)
        runs = {
            name: _samples(trace, here, balancer, num_runs, seed, _outcome)
            for name, balancer in delay_balancers(trace, here).items()
        }
        plain = [
            {"balancer": name, "measure": measure, "reference": "none", **_columns(values[measure])}
            for name, values in runs.items()
            for measure in measures
        ]
        rows = plain + _differences(runs, measures)
        tables.append(pd.DataFrame(rows).assign(refresh_interval=interval))
    table = pd.concat(tables, ignore_index=True)
    return table.assign(trace="trace", num_workers=cluster.num_workers)


def moments_of_three(steps: int = 50) -> pd.DataFrame:
    """Return skewness and excess kurtosis of three loads by where the middle one lies.

    Parameters
    ----------
    steps : int, >= 1
        The lowest load is 0, the highest 1, the middle one k/steps for k = 0, ..., `steps`.

    Returns
    -------
    DataFrame
        Columns ``middle``, ``skewness`` and ``excess_kurtosis``.
    """
    count = check_int("steps", steps, 1, 10_000)
    cores = np.full(3, count)
    rows = [
        {"middle": k / count, **moments_of(np.array([0, k, count]), cores)}
        for k in range(count + 1)
    ]
    return pd.DataFrame(rows)[["middle", "skewness", "excess_kurtosis"]]


def _load_rows(
    balancer: str, samples: Samples, seconds: NDArray[np.float64]
) -> Iterator[dict[str, Any]]:
    described = {"balancer": balancer, "reference": "none"}
    for name, values in samples.items():
        here = {**described, "measure": name.removesuffix(_CURVE)}
        if values.ndim == 1:
            yield {**here, **_WHOLE, **_columns(values)}
        else:
            for start, end, column in zip(seconds, seconds[1:], values.T, strict=False):
                yield {**here, "window_start": start, "window_end": end, **_columns(column)}


def _samples(
    trace: Trace,
    cluster: ClusterParameters,
    balancer: Balancer,
    num_runs: int,
    seed: int,
    measure: Callable[[SimulationResult], Mapping[str, Any]],
) -> Samples:
    """Return the measures of all runs, by name; the first axis runs over the runs."""
    different = num_runs if balancer.is_random else 1
    seeds = [cell_seed(seed, "live", run) for run in range(different)]
    found = [measure(simulate_cluster(trace, cluster, balancer, seed=own)) for own in seeds]
    return {
        name: np.broadcast_to(
            np.array([one[name] for one in found]), (num_runs, *np.shape(found[0][name]))
        )
        for name in found[0]
    }


def _loads(result: SimulationResult, edges: NDArray[np.float64]) -> dict[str, Any]:
    arrivals, moments = result.trace.arrival_time_us, result.load_moments
    averages = moments.time_averages(int(arrivals[0]), int(arrivals[-1]))
    curves = window_averages(moments, edges)
    return {
        RESPONSE: _response(result),
        **{f"load_{name}": value for name, value in averages.items()},
        **{f"{name}{_CURVE}": curves[name.removeprefix("load_")] for name in CURVES},
    }


def _outcome(result: SimulationResult) -> dict[str, float]:
    workers = result.log.header.cluster.num_workers
    return {RESPONSE: _response(result), DROPS: result.num_dropped / workers}


def _response(result: SimulationResult) -> float:
    return float(result.response_times_us.mean()) / MICROSECONDS


def _differences(runs: Mapping[str, Samples], measures: Sequence[str]) -> list[dict[str, Any]]:
    """Return the paired differences of each balancer from those before it."""
    return [
        {
            "balancer": name,
            "measure": measure,
            "reference": reference,
            **_columns(runs[name][measure] - runs[reference][measure]),
        }
        for reference, name in combinations(runs, 2)
        for measure in measures
    ]


def _columns(samples: NDArray[np.float64]) -> dict[str, Any]:
    return dict(estimate_columns(Estimate.of(samples)))
