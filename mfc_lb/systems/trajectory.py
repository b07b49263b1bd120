"""What a simulated path consists of."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import ArrayRecord, read_only
from mfc_lb.errors import as_int_array, require
from mfc_lb.model import SystemParameters


@dataclass(frozen=True, eq=False)
class Trajectory(ArrayRecord):
    """Distributions and drops along one path, or a batch of paths, of E epochs.

    Attributes
    ----------
    distributions : ndarray, shape (..., E+1, S)
        Distribution of the queues over their states at the beginning of each epoch and at the end.
    drops : ndarray, shape (..., E)
        Drops per queue in each epoch; expected ones in the mean-field system.
    arrivals, departures : ndarray, shape (..., E), or None
        Packets per queue that came (drops included) and that were served; None in the mean field.
    """

    distributions: NDArray[np.float64]
    drops: NDArray[np.float64]
    arrivals: NDArray[np.float64] | None = None
    departures: NDArray[np.float64] | None = None

    @property
    def total_drops(self) -> NDArray[np.float64]:
        """Cumulative drops per queue of each path, shape (...)."""
        return np.asarray(self.drops.sum(axis=-1))


def check_levels(
    levels: Any, parameters: SystemParameters, axes: int | None = None
) -> NDArray[np.int64]:
    """Return paths of arrival levels as an array, with so many axes, or refuse what is none."""
    num_levels = parameters.arrivals.num_levels
    allowed = f"paths of integers from 0 to {num_levels - 1}"
    paths = as_int_array("levels", levels, allowed)
    known = paths.ndim > 0 and bool(((paths >= 0) & (paths < num_levels)).all())
    require(known, "levels", levels, allowed)
    require(axes in (None, paths.ndim), "levels shape", paths.shape, f"one of {axes} axes")
    return read_only(paths)
