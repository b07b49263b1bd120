"""A work trace: which jobs arrive when, and how long each needs a core."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord, read_only
from mfc_lb.errors import InvalidInput, as_int_array, check_int, require
from mfc_lb.files import as_path, write_whole

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a trace and of its file, in this order; times are in microseconds.
COLUMNS = ("job_id", "arrival_time_us", "service_time_us")
#: The last arrival plus all service times must be less than this many microseconds (146 000 years),
#: so that no schedule of the jobs overflows 64 bits.
LONGEST_US = 2**62

Times = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trace(ArrayRecord):
    """Jobs in order of arrival; jobs that arrive at the same instant keep the order given.

    Parameters
    ----------
    job_id : array_like of int, shape (n,)
        Name of each job, >= 0; no two are equal.
    arrival_time_us : array_like of int, shape (n,)
        When each job arrives, in microseconds, >= 0; in any order.
    service_time_us : array_like of int, shape (n,)
        How long each job needs a core, in microseconds, >= 0.

    Raises
    ------
    InvalidInput
        If a value is not a whole number or negative, a job's name is used twice, the lengths
        differ, or all jobs one after the other would take longer than 2^62 microseconds.

    Notes
    -----
    The arrays are int64 and read-only. A trace may be empty.

    Examples
    --------
    >>> trace = Trace.from_arrays([2_000, 0], [500, 700])
    >>> trace.job_id.tolist(), trace.arrival_time_us.tolist()
    ([1, 0], [0, 2000])
    """

    job_id: Times
    arrival_time_us: Times
    service_time_us: Times

    def __post_init__(self) -> None:
        """Check the columns, sort them stably by arrival, and make them read-only."""
        columns = {name: _as_integers(name, getattr(self, name)) for name in COLUMNS}
        lengths = {name: len(column) for name, column in columns.items()}
        require(len(set(lengths.values())) == 1, "trace", lengths, "made of columns of one length")
        for name in COLUMNS:
            _require_not_negative(name, columns[name])
        _require_distinct("job_id", columns["job_id"])
        _require_short(columns["arrival_time_us"], columns["service_time_us"])
        order = np.argsort(columns["arrival_time_us"], kind="stable")
        for name, column in columns.items():
            object.__setattr__(self, name, read_only(column[order]))

    @classmethod
    def from_arrays(
        cls, arrival_time_us: Any, service_time_us: Any, job_id: Any | None = None
    ) -> "Trace":
        """Return the trace of some jobs.

        Parameters
        ----------
        arrival_time_us, service_time_us : array_like of int, shape (n,)
            See `Trace`.
        job_id : array_like of int, shape (n,), optional
            Names of the jobs; without them, a job is called by its position in these arrays.

        Returns
        -------
        Trace
            Sorted by arrival.
        """
        arrivals = _as_integers("arrival_time_us", arrival_time_us)
        names = np.arange(len(arrivals)) if job_id is None else job_id
        return cls(names, arrivals, service_time_us)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.job_id)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """Go through the jobs in order of arrival: name, arrival and service time."""
        return zip(*(column.tolist() for column in self._columns().values()), strict=True)

    def offered_load(self, num_cores: int) -> float:
        """Return the work that arrives per unit of time, divided by the number of cores.

        Parameters
        ----------
        num_cores : int, >= 1
            Cores of the whole cluster.

        Returns
        -------
        float
            Sum of the service times over `num_cores` times the time from the first arrival to the
            last. At 1 and above, the cluster falls behind. NaN if all jobs arrive at one instant.
        """
        cores = check_int("num_cores", num_cores, 1, 2**63 - 1)
        if len(self) == 0 or self.arrival_time_us[-1] == self.arrival_time_us[0]:
            return float("nan")
        duration = int(self.arrival_time_us[-1] - self.arrival_time_us[0])
        return float(self.service_time_us.sum()) / (cores * duration)

    def to_frame(self) -> "pd.DataFrame":
        """Return the trace as a new table with the columns of its file."""
        import pandas as pd

        return pd.DataFrame(self._columns(), copy=True)

    def write_csv(self, path: str | Path) -> None:
        """Write the trace to a CSV file, which appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; compressed if its name ends in ``.gz``. The same trace gives the same bytes.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        file = as_path("path", path)
        content = self.to_frame().to_csv(index=False, lineterminator="\n").encode()
        packed = file.name.lower().endswith(".gz")
        content = gzip.compress(content, compresslevel=6, mtime=0) if packed else content
        write_whole(file, content)

    def _columns(self) -> dict[str, Times]:
        return {name: getattr(self, name) for name in COLUMNS}


def _as_integers(name: str, values: Any) -> Times:
    empty = isinstance(values, (list, tuple)) and not values  # which has no kind
    empty = empty or getattr(values, "shape", None) == (0,)
    allowed = "a one-dimensional array of integers"
    array = as_int_array(name, np.zeros(0, dtype=np.int64) if empty else values, allowed)
    require(array.ndim == 1, name, values, allowed)
    fits = array.size == 0 or int(array.max()) < 2**63
    require(fits, name, values, "integers below 2^63")
    return array.astype(np.int64)


def _require_not_negative(name: str, column: Times) -> None:
    wrong = np.flatnonzero(column < 0)
    if wrong.size:
        field = f"{name}[{wrong[0]}]"
        raise InvalidInput(f"{field} must be an integer >= 0, got {column[wrong[0]]}")


def _require_distinct(name: str, column: Times) -> None:
    in_order = np.sort(column)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    require(twice.size == 0, name, int(twice[0]) if twice.size else None, "different for each job")


def _require_short(arrivals: Times, services: Times) -> None:
    last = float(arrivals.max(initial=0))
    total = last + float(services.sum(dtype=np.float64))
    allowed = "such that the last arrival plus all service times is less than 2^62 microseconds"
    require(total < LONGEST_US, "trace", total, allowed)
