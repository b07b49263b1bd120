"""The spectral propagator: an epoch of every queue as a Chebyshev series in its arrival rate."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mfc_lb.arrays import as_rows, read_only
from mfc_lb.compiled import njit
from mfc_lb.errors import require
from mfc_lb.model.parameters import MAX_EVENTS, SystemParameters
from mfc_lb.systems.queue import chebyshev_degree, epoch_by_expm, require_agreement

# Distributions that are advanced side by side, so that a core's vector unit works on all of them;
# the arrays of one block fit into its first cache.
BLOCK = 32
# Powers of two beyond it are no floats.
LARGEST_OCTAVE = 1023
#: Rates up to this are as good as none: what divides by them would overflow.
TINY_RATE = 1e-200
#: Largest number of coefficients of a series.
MAX_COEFFICIENTS = 2**26


class EpochPropagator:
    """All queues of a system over one epoch, as Chebyshev series in the arrival rate.

    Parameters
    ----------
    parameters : SystemParameters
        Gives B, the service rates, Δt and the largest rate d·λ_max of the parameters' own levels.

    Notes
    -----
    A series covers the rates from 0 to d·λ_max·2^k. Each distribution uses the smallest k that
    covers its own rates: any arrival rate is served, small rates are served with small absolute
    errors, and a result never depends on what else is in the batch. A series is computed when it is
    first needed.
    """

    def __init__(self, parameters: SystemParameters) -> None:
        self._parameters = parameters
        largest = parameters.num_choices * max(parameters.arrivals.rates)
        # The rates of a rule may exceed d·λ_max by rounding.
        self._base_range = largest * (1 + 1e-9) if largest > TINY_RATE else 1.0
        self._series: dict[int, _Series] = {}

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Chebyshev coefficients on [0, d·λ_max], shape (degree+1, S, B+2).

        The last entry of a state belongs to its expected time at filling B: drops over rate.
        """
        return read_only(self._octave(0).values)

    def push_forward(
        self, nu: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Advance distributions by one epoch, given the arrival rate in each state.

        Parameters
        ----------
        nu : ndarray, shape (..., S)
            Distributions over queue states.
        rates : ndarray, shape (..., S), >= 0
            Arrival rate of a queue that begins the epoch in each state.

        Returns
        -------
        nu_next : ndarray, shape (..., S)
            Distributions at the end of the epoch.
        drops : ndarray, shape (...)
            Expected drops per queue.
        """
        flat_nu, flat_rates = as_rows(nu), as_rows(rates)
        octaves, alike = _octaves(flat_rates, self._base_range)
        if alike:  # most often; a single distribution is not to wait for the bookkeeping of many
            nu_next, drops = self._push(int(octaves[0]), flat_nu, flat_rates)
        else:
            nu_next, drops = np.empty_like(flat_nu), np.empty(len(flat_nu))
            for octave in np.unique(octaves):
                rows = octaves == octave
                pushed = self._push(int(octave), flat_nu[rows], flat_rates[rows])
                nu_next[rows], drops[rows] = pushed
        return nu_next.reshape(nu.shape), drops.reshape(nu.shape[:-1])

    def _push(
        self, octave: int, nu: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        series = self._octave(octave)
        nu_next, drops, lowest = _push_forward(nu, rates, series.scale, series.values)
        # Interpolation errs by 1e-15, also where the exact probability is smaller than that.
        assert lowest > -1e-12, f"negative probability {lowest} after an epoch"
        return nu_next, drops

    def pull_back(
        self,
        nu: NDArray[np.float64],
        rates: NDArray[np.float64],
        nu_cotangent: NDArray[np.float64],
        drops_cotangent: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradients with respect to `nu` and `rates`: the adjoint of `push_forward`.

        Parameters
        ----------
        nu, rates : ndarray, shape (..., S)
            The arguments of `push_forward`.
        nu_cotangent : ndarray, shape (..., S)
            Gradient of a scalar with respect to `nu_next`.
        drops_cotangent : ndarray, shape (...)
            Gradient of the scalar with respect to `drops`.

        Returns
        -------
        tuple of ndarray, shape (..., S)
            Gradients of the scalar with respect to `nu` and to `rates`.
        """
        flat_rates, cotangents = as_rows(rates), as_rows(nu_cotangent)
        per_slope = np.broadcast_to(np.asarray(drops_cotangent)[..., None], rates.shape)
        flat_slope, flat_drops = as_rows(per_slope), as_rows(per_slope * rates)
        per_nu, per_rate = np.empty_like(flat_rates), np.empty_like(flat_rates)
        octaves, _ = _octaves(flat_rates, self._base_range)
        for octave in np.unique(octaves):
            series, rows = self._octave(int(octave)), octaves == octave
            given = (flat_rates[rows], series.scale, cotangents[rows])
            per_nu[rows] = _pull_back(*given, flat_drops[rows], series.values)
            per_rate[rows] = _pull_back(*given, flat_slope[rows], series.slopes)
        return per_nu.reshape(nu.shape), nu * per_rate.reshape(nu.shape)

    def _octave(self, octave: int) -> "_Series":
        if octave not in self._series:
            upper = self._base_range * 2.0 ** min(octave, LARGEST_OCTAVE)
            # The matrices are small and many: the threads of BLAS would only wait for each other.
            with threadpool_limits(1, user_api="blas"):
                series = _interpolate(self._parameters, upper)
                _compare(series, self._parameters)
            self._series[octave] = series
        return self._series[octave]


@dataclass(frozen=True)
class _Series:
    """Coefficients, shape (degree+1, S, B+2), of an epoch and of its derivative in the rate.

    The last entry of `values` is the expected time at filling B, which times the rate gives the
    drops, so that these are exactly zero without arrivals; that of `slopes` belongs to the drops.
    """

    scale: float
    values: NDArray[np.float64]
    slopes: NDArray[np.float64]


def _interpolate(parameters: SystemParameters, upper: float) -> _Series:
    """Interpolate an epoch on the rates [0, upper] at the Chebyshev points of the first kind."""
    p = parameters
    # Written so that a number of nodes is not asked for where it would overflow.
    few = upper * p.delta_t < MAX_EVENTS
    num_nodes = chebyshev_degree(upper * p.delta_t) + 1 if few else MAX_COEFFICIENTS
    entries = num_nodes * p.num_states * (p.buffer_size + 2)
    small = entries <= MAX_COEFFICIENTS
    require(
        small, "delta_t", p.delta_t, f"shorter at arrival rates up to {upper:g} and this buffer"
    )
    angles = np.pi * (np.arange(num_nodes) + 0.5) / num_nodes
    nodes = upper * (1.0 + np.cos(angles)) / 2.0
    by_class = [epoch_by_expm(nodes, a, p.buffer_size, p.delta_t) for a in p.service_rates]
    columns = np.concatenate([epochs[..., :-1] for epochs in by_class], axis=-1)
    epochs = np.swapaxes(columns, 1, 2)
    slopes = np.polynomial.chebyshev.chebder(_transform(epochs), scl=2.0 / upper, axis=0)
    epochs[..., -1] /= nodes[:, None]
    return _Series(2.0 / upper, _transform(epochs), np.ascontiguousarray(slopes))


def _compare(series: _Series, parameters: SystemParameters) -> None:
    """Compare a series with a second method, once, at three of its rates.

    They lie between the nodes, where the polynomial feels what is wrong at any of these.
    """
    p, num_terms = parameters, len(series.values)
    quarters = np.array([num_terms // 4, num_terms // 2, 3 * num_terms // 4])
    points = np.cos(np.pi * quarters / num_terms)
    rates = (points + 1.0) / series.scale
    epochs = np.polynomial.chebyshev.chebval(points, series.values)
    epochs[:, -1] *= rates
    for rate, of_class in zip(p.service_rates, np.split(epochs, p.num_classes), strict=True):
        require_agreement(of_class.T, rates, rate, p.buffer_size, p.delta_t)


def _transform(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Chebyshev coefficients from the values at the nodes, along the first axis."""
    terms = scipy.fft.dct(values, type=2, axis=0) / len(values)
    terms[0] /= 2.0
    return np.ascontiguousarray(terms)


@njit()
def _octaves(rates: Any, base_range: float) -> tuple[Any, bool]:
    """Return the smallest k >= -30 with max(rates) <= base_range·2^k, per row; and if all agree."""
    octaves, alike = np.empty(len(rates), dtype=np.int64), len(rates) > 0
    for row in range(len(rates)):
        largest = 0.0
        for rate in rates[row]:
            largest = max(largest, rate)
        octave = 0
        while largest > base_range * 2.0**octave:
            octave += 1
        while octave > -30 and largest <= base_range * 2.0 ** (octave - 1):
            octave -= 1
        octaves[row] = octave
        alike = alike and octave == octaves[0]
    return octaves, alike


@njit()
def _push_forward(nu: Any, rates: Any, scale: float, series: Any) -> Any:
    """Return ν', the drops, and the lowest probability before it is raised to zero."""
    num_rows, num_states = nu.shape
    nu_next, drops, lowest = np.empty((num_rows, num_states)), np.empty(num_rows), 0.0
    size = min(BLOCK, num_rows)
    rate, argument, present, following, ends = np.empty((5, num_states, size))
    lost = np.empty(size)
    for first in range(0, num_rows, size):
        lanes = min(size, num_rows - first)
        for state in range(num_states):
            for lane in range(lanes):
                rate[state, lane] = rates[first + lane, state]
                argument[state, lane] = scale * rate[state, lane] - 1.0
                # The recurrence is linear, so it may carry the weight ν(s) from the start.
                present[state, lane] = nu[first + lane, state]
                following[state, lane] = present[state, lane] * argument[state, lane]
                ends[state, lane] = 0.0
        lost[:] = 0.0
        for term in range(len(series)):
            _add_term(ends, lost, series[term], present, rate, lanes)
            _recur(argument, present, following, lanes)
        for lane in range(lanes):
            drops[first + lane] = max(lost[lane], 0.0)
            for state in range(num_states):
                lowest = min(lowest, ends[state, lane])
                nu_next[first + lane, state] = max(ends[state, lane], 0.0)
    return nu_next, drops, lowest


@njit(inline="always")
def _add_term(ends: Any, lost: Any, coefficients: Any, weights: Any, rate: Any, lanes: int) -> None:
    num_fillings = coefficients.shape[1] - 1
    for state in range(ends.shape[0]):
        first = state - state % num_fillings
        if lanes == 1:  # the same sums without the cost of loops over one lane
            weight = weights[state, 0]
            for entry in range(num_fillings):
                ends[first + entry, 0] += coefficients[state, entry] * weight
            lost[0] += coefficients[state, num_fillings] * rate[state, 0] * weight
            continue
        for entry in range(num_fillings):
            coefficient = coefficients[state, entry]
            for lane in range(lanes):
                ends[first + entry, lane] += coefficient * weights[state, lane]
        coefficient = coefficients[state, num_fillings]
        for lane in range(lanes):
            lost[lane] += coefficient * rate[state, lane] * weights[state, lane]


@njit(inline="always")
def _recur(argument: Any, present: Any, following: Any, lanes: int) -> None:
    """Replace T_j, T_{j+1} by T_{j+1}, T_{j+2} = 2x T_{j+1} − T_j."""
    for state in range(argument.shape[0]):
        for lane in range(lanes):
            later = 2.0 * argument[state, lane] * following[state, lane] - present[state, lane]
            present[state, lane] = following[state, lane]
            following[state, lane] = later


@njit()
def _pull_back(
    rates: Any, scale: float, nu_cotangent: Any, drops_cotangent: Any, series: Any
) -> Any:
    """Return Σ_entry cotangent[entry] Σ_j T_j(x_s) series[j, s, entry], shape (n, S)."""
    num_rows, num_states = rates.shape
    gradients = np.empty((num_rows, num_states))
    size = min(BLOCK, num_rows)
    argument, present, following, cotangent, lost, sums = np.empty((6, num_states, size))
    for first in range(0, num_rows, size):
        lanes = min(size, num_rows - first)
        for state in range(num_states):
            for lane in range(lanes):
                argument[state, lane] = scale * rates[first + lane, state] - 1.0
                present[state, lane] = 1.0
                following[state, lane] = argument[state, lane]
                cotangent[state, lane] = nu_cotangent[first + lane, state]
                lost[state, lane] = drops_cotangent[first + lane, state]
                sums[state, lane] = 0.0
        for term in range(len(series)):
            _add_inner_products(sums, series[term], present, cotangent, lost, lanes)
            _recur(argument, present, following, lanes)
        for state in range(num_states):
            for lane in range(lanes):
                gradients[first + lane, state] = sums[state, lane]
    return gradients


@njit(inline="always")
def _add_inner_products(
    sums: Any, coefficients: Any, weights: Any, cotangents: Any, lost: Any, lanes: int
) -> None:
    num_fillings = coefficients.shape[1] - 1
    for state in range(sums.shape[0]):
        first = state - state % num_fillings
        for entry in range(num_fillings):
            coefficient = coefficients[state, entry]
            for lane in range(lanes):
                inner = coefficient * cotangents[first + entry, lane]
                sums[state, lane] += weights[state, lane] * inner
        coefficient = coefficients[state, num_fillings]
        for lane in range(lanes):
            sums[state, lane] += weights[state, lane] * coefficient * lost[state, lane]
