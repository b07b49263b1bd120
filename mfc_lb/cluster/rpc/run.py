"""One run of a live cluster, as its balancer sees it: where each job is, and what is told of it.

The balancer has the only clock. What it hears of a worker, it dates when it hears it: times of a
log never run backwards, and messages on their way count as service or waiting.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mfc_lb.cluster import messages_pb2 as messages
from mfc_lb.cluster.balancers import Dispatcher
from mfc_lb.cluster.event_log import delimited, end_record, header_message
from mfc_lb.cluster.events import LogHeader
from mfc_lb.cluster.messages_pb2 import Event, EventKind, Job, LogRecord
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.outbox import Outbox
from mfc_lb.cluster.traces import LONGEST_US
from mfc_lb.errors import require

#: Jobs that a lost worker seems to have: no balancer that looks at loads prefers it.
LOST_LOAD = 2**40
#: So often a balancer that picks a lost worker is asked again; then the least loaded is taken.
MOST_TRIES = 1000
#: What a worker may say of a job.
REPORTED = frozenset({messages.STARTED, messages.FINISHED, messages.DROPPED})


@dataclass
class _Held:
    job: Job
    in_service: bool = False


class Run:
    """Jobs between their arrival and their end.

    Parameters
    ----------
    header : LogHeader
        The cluster.
    dispatcher : Dispatcher
        Decides.
    clock : callable
        Returns the time of the trace in microseconds; never runs backwards.
    send : callable
        Sends a job to a worker.

    Attributes
    ----------
    records : Outbox of LogRecord
        The log. It ends with its end, or with an error when the run cannot go on.
    """

    def __init__(
        self,
        header: LogHeader,
        dispatcher: Dispatcher,
        clock: Callable[[], int],
        send: Callable[[int, Job], None],
    ) -> None:
        num_workers, self.interval = header.cluster.num_workers, header.cluster.refresh_interval_us
        self.dispatcher, self.clock, self.send = dispatcher, clock, send
        self.held: list[dict[int, _Held]] = [{} for _ in range(num_workers)]
        self.lost = np.zeros(num_workers, dtype=bool)
        self.loads = np.zeros(num_workers, dtype=np.int64)
        self.snapshot = self.loads.copy() if self.interval else self.loads
        self.refreshed = self.told = -1
        self.arrived: set[int] = set()
        self.num_events = self.num_ended = self.latest = self.checksum = 0
        self.expects_more = True
        self.records: Outbox[LogRecord] = Outbox()
        self._record(LogRecord(header=header_message(header)))

    def arrive(self, jobs: Sequence[Job]) -> None:
        """Take in jobs that arrive now, and send them to workers.

        Raises
        ------
        InvalidInput
            If one of them cannot be; then none is taken.
        """
        self._check(jobs)
        for job in jobs:
            now = self.clock()
            self.arrived.add(job.job_id)
            service = job.service_time_us
            self._tell(messages.ARRIVED, now, job_id=job.job_id, service_time_us=service)
            self._assign(job, now)

    def expect_no_more(self) -> None:
        """Take notice that no job will arrive any more."""
        self.expects_more = False
        self._end_if_done()

    def hear(self, worker: int, reports: Sequence[Event]) -> None:
        """Take in what a worker says of its jobs; what is no news is ignored.

        Raises
        ------
        InvalidInput
            If a report is none; then none of them is taken.
        """
        for report in reports:
            known = report.kind in REPORTED and report.HasField("job_id")
            require(known, "report", report, "STARTED, FINISHED or DROPPED, with a job_id")
        now = self.clock()
        self._see(now - 1)
        for report in reports:
            self._hear(worker, report.kind, report.job_id, now)
        self._end_if_done()

    def lose(self, worker: int) -> None:
        """Send the unfinished jobs of a worker to others; the run fails if there are none."""
        now = self.clock()
        self._see(now - 1)
        self.lost[worker] = True
        self._tell(messages.WORKER_LOST, now, worker=worker)
        jobs = [held.job for held in self.held[worker].values()]
        self.held[worker].clear()
        self.loads[worker] = 0
        for job in jobs:
            self._tell(messages.RETURNED, now, job_id=job.job_id, worker=worker)
        for job in jobs:
            self._assign(job, now)

    def regain(self, worker: int) -> None:
        """Count on a worker again."""
        self.lost[worker] = False
        self._tell(messages.WORKER_BACK, self.clock(), worker=worker)

    def _check(self, jobs: Iterable[Job]) -> None:
        names: set[int] = set()
        for job in jobs:
            new = job.job_id not in self.arrived and job.job_id not in names
            require(new, "job_id", job.job_id, "different for each job")
            names.add(job.job_id)
            require(job.job_id >= 0, "job_id", job.job_id, "at least 0")
            fits = 0 <= job.service_time_us < LONGEST_US
            require(fits, "service_time_us", job.service_time_us, "from 0 to 2^62 - 1")

    def _see(self, until: int) -> None:
        """Refresh the snapshot if a refresh was due; what is about to change came after it."""
        due = until // self.interval if self.interval else self.dispatcher.num_decided
        if due > self.refreshed:
            self.refreshed = due
            if self.interval:
                self.snapshot[:] = self.loads

    def _assign(self, job: Job, now: int) -> None:
        if self.lost.all():
            ended = f"{self.num_ended} of the {len(self.arrived)} jobs that arrived have ended"
            self.records.close(ClusterFailure(f"no worker is left; {ended}"))
            return
        self._see(now)
        try:
            worker = self._choose()
        except Exception as error:  # noqa: BLE001  (who writes the log raises it)
            self.records.close(error)
            return
        self._tell(messages.ASSIGNED, now, job_id=job.job_id, worker=worker)
        self.held[worker][job.job_id] = _Held(job)
        self.loads[worker] += 1
        self.send(worker, job)

    def _choose(self) -> int:
        """Ask the balancer, again if it names a lost worker."""
        loads = np.where(self.lost, LOST_LOAD, self.snapshot)
        if self.told < self.refreshed:
            self.dispatcher.refresh(loads, self.refreshed)
            self.told = self.refreshed
        for _ in range(MOST_TRIES):
            worker = self.dispatcher.choose(loads)
            require(0 <= worker < len(loads), "worker", worker, "one of the cluster's")
            if not self.lost[worker]:
                return worker
        return int(np.argmin(loads / self.dispatcher.cores))

    def _hear(self, worker: int, kind: EventKind, job_id: int, now: int) -> None:
        held = self.held[worker].get(job_id)
        if held is None or held.in_service != (kind == messages.FINISHED):
            return
        self._tell(kind, now, job_id=job_id, worker=worker)
        if kind == messages.STARTED:
            held.in_service = True
            return
        del self.held[worker][job_id]
        self.loads[worker] -= 1
        self.num_ended += 1

    def _tell(self, kind: EventKind, now: int, **fields: int) -> None:
        self.num_events += 1
        self.latest = now
        self._record(LogRecord(event=Event(kind=kind, time_us=now, **fields)))

    def _end_if_done(self) -> None:
        if not self.expects_more and self.num_ended == len(self.arrived):
            self._record(end_record(self.latest, self.num_events, self.checksum))
            self.records.close()

    def _record(self, record: LogRecord) -> None:
        self.checksum = zlib.crc32(delimited(record), self.checksum)
        self.records.put(record)
