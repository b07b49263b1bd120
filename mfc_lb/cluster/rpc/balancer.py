"""The balancer as a process: workers take places, one client at a time has its jobs served."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from mfc_lb.cluster.balancers import Balancer, Dispatcher
from mfc_lb.cluster.events import LogHeader
from mfc_lb.cluster.messages_pb2 import Job
from mfc_lb.cluster.parameters import MAX_CORES, ClusterParameters
from mfc_lb.cluster.rpc import service_pb2 as service
from mfc_lb.cluster.rpc.client import check_time_scale
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.outbox import Outbox
from mfc_lb.cluster.rpc.run import Run
from mfc_lb.cluster.rpc.security import Address, Security
from mfc_lb.cluster.rpc.service_pb2_grpc import BalancerServicer, add_BalancerServicer_to_server
from mfc_lb.cluster.rpc.tasks import side_by_side
from mfc_lb.cluster.rpc.worker import MAX_LIVE_WORKERS
from mfc_lb.cluster.simulator import MAX_SEED
from mfc_lb.cluster.traces import LONGEST_US
from mfc_lb.errors import InvalidInput, check_int, check_real, require

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class BalancerSettings:
    """What a balancer is told when it is started.

    Parameters
    ----------
    balancer : Balancer
        What decides.
    num_workers : int, 1 to 1000
        Workers for which a run waits before it begins.
    capacity, refresh_interval_us
        See `ClusterParameters`.
    seed : int, 0 to 2^64 - 1
        Of the balancer's choices; each run begins with it anew.
    patience : float, > 0
        Seconds for which a client waits for workers that are not there yet.
    """

    balancer: Balancer
    num_workers: int = 3
    capacity: int | None = None
    refresh_interval_us: int = 0
    seed: int = 0
    patience: float = 30.0

    def __post_init__(self) -> None:
        """Check every field."""
        require(isinstance(self.balancer, Balancer), "balancer", self.balancer, "a Balancer")
        check_int("num_workers", self.num_workers, 1, MAX_LIVE_WORKERS)
        check_int("seed", self.seed, 0, MAX_SEED)
        check_real("patience", self.patience, strict=True)
        self.cluster([1] * self.num_workers)

    def cluster(self, cores: Sequence[int]) -> ClusterParameters:
        """Return the cluster with so many cores of each worker."""
        return ClusterParameters(tuple(cores), self.capacity, self.refresh_interval_us)


@dataclass(frozen=True, eq=False)
class _Worker:
    """A worker at its place, as long as its connection lasts."""

    place: int
    orders: Outbox[Job | service.Order]


class BalancerService(BalancerServicer):
    """Answers workers and clients.

    Parameters
    ----------
    settings : BalancerSettings
        What it was told.
    note : callable
        Is told in words who comes and who goes.
    """

    def __init__(
        self, settings: BalancerSettings, note: Callable[[str], object] = lambda _: None
    ) -> None:
        self.settings, self.note = settings, note
        self.workers: list[_Worker | None] = [None] * settings.num_workers
        self.cores = [0] * settings.num_workers
        self.complete = asyncio.Event()
        self.is_busy = False
        self.num_runs = 0
        self.new_run = service.NewRun()
        self.run: Run | None = None

    async def Serve(  # noqa: N802  (named by the protocol)
        self, request_iterator: AsyncIterator[service.WorkerMessage], context: Any
    ) -> None:
        """Let a worker serve, until its connection ends."""
        await _explaining(self._serve(_valid(request_iterator), context), context, service.Order)

    async def Replay(  # noqa: N802  (named by the protocol)
        self, request_iterator: AsyncIterator[service.ClientMessage], context: Any
    ) -> None:
        """Serve the jobs of a client, until the last has ended."""
        await _explaining(self._run(_valid(request_iterator), context), context, service.LogRecords)

    # --- workers ------------------------------------------------------------------------------

    async def _serve(self, requests: AsyncIterator[service.WorkerMessage], context: Any) -> None:
        first = await _first(requests, "registration")
        worker = self._settle(first.registration)
        try:
            listening = _ending(worker.orders, self._listen(worker, requests))
            await side_by_side(_write_orders(worker, context), listening)
        finally:
            self._leave(worker)

    async def _listen(
        self, worker: _Worker, requests: AsyncIterator[service.WorkerMessage]
    ) -> None:
        async for message in requests:
            _require_kind(message, "reports")
            if self.run is not None and message.reports.run == self.num_runs:
                self.run.hear(worker.place, message.reports.events)
        worker.orders.close()

    def _settle(self, registration: service.Registration) -> _Worker:
        """Give a worker a place; a lost worker's goes to one with as many cores."""
        cores = check_int("cores", registration.cores, 1, MAX_CORES)
        place = self._free_place(cores, registration)
        worker = self.workers[place] = _Worker(place, Outbox())
        self.cores[place] = cores
        self.note(f"worker {place} is there, with {_counted(cores, 'core')}")
        worker.orders.put(service.Order(place=service.Place(worker=place)))
        if self.run is not None:
            worker.orders.put(service.Order(new_run=self.new_run))
            self.run.regain(place)
        if all(self.cores):
            self.complete.set()
        return worker

    def _free_place(self, cores: int, registration: service.Registration) -> int:
        places: Sequence[int] = range(len(self.workers))
        if registration.HasField("worker"):
            last = len(self.workers) - 1
            places = [check_int("worker", registration.worker, 0, last)]
        for place in places:
            if self.workers[place] is None and self.cores[place] in (0, cores):
                return place
        wanted = f"place {places[0]} is not" if registration.HasField("worker") else "no place is"
        others = {self.cores[place] for place in places if self.workers[place] is None}
        lost = f"; a lost worker had {_counted(min(others), 'core')}" if others else ""
        raise ClusterFailure(f"{wanted} free for a worker with {_counted(cores, 'core')}{lost}")

    def _leave(self, worker: _Worker) -> None:
        self.workers[worker.place] = None
        self.note(f"worker {worker.place} is gone")
        if self.run is not None:
            self.run.lose(worker.place)

    def _send(self, place: int, item: Job | service.Order) -> None:
        worker = self.workers[place]
        if worker is not None:
            worker.orders.put(item)

    # --- clients ------------------------------------------------------------------------------

    async def _run(self, requests: AsyncIterator[service.ClientMessage], context: Any) -> None:
        first = await _first(requests, "begin")
        _check_begin(first.begin)
        if self.is_busy:
            raise ClusterFailure("the balancer already serves a client")
        self.is_busy = True
        try:
            await self._until_complete()
            run = self._begin(first.begin)
            self.note("a client's run begins")
            reading = _ending(run.records, _read_jobs(run, requests))
            await side_by_side(_write_log(run, context), reading)
        finally:
            if self.run is not None:
                self.note(f"the run is over: {_counted(self.run.num_ended, 'job')} ended")
            self.run, self.is_busy = None, False

    async def _until_complete(self) -> None:
        patience = self.settings.patience
        try:
            await asyncio.wait_for(self.complete.wait(), patience)
        except TimeoutError:
            there = f"{sum(map(bool, self.cores))} of {len(self.cores)} workers"
            raise ClusterFailure(f"only {there} have come within {patience:g} s") from None

    def _begin(self, begin: service.Begin) -> Run:
        """Start a run; the balancer's compiled decision is loaded before its clock ticks."""
        s = self.settings
        cluster = s.cluster(self.cores)
        rehearsal = Dispatcher(s.balancer, cluster.cores_array, s.seed)
        rehearsal.choose(cluster.cores_array)
        dispatcher = Dispatcher(s.balancer, cluster.cores_array, s.seed)
        header = LogHeader("live", repr(s.balancer), s.seed, cluster)
        run = Run(header, dispatcher, _clock(begin), self._send)
        self.num_runs += 1
        scale = begin.time_scale
        self.new_run = service.NewRun(run=self.num_runs, time_scale=scale, capacity=s.capacity)
        for place, worker in enumerate(self.workers):
            self._send(place, service.Order(new_run=self.new_run))
            if worker is None:
                run.lose(place)
        self.run = run
        return run


async def serve_balancer(
    settings: BalancerSettings,
    address: Address,
    security: Security,
    tell: Callable[[Address], None],
    note: Callable[[str], object] = lambda _: None,
) -> None:
    """Be a balancer until cancelled.

    Parameters
    ----------
    settings : BalancerSettings
        What to do.
    address : Address
        Where to listen; with port 0, the system chooses one.
    security : Security
        Whom to trust.
    tell : callable
        Is told the address once workers and clients may call.
    note : callable
        Is told in words who comes and who goes.

    Raises
    ------
    InvalidInput
        If one may not listen there.
    ClusterFailure
        If one cannot.
    """
    server, found = security.listen(address)
    add_BalancerServicer_to_server(BalancerService(settings, note), server)
    await server.start()
    tell(found)
    try:
        await server.wait_for_termination()
    finally:
        await server.stop(None)


async def _explaining(
    work: Coroutine[Any, Any, None], context: Any, last: Callable[..., Message]
) -> None:
    """Do some work; if it fails, the last message that the other side gets says why."""
    try:
        await work
    except (InvalidInput, ClusterFailure) as error:
        await context.write(last(failure=str(error)))
        await context.abort(_code(error), str(error))
    except Exception as error:
        await context.write(last(failure=f"the balancer failed: {error!r}"))
        raise


def _code(error: InvalidInput | ClusterFailure) -> grpc.StatusCode:
    refused = isinstance(error, InvalidInput)
    return grpc.StatusCode.INVALID_ARGUMENT if refused else grpc.StatusCode.FAILED_PRECONDITION


async def _ending(outbox: Outbox[Any], reading: Coroutine[Any, Any, None]) -> None:
    """Read; what fails ends what is sent, after what was put before: no write is broken off."""
    try:
        await reading
    except Exception as error:  # noqa: BLE001  (who writes raises it)
        outbox.close(error)


async def _valid(requests: AsyncIterator[M]) -> AsyncIterator[M]:
    try:
        async for message in requests:
            yield message
    except DecodeError:
        raise InvalidInput("the message is malformed") from None


async def _first(requests: AsyncIterator[M], kind: str) -> M:
    message = await anext(requests, None)
    if message is None:
        raise InvalidInput(f"the first message must be a {kind}, got none")
    _require_kind(message, kind)
    return message


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _require_kind(message: Any, kind: str) -> None:
    found = message.WhichOneof("message")
    require(found == kind, "message", found, f"of the kind {kind!r}")


def _check_begin(begin: service.Begin) -> None:
    check_time_scale(begin.time_scale)
    check_int("origin_us", begin.origin_us, 0, LONGEST_US)


async def _read_jobs(run: Run, requests: AsyncIterator[service.ClientMessage]) -> None:
    async for message in requests:
        _require_kind(message, "jobs")
        run.arrive(message.jobs.jobs)
    run.expect_no_more()


async def _write_log(run: Run, context: Any) -> None:
    async for records in run.records.batches():
        await context.write(service.LogRecords(records=records))


async def _write_orders(worker: _Worker, context: Any) -> None:
    async for batch in worker.orders.batches():
        for order in _orders(batch):
            await context.write(order)


def _orders(batch: list[Job | service.Order]) -> Iterator[service.Order]:
    """Put jobs that follow each other into one order."""
    for is_order, group in groupby(batch, key=lambda item: isinstance(item, service.Order)):
        items: list[Any] = list(group)
        if is_order:
            yield from items
        else:
            yield service.Order(jobs=service.Jobs(jobs=items))


def _clock(begin: service.Begin) -> Callable[[], int]:
    """Return what tells the time of the trace."""
    start, origin, per_us = time.monotonic_ns(), begin.origin_us, 1000 * begin.time_scale
    return lambda: origin + int((time.monotonic_ns() - start) / per_us)
