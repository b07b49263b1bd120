"""What the trace study leaves open: how much response times change if one chooses otherwise."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.cluster import Balancer, ClusterParameters, LeastLoaded, RoundRobin, Trace, study_trace
from mfc_lb.cluster.balancers import BALANCERS, Integers
from mfc_lb.cluster.decisions import View, least_loaded_worker
from mfc_lb.cluster.simulator import simulate_cluster
from mfc_lb.cluster.trace_generators import (
    CONSTANT_DURATIONS,
    STUDY_TRACES,
    TRIMODAL_DURATIONS,
    ramp_trace,
)
from mfc_lb.compiled import njit
from mfc_lb.errors import check_int
from mfc_lb.experiments.trace_study import (
    CURVES,
    MICROSECONDS,
    SPIKES,
    STUDY_BALANCERS,
    STUDY_PAIRS,
    spikes,
)
from mfc_lb.results.experiment import cell_seed, estimate_columns
from mfc_lb.systems import Estimate


@njit()
def fewest_waiting_worker(view: Any) -> Any:
    """Pick the smallest number of waiting jobs over cores, as `least_loaded_worker` does."""
    waiting = np.maximum(view.jobs - view.cores, 0)
    return least_loaded_worker(
        View(
            waiting,
            view.cores,
            view.num_decided,
            view.settings,
            view.table,
            view.choices,
            view.ties,
        )
    )


@dataclass(frozen=True)
class FewestWaiting(Balancer):
    """Least loaded by a load that does not count the jobs in service; ties are broken uniformly.

    Not one of the library's balancers: it exists to show what counting them is worth.
    """

    name = "fewest-waiting"
    decision = staticmethod(fewest_waiting_worker)

    def settings(self, cores: Integers) -> Integers:
        """Return how ties are broken."""
        return np.zeros(1, dtype=np.int64)


#: Other readings of what least loaded means.
OTHERS: dict[str, Balancer] = {"first": LeastLoaded("first"), "waiting": FewestWaiting()}

# Service times of the study's traces with ramps.
_RAMPS = {"ramp_constant": CONSTANT_DURATIONS, "ramp_trimodal": TRIMODAL_DURATIONS}


def other_least_loaded(num_runs: int, seed: int) -> pd.DataFrame:
    """Return what other readings of least loaded change on the study's traces.

    Parameters
    ----------
    num_runs : int, >= 2
        Runs of each trace, each with service times and random choices of its own.
    seed : int
        From which the runs' seeds derive.

    Returns
    -------
    DataFrame
        Columns ``trace``, ``reading`` and those of an estimate: of the relative change of the mean
        response time. ``first``: of equal loads the first worker's is taken; ``waiting``: the load
        counts waiting jobs only, those in service not.
    """
    rows = []
    for trace in STUDY_TRACES:
        own = _response_times(LeastLoaded(), partial(study_trace, trace), num_runs, seed)
        for reading, balancer in OTHERS.items():
            other = _response_times(balancer, partial(study_trace, trace), num_runs, seed)
            change = Estimate.of((other - own) / own.mean())
            rows.append({"trace": trace, "reading": reading, **estimate_columns(change)})
    return pd.DataFrame(rows)


def other_ramps(
    floors: Iterable[float], durations: Iterable[float], num_runs: int, seed: int
) -> pd.DataFrame:
    """Return least loaded minus round robin under ramps with constant service, for other numbers.

    Parameters
    ----------
    floors : iterable of float
        Times between arrivals at the end of a ramp, in milliseconds.
    durations : iterable of float
        Constant service times, in milliseconds.
    num_runs : int, >= 2
        Runs, with other broken ties.
    seed : int
        From which the runs' seeds derive.

    Returns
    -------
    DataFrame
        Columns ``floor_ms``, ``duration_ms``, ``offered`` (load at the end of a ramp, as a fraction
        of what the cluster serves) and those of an estimate: of the difference of the mean response
        times as a fraction of round robin's.
    """
    durations = tuple(durations)
    cases = [(floor, duration) for floor in floors for duration in durations]
    return pd.DataFrame(_ramp_row(*case, num_runs, seed) for case in cases)


def _ramp_row(floor: float, duration: float, num_runs: int, seed: int) -> dict[str, Any]:
    durations = (round(1000 * duration),)
    make = partial(ramp_trace, floor_us=round(1000 * floor), durations_us=durations)
    ours, theirs = (
        _response_times(balancer, make, num_runs, seed)
        for balancer in (LeastLoaded(), RoundRobin())
    )
    offered = duration / floor / sum(ClusterParameters().cores)
    change = Estimate.of((ours - theirs) / theirs.mean())
    named = {"floor_ms": floor, "duration_ms": duration, "offered": offered}
    return {**named, **estimate_columns(change)}


def cut_offs(rates: Iterable[float], num_runs: int, seed: int) -> pd.DataFrame:
    """Return loads of the study's balancers under ramps that end at other rates.

    Parameters
    ----------
    rates : iterable of float
        Arrivals per second at which a ramp ends; the study's traces here end at 25.
    num_runs : int, >= 2
        Runs of each case.
    seed : int
        From which the runs' seeds derive.

    Returns
    -------
    DataFrame
        The columns of the experiment ``trace_study`` without its windows, and ``rate``. The
        measures are the mean and the standard deviation of the load and the second spikes; the
        paired differences are `STUDY_PAIRS`.
    """
    seeds = [cell_seed(seed, run) for run in range(check_int("num_runs", num_runs, 2))]
    rows = []
    for rate, (trace, durations) in product(rates, _RAMPS.items()):
        make = partial(ramp_trace, floor_us=round(MICROSECONDS / rate), durations_us=durations)
        runs = {name: _loads(name, make, seeds) for name in STUDY_BALANCERS}
        pairs = [*((name, "none") for name in STUDY_BALANCERS), *STUDY_PAIRS]
        for balancer, reference in pairs:
            for measure, samples in runs[balancer].items():
                less = runs[reference][measure] if reference in runs else 0.0
                named = {"rate": rate, "trace": trace, "balancer": balancer, "measure": measure}
                columns = estimate_columns(Estimate.of(samples - less))
                rows.append({**named, "reference": reference, **columns})
    return pd.DataFrame(rows)


def _loads(
    balancer: str, make: Callable[..., Trace], seeds: Sequence[int]
) -> dict[str, NDArray[np.float64]]:
    """Return each run's average load, from the first arrival to the last, and second spike."""
    runs = []
    for own in seeds:
        trace, chosen = make(seed=own), BALANCERS[balancer]()
        result = simulate_cluster(trace, ClusterParameters(), chosen, seed=own)
        averages = result.load_moments.time_averages(0, int(trace.arrival_time_us[-1]))
        runs.append({f"load_{name}": value for name, value in averages.items()} | spikes(result))
    return {name: np.array([run[name] for run in runs]) for name in (*CURVES, *SPIKES)}


def relative_excess(mine: Any, theirs: Any, difference: Any) -> pd.Series:
    """Return by how much one mean is above another, as a fraction of that, with its interval.

    Parameters
    ----------
    mine, theirs, difference : rows of a table of estimates
        Of two means, and of their paired difference, which tells how they vary together.
    """
    below = theirs.estimate
    ratio = mine.estimate / below
    own, other, joint = (row.standard_error**2 for row in (mine, theirs, difference))
    variance = own + ratio**2 * other - ratio * (own + other - joint)
    error = math.sqrt(max(0.0, variance)) / below
    low, high = ratio - 1 - 1.96 * error, ratio - 1 + 1.96 * error
    values = {"estimate": ratio - 1, "standard_error": error}
    return pd.Series({**values, "interval_low": low, "interval_high": high})


def _response_times(
    balancer: Balancer, make: Callable[..., Trace], num_runs: int, seed: int
) -> NDArray[np.float64]:
    """Return the mean response time of each run, in seconds."""
    seeds = [cell_seed(seed, run) for run in range(check_int("num_runs", num_runs, 2))]
    runs = (
        simulate_cluster(make(seed=own), ClusterParameters(), balancer, seed=own) for own in seeds
    )
    return np.array([run.response_times_us.mean() / MICROSECONDS for run in runs])
