"""A live cluster inside a test: its processes are tasks; clients that say what they like."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

from mfc_lb.cluster import LeastLoaded
from mfc_lb.cluster.messages_pb2 import Event, EventKind, Job
from mfc_lb.cluster.rpc import service_pb2 as service
from mfc_lb.cluster.rpc.balancer import BalancerSettings, serve_balancer
from mfc_lb.cluster.rpc.security import Address, Security
from mfc_lb.cluster.rpc.service_pb2_grpc import BalancerStub
from mfc_lb.cluster.rpc.worker import serve_worker

PLAIN = Security()
LOOPBACK = Address("127.0.0.1", 0)
#: Longer than any test: a job of this length is always there.
LONG_US = 10**9


def run(work, timeout: float = 50.0):
    """Do the work of a test, in at most so many seconds."""
    return asyncio.run(asyncio.wait_for(work, timeout))


@asynccontextmanager
async def balancer(security: Security = PLAIN, **settings):
    """Run a balancer; give its address."""
    told = asyncio.get_running_loop().create_future()
    wanted = BalancerSettings(**{"balancer": LeastLoaded("first")} | settings)
    async with task(serve_balancer(wanted, LOOPBACK, security, told.set_result)):
        yield await told


@asynccontextmanager
async def worker(address: Address, cores: int = 1, security: Security = PLAIN, **options):
    """Run a worker; it has its place. Leaving the block kills it."""
    told = asyncio.get_running_loop().create_future()
    work = serve_worker(address, security, cores, tell=told.set_result, **options)
    async with task(work) as running:
        await asyncio.wait([told, running], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
        yield told.result()


@asynccontextmanager
async def cluster(*cores: int, **settings):
    """Run a balancer and workers; give the address."""
    async with AsyncExitStack() as stack:
        running = balancer(num_workers=len(cores), **settings)
        address = await stack.enter_async_context(running)
        for place, number in enumerate(cores):
            await stack.enter_async_context(worker(address, number, place=place))
        yield address


@asynccontextmanager
async def task(work):
    running = asyncio.create_task(work)
    try:
        yield running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class RawClient:
    """A client that sends jobs when it is told to, and reads events one by one."""

    def __init__(self, channel, time_scale: float = 1.0) -> None:
        self.call = BalancerStub(channel).Replay()
        self.time_scale = time_scale
        self.records = []
        self.num_read = 0

    async def begin(self):
        begin = service.Begin(time_scale=self.time_scale)
        await self.call.write(service.ClientMessage(begin=begin))
        return (await self._next()).header

    async def send(self, *jobs: tuple[int, int]) -> None:
        """Send jobs: name and service time."""
        batch = [Job(job_id=name, service_time_us=service_us) for name, service_us in jobs]
        await self.call.write(service.ClientMessage(jobs=service.Jobs(jobs=batch)))

    async def events(self, count: int) -> list[tuple[str, int, int]]:
        """Return the next events: kind, job (-1 for none), worker (-1 for none)."""
        return [_shown((await self._next()).event) for _ in range(count)]

    async def end(self):
        await self.call.done_writing()
        return (await self._next()).end

    async def _next(self):
        while not self.records:
            message = await self.call.read()
            if not hasattr(message, "records"):  # the end of the stream: raise its error
                assert await self.call.code() is None, await self.call.details()
            self.records += message.records
        return self.records.pop(0)


class RawWorker:
    """A worker that says what it likes."""

    def __init__(self, channel) -> None:
        self.call = BalancerStub(channel).Serve()
        self.run = 0

    async def register(self, cores: int = 1, place: int | None = None) -> int:
        registration = service.Registration(cores=cores, worker=place)
        await self.call.write(service.WorkerMessage(registration=registration))
        return (await self.call.read()).place.worker

    async def jobs(self) -> list[int]:
        """Return the names of the next jobs."""
        order = await self.call.read()
        if order.WhichOneof("order") == "new_run":
            self.run = order.new_run.run
            order = await self.call.read()
        return [job.job_id for job in order.jobs.jobs]

    async def say(self, *events: tuple[str, int], run: int | None = None) -> None:
        told = [Event(kind=EventKind.Value(kind), job_id=job) for kind, job in events]
        reports = service.Reports(run=self.run if run is None else run, events=told)
        await self.call.write(service.WorkerMessage(reports=reports))


def _shown(event) -> tuple[str, int, int]:
    job = event.job_id if event.HasField("job_id") else -1
    worker_index = event.worker if event.HasField("worker") else -1
    return EventKind.Name(event.kind), job, worker_index
