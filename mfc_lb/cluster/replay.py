"""The replay checker: whether a log is consistent, from the log alone.

It shares nothing with the simulator but the log. It goes through the events one by one, keeps for
each worker the line of waiting jobs and the jobs in service, and checks that

* time does not run backwards, and nothing happens after the end;
* every job arrives once, and ends once: it finishes or is dropped (or is unfinished at a horizon);
* the balancer assigns a job at once, when it arrives or is returned;
* nothing starts before it arrives and is assigned, and it starts where it was assigned;
* a worker serves first come, first served;
* no core is idle while its worker has waiting jobs;
* never are more jobs in service than cores, nor more jobs present than the capacity;
* only a full worker drops;
* service takes the job's service time, or less at a worker that is lost;
* a lost worker does nothing, and its jobs go back to the balancer.

In a live cluster, an action takes a while: `tolerance_us` says how long a job may be at the
balancer and a core idle, how much longer or shorter service may take, and how far clocks may
differ.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mfc_lb.cluster.events import EventKind, EventLog
from mfc_lb.errors import check_int, require

#: So many faults are told; one cause may have many consequences.
MAX_FAULTS = 20


@dataclass(frozen=True)
class Fault:
    """Something that must not happen.

    Attributes
    ----------
    event : int
        Index of the event at which it shows; the number of events if it shows at the end.
    time_us : int
        Time of that event.
    problem : str
        What is wrong.
    """

    event: int
    time_us: int
    problem: str

    def __str__(self) -> str:
        """Show the fault in one line."""
        return f"event {self.event} at {self.time_us} us: {self.problem}"


def check_log(log: EventLog, tolerance_us: int = 0) -> list[Fault]:
    """Return the faults of a log, at most 20; without any, the run in it kept the rules.

    Whether the log tells what happened, no checker of a log can say.

    Parameters
    ----------
    log : EventLog
        Of a simulation or a live cluster.
    tolerance_us : int, >= 0, optional
        Delay that an action may have; 0 for a simulation.

    Returns
    -------
    list of Fault
        In the order of the events.
    """
    require(isinstance(log, EventLog), "log", log, "an EventLog")
    replay = _Replay(log, check_int("tolerance_us", tolerance_us, 0))
    faults: list[Fault] = []
    for fault in replay.faults():
        faults.append(fault)
        if len(faults) == MAX_FAULTS:
            break
    return faults


@dataclass
class _Job:
    service_us: int
    since_us: int
    state: str = "at the balancer"
    worker: int = -1
    started_us: int = -1


@dataclass
class _Worker:
    cores: int
    waiting: deque[int] = field(default_factory=deque)
    serving: set[int] = field(default_factory=set)
    lost: bool = False
    unsettled: str = ""
    unsettled_since_us: int = 0

    def has_room(self, capacity: int | None) -> bool:
        return capacity is None or len(self.waiting) + len(self.serving) < capacity

    def settle(self, now: int, capacity: int | None) -> None:
        """Note what must not last."""
        problem = self._problem(capacity)
        if problem != self.unsettled:
            self.unsettled, self.unsettled_since_us = problem, now

    def _problem(self, capacity: int | None) -> str:
        if self.lost:
            return "is lost but still has jobs" if self.waiting or self.serving else ""
        if self.waiting and len(self.serving) < self.cores:
            return f"has an idle core while job {self.waiting[0]} waits"
        if capacity is None or len(self.waiting) + len(self.serving) <= capacity:
            return ""
        beyond = [*self.waiting][max(0, capacity - len(self.serving)) :]
        return f"holds more jobs than its capacity, {capacity}: job {beyond[0] if beyond else '?'}"


class _Replay:
    """The state of the cluster while its log is replayed."""

    def __init__(self, log: EventLog, tolerance_us: int) -> None:
        cluster = log.header.cluster
        self.log = log
        self.tolerance = tolerance_us
        self.capacity = cluster.capacity
        self.workers = [_Worker(cores) for cores in cluster.cores]
        self.jobs: dict[int, _Job] = {}
        self.handlers: dict[int, Callable[[int, int, int], Iterator[str]]] = {
            EventKind.ASSIGNED: self._assigned,
            EventKind.STARTED: self._started,
            EventKind.FINISHED: self._finished,
            EventKind.DROPPED: self._dropped,
            EventKind.RETURNED: self._returned,
            EventKind.WORKER_LOST: self._lost,
            EventKind.WORKER_BACK: self._back,
        }

    def faults(self) -> Iterator[Fault]:
        latest = 0
        for index, row in enumerate(zip(*(c.tolist() for c in self.log.events), strict=True)):
            kind, now, job, worker, service = row
            for problem in self._problems(kind, now, job, worker, service, latest):
                yield Fault(index, now, problem)
            latest = max(latest, now)
        for problem in self._problems_at_end(latest):
            yield Fault(len(self.log), self.log.end_us, problem)

    def _problems(
        self, kind: int, now: int, job: int, worker: int, service: int, latest: int
    ) -> Iterator[str]:
        if now < latest - self.tolerance:
            yield f"time runs backwards, from {latest} us"
        if kind == EventKind.ARRIVED:
            yield from self._arrived(now, job, service)
            return
        yield from self._lasting(worker, now, self.tolerance)
        if self.workers[worker].lost and kind not in {EventKind.WORKER_BACK, EventKind.RETURNED}:
            yield f"worker {worker} is lost but {EventKind(kind).name} says otherwise"
        yield from self.handlers[kind](now, job, worker)
        self.workers[worker].settle(now, self.capacity)

    def _lasting(self, worker: int, now: int, longest: int) -> Iterator[str]:
        w = self.workers[worker]
        if w.unsettled and now - w.unsettled_since_us > longest:
            yield f"worker {worker} {w.unsettled}, since {w.unsettled_since_us} us"

    def _arrived(self, now: int, job: int, service: int) -> Iterator[str]:
        if job in self.jobs:
            yield f"job {job} arrives a second time"
        else:
            self.jobs[job] = _Job(service, now)

    def _assigned(self, now: int, job: int, worker: int) -> Iterator[str]:
        yield from self._misplaced(job, worker, "is assigned", "at the balancer")
        entry = self._move(job, "waiting", worker)
        if now - entry.since_us > self.tolerance:
            yield f"job {job} is at the balancer for {now - entry.since_us} us"
        self.workers[worker].waiting.append(job)

    def _started(self, now: int, job: int, worker: int) -> Iterator[str]:
        w = self.workers[worker]
        yield from self._misplaced(job, worker, "starts", "waiting")
        if w.waiting and w.waiting[0] != job:
            yield f"job {job} starts on worker {worker} before job {w.waiting[0]}, which came first"
        if len(w.serving) >= w.cores:
            yield f"job {job} starts on worker {worker}, whose {w.cores} cores are busy"
        self._take_away(job, worker)
        self._move(job, "in service", worker).started_us = now
        w.serving.add(job)

    def _finished(self, now: int, job: int, worker: int) -> Iterator[str]:
        yield from self._misplaced(job, worker, "finishes", "in service")
        took, due = self._service(job, now)
        if abs(took - due) > self.tolerance:
            yield f"job {job} is served for {took} us instead of {due}"
        self._take_away(job, worker)
        self._move(job, "finished", worker)

    def _dropped(self, now: int, job: int, worker: int) -> Iterator[str]:
        yield from self._misplaced(job, worker, "is dropped", "waiting")
        self._take_away(job, worker)
        self._move(job, "dropped", worker)
        if self.workers[worker].has_room(self.capacity):
            yield f"job {job} is dropped by worker {worker}, which has room"

    def _returned(self, now: int, job: int, worker: int) -> Iterator[str]:
        yield from self._misplaced(job, worker, "is returned", "waiting", "in service")
        if not self.workers[worker].lost:
            yield f"job {job} is returned from worker {worker}, which is not lost"
        took, due = self._service(job, now)
        if took - due > self.tolerance:
            yield f"job {job} is served for {took} us instead of {due}"
        self._take_away(job, worker)
        self._move(job, "at the balancer", -1).since_us = now

    def _lost(self, now: int, job: int, worker: int) -> Iterator[str]:
        if self.workers[worker].lost:
            yield f"worker {worker} is lost a second time"
        self.workers[worker].lost = True

    def _back(self, now: int, job: int, worker: int) -> Iterator[str]:
        if not self.workers[worker].lost:
            yield f"worker {worker} is back but was not lost"
        self.workers[worker].lost = False

    def _misplaced(self, job: int, worker: int, action: str, *allowed: str) -> Iterator[str]:
        entry = self.jobs.get(job)
        if entry is None:
            yield f"job {job} {action} before it arrives"
        elif entry.state not in allowed:
            yield f"job {job} {action} but is {entry.state}"
        elif entry.worker not in {-1, worker}:
            yield f"job {job} {action} on worker {worker} but is on worker {entry.worker}"

    def _service(self, job: int, now: int) -> tuple[int, int]:
        """Return how long a job has been in service, and its service time; 0, 0 if it is not."""
        entry = self.jobs.get(job)
        if entry is None or entry.state != "in service":
            return 0, 0
        return now - entry.started_us, entry.service_us

    def _move(self, job: int, state: str, worker: int) -> _Job:
        entry = self.jobs.setdefault(job, _Job(0, self.log.end_us))
        entry.state, entry.worker = state, worker
        return entry

    def _take_away(self, job: int, worker: int) -> None:
        """Remove a job from where it is; it is usually first, or the last that came."""
        w = self.workers[worker]
        if job in w.serving:  # so it is not waiting, and the line need not be searched
            w.serving.remove(job)
        elif w.waiting and w.waiting[0] == job:
            w.waiting.popleft()
        elif w.waiting and w.waiting[-1] == job:
            w.waiting.pop()
        elif job in w.waiting:
            w.waiting.remove(job)

    def _problems_at_end(self, latest: int) -> Iterator[str]:
        end, horizon = self.log.end_us, self.log.header.horizon_us
        if latest > end:
            yield f"the log ends before its last event, at {latest} us"
        if horizon is not None and end != horizon:
            yield f"the log ends before or after its horizon, {horizon} us"
        for worker in range(len(self.workers)):
            yield from self._lasting(worker, end, self.tolerance - 1)
        for job, entry in self.jobs.items():
            yield from self._unended(job, entry, end, horizon)

    def _unended(self, job: int, entry: _Job, end: int, horizon: int | None) -> Iterator[str]:
        if entry.state in {"finished", "dropped"}:
            return
        if horizon is None:
            yield f"job {job} never ends: it is {entry.state}"
        elif entry.state == "at the balancer":
            yield f"job {job} is never assigned"
        elif entry.state == "in service":
            due = entry.started_us + entry.service_us
            if end - due >= self.tolerance:
                yield f"job {job} does not finish, though it is due at {due} us"
