"""The cluster: workers with cores, a bound on their jobs, and how old the balancer's view is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.traces import LONGEST_US
from mfc_lb.errors import check_int, check_list, require

#: Largest number of cores of a worker.
MAX_CORES = 2**20
#: Largest number of workers.
MAX_WORKERS = 10**6


@dataclass(frozen=True)
class ClusterParameters:
    """Workers behind one balancer; the defaults are the trace study's 3 workers × 4 cores.

    Parameters
    ----------
    cores : sequence of int, >= 1
        Number of cores of each worker. A job takes one core for its service time; a worker serves
        first come, first served.
    capacity : int, >= 1, optional
        Most jobs that a worker holds, in service and waiting; one that comes beyond is dropped.
        Without it, nothing is.
    refresh_interval_us : int, >= 0
        The balancer sees the loads as they were at the last multiple of this time, in
        microseconds, after what finished at that instant and before what arrived then. 0 means
        that it always sees the present loads.

    Raises
    ------
    InvalidInput
        If a value is outside the ranges above.

    Examples
    --------
    >>> ClusterParameters.uniform(num_workers=2, cores=8)
    ClusterParameters(cores=(8, 8), capacity=None, refresh_interval_us=0)
    """

    cores: tuple[int, ...] = (4, 4, 4)
    capacity: int | None = None
    refresh_interval_us: int = 0

    def __post_init__(self) -> None:
        """Check every field and store it in its canonical type."""
        object.__setattr__(self, "cores", _check_cores(self.cores))
        if self.capacity is not None:
            capacity = check_int("capacity", self.capacity, 1, LONGEST_US)
            object.__setattr__(self, "capacity", capacity)
        interval = check_int("refresh_interval_us", self.refresh_interval_us, 0, LONGEST_US)
        object.__setattr__(self, "refresh_interval_us", interval)

    @classmethod
    def uniform(cls, num_workers: int, cores: int, **others: Any) -> "ClusterParameters":
        """Return a cluster of workers that have equally many cores.

        Parameters
        ----------
        num_workers : int, 1 to 10^6
            Number of workers.
        cores : int, >= 1
            Cores of each.
        **others : int
            The other fields.
        """
        count = check_int("num_workers", num_workers, 1, MAX_WORKERS)
        return cls((check_int("cores", cores, 1, MAX_CORES),) * count, **others)

    @property
    def num_workers(self) -> int:
        """Number of workers."""
        return len(self.cores)

    @property
    def cores_array(self) -> NDArray[np.int64]:
        """Cores of each worker as a new array, shape (num_workers,)."""
        return np.array(self.cores, dtype=np.int64)


def _check_cores(values: Any) -> tuple[int, ...]:
    listed = check_list("cores", values, "a sequence of integers, one for each worker")
    cores = tuple(
        check_int(f"cores[{worker}]", number, 1, MAX_CORES) for worker, number in enumerate(listed)
    )
    one_to_many = f"at least 1 and at most {MAX_WORKERS} workers"
    require(1 <= len(cores) <= MAX_WORKERS, "cores", f"{len(cores)} workers", one_to_many)
    return cores
