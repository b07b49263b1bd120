"""What happens to jobs and workers, as columns; no protobuf is needed for this."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord

if TYPE_CHECKING:
    import pandas as pd

    from mfc_lb.cluster.parameters import ClusterParameters


class EventKind(IntEnum):
    """Kinds of events, numbered as in ``messages.proto``.

    `ARRIVED` at the balancer; `ASSIGNED` to a worker; `STARTED` and `FINISHED` service there;
    `DROPPED` by a worker that was full; `RETURNED` to the balancer from a worker that was lost;
    `WORKER_LOST` and `WORKER_BACK` concern a worker only. The last three happen in live clusters.
    """

    ARRIVED = 1
    ASSIGNED = 2
    STARTED = 3
    FINISHED = 4
    DROPPED = 5
    RETURNED = 6
    WORKER_LOST = 7
    WORKER_BACK = 8

    @property
    def has_job(self) -> bool:
        """Whether such an event names a job."""
        return self < EventKind.WORKER_LOST

    @property
    def has_worker(self) -> bool:
        """Whether such an event names a worker."""
        return self != EventKind.ARRIVED


#: Stands in a column where an event has no such field; tables show it as missing.
ABSENT = -1


class Events(NamedTuple):
    """Columns of events, in the order in which they happened.

    Attributes
    ----------
    kind : ndarray of uint8, shape (E,)
        `EventKind`.
    time_us : ndarray of int64, shape (E,)
        When, in microseconds.
    job_id : ndarray of int64, shape (E,)
        Name of the job; meaningful where the kind has one.
    worker : ndarray of int32, shape (E,)
        Index of the worker; `ABSENT` where the kind has none.
    service_time_us : ndarray of int64, shape (E,)
        Service time of a job that arrives; `ABSENT` in every other event.
    """

    kind: NDArray[np.uint8]
    time_us: NDArray[np.int64]
    job_id: NDArray[np.int64]
    worker: NDArray[np.int32]
    service_time_us: NDArray[np.int64]


@dataclass(frozen=True)
class LogHeader:
    """What a log says of its cluster before the first event.

    Attributes
    ----------
    source : {"simulation", "live"}
        Where the events come from.
    balancer : str
        The balancer, in words.
    seed : int
        Of the balancer's streams.
    cluster : ClusterParameters
        Workers, capacity and refresh interval.
    horizon_us : int or None
        When the run was stopped; None if it went on until every job had ended.
    """

    source: str
    balancer: str
    seed: int
    cluster: "ClusterParameters"
    horizon_us: int | None = None


@dataclass(frozen=True, eq=False)
class EventLog(ArrayRecord):
    """Every action of a run; its columns are read-only. Two are equal if all of it is.

    Attributes
    ----------
    header : LogHeader
        The cluster.
    events : Events
        What happened, in order.
    end_us : int
        When the run ended: at its horizon, or with its last event.
    """

    header: LogHeader
    events: Events
    end_us: int

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.events.kind)

    def to_frame(self) -> "pd.DataFrame":
        """Return a table: kind, time_us, job_id, worker, service_time_us; absent is missing."""
        import pandas as pd

        kind, time, job, worker, service = self.events
        return pd.DataFrame(
            {
                "kind": pd.Categorical.from_codes(kind.astype(np.int8) - 1, pd.Index(_NAMES)),
                "time_us": time,
                "job_id": missing_where(job, kind >= EventKind.WORKER_LOST),
                "worker": missing_where(worker.astype(np.int64), worker == ABSENT),
                "service_time_us": missing_where(service, service == ABSENT),
            }
        )


def missing_where(values: NDArray[np.int64], absent: NDArray[np.bool_]) -> "pd.arrays.IntegerArray":
    """Return a column of a table whose absent values are missing, never a number."""
    import pandas as pd

    return pd.arrays.IntegerArray(np.where(absent, 0, values), absent)


_NAMES = [kind.name.lower() for kind in EventKind]
