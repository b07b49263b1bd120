"""The torch step: the same numbers as NumPy's and the right gradients."""

import numpy as np
import pytest

from mfc_lb import MeanFieldSystem, SystemParameters
from mfc_lb.model import ScoreRule

torch = pytest.importorskip("torch")

from mfc_lb.systems.differentiable import differentiable_step  # noqa: E402


@pytest.fixture
def problem():
    p = SystemParameters(3, 3, (1.0, 0.5), (0.4, 0.6), delta_t=3.0)
    generator = np.random.default_rng(1)
    nu, scores = generator.dirichlet(np.ones(8), size=4), generator.standard_normal((4, 8))
    return MeanFieldSystem(p), nu, np.array([0.9, 0.6, 0.3, 0.0]), scores


def test_equals_numpy(problem):
    system, nu, rate, scores = problem
    tensors = (torch.from_numpy(array) for array in (nu, rate, scores))
    nu_tensor, rate_tensor, score_tensor = tensors
    nu_next, drops = differentiable_step(system, nu_tensor, rate_tensor, score_tensor)
    expected_nu, expected_drops = system.step(nu, rate, ScoreRule(scores, 3))
    assert nu_next.numpy() == pytest.approx(expected_nu, abs=1e-15)
    assert drops.numpy() == pytest.approx(expected_drops, abs=1e-14)


def test_gradients_equal_finite_differences(problem):
    system, nu, rate, scores = problem

    def step(nu, scores):
        return differentiable_step(system, nu, torch.from_numpy(rate), scores)

    inputs = [torch.from_numpy(array).requires_grad_() for array in (nu, scores)]
    assert torch.autograd.gradcheck(step, inputs)


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_gradients_of_a_roll_out_stay_finite(problem, size):
    system, nu, rate, scores = problem
    leaf = torch.from_numpy(size * scores).requires_grad_()
    present, total = torch.from_numpy(nu), 0.0
    for _ in range(20):
        present, drops = differentiable_step(system, present, torch.from_numpy(rate), leaf)
        total = total + drops.sum()
    total.backward()
    assert torch.isfinite(leaf.grad).all()
