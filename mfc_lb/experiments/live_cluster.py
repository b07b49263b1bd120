"""Live runs of a cluster beside simulations of the same jobs, and what both must share.

A live run depends on its machine: how late it was is measured, never assumed. So `require_right`
checks only what must hold however slow or busy the machine is.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster import (
    BALANCERS,
    ClusterParameters,
    EventKind,
    EventLog,
    LoadMoments,
    SimulationResult,
    Trace,
    check_log,
    simulate_cluster,
)
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.loopback import LoopbackCluster, run_live, worker_process
from mfc_lb.cluster.rpc.outcome import Lags, lags_of, result_of
from mfc_lb.cluster.traces import LONGEST_US
from mfc_lb.experiments.live_traces import cluster_of, open_trace
from mfc_lb.results.experiment import cell_seed

if TYPE_CHECKING:
    import subprocess

#: Balancers that do not look at loads: jitter cannot change what they choose.
BLIND = ("random", "round-robin")
#: A worker is killed when this fraction of the jobs has ended.
KILLED_AFTER = 1 / 3
_ENDS = (EventKind.FINISHED, EventKind.DROPPED)


@dataclass(frozen=True)
class LiveSetting:
    """What a live run is told; the defaults are those of the book's chapter.

    Parameters
    ----------
    trace : str
        A name of ``data/traces``, or the path of a file, see `open_trace`.
    workers, cores : int
        Number of workers, and cores of each.
    refresh_interval : float
        How old the balancer's news get, in seconds of the trace.
    balancer : str
        A name of `BALANCERS` that needs no more to be said.
    time_scale : float
        Real seconds for each second of the trace.
    seed : int
        Of the balancer's choices.
    """

    trace: str = "ramp_trimodal"
    workers: int = 3
    cores: int = 4
    refresh_interval: float = 0.0
    balancer: str = "round-robin"
    time_scale: float = 0.1
    seed: int = 1

    @property
    def cluster(self) -> ClusterParameters:
        """The workers."""
        return cluster_of(self.workers, self.cores, self.refresh_interval)


@dataclass(frozen=True, eq=False)
class LiveRun:
    """A live run: what it was told, the jobs, and the log of what happened.

    Attributes
    ----------
    setting : LiveSetting
        What it was told.
    trace : Trace
        The jobs.
    log : EventLog
        Every action; times are in microseconds of the trace.
    """

    setting: LiveSetting
    trace: Trace
    log: EventLog

    @cached_property
    def result(self) -> SimulationResult:
        """Job table and load over time, as the log tells them."""
        return result_of(self.log)

    @cached_property
    def lags(self) -> Lags:
        """How late each action was, in microseconds of the trace."""
        return lags_of(self.log, self.trace)

    @cached_property
    def simulated(self) -> SimulationResult:
        """The simulation with the same jobs, cluster, balancer and seed."""
        return self._simulate(self.setting.seed)

    def simulations(self, num_runs: int) -> Iterator[SimulationResult]:
        """Yield that simulation and others with seeds of their own; one if nothing is drawn."""
        yield self.simulated
        if BALANCERS[self.setting.balancer]().is_random:
            for number in range(1, num_runs):
                yield self._simulate(cell_seed(self.setting.seed, "live cluster", number))

    def _simulate(self, seed: int) -> SimulationResult:
        balancer = BALANCERS[self.setting.balancer]()
        return simulate_cluster(self.trace, self.setting.cluster, balancer, seed=seed)


def run(setting: LiveSetting, *, kill: bool = False) -> LiveRun:
    """Run a cluster of processes on this machine, and check the log.

    Parameters
    ----------
    setting : LiveSetting
        The cluster, its jobs and how fast time goes.
    kill : bool, optional
        Kill the process of the last worker when a third of the jobs has ended, and start another
        one in its place.

    Raises
    ------
    InvalidInput
        If the setting cannot be.
    ClusterFailure
        If a process does not start, or the log is not right.
    """
    trace, cluster = open_trace(setting.trace), setting.cluster
    with ExitStack() as stack:
        killer = _Killer(stack, cluster, KILLED_AFTER * len(trace) if kill else np.inf)
        live = run_live(
            trace,
            cluster,
            setting.balancer,
            seed=setting.seed,
            time_scale=setting.time_scale,
            tell=killer.meet,
            progress=killer.count,
        )
    done = LiveRun(setting, trace, live.log)
    require_right(done)
    return done


@dataclass
class _Killer:
    """Kills the last worker once enough jobs have ended, and starts another one in its place."""

    stack: ExitStack
    cluster: ClusterParameters
    after: float
    num_ended: int = 0
    running: LoopbackCluster | None = None

    def meet(self, running: LoopbackCluster) -> None:
        self.running = running

    def count(self, more: int) -> None:
        self.num_ended += more
        if self.running is not None and self.num_ended >= self.after:
            self._replace(self.running.workers[-1], self.running)
            self.running = None

    def _replace(self, victim: "subprocess.Popen[str]", running: LoopbackCluster) -> None:
        victim.kill()
        last = self.cluster.num_workers - 1
        self.stack.enter_context(worker_process(running.address, self.cluster.cores[last], last))


def require_right(run: LiveRun) -> None:
    """Check what must hold of a live run on any machine.

    The log has no fault, if an action may take as long as the slowest took. Jobs arrive in the
    order of the trace, and each ends exactly once. A balancer that does not look at loads chooses
    as it does in the simulation, unless a worker was lost. And the mean load differs from the
    simulated one by no more than the jobs' own differences allow, see `load_gap`.

    Raises
    ------
    ClusterFailure
        If something of this does not hold.
    """
    for problem in _problems(run):
        raise ClusterFailure(f"a live run with {run.setting.balancer}: {problem}")


def _problems(run: LiveRun) -> Iterator[str]:
    # First without regard to times: only a log without faults has lags.
    yield from map(str, check_log(run.log, LONGEST_US))
    yield from map(str, check_log(run.log, run.lags.largest))
    events = run.log.events
    if not np.array_equal(events.job_id[events.kind == EventKind.ARRIVED], run.trace.job_id):
        yield "jobs do not arrive in the order of the trace"
    ended = np.sort(events.job_id[np.isin(events.kind, _ENDS)])
    if not np.array_equal(ended, np.sort(run.trace.job_id)):
        yield "not every job ends exactly once"
    lost = bool((events.kind == EventKind.WORKER_LOST).any())
    if run.setting.balancer in BLIND and not lost and moved(run).any():
        yield "the balancer chooses otherwise than in the simulation"
    gap, bound = load_gap(run)
    if gap > bound * (1 + 1e-9) + 1e-9:
        yield f"the mean loads differ by {gap:g}, the jobs' times allow {bound:g}"


def moved(run: LiveRun) -> NDArray[np.bool_]:
    """Return which jobs, in the trace's order, ended on another worker than in the simulation."""
    return np.asarray(run.result.worker != run.simulated.worker)


def load_gap(run: LiveRun) -> tuple[float, float]:
    """Return how far the live mean load is from the simulated one, and how far it can be.

    Parameters
    ----------
    run : LiveRun
        Nothing of it is dropped.

    Returns
    -------
    gap : float
        Average over time of the absolute difference, in jobs per core.
    bound : float
        A job is counted by one of the two and not by the other only between its two arrivals and
        between its two ends. So the gap is at most the sum of these times over all jobs, divided by
        the number of cores and the time.
    """
    live, simulated = run.result, run.simulated
    first = int(run.trace.arrival_time_us[0])
    duration = max(live.log.end_us, simulated.log.end_us) - first
    cores = sum(run.setting.cluster.cores)
    arrivals = np.abs(live.trace.arrival_time_us - run.trace.arrival_time_us).sum()
    ends = np.abs(live.finish_time_us - simulated.finish_time_us).sum()
    area = _area_between(live.load_moments, simulated.load_moments)
    return area / duration, float(arrivals + ends) / cores / duration


def _area_between(one: LoadMoments, other: LoadMoments) -> float:
    """Return the integral of the absolute difference of two mean loads that end at 0."""
    times = np.union1d(one.time_us, other.time_us)
    values = (m.mean[np.searchsorted(m.time_us, times, side="right") - 1] for m in (one, other))
    difference = np.abs(np.subtract(*values))
    return float((difference[:-1] * np.diff(times)).sum())
