"""One queue over one epoch: Poisson arrivals at a constant rate, exponential service, B places.

For a queue that begins the epoch with filling z, exp(Q̄(r)Δt) e_z holds the probabilities of the
fillings at the end and, in its last entry, the expected number of drops. `epoch_by_expm` computes
it as it is written. For fixed Δt, α and B it is an entire function of the arrival rate r alone, so
a Chebyshev series in r, of the degree that `chebyshev_degree` gives, replaces later exponentials.
"""

import math
from typing import Any

import numpy as np
import scipy
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import as_float_array, check_int, check_real, require

#: Bound on the propagator's error of interpolation, see `chebyshev_degree`.
INTERPOLATION_ERROR = 1e-15
#: Largest number of entries of all matrices together.
MAX_ENTRIES = 2**27
#: Bound on the expected number of events of a queue, for which exponentials are computed.
MAX_MEAN = 1e12
#: Two methods of computing an epoch may differ by this much.
AGREEMENT = 1e-10


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
    rate = as_float_array("arrival_rate", arrival_rate)
    valid = bool(((rate >= 0) & (rate < np.inf)).all())
    require(valid, "arrival_rate", arrival_rate, "finite and >= 0")
    service_rate = check_real("service_rate", service_rate)
    buffer_size = check_int("buffer_size", buffer_size, 1)
    entries = rate.size * (buffer_size + 2) ** 2
    allowed = f"such that all matrices have at most {MAX_ENTRIES} entries"
    require(entries <= MAX_ENTRIES, "buffer_size", buffer_size, allowed)
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
    time = check_real("delta_t", delta_t)
    events = float(np.max(arrival_rate, initial=0.0) + service_rate) * time
    allowed = f"so short that fewer than {MAX_MEAN:g} events are expected"
    require(events < MAX_MEAN, "delta_t", delta_t, allowed)
    return np.asarray(scipy.linalg.expm(matrix * time))


def epoch_by_uniformisation(
    arrival_rate: ArrayLike, service_rate: float, buffer_size: int, delta_t: float
) -> NDArray[np.float64]:
    """Return exp(Q̄Δt) by a second method, which shares nothing with `epoch_by_expm` but Q̄.

    Parameters and result as for `epoch_by_expm`.

    Notes
    -----
    Over a time h in which Λ = r_max + α brings at most one event on average, exp(Q̄h) is the mixture
    Σ_k e^(−Λh) (Λh)^k / k! (I + Q̄/Λ)^k of matrices without negative entries. Δt is 2^n such times.
    """
    matrix = extended_rate_matrix(arrival_rate, service_rate, buffer_size)
    events = float(np.max(arrival_rate) + service_rate) * delta_t
    doublings = max(0, math.ceil(math.log2(events)))
    mean = events / 2.0**doublings
    jumps = np.eye(buffer_size + 2) + matrix * (delta_t / events)
    term = math.exp(-mean) * np.broadcast_to(np.eye(buffer_size + 2), matrix.shape)
    total = term
    for order in range(1, 25):  # 1/25! is below rounding
        term = (mean / order) * term @ jumps
        total = total + term
    for _ in range(doublings):
        total = total @ total
    return np.asarray(total)


def require_agreement(
    epochs: NDArray[np.floating[Any]],
    arrival_rate: ArrayLike,
    service_rate: float,
    buffer_size: int,
    delta_t: float,
) -> None:
    """Stop if epochs, computed somehow, are not those of `epoch_by_uniformisation`.

    Parameters
    ----------
    epochs : ndarray, shape (..., B+2, B+1) or (..., B+2, B+2)
        Columns of exp(Q̄Δt), of queues that begin with 0, ..., B packets.
    arrival_rate, service_rate, buffer_size, delta_t
        Of `epoch_by_uniformisation`.

    Raises
    ------
    ArithmeticError
        If a probability, or the drops relative to max(1, rΔt), differs by more than rounding does.
    """
    second = epoch_by_uniformisation(arrival_rate, service_rate, buffer_size, delta_t)
    scale = np.ones((*np.shape(arrival_rate), buffer_size + 2, 1))
    scale[..., -1, 0] = np.maximum(1.0, np.asarray(arrival_rate) * delta_t)
    misses = np.abs(epochs[..., : buffer_size + 1] - second[..., : buffer_size + 1]) / scale
    # Rounding errors grow as often as the second method squares.
    allowed = AGREEMENT + 1e-14 * float(np.max(arrival_rate) + service_rate) * delta_t
    if not misses.max() < allowed:  # NaN does not agree, either
        raise ArithmeticError(
            f"exp(Q Δt) by SciPy {scipy.__version__} differs by {misses.max():.1e} from that by "
            "uniformisation: this version of SciPy cannot be used"
        )


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
