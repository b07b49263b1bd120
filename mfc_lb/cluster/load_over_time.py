"""How many jobs are at each worker, as step functions of time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.cluster.events import EventKind, EventLog
from mfc_lb.errors import as_float_array, require

#: What an event changes in the number of jobs at its worker.
CHANGES = {
    EventKind.ASSIGNED: 1,
    EventKind.FINISHED: -1,
    EventKind.DROPPED: -1,
    EventKind.RETURNED: -1,
}


@dataclass(frozen=True, eq=False)
class LoadOverTime(ArrayRecord):
    """Jobs in service and waiting at each worker, from time 0 to the end of a run.

    Attributes
    ----------
    time_us : ndarray of int64, shape (K,)
        When a job comes or goes, in order.
    worker : ndarray of int32, shape (K,)
        To or from which worker.
    change : ndarray of int8, shape (K,)
        +1 or -1.
    cores : ndarray of int64, shape (num_workers,)
        Cores of each worker.
    end_us : int
        Where the last step ends.

    Notes
    -----
    The number of jobs at a time counts what happened at that very instant. A job that is dropped
    comes and goes at one instant.
    """

    time_us: NDArray[np.int64]
    worker: NDArray[np.int32]
    change: NDArray[np.int8]
    cores: NDArray[np.int64]
    end_us: int

    @classmethod
    def of(cls, log: EventLog) -> "LoadOverTime":
        """Return the loads that follow from a log."""
        by_kind = np.zeros(max(EventKind) + 1, dtype=np.int8)
        for kind, step in CHANGES.items():
            by_kind[kind] = step
        change = by_kind[log.events.kind]
        moves = np.flatnonzero(change)
        time, worker = log.events.time_us[moves], log.events.worker[moves]
        return cls(time, worker, change[moves], log.header.cluster.cores_array, log.end_us)

    def jobs_at(self, times_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of jobs at each worker at some times.

        Parameters
        ----------
        times_us : array_like of int, shape (T,)
            From 0 to `end_us`.

        Returns
        -------
        ndarray of int64, shape (T, num_workers)
            Jobs in service and waiting.
        """
        times = as_float_array("times_us", times_us)
        require(times.ndim == 1, "times_us shape", times.shape, "(T,)")
        inside = bool(((times >= 0) & (times <= self.end_us)).all())
        require(inside, "times_us", times_us, f"from 0 to the end of the run, {self.end_us}")
        jobs = np.empty((len(times), len(self.cores)), dtype=np.int64)
        for worker in range(len(self.cores)):
            mine = self.worker == worker
            counts = np.append(0, np.cumsum(self.change[mine], dtype=np.int64))
            jobs[:, worker] = counts[np.searchsorted(self.time_us[mine], times_us, side="right")]
        return jobs

    def job_time_us(self) -> NDArray[np.int64]:
        """Return the integral over time of the number of jobs at each worker, exactly.

        Returns
        -------
        ndarray of int64, shape (num_workers,)
            In jobs × microseconds, from 0 to `end_us`.
        """
        areas = np.zeros(len(self.cores), dtype=np.int64)
        np.add.at(areas, self.worker, self.change * (self.end_us - self.time_us))
        return areas
