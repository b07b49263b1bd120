"""One queue over one epoch: Poisson arrivals at a constant rate, exponential service, B places.

For a queue that begins the epoch with filling z, exp(Q̄(r)Δt) e_z holds the probabilities of the
fillings at the end and, in its last entry, the expected number of drops. `epoch_by_expm` computes
it as it is written. For fixed Δt, α and B it is an entire function of the arrival rate r alone, so
a Chebyshev series in r, of the degree that `chebyshev_degree` gives, replaces later exponentials.
"""

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

#: Bound on the propagator's error of interpolation, see `chebyshev_degree`.
INTERPOLATION_ERROR = 1e-15


def extended_rate_matrix(
    arrival_rate: ArrayLike, service_rate: float, buffer_size: int
) -> NDArray[np.float64]:
    """Return the extended rate matrix Q̄, in the column convention.

    Parameters
    ----------
    arrival_rate : array_like, shape (...)
        Arrival rate r of the queue.
    service_rate : float
        Service rate α.
    buffer_size : int
        Buffer size B.

    Returns
    -------
    ndarray, shape (..., B+2, B+2)
        Fillings go up with r and down with α; the last row collects r from filling B, so that the
        last entry of exp(Q̄Δt) e_z is the expected number of drops.
    """
    rate = np.asarray(arrival_rate, dtype=np.float64)
    matrix = np.zeros((*rate.shape, buffer_size + 2, buffer_size + 2))
    low = np.arange(buffer_size)
    matrix[..., low + 1, low] = rate[..., None]
    matrix[..., low, low] -= rate[..., None]
    matrix[..., low, low + 1] = service_rate
    matrix[..., low + 1, low + 1] -= service_rate
    matrix[..., buffer_size + 1, buffer_size] = rate
    return matrix


def epoch_by_expm(
    arrival_rate: ArrayLike, service_rate: float, buffer_size: int, delta_t: float
) -> NDArray[np.float64]:
    """Return exp(Q̄Δt), the readable reference for one epoch of one queue.

    Parameters
    ----------
    arrival_rate : array_like, shape (...)
        Arrival rate r.
    service_rate : float
        Service rate α.
    buffer_size : int
        Buffer size B.
    delta_t : float
        Length of the epoch.

    Returns
    -------
    ndarray, shape (..., B+2, B+2)
        Column z belongs to a queue that begins with filling z.
    """
    matrix = extended_rate_matrix(arrival_rate, service_rate, buffer_size)
    return np.asarray(scipy.linalg.expm(matrix * delta_t))


def chebyshev_degree(mean_arrivals: float, error: float = INTERPOLATION_ERROR) -> int:
    """Return a degree that interpolates an epoch on [0, r_max] within `error`.

    Parameters
    ----------
    mean_arrivals : float, >= 0
        r_max Δt.
    error : float, > 0
        Bound on the error of each probability; for the drops, relative to max(1, r_max Δt).

    Returns
    -------
    int
        Degree n of the Chebyshev interpolant.

    Notes
    -----
    On the Bernstein ellipse with parameter ρ around [0, r_max], with a = (ρ + 1/ρ)/2, the
    logarithmic 1-norm of Q̄(r) without its last row is at most |r| − Re r, whose maximum is attained
    at the left end: r_max (a − 1). Hence a probability is at most M = exp(r_max Δt (a − 1)) there,
    the drops at most r_max Δt M (a + 1)/2, and the interpolant of degree n errs by at most
    4 M ρ^(−n)/(ρ − 1): coefficients decay like 2 M ρ^(−k) (Trefethen, Approximation Theory and
    Approximation Practice, theorem 8.1), and at Chebyshev points of either kind the discarded ones
    are aliased onto the others. The bound holds for every ρ > 1; the best is found numerically.
    """

    def degree(log_excess: float) -> float:
        rho = 1.0 + np.exp(log_excess)
        mean = (rho + 1.0 / rho) / 2.0
        growth = mean_arrivals * (mean - 1.0) + np.log((mean + 1.0) / 2.0)
        return float((growth + np.log(4.0 / ((rho - 1.0) * error))) / np.log(rho))

    best = scipy.optimize.minimize_scalar(degree, bounds=(-8.0, 8.0), method="bounded")
    return int(np.ceil(best.fun))
