"""What a worker does with jobs: it holds a core for each, first come, first served."""

import asyncio
from collections import deque
from collections.abc import Callable

from mfc_lb.cluster.messages_pb2 import DROPPED, FINISHED, STARTED, EventKind, Job

MICROSECOND = 1e-6


class Cores:
    """The cores of a worker and the jobs that wait for one.

    Parameters
    ----------
    num_cores : int, >= 1
        Number of cores.
    capacity : int or None
        Most jobs in service and waiting; one that comes beyond is dropped.
    time_scale : float, > 0
        Real seconds for which a core is held for each second of service.
    report : callable
        Is told what happens to which job: `STARTED`, `FINISHED` or `DROPPED`, and its name.
    """

    def __init__(
        self,
        num_cores: int,
        capacity: int | None,
        time_scale: float,
        report: Callable[[EventKind, int], None],
    ) -> None:
        self.num_cores, self.capacity = num_cores, capacity
        self.time_scale, self.report = time_scale, report
        self.waiting: deque[Job] = deque()
        self.in_service: dict[int, asyncio.TimerHandle] = {}

    def take(self, job: Job) -> None:
        """Accept a job, or drop it if there is no room."""
        present = len(self.waiting) + len(self.in_service)
        if self.capacity is not None and present >= self.capacity:
            self.report(DROPPED, job.job_id)
            return
        self.waiting.append(job)
        self._serve(asyncio.get_running_loop().time())

    def forget(self) -> None:
        """Leave every job as it is and say no more about it."""
        self.waiting.clear()
        for timer in self.in_service.values():
            timer.cancel()
        self.in_service.clear()

    def _serve(self, since: float) -> None:
        """Start waiting jobs on the cores that are free `since` a time of the event loop.

        A job that follows another starts at the time at which that was due, not when the late timer
        rang: so lateness does not add up along a queue.
        """
        while self.waiting and len(self.in_service) < self.num_cores:
            job = self.waiting.popleft()
            self.report(STARTED, job.job_id)
            if job.service_time_us == 0:
                self.report(FINISHED, job.job_id)
            else:
                self._hold(job, since + job.service_time_us * MICROSECOND * self.time_scale)

    def _hold(self, job: Job, due: float) -> None:
        loop = asyncio.get_running_loop()
        self.in_service[job.job_id] = loop.call_at(due, self._finish, job.job_id, due)

    def _finish(self, job_id: int, due: float) -> None:
        del self.in_service[job_id]
        self.report(FINISHED, job_id)
        self._serve(due)
