"""The event loop of the simulator, compiled.

Events are totally ordered by (time, kind, sequence number). At one instant, jobs finish first, in
the order in which they started, and a finish starts the next job of its worker; then the balancer's
snapshot is refreshed; then jobs arrive, in the order of the trace. A job of zero length therefore
finishes before the next job of the same instant arrives.
"""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from mfc_lb.cluster.decisions import View
from mfc_lb.cluster.events import EventKind
from mfc_lb.compiled import njit

Integers = NDArray[np.int64]

#: Where a job stands, and at the horizon stays.
NOT_ARRIVED, WAITING, RUNNING, FINISHED, DROPPED = range(5)
#: Why the loop returned.
DONE, REFRESH_DUE, NO_SUCH_WORKER = range(3)
#: Counters: jobs that arrived; jobs that started (the sequence number of finishes); jobs in
#: service; events; the last refresh.
ARRIVALS, STARTS, IN_SERVICE, LOGGED, REFRESHED = range(5)
#: No job, no worker, not yet.
NONE = -1

_ARRIVED, _ASSIGNED = int(EventKind.ARRIVED), int(EventKind.ASSIGNED)
_STARTED, _FINISHED = int(EventKind.STARTED), int(EventKind.FINISHED)
_DROPPED = int(EventKind.DROPPED)


class Jobs(NamedTuple):
    """Columns by job, in the order of the trace; `following` links the jobs that wait."""

    arrival: Any
    service: Any
    worker: Any
    start: Any
    finish: Any
    state: Any
    following: Any


class Workers(NamedTuple):
    """Columns by worker: jobs present and running, the snapshot, ends of the waiting line."""

    cores: Any
    jobs: Any
    running: Any
    snapshot: Any
    first: Any
    last: Any


class Log(NamedTuple):
    """Columns of the events."""

    kind: Any
    time: Any
    job: Any
    worker: Any


class State(NamedTuple):
    """All that the loop reads and writes.

    `finishes` is a binary heap of the jobs in service, rows (finish time, sequence number, job).
    """

    jobs: Jobs
    workers: Workers
    finishes: Any
    log: Log
    counters: Any


class Limits(NamedTuple):
    """Capacity of a worker, refresh interval, and horizon."""

    capacity: int
    refresh_interval: int
    horizon: int


def new_state(arrival: Integers, service: Integers, cores: Integers, *, stale: bool) -> State:
    """Return the state before anything has happened.

    Parameters
    ----------
    arrival, service : ndarray of int64, shape (n,)
        Arrival and service times.
    cores : ndarray of int64
        Cores of each worker.
    stale : bool
        Whether the snapshot is a copy of the loads; else it is the loads.
    """
    n, size = len(arrival), min(len(arrival), int(cores.sum()))
    worker, start, finish, following = (_filled(n, NONE) for _ in range(4))
    jobs = Jobs(arrival, service, worker, start, finish, _filled(n, NOT_ARRIVED), following)
    present = np.zeros_like(cores)
    snapshot = present.copy() if stale else present
    ends = np.full_like(cores, NONE), np.full_like(cores, NONE)
    workers = Workers(cores, present, np.zeros_like(cores), snapshot, *ends)
    counters = np.zeros(5, dtype=np.int64)
    counters[REFRESHED] = NONE
    return State(jobs, workers, np.empty((size, 3), dtype=np.int64), _new_log(4 * n), counters)


def _filled(size: int, value: int) -> Integers:
    return np.full(size, value, dtype=np.int64)


def _new_log(most: int) -> Log:
    """Return room for events: a job arrives, is assigned, starts and finishes."""
    kind, worker = np.empty(most, dtype=np.uint8), np.empty(most, dtype=np.int32)
    return Log(kind, np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), worker)


def run(state: State, limits: Limits, view: View, decision: Any, *, pause: bool) -> int:
    """Go on until the horizon, or until a refresh is due if the caller wants to `pause` there.

    Parameters
    ----------
    state : State
        Is changed.
    limits : Limits
        Of the cluster and of time.
    view : View
        What the decision sees, of the state's own snapshot; the kernel counts the decisions.
    decision : compiled function
        Picks the workers.
    pause : bool
        Whether to return at each refresh.

    Returns
    -------
    int
        `DONE`, `REFRESH_DUE` or `NO_SUCH_WORKER`.
    """
    return int(_compiled_loop()(state, limits, view, decision, pause))


@cache
def _compiled_loop() -> Any:
    """Return the loop, compiled for every decision at once: decisions are function pointers.

    The types are spelt out because a loop that is specialised for each decision cannot be cached.
    """
    integers, numbers, generator = np.zeros(1, np.int64), np.zeros(1), np.random.default_rng(0)
    frozen = integers.copy()
    frozen.setflags(write=False)
    typeof: Any = numba.typeof
    # What a decision sees it cannot write to: the compiler refuses that.
    view = typeof(View(frozen, frozen, 0, integers, numbers, generator, generator))
    state = typeof(new_state(frozen, frozen, integers, stale=True))
    decision = types.FunctionType(types.int64(view))
    loop: Any = _loop
    loop.compile(types.int64(state, typeof(Limits(0, 0, 0)), view, decision, types.boolean))
    loop.disable_compile()
    return loop


@njit()
def _loop(state: Any, limits: Any, view: Any, decision: Any, pause: bool) -> int:
    arrival, counters, workers = state.jobs.arrival, state.counters, state.workers
    while counters[ARRIVALS] < arrival.size and arrival[counters[ARRIVALS]] <= limits.horizon:
        now = arrival[counters[ARRIVALS]]
        refresh, refresh_time = counters[ARRIVALS], now
        if limits.refresh_interval > 0:
            refresh = now // limits.refresh_interval
            refresh_time = refresh * limits.refresh_interval
        if refresh > counters[REFRESHED]:
            _finish_until(state, refresh_time)
            workers.snapshot[:] = workers.jobs
            counters[REFRESHED] = refresh
            if pause:
                return REFRESH_DUE
        _finish_until(state, now)
        given = view.settings, view.table, view.choices, view.ties
        worker = decision(View(view.jobs, view.cores, counters[ARRIVALS], *given))
        if not 0 <= worker < workers.cores.size:
            return NO_SUCH_WORKER
        _arrive(state, now, worker, limits.capacity)
    _finish_until(state, limits.horizon)
    return DONE


@njit()
def _arrive(state: Any, now: int, worker: int, capacity: int) -> None:
    job = state.counters[ARRIVALS]
    state.counters[ARRIVALS] += 1
    _note(state, _ARRIVED, now, job, NONE)
    _note(state, _ASSIGNED, now, job, worker)
    state.jobs.worker[job] = worker
    if state.workers.jobs[worker] >= capacity:
        state.jobs.state[job] = DROPPED
        _note(state, _DROPPED, now, job, worker)
        return
    state.workers.jobs[worker] += 1
    if state.workers.running[worker] < state.workers.cores[worker]:
        _start(state, now, job, worker)
    else:
        _wait(state, job, worker)


@njit()
def _wait(state: Any, job: int, worker: int) -> None:
    workers = state.workers
    state.jobs.state[job] = WAITING
    if workers.first[worker] == NONE:
        workers.first[worker] = job
    else:
        state.jobs.following[workers.last[worker]] = job
    workers.last[worker] = job


@njit()
def _start(state: Any, now: int, job: int, worker: int) -> None:
    state.workers.running[worker] += 1
    state.jobs.state[job] = RUNNING
    state.jobs.start[job] = now
    size, sequence = state.counters[IN_SERVICE], state.counters[STARTS]
    _push(state.finishes, size, now + state.jobs.service[job], sequence, job)
    state.counters[IN_SERVICE] += 1
    state.counters[STARTS] += 1
    _note(state, _STARTED, now, job, worker)


@njit()
def _finish_until(state: Any, now: int) -> None:
    while state.counters[IN_SERVICE] > 0 and state.finishes[0, 0] <= now:
        _finish_next(state)


@njit()
def _finish_next(state: Any) -> None:
    workers, now, job = state.workers, state.finishes[0, 0], state.finishes[0, 2]
    _pop(state.finishes, state.counters[IN_SERVICE])
    state.counters[IN_SERVICE] -= 1
    worker = state.jobs.worker[job]
    workers.running[worker] -= 1
    workers.jobs[worker] -= 1
    state.jobs.state[job] = FINISHED
    state.jobs.finish[job] = now
    _note(state, _FINISHED, now, job, worker)
    waiting = workers.first[worker]
    if waiting != NONE:
        workers.first[worker] = state.jobs.following[waiting]
        _start(state, now, waiting, worker)


@njit()
def _note(state: Any, kind: int, now: int, job: int, worker: int) -> None:
    place = state.counters[LOGGED]
    state.log.kind[place] = kind
    state.log.time[place] = now
    state.log.job[place] = job
    state.log.worker[place] = worker
    state.counters[LOGGED] += 1


@njit()
def _push(heap: Any, size: int, time: int, sequence: int, job: int) -> None:
    place = size
    heap[place, 0], heap[place, 1], heap[place, 2] = time, sequence, job
    while place > 0 and _is_before(heap, place, (place - 1) // 2):
        _swap(heap, place, (place - 1) // 2)
        place = (place - 1) // 2


@njit()
def _pop(heap: Any, size: int) -> None:
    """Remove the first row."""
    _swap(heap, 0, size - 1)
    place, child = 0, 1
    while child < size - 1:
        if child + 1 < size - 1 and _is_before(heap, child + 1, child):
            child += 1
        if not _is_before(heap, child, place):
            return
        _swap(heap, child, place)
        place, child = child, 2 * child + 1


@njit()
def _is_before(heap: Any, row: int, other: int) -> bool:
    if heap[row, 0] != heap[other, 0]:
        return bool(heap[row, 0] < heap[other, 0])
    return bool(heap[row, 1] < heap[other, 1])


@njit()
def _swap(heap: Any, row: int, other: int) -> None:
    for column in range(3):
        heap[row, column], heap[other, column] = heap[other, column], heap[row, column]
