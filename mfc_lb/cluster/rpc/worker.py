"""The worker as a process: it takes a place at a balancer and serves the jobs that it is sent."""

from collections.abc import Callable

from grpc.aio import Channel

from mfc_lb.cluster.messages_pb2 import Event, EventKind
from mfc_lb.cluster.rpc import service_pb2 as service
from mfc_lb.cluster.rpc.cores import Cores
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.failures import calling, require_no_failure, while_heard
from mfc_lb.cluster.rpc.outbox import Outbox
from mfc_lb.cluster.rpc.security import Address, Security
from mfc_lb.cluster.rpc.service_pb2_grpc import BalancerStub
from mfc_lb.cluster.rpc.tasks import side_by_side

#: Most workers of a live cluster.
MAX_LIVE_WORKERS = 1000
#: What is said to the balancer: the run and the event.
Report = tuple[int, Event]


class Worker:
    """Follows the orders of a balancer.

    Parameters
    ----------
    num_cores : int, >= 1
        Its cores.
    tell : callable
        Is told the place that the worker gets.
    """

    def __init__(self, num_cores: int, tell: Callable[[int], None]) -> None:
        self.num_cores, self.tell = num_cores, tell
        self.reports: Outbox[Report] = Outbox()
        self.cores: Cores | None = None

    def follow(self, order: service.Order) -> None:
        """Do what an order says."""
        kind = order.WhichOneof("order")
        if kind == "place":
            self.tell(order.place.worker)
        elif kind == "new_run":
            self._begin(order.new_run)
        elif kind == "jobs" and self.cores is not None:
            for job in order.jobs.jobs:
                self.cores.take(job)

    def _begin(self, new: service.NewRun) -> None:
        if self.cores is not None:
            self.cores.forget()
        capacity = new.capacity if new.HasField("capacity") else None

        def report(kind: EventKind, job_id: int) -> None:
            self.reports.put((new.run, Event(kind=kind, job_id=job_id)))

        self.cores = Cores(self.num_cores, capacity, new.time_scale, report)


async def serve_worker(
    address: Address,
    security: Security,
    num_cores: int,
    *,
    place: int | None = None,
    patience: float = 10.0,
    tell: Callable[[int], None] = lambda _: None,
) -> None:
    """Be a worker until cancelled.

    Parameters
    ----------
    address : Address
        Of the balancer.
    security : Security
        Whom to trust.
    num_cores : int, 1 to 2^20
        Jobs that are served at the same time.
    place : int, optional
        Which worker to be; without it, the first that is not there.
    patience : float
        Seconds to wait for the balancer.
    tell : callable
        Is told the place.

    Raises
    ------
    ClusterFailure
        If the balancer does not answer, refuses the worker or is gone.
    """
    async with security.channel(address) as channel:
        await security.until_connected(channel, address, patience)
        registration = service.Registration(cores=num_cores, worker=place)
        with calling(address):
            await _serve(channel, registration, Worker(num_cores, tell))
        raise ClusterFailure(f"the balancer at {address} has ended")


async def _serve(channel: Channel, registration: service.Registration, worker: Worker) -> None:
    call = BalancerStub(channel).Serve()

    async def write() -> None:
        await call.write(service.WorkerMessage(registration=registration))
        async for batch in worker.reports.batches():
            await call.write(service.WorkerMessage(reports=_reports(batch)))

    async def read() -> None:
        async for order in call:
            require_no_failure(order)
            worker.follow(order)

    await side_by_side(read(), while_heard(write()))


def _reports(batch: list[Report]) -> service.Reports:
    """Return what is to be said of the latest run; of earlier ones nobody wants to know."""
    latest = batch[-1][0]
    events = [event for run, event in batch if run == latest]
    return service.Reports(run=latest, events=events)
