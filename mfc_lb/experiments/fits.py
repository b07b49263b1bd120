"""Rates of convergence: power laws fitted to estimates."""

from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import curve_fit

from mfc_lb.errors import as_float_array, require


@dataclass(frozen=True)
class PowerLaw:
    """The law y = factor · x^exponent, fitted to estimates of y.

    Attributes
    ----------
    exponent, factor : float
        Of the law.
    standard_error : float
        Of the exponent.
    interval : tuple of float
        95 % interval of the exponent.
    num_points : int
        Number of estimates behind the fit.
    """

    exponent: float
    factor: float
    standard_error: float
    interval: tuple[float, float]
    num_points: int

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return y for each x."""
        return np.asarray(self.factor * np.asarray(x, dtype=np.float64) ** self.exponent)


def fit_power_law(x: ArrayLike, y: ArrayLike, standard_error: ArrayLike) -> PowerLaw:
    """Fit a power law by weighted least squares.

    Parameters
    ----------
    x : array_like, shape (n,), > 0
        Places; at least three.
    y : array_like, shape (n,)
        Estimates of one sign, except where they are within their errors of zero.
    standard_error : array_like, shape (n,), > 0
        Standard errors of the estimates.

    Returns
    -------
    PowerLaw
        The starting point is the straight line through the logarithms of the estimates that differ
        from zero by two standard errors. The law itself is fitted to the estimates, not to their
        logarithms, so that noisy estimates need not be left out, which would bias the exponent.
        Where the points scatter more than their errors explain, the interval is widened.

    Raises
    ------
    InvalidInput
        If there are fewer than three points, or fewer than two that differ from zero.
    """
    places, values, errors = (
        as_float_array(name, array)
        for name, array in (("x", x), ("y", y), ("standard_error", standard_error))
    )
    require(places.size >= 3, "x", places.size, "at least 3 places; their number")
    require(bool((errors > 0).all()), "standard_error", errors.min(), "positive")
    sign = np.sign((values / errors).sum())
    start = _line_through_logarithms(places, sign * values, errors)

    def law(x: NDArray[np.float64], exponent: float, log_factor: float) -> NDArray[np.float64]:
        return np.asarray(np.exp(log_factor + exponent * np.log(x)))

    best, covariance = curve_fit(
        law, places, sign * values, p0=start, sigma=errors, absolute_sigma=True, method="trf"
    )
    freedom = places.size - 2
    misfit = (((sign * values - law(places, *best)) / errors) ** 2).sum() / freedom
    error = float(np.sqrt(covariance[0, 0] * max(1.0, misfit)))
    width = float(scipy.stats.t.ppf(0.975, freedom)) * error
    exponent, factor = float(best[0]), float(sign * np.exp(best[1]))
    return PowerLaw(exponent, factor, error, (exponent - width, exponent + width), places.size)


def _line_through_logarithms(
    x: NDArray[np.float64], y: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[float, float]:
    clear = y > 2.0 * errors
    require(int(clear.sum()) >= 2, "y", int(clear.sum()), "clearly non-zero twice; how often it is")
    weights = y[clear] / errors[clear]
    slope, intercept = np.polyfit(np.log(x[clear]), np.log(y[clear]), 1, w=weights)
    return float(slope), float(intercept)
