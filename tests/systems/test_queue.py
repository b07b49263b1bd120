"""One queue over one epoch: the reference against uniformisation, and the error bound."""

import numpy as np
import pytest
import scipy.stats

from mfc_lb import SystemParameters
from mfc_lb.systems import EpochPropagator, epoch_by_expm, extended_rate_matrix
from mfc_lb.systems.queue import chebyshev_degree


def epoch_by_uniformisation(arrival_rate, service_rate, buffer_size, delta_t):
    """exp(Q̄Δt) from Poisson mixtures of a discrete walk, all terms positive."""
    rate = arrival_rate + service_rate
    size = buffer_size + 1
    walk = np.zeros((size, size))
    for filling in range(size):
        walk[min(filling + 1, buffer_size), filling] += arrival_rate / rate
        walk[max(filling - 1, 0), filling] += service_rate / rate
    mean = rate * delta_t
    last = int(mean + 12 * np.sqrt(mean) + 40)
    chances = scipy.stats.poisson.pmf(np.arange(last), mean)
    # Event n+1 happens within the epoch with the chance of more than n events.
    happens = scipy.stats.poisson.sf(np.arange(last), mean)
    power, ends, drops = np.eye(size), np.zeros((size, size)), np.zeros(size)
    for chance, happen in zip(chances, happens, strict=True):
        ends += chance * power
        drops += happen * power[-1] * arrival_rate / rate
        power = walk @ power
    return np.vstack([ends, drops])


@pytest.mark.parametrize("mean_events", [0.0, 1e-3, 1.0, 30.0, 1e3, 1e4])
@pytest.mark.parametrize("buffer_size", [1, 5, 20])
def test_expm_and_propagator_equal_uniformisation(buffer_size, mean_events):
    rate, service = 1.3, 0.8
    delta_t = max(mean_events / (rate + service), 1e-300)
    exact = epoch_by_uniformisation(rate, service, buffer_size, delta_t)
    reference = epoch_by_expm(rate, service, buffer_size, delta_t)[:, :-1]
    scale = max(1.0, rate * delta_t)
    assert np.abs(reference - exact).max() < 2e-12 * scale
    p = SystemParameters(buffer_size, 2, (service,), delta_t=delta_t)
    propagator = EpochPropagator(p)
    for filling in range(buffer_size + 1):
        start = np.eye(buffer_size + 1)[filling]
        ends, drops = propagator.push_forward(start, np.full(buffer_size + 1, rate))
        assert np.abs(ends - exact[:-1, filling]).max() < 2e-12 * scale
        assert abs(drops - exact[-1, filling]) < 2e-12 * scale


def test_columns_conserve_probability_and_count_what_leaves_the_last_filling():
    matrix = extended_rate_matrix([0.0, 0.9, 1.8], 1.0, 5)
    assert np.abs(matrix[..., :-1, :].sum(axis=-2)).max() < 1e-15
    assert matrix[:, -1, 5].tolist() == [0.0, 0.9, 1.8]


def test_drops_are_arrivals_minus_departures_minus_growth():
    rate, service, delta_t, size = 1.7, 1.0, 3.0, 4
    epoch = epoch_by_expm(rate, service, size, delta_t)
    # Mean departures: α times the time during which the queue is not empty, by fine quadrature.
    times, weights = np.polynomial.legendre.leggauss(40)
    halves = delta_t * (times + 1) / 2
    fine = np.stack([epoch_by_expm(rate, service, size, time) for time in halves])
    busy = delta_t / 2 * weights @ (1.0 - fine[:, 0, : size + 1])
    growth = np.arange(size + 1) @ epoch[: size + 1, : size + 1] - np.arange(size + 1)
    assert epoch[-1, : size + 1] == pytest.approx(rate * delta_t - service * busy - growth)


@pytest.mark.parametrize("mean_arrivals", [0.0, 0.1, 1.8, 9.0, 18.0, 180.0, 5000.0])
def test_the_error_bound_holds(mean_arrivals):
    """Interpolation with fewer terms errs by no more than the bound says."""
    delta_t = 10.0
    upper = max(mean_arrivals / delta_t, 1e-12)
    for error in (1e-4, 1e-8, 1e-12):
        num_nodes = chebyshev_degree(upper * delta_t, error) + 1
        angles = np.pi * (np.arange(num_nodes) + 0.5) / num_nodes
        values = epoch_by_expm(upper * (1 + np.cos(angles)) / 2, 1.0, 3, delta_t)
        basis = np.polynomial.chebyshev.chebvander(np.cos(angles), num_nodes - 1)
        series = np.linalg.solve(basis, values.reshape(num_nodes, -1))
        points = np.linspace(-1, 1, 101)
        exact = epoch_by_expm(upper * (1 + points) / 2, 1.0, 3, delta_t).reshape(101, -1)
        found = np.polynomial.chebyshev.chebvander(points, num_nodes - 1) @ series
        rounding = 2e-13
        assert np.abs(found - exact).max() < (error + rounding) * max(1.0, mean_arrivals)


def test_the_degree_grows_with_accuracy_and_with_the_delay():
    degrees = [chebyshev_degree(mean) for mean in (0.1, 1.0, 10.0, 100.0, 1000.0)]
    assert degrees == sorted(degrees)
    assert degrees[-1] < 10 * degrees[0] * np.sqrt(1000)
    assert chebyshev_degree(9.0, 1e-4) < chebyshev_degree(9.0, 1e-12)
