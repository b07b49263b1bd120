"""The mean-field step as it is usually written: one matrix exponential for each state.

Written for d = 2 and one class of servers, as in the paper.
"""

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]


def step(
    nu: Array, arrival_rate: float, rule: Array, service_rate: float, delta_t: float
) -> tuple[Array, float]:
    """Advance one distribution by one epoch.

    Parameters
    ----------
    nu : ndarray, shape (B+1,)
        Distribution over fillings.
    arrival_rate : float
        Arrival rate λ per queue.
    rule : ndarray, shape (B+1, B+1, 2)
        Decision rule h.
    service_rate : float
        Service rate α.
    delta_t : float
        Length of the epoch.

    Returns
    -------
    tuple
        The distribution at the end and the expected drops.
    """
    return propagate(
        nu, rate_matrices(arrival_rates(nu, arrival_rate, rule), service_rate), delta_t
    )


def arrival_rates(nu: Array, arrival_rate: float, rule: Array) -> Array:
    """Return the arrival rate of a queue in each state, shape (B+1,)."""
    return arrival_rate * (rule[:, :, 0] @ nu + nu @ rule[:, :, 1])


def rate_matrices(rates: Array, service_rate: float) -> Array:
    """Return the extended rate matrix for each state, shape (B+1, B+2, B+2), column convention."""
    num_fillings = len(rates)
    matrices = np.zeros((num_fillings, num_fillings + 1, num_fillings + 1))
    low = np.arange(num_fillings - 1)
    matrices[:, low + 1, low] = rates[:, None]
    matrices[:, low, low] -= rates[:, None]
    matrices[:, low, low + 1] = service_rate
    matrices[:, low + 1, low + 1] -= service_rate
    matrices[:, num_fillings, num_fillings - 1] = rates
    return matrices


def propagate(nu: Array, matrices: Array, delta_t: float) -> tuple[Array, float]:
    """Return the distribution at the end of the epoch and the expected drops."""
    ends = np.zeros(len(nu) + 1)
    for filling, matrix in enumerate(matrices):
        ends += nu[filling] * scipy.linalg.expm(matrix * delta_t)[:, filling]
    return ends[:-1], float(ends[-1])
