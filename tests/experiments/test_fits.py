"""Fits of power laws, on data whose answers are known."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from mfc_lb.errors import InvalidInput
from mfc_lb.experiments.fits import fit_power_law

SIZES = np.array([10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0])


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.7])
@pytest.mark.parametrize("factor", [3.0, -3.0])
def test_fit_recovers_an_exact_law(exponent, factor):
    values = factor * SIZES**exponent
    law = fit_power_law(SIZES, values, 0.01 * np.abs(values))
    assert law.exponent == pytest.approx(exponent, abs=1e-6)
    assert law.factor == pytest.approx(factor, rel=1e-5)
    assert law(SIZES) == pytest.approx(values, rel=1e-5)


def test_interval_covers_the_exponent_as_often_as_it_says():
    """Also where the small values drown in noise, so that some of them are negative."""
    rng, truth = np.random.default_rng(3), 80.0 / SIZES
    errors = np.full(SIZES.size, 0.4)
    laws = [
        fit_power_law(SIZES, truth + errors * rng.standard_normal(SIZES.size), errors)
        for _ in range(200)
    ]
    spread = np.std([law.exponent for law in laws])
    assert np.mean([law.standard_error for law in laws]) == pytest.approx(spread, rel=0.25)
    covered = np.mean([law.interval[0] < -1.0 < law.interval[1] for law in laws])
    assert 0.93 <= covered <= 1.0
    assert np.mean([law.exponent for law in laws]) == pytest.approx(-1.0, abs=0.01)


def test_interval_widens_when_the_law_does_not_hold():
    errors = np.full(SIZES.size, 1e-4)
    straight = fit_power_law(SIZES, SIZES**-0.5, errors)
    bent = fit_power_law(SIZES, SIZES**-0.5 * (1 + 0.1 * np.sin(SIZES)), errors)
    assert np.diff(bent.interval) > 10 * np.diff(straight.interval)


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([1, 2], [1, 2], [1, 1], "x must be at least 3 places"),
        ([1, 2, 3], [1, 2, 3], [1, 0, 1], "standard_error must be positive"),
        ([1, 2, 3], [0.1, 0.1, 0.1], [1, 1, 1], "y must be clearly non-zero twice"),
    ],
)
def test_fit_refuses_what_it_cannot_fit(x, y, error, message):
    with pytest.raises(InvalidInput, match=message):
        fit_power_law(x, y, error)


# With five points and two parameters, Student's distribution of three degrees of freedom.
STUDENT = 3.182446305


@pytest.mark.parametrize(("noise", "widened"), [(0.3, False), (4.0, True)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_interval_is_students_around_the_weighted_least_squares(noise, widened, sign):
    x, errors = SIZES[:5], np.array([0.5, 0.4, 0.1, 0.05, 0.02])
    y = 80.0 / x + noise * errors * np.array([1.0, -1.0, 0.5, -0.5, 1.0])

    def residuals(parameters):
        return (parameters[1] * x ** parameters[0] - y) / errors

    found = least_squares(residuals, (-1.0, 80.0), x_scale=(1.0, 80.0), xtol=1e-14, jac="3-point")
    variance = np.linalg.inv(found.jac.T @ found.jac)[0, 0]
    misfit = np.sum(found.fun**2) / 3
    assert (misfit > 1.0) == widened
    width = STUDENT * np.sqrt(variance * max(1.0, misfit))
    law = fit_power_law(x, sign * y, errors)
    assert law.exponent == pytest.approx(found.x[0], rel=1e-5)
    assert law.factor == pytest.approx(sign * found.x[1], rel=1e-5)
    assert law.interval == pytest.approx((found.x[0] - width, found.x[0] + width), rel=1e-5)
    assert law.standard_error == pytest.approx(width / STUDENT, rel=1e-5)
    assert law.num_points == 5
