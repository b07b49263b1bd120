"""Small tables that illustrate the theory, against values known on paper or computed densely."""

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator
from scipy.linalg import expm

from mfc_lb import SystemParameters, join_shortest_queue, random_choice
from mfc_lb.experiments.illustrations import (
    chebyshev_errors,
    random_routing_losses,
    rates_by_filling,
)

B, MAX_RATE = 5, 1.8


def epochs(rates: np.ndarray, delta_t: float) -> np.ndarray:
    """Return all entries of an epoch by rate: fillings up, service down, and what is dropped."""
    found = []
    for rate in rates:
        generator = np.zeros((B + 2, B + 2))
        for z in range(B + 1):
            generator[z, z] = -(rate if z < B else 0.0) - (1.0 if z else 0.0)
            generator[z + 1, z] += rate
            if z:
                generator[z - 1, z] = 1.0
        entries = expm(generator * delta_t)[:, :-1]
        entries[-1] /= max(1.0, MAX_RATE * delta_t)
        found.append(entries.ravel())
    return np.array(found)


@pytest.mark.parametrize(("delta_t", "largest_degree"), [(0.1, 4), (1.0, 8), (5.0, 8)])
def test_errors_are_the_largest_over_all_rates(delta_t, largest_degree):
    """As interpolation through the same nodes, in another form, has them on a dense grid."""
    table = chebyshev_errors([delta_t], MAX_RATE).set_index("degree")
    rates = np.linspace(0.0, MAX_RATE, 501)
    exact = epochs(rates, delta_t)
    for degree in range(1, largest_degree + 1):
        nodes = MAX_RATE / 2 * (1 + np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)))
        values = BarycentricInterpolator(nodes, epochs(nodes, delta_t))(rates)
        largest = np.abs(values - exact).max()
        assert table.error[degree] == pytest.approx(largest, rel=0.005)


def test_errors_keep_below_their_bounds():
    table = chebyshev_errors([1.0, 5.0], MAX_RATE)
    guaranteed = table.dropna()
    assert (guaranteed.error <= guaranteed.bound + 1e-13).all()
    assert guaranteed.groupby("delta_t").bound.min().tolist() == pytest.approx([1e-14, 1e-14])
    assert (table.degree.diff().dropna() == 1).sum() == len(table) - 2


def test_random_routing_loses_what_an_mm1b_queue_loses():
    table = random_routing_losses(num_epochs=200).set_index("arrival_rate")
    known = {0.6: 0.019575725026853, 0.9: 0.113420294989532, 1.0: 1 / 6}
    for rate, loss in known.items():
        assert table.formula[rate] == pytest.approx(loss, rel=1e-12)
    assert table.mean_field.tolist() == pytest.approx(table.formula.tolist(), rel=1e-6)


def test_rates_by_filling_are_those_of_the_rules():
    p, nu = SystemParameters(), np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    rules = {"JSQ(2)": join_shortest_queue(p), "RND": random_choice(p)}
    table = rates_by_filling(rules, nu, 0.9)
    assert table.policy.tolist() == ["JSQ(2)"] * 6 + ["RND"] * 6
    assert table.filling.tolist() == [*range(6)] * 2
    assert table.fraction.tolist() == [*nu] * 2
    # Under JSQ(2), λ(z) = λ (s_z + s_{z+1}) with the fractions s_k of queues with k or more.
    s = np.append(nu[::-1].cumsum()[::-1], 0.0)
    expected = [*(0.9 * (s[:-1] + s[1:])), *[0.9] * 6]
    assert table.arrival_rate.tolist() == pytest.approx(expected)
