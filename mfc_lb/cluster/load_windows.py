"""Load moments averaged over windows of time: what a curve of them shows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.cluster.load_moments import LoadMoments
from mfc_lb.errors import as_float_array, require


def window_averages(moments: LoadMoments, edges_us: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Return the averages over time of the load's mean and standard deviation in windows.

    Parameters
    ----------
    moments : LoadMoments
        Of a run.
    edges_us : array_like, shape (W + 1,)
        Where the windows begin and, last, where the last one ends; increasing, from 0 on.

    Returns
    -------
    dict of str to ndarray, shape (W,)
        ``mean`` and ``standard_deviation``. What lies after the end of the run counts as time
        without jobs.

    Raises
    ------
    InvalidInput
        If the edges do not increase, or the first is negative.
    """
    edges = as_float_array("edges_us", edges_us)
    increasing = edges.ndim == 1 and len(edges) > 1 and bool((np.diff(edges) > 0).all())
    require(increasing and edges[0] >= 0, "edges_us", edges_us, "at least two, increasing, >= 0")
    names = ("mean", "standard_deviation")
    return {name: _averages(moments, getattr(moments, name), edges) for name in names}


def _averages(
    moments: LoadMoments, values: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    steps = np.append(moments.time_us, moments.end_us)
    integral = np.append(0.0, np.cumsum(values * np.diff(steps)))
    return np.asarray(np.diff(np.interp(edges, steps, integral)) / np.diff(edges))
