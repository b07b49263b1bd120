"""What the trace study leaves open: how much response times change if one chooses otherwise."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.cluster import Balancer, ClusterParameters, LeastLoaded, RoundRobin, Trace, study_trace
from mfc_lb.cluster.balancers import Integers
from mfc_lb.cluster.decisions import View, least_loaded_worker
from mfc_lb.cluster.simulator import simulate_cluster
from mfc_lb.cluster.trace_generators import STUDY_TRACES, ramp_trace
from mfc_lb.errors import check_int
from mfc_lb.experiments.experiment import cell_seed, estimate_columns
from mfc_lb.experiments.trace_study import MICROSECONDS
from mfc_lb.systems import Estimate


@numba.njit(cache=True)
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


#: Other readings of "least loaded".
OTHERS: dict[str, Balancer] = {"first": LeastLoaded("first"), "waiting": FewestWaiting()}


def other_least_loaded(num_runs: int, seed: int) -> pd.DataFrame:
    """Return what other readings of "least loaded" change on the study's traces.

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


def _response_times(
    balancer: Balancer, make: Callable[..., Trace], num_runs: int, seed: int
) -> NDArray[np.float64]:
    """Return the mean response time of each run, in seconds."""
    seeds = [cell_seed(seed, run) for run in range(check_int("num_runs", num_runs, 2))]
    runs = (
        simulate_cluster(make(seed=own), ClusterParameters(), balancer, seed=own) for own in seeds
    )
    return np.array([run.response_times_us.mean() / MICROSECONDS for run in runs])
