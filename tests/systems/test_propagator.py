"""The spectral propagator: equal to expm, independent of the batch, with an exact adjoint."""

import numpy as np
import pytest
import scipy.linalg

from mfc_lb import ArrivalProcess, SystemParameters
from mfc_lb.systems import EpochPropagator, epoch_by_expm, random_routing_drops
from mfc_lb.systems.queue import epoch_by_uniformisation


def push_by_expm(p, nu, rates):
    """ν' and D, as design equations are written."""
    nu_next, drops, size = np.zeros(p.num_states), 0.0, p.buffer_size + 1
    for state in range(p.num_states):
        epoch = epoch_by_expm(rates[state], p.state_service_rates[state], p.buffer_size, p.delta_t)
        column = epoch[:, p.fillings[state]]
        first = state - p.fillings[state]
        nu_next[first : first + size] += nu[state] * column[:size]
        drops += nu[state] * column[-1]
    return nu_next, drops


@pytest.mark.parametrize("delta_t", [0.1, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("buffer_size", [1, 5, 12])
def test_equals_expm_for_rates_far_below_and_above_the_parameters_own(buffer_size, delta_t):
    p = SystemParameters(buffer_size, 2, (1.0, 0.3), (0.4, 0.6), delta_t=delta_t)
    propagator, generator = EpochPropagator(p), np.random.default_rng(1)
    for scale in (0.0, 1e-6, 0.4, 1.8, 5.0, 30.0):
        nu = generator.dirichlet(np.ones(p.num_states))
        rates = scale * generator.random(p.num_states)
        expected_nu, expected_drops = push_by_expm(p, nu, rates)
        nu_next, drops = propagator.push_forward(nu, rates)
        assert np.abs(nu_next - expected_nu).max() < 1e-13
        assert drops == pytest.approx(expected_drops, rel=1e-12, abs=1e-15)


def test_large_buffer_and_long_delay():
    p = SystemParameters(buffer_size=100, delta_t=50.0)
    generator = np.random.default_rng(1)
    nu, rates = generator.dirichlet(np.ones(101)), 1.8 * generator.random(101)
    expected_nu, expected_drops = push_by_expm(p, nu, rates)
    nu_next, drops = EpochPropagator(p).push_forward(nu, rates)
    assert np.abs(nu_next - expected_nu).max() < 1e-13
    assert drops == pytest.approx(expected_drops, rel=1e-12)


def test_a_result_does_not_depend_on_its_batch():
    p = SystemParameters(delta_t=3.0)
    generator = np.random.default_rng(2)
    nu = generator.dirichlet(np.ones(6), size=100)
    rates = generator.random((100, 6)) * np.geomspace(1e-3, 20.0, 100)[:, None]
    together = EpochPropagator(p).push_forward(nu, rates)
    propagator = EpochPropagator(p)
    for row in reversed(range(100)):
        alone = propagator.push_forward(nu[row], rates[row])
        assert (alone[0] == together[0][row]).all()
        assert alone[1] == together[1][row]


def test_mass_of_each_class_is_conserved():
    p = SystemParameters(3, 2, (1.0, 0.5, 2.0), (0.2, 0.3, 0.5), delta_t=7.0)
    propagator, nu = EpochPropagator(p), np.repeat(p.class_fractions, 4) / 4
    for _ in range(200):
        nu, _ = propagator.push_forward(nu, np.linspace(0.0, 1.8, 12))
    assert nu.reshape(3, 4).sum(axis=1) == pytest.approx(p.class_fractions, rel=1e-12)


def test_no_arrivals_at_all():
    p = SystemParameters(arrivals=ArrivalProcess.constant(0.0), delta_t=2.0)
    nu, drops = EpochPropagator(p).push_forward(np.eye(6)[5], np.zeros(6))
    assert drops == 0.0
    # Five services with rate one: Poisson until the queue is empty.
    served = [np.exp(-2.0) * 2.0**k / np.prod(np.arange(1, k + 1)) for k in range(5)]
    assert nu[5:0:-1] == pytest.approx(served, rel=1e-12)


def test_pull_back_is_the_derivative_of_push_forward():
    p = SystemParameters(4, 2, (1.0, 0.5), (0.5, 0.5), delta_t=3.0)
    propagator, generator = EpochPropagator(p), np.random.default_rng(3)
    nu, rates = generator.dirichlet(np.ones(10), size=40), 1.8 * generator.random((40, 10))
    weights, drop_weights = generator.standard_normal((40, 10)), generator.standard_normal(40)

    def objective(nu, rates):
        nu_next, drops = propagator.push_forward(nu, rates)
        return (weights * nu_next).sum() + drop_weights @ drops

    per_nu, per_rates = propagator.pull_back(nu, rates, weights, drop_weights)
    step = 1e-5
    for row, state in ((0, 0), (7, 9), (39, 4)):
        change = np.zeros((40, 10))
        change[row, state] = step
        slope = (objective(nu, rates + change) - objective(nu, rates - change)) / (2 * step)
        assert per_rates[row, state] == pytest.approx(slope, rel=1e-7, abs=1e-9)
        slope = (objective(nu + change, rates) - objective(nu - change, rates)) / (2 * step)
        assert per_nu[row, state] == pytest.approx(slope, rel=1e-7, abs=1e-9)


def _worse(change):
    """Return the exponential of scipy with something wrong in it."""
    true = scipy.linalg.expm

    def expm(matrices):
        found = true(matrices)
        change(found)
        return found

    return expm


def _one_of_many(found):
    found[..., len(found) // 3, :, :] = found[..., 0, :, :]


def _swapped(found):
    found[..., [1, 0], :, :] = found[..., [0, 1], :, :]


def _slightly(found):
    found[..., 1, 0, 0] += 1e-5


def _nothing(found):
    found[..., -1, 0, 0] = np.nan


@pytest.mark.parametrize("change", [_one_of_many, _swapped, _slightly, _nothing])
@pytest.mark.parametrize("p", [SystemParameters(), SystemParameters(12, delta_t=20.0)])
def test_an_exponential_that_is_wrong_is_noticed(change, p, monkeypatch):
    monkeypatch.setattr(scipy.linalg, "expm", _worse(change))
    propagator = EpochPropagator(p)
    for _ in range(2):  # nothing is kept of what was refused
        with pytest.raises(ArithmeticError, match="differs by"):
            propagator.push_forward(p.empty_distribution, np.ones(p.num_states))
    if change is not _one_of_many:
        with pytest.raises(ArithmeticError, match="differs by"):
            random_routing_drops(p, 3)


@pytest.mark.parametrize("delta_t", [1e-3, 1.0, 50.0, 1e4])
@pytest.mark.parametrize("buffer_size", [1, 5, 30])
def test_two_methods_agree(buffer_size, delta_t):
    rates = np.array([0.0, 0.4, 1.8, 12.0])
    first = epoch_by_expm(rates, 0.7, buffer_size, delta_t)
    second = epoch_by_uniformisation(rates, 0.7, buffer_size, delta_t)
    assert np.abs(first - second)[:, :-1].max() < 1e-13 * max(1.0, 20 * delta_t)
    assert second[:, -1] == pytest.approx(first[:, -1], rel=1e-9, abs=1e-12)
