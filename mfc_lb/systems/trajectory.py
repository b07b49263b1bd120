"""What a simulated path consists of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Trajectory:
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
