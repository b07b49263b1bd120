"""The client: it sends the jobs of a trace when they arrive, and keeps the log that it is told."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from grpc.aio import Channel, StreamStreamCall
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.cluster.event_log import delimited, parse_log
from mfc_lb.cluster.events import EventLog
from mfc_lb.cluster.messages_pb2 import DROPPED, FINISHED, Job, LogRecord
from mfc_lb.cluster.rpc import service_pb2 as service
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.failures import calling, require_no_failure, while_heard
from mfc_lb.cluster.rpc.outbox import LARGEST_BATCH
from mfc_lb.cluster.rpc.security import Address, Security
from mfc_lb.cluster.rpc.service_pb2_grpc import BalancerStub
from mfc_lb.cluster.rpc.tasks import side_by_side
from mfc_lb.cluster.traces import Trace
from mfc_lb.errors import InvalidInput, check_number, check_real, require

Call = StreamStreamCall[service.ClientMessage, service.LogRecords]
ENDS = frozenset({FINISHED, DROPPED})
NANOSECONDS = 10**9
#: Real seconds for each second of the trace: from the shortest to the longest.
TIME_SCALES = (1e-6, 1e6)


@dataclass(frozen=True, eq=False)
class Replay(ArrayRecord):
    """What a client has of a run.

    Attributes
    ----------
    log : EventLog
        Every action, as the balancer tells it.
    time_scale : float
        Real seconds for each second of the trace.
    seconds : float
        Real time from the beginning until the client knew how the last job ended.
    round_trips : ndarray of float, shape (n,)
        Real seconds from the sending of each job until the client knew how it ended, in the order
        of the trace.
    """

    log: EventLog
    time_scale: float
    seconds: float
    round_trips: NDArray[np.float64]


async def replay(
    trace: Trace,
    address: Address,
    security: Security,
    *,
    time_scale: float = 1.0,
    patience: float = 10.0,
    progress: Callable[[int], object] = lambda _: None,
) -> Replay:
    """Have the jobs of a trace served by the cluster of a balancer.

    Parameters
    ----------
    trace : Trace
        The jobs; the first is sent at once.
    address : Address
        Of the balancer.
    security : Security
        Whom to trust.
    time_scale : float, 1e-6 to 1e6
        Real seconds for each second of the trace.
    patience : float
        Seconds to wait for the balancer.
    progress : callable
        Is told how many more jobs have ended.

    Raises
    ------
    InvalidInput
        If a value is out of range.
    ClusterFailure
        If the balancer does not answer, is busy or is gone, or no worker is left.
    """
    time_scale = check_time_scale(time_scale)
    check_real("patience", patience, strict=True)
    async with security.channel(address) as channel:
        await security.until_connected(channel, address, patience)
        client = _Client(trace, time_scale, progress)
        with calling(address):
            await client.talk(channel)
    return client.outcome()


def check_time_scale(value: float) -> float:
    """Return a time scale that can be, or refuse it."""
    shortest, longest = TIME_SCALES
    allowed = f"a number from {shortest:g} to {longest:g}"
    scale = check_number("time_scale", value, allowed)
    require(shortest <= scale <= longest, "time_scale", value, allowed)
    return scale


class _Client:
    def __init__(self, trace: Trace, time_scale: float, progress: Callable[[int], object]) -> None:
        self.trace, self.time_scale, self.progress = trace, time_scale, progress
        self.records = bytearray()
        self.sent_ns: dict[int, int] = {}
        self.ended_ns: dict[int, int] = {}
        self.began = asyncio.Event()
        self.origin_us = int(trace.arrival_time_us[0]) if len(trace) else 0
        self.start_ns = 0

    async def talk(self, channel: Channel) -> None:
        call = BalancerStub(channel).Replay()
        begin = service.Begin(time_scale=self.time_scale, origin_us=self.origin_us)
        await side_by_side(self._receive(call), while_heard(self._send(call, begin)))

    def outcome(self) -> Replay:
        try:
            log = parse_log(bytes(self.records), "what the balancer told")
        except InvalidInput as error:
            raise ClusterFailure(str(error)) from None
        names = self.trace.job_id.tolist()
        if self.ended_ns.keys() != set(names):
            raise ClusterFailure(f"{len(self.ended_ns)} of {len(names)} jobs have a result")
        trips = [self.ended_ns[name] - self.sent_ns[name] for name in names]
        last = max(self.ended_ns.values(), default=self.start_ns)
        seconds = (last - self.start_ns) / NANOSECONDS
        return Replay(log, self.time_scale, seconds, np.array(trips, dtype=float) / NANOSECONDS)

    async def _receive(self, call: Call) -> None:
        async for message in call:
            require_no_failure(message)
            self._take(message.records)

    async def _send(self, call: Call, begin: service.Begin) -> None:
        await call.write(service.ClientMessage(begin=begin))
        await self.began.wait()
        async for batch in self._due():
            await call.write(service.ClientMessage(jobs=service.Jobs(jobs=batch)))
        await call.done_writing()

    async def _due(self) -> AsyncIterator[list[Job]]:
        """Yield jobs when their time has come, all that are due together."""
        times, jobs = self.trace.arrival_time_us, self._jobs()
        num_sent = 0
        while num_sent < len(times):
            wait = self._real_ns(int(times[num_sent])) - time.monotonic_ns()
            await asyncio.sleep(max(0.0, wait / NANOSECONDS))
            num_due = int(np.searchsorted(times, self._trace_us(), side="right")) - num_sent
            batch = list(islice(jobs, min(num_due, LARGEST_BATCH)))
            now = time.monotonic_ns()
            self.sent_ns |= dict.fromkeys((job.job_id for job in batch), now)
            num_sent += len(batch)
            if batch:
                yield batch

    def _jobs(self) -> Iterator[Job]:
        for name, arrival, service_time in self.trace:
            yield Job(job_id=name, arrival_time_us=arrival, service_time_us=service_time)

    def _real_ns(self, time_us: int) -> int:
        return self.start_ns + round((time_us - self.origin_us) * 1000 * self.time_scale)

    def _trace_us(self) -> int:
        """Return the time of the trace, a job's arrival included at its very instant."""
        elapsed = time.monotonic_ns() - self.start_ns
        return self.origin_us + int(elapsed / (1000 * self.time_scale))

    def _take(self, records: Iterable[LogRecord]) -> None:
        now = time.monotonic_ns()
        before = len(self.ended_ns)
        for record in records:
            self.records += delimited(record)
            if record.event.kind in ENDS:
                self.ended_ns.setdefault(record.event.job_id, now)
        if not self.began.is_set():
            self.start_ns = now
            self.began.set()
        self.progress(len(self.ended_ns) - before)
