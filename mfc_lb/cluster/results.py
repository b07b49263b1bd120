"""What a simulation gives: the job table, the event log and the load over time."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.cluster import kernel
from mfc_lb.cluster.events import EventLog, missing_where
from mfc_lb.cluster.load_moments import LoadMoments
from mfc_lb.cluster.load_over_time import LoadOverTime
from mfc_lb.cluster.traces import Trace

if TYPE_CHECKING:
    import pandas as pd

#: Names of the final states, in the order of the kernel's numbers.
FINAL_STATES = ("not arrived", "waiting", "running", "finished", "dropped")
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Summary:
    """A run in a few numbers; times are in microseconds.

    Attributes
    ----------
    finished, dropped, unfinished : int
        Jobs by how they ended; unfinished ones arrived before the horizon.
    response_mean, response_p50, response_p95, response_p99 : float
        Of the response times of the finished jobs; NaN if there are none.
    waiting_mean : float
        Mean waiting time of the finished jobs.
    load_mean, load_standard_deviation : float
        Averages, from the first arrival to the end, of the mean of the loads and of their standard
        deviation.
    """

    finished: int
    dropped: int
    unfinished: int
    response_mean: float
    response_p50: float
    response_p95: float
    response_p99: float
    waiting_mean: float
    load_mean: float
    load_standard_deviation: float


@dataclass(frozen=True, eq=False)
class SimulationResult(ArrayRecord):
    """Outcome of `simulate_cluster`; job columns are in the order of the trace.

    Attributes
    ----------
    trace : Trace
        The jobs.
    log : EventLog
        Every action.
    worker, start_time_us, finish_time_us : ndarray of int64, shape (n,)
        Where and when each job was served; -1 where that did not happen. `to_frame` shows this as
        missing.
    state : ndarray of int64, shape (n,)
        Index into `FINAL_STATES`.
    """

    trace: Trace
    log: EventLog
    worker: NDArray[np.int64]
    start_time_us: NDArray[np.int64]
    finish_time_us: NDArray[np.int64]
    state: NDArray[np.int64]

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which jobs finished, shape (n,)."""
        return np.asarray(self.state == kernel.FINISHED)

    @property
    def num_dropped(self) -> int:
        """Number of jobs that were dropped."""
        return int(np.count_nonzero(self.state == kernel.DROPPED))

    @property
    def response_times_us(self) -> NDArray[np.int64]:
        """Finish minus arrival of the jobs that finished, in the order of the trace."""
        done = self.finished
        return self.finish_time_us[done] - self.trace.arrival_time_us[done]

    @property
    def waiting_times_us(self) -> NDArray[np.int64]:
        """Start minus arrival of the jobs that finished, in the order of the trace."""
        done = self.finished
        return self.start_time_us[done] - self.trace.arrival_time_us[done]

    @cached_property
    def load(self) -> LoadOverTime:
        """Jobs at each worker over time."""
        return LoadOverTime.of(self.log)

    @cached_property
    def load_moments(self) -> LoadMoments:
        """Moments of the load over time."""
        return LoadMoments.of(self.load)

    def to_frame(self) -> "pd.DataFrame":
        """Return the job table, one row for each job of the trace.

        Returns
        -------
        DataFrame
            Columns job_id, worker, arrival_time_us, start_time_us, finish_time_us, waiting_time_us,
            response_time_us, final_state. What did not happen until the horizon is missing.
        """
        import pandas as pd

        arrival, start, finish = self.trace.arrival_time_us, self.start_time_us, self.finish_time_us
        unstarted, unfinished = start == kernel.NONE, finish == kernel.NONE
        return pd.DataFrame(
            {
                "job_id": self.trace.job_id,
                "worker": missing_where(self.worker, self.worker == kernel.NONE),
                "arrival_time_us": arrival,
                "start_time_us": missing_where(start, unstarted),
                "finish_time_us": missing_where(finish, unfinished),
                "waiting_time_us": missing_where(start - arrival, unstarted),
                "response_time_us": missing_where(finish - arrival, unfinished),
                "final_state": pd.Categorical.from_codes(self.state, pd.Index(FINAL_STATES)),
            }
        )

    def summary(self) -> Summary:
        """Return the run in a few numbers."""
        response, counts = self.response_times_us, np.bincount(self.state, minlength=5)
        some = response.size > 0
        quantiles = np.quantile(response, list(_QUANTILES.values())) if some else [np.nan] * 3
        average = self.load_moments.time_averages(self._first_us())
        return Summary(
            finished=int(counts[kernel.FINISHED]),
            dropped=int(counts[kernel.DROPPED]),
            unfinished=int(counts[kernel.WAITING] + counts[kernel.RUNNING]),
            response_mean=float(response.mean()) if some else np.nan,
            **{f"response_{name}": float(q) for name, q in zip(_QUANTILES, quantiles, strict=True)},
            waiting_mean=float(self.waiting_times_us.mean()) if some else np.nan,
            load_mean=average["mean"],
            load_standard_deviation=average["standard_deviation"],
        )

    def _first_us(self) -> int:
        """Return when the first job arrives, at the latest the end of the run."""
        arrivals = self.trace.arrival_time_us
        return min(int(arrivals[0]), self.log.end_us) if len(arrivals) else 0
