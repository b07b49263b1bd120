"""What a live run gives: the job table from its log, and how late its actions were."""

import heapq
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.cluster import kernel
from mfc_lb.cluster.events import EventKind, EventLog
from mfc_lb.cluster.replay import check_log
from mfc_lb.cluster.results import SimulationResult
from mfc_lb.cluster.rpc.client import Replay
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.traces import LONGEST_US, Trace

Times = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lags(ArrayRecord):
    """Realised minus intended times, in microseconds of the trace: the scheduling jitter.

    All are as the balancer sees them, messages on their way included.

    Attributes
    ----------
    arrivals : ndarray of int64
        Time at which each job arrived, minus that of the trace.
    starts : ndarray of int64
        Time at which each service started, minus the time at which it could: when the job had been
        assigned and a core was free. A job that could have started at a worker that was lost counts
        until the balancer noticed that.
    services : ndarray of int64
        Time that each service took, minus the job's service time. A service at a worker that was
        lost counts until the balancer noticed that, if it should have ended before.
    """

    arrivals: Times
    starts: Times
    services: Times

    @property
    def largest(self) -> int:
        """The largest of all, early or late."""
        return max(int(np.abs(column).max(initial=0)) for column in self.columns.values())

    @property
    def columns(self) -> dict[str, Times]:
        """The lags by what lags behind."""
        return {"arrivals": self.arrivals, "starts": self.starts, "service times": self.services}


@dataclass(frozen=True, eq=False)
class LiveResult(ArrayRecord):
    """Outcome of a live run.

    Attributes
    ----------
    trace : Trace
        The jobs that were sent.
    replay : Replay
        Log and real times.
    """

    trace: Trace
    replay: Replay

    @property
    def log(self) -> EventLog:
        """Every action."""
        return self.replay.log

    @cached_property
    def result(self) -> SimulationResult:
        """Job table, load over time and summary, as of a simulation.

        Jobs are in the order in which they arrived, with the arrival times that the log says.
        """
        return result_of(self.log)

    @cached_property
    def lags(self) -> Lags:
        """Realised minus intended times."""
        return lags_of(self.log, self.trace)

    def require_right(self) -> None:
        """Go through the log, whatever the times of its events.

        Raises
        ------
        ClusterFailure
            If something happened that must not.
        """
        faults = check_log(self.log, LONGEST_US)
        if faults:
            raise ClusterFailure(f"the log has faults; the first: {faults[0]}")

    @property
    def jobs_per_second(self) -> float:
        """Jobs over the real time of the run."""
        seconds = self.replay.seconds
        return len(self.trace) / seconds if seconds > 0 else float("nan")

    @property
    def overhead(self) -> float:
        """Median of the real seconds from sending a job of length zero to its result; or NaN."""
        trips = self.replay.round_trips[self.trace.service_time_us == 0]
        return float(np.median(trips)) if trips.size else float("nan")

    @property
    def num_lost(self) -> int:
        """How often a worker was lost."""
        return self._count(EventKind.WORKER_LOST)

    @property
    def num_returned(self) -> int:
        """How often a job had to be dispatched again."""
        return self._count(EventKind.RETURNED)

    def _count(self, kind: EventKind) -> int:
        return int(np.count_nonzero(self.log.events.kind == kind))


def result_of(log: EventLog) -> SimulationResult:
    """Return the job table that a log tells, and all that follows from it.

    Parameters
    ----------
    log : EventLog
        Without faults, see `check_log`.

    Returns
    -------
    SimulationResult
        Jobs are in the order of their arrival in the log. A job that was served twice, because its
        worker was lost, has the times of its last service.
    """
    events = log.events
    arrived = events.kind == EventKind.ARRIVED
    names = events.job_id[arrived]
    trace = Trace.from_arrays(events.time_us[arrived], events.service_time_us[arrived], names)
    worker, start, finish = (np.full(len(trace), kernel.NONE) for _ in range(3))
    state = np.full(len(trace), kernel.WAITING)
    order = np.argsort(trace.job_id)

    def told(kind: EventKind) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        chosen = events.kind == kind
        return order[np.searchsorted(trace.job_id, events.job_id[chosen], sorter=order)], chosen

    # Of several events of one job, the last one stays.
    for kind, column, values in (
        (EventKind.ASSIGNED, worker, events.worker),
        (EventKind.STARTED, start, events.time_us),
        (EventKind.FINISHED, finish, events.time_us),
    ):
        jobs, chosen = told(kind)
        column[jobs] = values[chosen]
    state[finish != kernel.NONE] = kernel.FINISHED
    dropped, _ = told(EventKind.DROPPED)
    state[dropped], start[dropped] = kernel.DROPPED, kernel.NONE
    return SimulationResult(trace, log, worker, start, finish, state)


def lags_of(log: EventLog, trace: Trace) -> Lags:
    """Return how late the actions in a log were.

    Parameters
    ----------
    log : EventLog
        Without faults, see `check_log`.
    trace : Trace
        What was intended.
    """
    meter = _Meter(log.header.cluster.cores, dict(zip(*_intended(trace), strict=True)))
    for row in zip(*(column.tolist() for column in log.events), strict=True):
        meter.see(*row)
    found = (meter.arrivals, meter.starts, meter.services)
    return Lags(*(np.array(lags, dtype=np.int64) for lags in found))


def _intended(trace: Trace) -> tuple[list[int], list[int]]:
    return trace.job_id.tolist(), trace.arrival_time_us.tolist()


@dataclass
class _Meter:
    cores: tuple[int, ...]
    intended: dict[int, int]
    arrivals: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    services: list[int] = field(default_factory=list)
    since: dict[int, int] = field(default_factory=dict)
    service_us: dict[int, int] = field(default_factory=dict)
    free: dict[int, list[int]] = field(default_factory=dict)
    serving: dict[int, set[int]] = field(default_factory=dict)
    waiting: dict[int, dict[int, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for worker in range(len(self.cores)):
            self._reset(worker, 0)

    def see(self, kind: int, now: int, job: int, worker: int, service_us: int) -> None:
        """Take in an event.

        Worker by worker, `free` has the times since when cores are free, `waiting` the jobs that
        have been assigned and not started, and `serving` those in service.
        """
        if kind == EventKind.ARRIVED:
            self.arrivals.append(now - self.intended[job])
            self.service_us[job] = service_us
        elif kind == EventKind.ASSIGNED:
            self.waiting[worker][job] = None
        elif kind == EventKind.STARTED:
            del self.waiting[worker][job]
            self._could_start(job, heapq.heappop(self.free[worker]), now)
            self.serving[worker].add(job)
        elif kind == EventKind.FINISHED:
            self.services.append(self._beyond_service(job, now))
            self.serving[worker].remove(job)
            heapq.heappush(self.free[worker], now)
        elif kind == EventKind.DROPPED:
            del self.waiting[worker][job]
        elif kind in {EventKind.WORKER_LOST, EventKind.WORKER_BACK}:
            free = sorted(self.free[worker])
            for waiting, since in zip(self.waiting[worker], free, strict=False):
                self._could_start(waiting, since, now)
            overdue = (self._beyond_service(held, now) for held in self.serving[worker])
            self.services += [late for late in overdue if late > 0]
            self._reset(worker, now)
        self.since[job] = now

    def _could_start(self, job: int, free: int, now: int) -> None:
        self.starts.append(now - max(self.since[job], free))

    def _beyond_service(self, job: int, now: int) -> int:
        return now - self.since[job] - self.service_us[job]

    def _reset(self, worker: int, now: int) -> None:
        self.free[worker], self.waiting[worker] = [now] * self.cores[worker], {}
        self.serving[worker] = set()
