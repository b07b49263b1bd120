"""Load moments averaged over windows of time: what a curve of them shows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.cluster.load_moments import MOMENTS, LoadMoments
from mfc_lb.errors import as_float_array, require


def window_averages(moments: LoadMoments, edges_us: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Return the averages over time of the load's moments in windows.

    Parameters
    ----------
    moments : LoadMoments
        Of a run.
    edges_us : array_like, shape (W + 1,)
        Where the windows begin and, last, where the last one ends; increasing, from 0 on.

    Returns
    -------
    dict of str to ndarray, shape (W,)
        By moment. What lies after the end of the run counts as time without jobs. An average is
        over the time in which the moment exists, NaN where it never does.

    Raises
    ------
    InvalidInput
        If the edges do not increase, or the first is negative.
    """
    edges = as_float_array("edges_us", edges_us)
    increasing = edges.ndim == 1 and len(edges) > 1 and bool((np.diff(edges) > 0).all())
    allowed = "at least two, increasing, >= 0, finite"
    require(increasing and edges[0] >= 0 and edges[-1] < np.inf, "edges_us", edges_us, allowed)
    return {name: _averages(moments, name, edges) for name in MOMENTS}


def _averages(moments: LoadMoments, name: str, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    steps, values = np.append(moments.time_us, moments.end_us), getattr(moments, name)
    exists = ~np.isnan(values)
    integral = _integral(steps, np.where(exists, values, 0.0), edges)
    # Where there are no jobs, mean and standard deviation are 0, and the others do not exist.
    always = name in ("mean", "standard_deviation")
    lasts = np.diff(edges) if always else _integral(steps, exists.astype(np.float64), edges)
    return np.divide(integral, lasts, out=np.full_like(lasts, np.nan), where=lasts > 0)


def _integral(
    steps: NDArray[np.int64], values: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    until = np.append(0.0, np.cumsum(values * np.diff(steps)))
    return np.asarray(np.diff(np.interp(edges, steps, until)))
