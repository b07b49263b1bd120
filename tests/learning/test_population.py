"""The gradient of a roll-out, and the systems on which it is taken."""

import numpy as np
import pytest
import torch

from mfc_lb import ArrivalProcess, MeanFieldSystem, SystemParameters
from mfc_lb.learning.networks import fresh_network, network_action
from mfc_lb.learning.population import Population
from mfc_lb.model import ScoreRule


def population(parameters, count=4, episode=100, discount=1.0, seed=0):
    generator = np.random.default_rng(seed)
    return Population(MeanFieldSystem(parameters), count, episode, discount, generator)


def scores_of(weights):
    return lambda nu, level: network_action(weights, nu, level, torch.tanh, torch.matmul)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_gradient_of_a_roll_out_equals_finite_differences(small, discount):
    """Episodes end within the window, so beginning anew is part of what is differentiated."""
    generator = np.random.default_rng(1)
    arrays = fresh_network(generator.standard_normal((3, 6)), 4, generator)
    arrays["out"] = 0.5 * generator.standard_normal((4, 6))
    weights = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}

    def drops_at(weights):
        return population(small, episode=15, discount=discount).mean_drops(scores_of(weights))

    drops_at(weights).backward()
    step = 1e-5
    for name, weight in weights.items():
        direction = torch.from_numpy(generator.standard_normal(arrays[name].shape))
        with torch.no_grad():
            moved = [{**weights, name: weight + move * direction} for move in (step, -step)]
            up, down = map(drops_at, moved)
        slope = float(up - down) / (2.0 * step)
        assert float((weight.grad * direction).sum()) == pytest.approx(slope, rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_an_epoch_weighs_what_its_age_says(discount):
    p = SystemParameters(delta_t=10.0)
    systems = population(p, count=5, episode=20, discount=discount)
    scores = torch.tensor([[0.0, -1, -2, -3, -4, -5], [0.0, 0, -1, -1, -2, -2]])
    nu, levels, ages = systems.nu.numpy(), systems.levels.copy(), systems.ages.copy()
    generator = np.random.default_rng()
    generator.bit_generator.state = systems.state()["generator"]
    mean = systems.mean_drops(lambda _, level: scores.double()[level])
    system, total, weight = MeanFieldSystem(p), 0.0, 0.0
    for _ in range(systems.window):
        rule = ScoreRule(scores.double().numpy()[levels], 2)
        nu, drops = system.step(nu, np.asarray(p.arrivals.rates)[levels], rule)
        total += (discount**ages * drops).sum()
        weight += (discount**ages).sum()
        levels = p.arrivals.next_levels(levels, generator)
        ages = ages + 1
        ended = ages >= 20
        levels[ended] = p.arrivals.first_levels(int(ended.sum()), generator)
        nu[ended], ages[ended] = p.empty_distribution, 0
    assert float(mean) == pytest.approx(total / weight, rel=1e-12)
    assert systems.nu.numpy() == pytest.approx(nu, abs=1e-13)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_systems_are_spread_over_the_episode(seed):
    """So a window starts from the occupancy of the policy and from empty queues."""
    systems = population(SystemParameters(delta_t=10.0), count=400, episode=50, seed=seed)
    constant = torch.zeros(6, dtype=torch.float64)
    begun_anew = 0
    for _ in range(5):
        systems.mean_drops(lambda nu, _: constant.expand(len(nu), -1))
        begun_anew += int((systems.ages < systems.window).sum())
    assert systems.nu.sum(dim=1).numpy() == pytest.approx(1.0, abs=1e-12)
    # Each system begins anew once in 50 epochs, and 5 windows of 10 epochs were seen.
    assert begun_anew == 400
    assert len(np.unique(systems.ages)) > 40


def test_windows_are_as_long_as_queues_remember():
    def window(delta_t, episode):
        return population(SystemParameters(delta_t=delta_t), episode=episode).window

    assert (window(1.0, 500), window(5.0, 100), window(50.0, 10), window(100.0, 5)) == (
        100,
        20,
        10,
        5,
    )


def test_a_restored_population_goes_on_as_if_never_stopped(small):
    first, second = population(small, seed=1), population(small, seed=2)
    scores = torch.randn(6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def go_on(systems):
        return float(systems.mean_drops(lambda nu, _: scores.expand(len(nu), -1)))

    go_on(first)
    second.restore(first.state())
    assert [go_on(first) for _ in range(3)] == [go_on(second) for _ in range(3)]


class Alternating(ArrivalProcess):
    """High, low, high, low, ..."""

    def sample_levels(self, num_epochs, generator):
        return np.arange(num_epochs) % 2


def test_systems_follow_the_levels_that_a_subclass_draws():
    p = SystemParameters(delta_t=10.0, arrivals=Alternating())
    systems, nothing = population(p, count=8, episode=20), torch.zeros(6, dtype=torch.float64)
    for _ in range(5):
        assert systems.levels.tolist() == (systems.ages % 2).tolist()
        state = systems.state()
        systems.mean_drops(lambda *_: nothing)
    same = population(p, count=8, episode=20, seed=1)
    same.restore(state)
    same.mean_drops(lambda *_: nothing)
    assert same.nu.tolist() == systems.nu.tolist()
    assert same.levels.tolist() == systems.levels.tolist()
