"""Moments of the load over the workers: mean, standard deviation, skewness, excess kurtosis.

The load of worker s is ℓ_s = (jobs in service and waiting)/cores. The moments are computed from
integers x_s = L ℓ_s, L the least common multiple of the cores, and their exact deviations
n x_s − Σ x, so that equal loads are exactly equal; then skewness and kurtosis are NaN. They are the
moments of the workers' distribution itself (division by n), not estimates for a larger population.

With three workers the excess kurtosis is −1.5 whenever it exists, and |skewness| ≤ 1/√2: three
numbers have too little freedom for these moments to say anything beyond the middle one's place.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.cluster.load_over_time import LoadOverTime
from mfc_lb.compiled import njit
from mfc_lb.errors import check_int, check_list, require

if TYPE_CHECKING:
    import pandas as pd

#: The moments, in the order of columns.
MOMENTS = ("mean", "standard_deviation", "skewness", "excess_kurtosis")
#: Bound on the least common multiple of the cores, which keeps the integers within 64 bits.
MAX_MULTIPLE = 2**26


@dataclass(frozen=True, eq=False)
class LoadMoments(ArrayRecord):
    """Moments of the load as step functions of time.

    Attributes
    ----------
    time_us : ndarray of int64, shape (K,)
        Where each step begins; the first is 0, and no two are equal.
    mean, standard_deviation, skewness, excess_kurtosis : ndarray, shape (K,)
        Values from there to the next step, the last one to `end_us`. Skewness and kurtosis are NaN
        where all loads are equal.
    end_us : int
        Where the last step ends.
    """

    time_us: NDArray[np.int64]
    mean: NDArray[np.float64]
    standard_deviation: NDArray[np.float64]
    skewness: NDArray[np.float64]
    excess_kurtosis: NDArray[np.float64]
    end_us: int

    @classmethod
    def of(cls, load: LoadOverTime) -> "LoadMoments":
        """Return the moments of a run.

        Raises
        ------
        InvalidInput
            If the workers' cores have no common multiple up to 2^26.
        """
        scale = _common_multiple(load.cores)
        moves = load.time_us, load.worker, load.change
        starts, moments = _moment_steps(*moves, scale // load.cores, scale)
        mean, deviation, skewness, kurtosis = moments
        return cls(starts, mean, deviation, skewness, kurtosis, load.end_us)

    def time_averages(self, start_us: int = 0, end_us: int | None = None) -> dict[str, float]:
        """Return the average of each moment over time, weighted by how long it lasts.

        Parameters
        ----------
        start_us, end_us : int, optional
            The window; the whole run when omitted.

        Returns
        -------
        dict of str to float
            By moment. An average is over the time in which the moment exists, NaN if it never does.
        """
        lasts = self._lasts(start_us, self.end_us if end_us is None else end_us)
        return {name: _average(getattr(self, name), lasts) for name in MOMENTS}

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with a row for each step."""
        import pandas as pd

        columns: dict[str, Any] = {name: getattr(self, name) for name in MOMENTS}
        return pd.DataFrame({"time_us": self.time_us} | columns, copy=True)

    def _lasts(self, start_us: int, end_us: int) -> NDArray[np.int64]:
        start = check_int("start_us", start_us, 0, self.end_us)
        end = check_int("end_us", end_us, start, self.end_us)
        edges = np.append(self.time_us, self.end_us)
        return np.asarray(np.diff(np.clip(edges, start, end)))


def moments_of(jobs: NDArray[np.int64], cores: NDArray[np.int64]) -> dict[str, float]:
    """Return the moments of the load at one time.

    Parameters
    ----------
    jobs, cores : array_like of int, shape (num_workers,)
        Jobs in service and waiting at each worker, and its cores.

    Returns
    -------
    dict of str to float
        By moment.

    Raises
    ------
    InvalidInput
        If a number of jobs is negative, a worker has no core, or there is no worker.

    Examples
    --------
    >>> moments_of([3, 3, 3], [4, 4, 4])
    {'mean': 0.75, 'standard_deviation': 0.0, 'skewness': nan, 'excess_kurtosis': nan}
    """
    one_each = "one number for each worker"
    listed = check_list("cores", cores, one_each), check_list("jobs", jobs, one_each)
    require(len(listed[0]) == len(listed[1]) > 0, "jobs", len(listed[1]), one_each)
    each = np.array([check_int("cores", number, 1) for number in listed[0]])
    scale = _common_multiple(each)
    most = 2**62 // (scale * len(each) ** 2)  # so that sums and deviations fit into 64 bits
    counts = [check_int("jobs", number, 0) for number in listed[1]]
    require(max(counts) <= most, "jobs", max(counts), f"at most {most} at each of these workers")
    present = np.array(counts, dtype=np.int64)
    return dict(zip(MOMENTS, _moments(present * (scale // each), scale), strict=True))


def _common_multiple(cores: NDArray[np.int64]) -> int:
    different = sorted(set(cores.tolist()))
    scale = math.lcm(*different)
    allowed = f"such that their least common multiple is at most {MAX_MULTIPLE}"
    require(scale <= MAX_MULTIPLE, "cores", different, allowed)
    return scale


def _average(values: NDArray[np.float64], lasts: NDArray[np.int64]) -> float:
    exists = ~np.isnan(values) & (lasts > 0)
    total = int(lasts[exists].sum())
    return float(values[exists] @ lasts[exists]) / total if total else float("nan")


@njit()
def _moment_steps(times: Any, workers: Any, changes: Any, weights: Any, scale: int) -> Any:
    scaled = np.zeros(weights.size, dtype=np.int64)
    starts = np.zeros(times.size + 1, dtype=np.int64)
    moments = np.empty((4, times.size + 1))
    step = 0
    moments[:, 0] = _moments(scaled, scale)
    for move in range(times.size):
        if times[move] > starts[step]:
            step += 1
            starts[step] = times[move]
        scaled[workers[move]] += changes[move] * weights[workers[move]]
        if move + 1 == times.size or times[move + 1] > times[move]:
            moments[:, step] = _moments(scaled, scale)
    return starts[: step + 1], moments[:, : step + 1]


@njit()
def _moments(scaled: Any, scale: int) -> Any:
    """Return the four moments of integers that are `scale` times the loads."""
    count, total = scaled.size, scaled.sum()
    second, third, fourth = 0.0, 0.0, 0.0
    for value in scaled:
        deviation = float(count * value - total)
        square = deviation * deviation
        second += square
        third += square * deviation
        fourth += square * square
    unit = float(count * scale)
    if second == 0.0:
        return total / unit, 0.0, np.nan, np.nan
    variance = second / count
    skewness = third / count / variance**1.5
    return total / unit, math.sqrt(variance) / unit, skewness, fourth / count / variance**2 - 3.0
