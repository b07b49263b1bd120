"""Network policies: NumPy and torch alike, and refused where they do not fit."""

import re

import numpy as np
import pytest
import torch

from mfc_lb import ArrivalProcess, FiniteSystem, InvalidInput, MeanFieldSystem, SystemParameters
from mfc_lb import evaluate as evaluate_policy
from mfc_lb.learning import ActionKind, NetworkPolicy
from mfc_lb.learning.networks import constant_scores, fresh_network, network_action
from mfc_lb.systems import random_routing_drops
from tests.learning.policies import random_policy


def drawn(parameters, count, seed=0):
    generator = np.random.default_rng(seed)
    nu = generator.dirichlet(np.ones(parameters.num_states), size=count)
    return nu, generator.integers(0, parameters.arrivals.num_levels, count)


def test_numpy_and_torch_agree(network):
    nu, levels = drawn(network.parameters, 50)
    tensors = {name: torch.tensor(weight) for name, weight in network.weights.items()}
    given = torch.from_numpy(nu), torch.from_numpy(levels)
    actions = network_action(tensors, *given, torch.tanh, torch.matmul)
    assert network.action(nu, levels) == pytest.approx(actions.numpy(), rel=1e-12, abs=1e-12)


def test_the_formula_is_the_one_that_is_documented(network):
    w = network.weights
    (nu,), (level,) = drawn(network.parameters, 1)
    first = np.tanh(nu @ w["from_distribution"] + w["from_level"][level])
    second = np.tanh(first @ w["hidden"] + w["hidden_bias"])
    expected = w["base"][level] + second @ w["out"]
    assert network.action(nu, level) == pytest.approx(expected, rel=1e-13)


def test_a_row_of_a_batch_is_what_it_is_alone(network):
    nu, levels = drawn(network.parameters, 9)
    batch = network.action(nu, levels)
    for row in range(9):
        assert np.array_equal(batch[row], network.action(nu[row], int(levels[row])))


def test_a_fresh_network_gives_its_base():
    base = np.random.default_rng(0).standard_normal((2, 6))
    p = SystemParameters()
    policy = NetworkPolicy(fresh_network(base, 5, np.random.default_rng(1)), p)
    nu, levels = drawn(p, 7)
    assert np.array_equal(policy.action(nu, levels), base[levels])
    constant = NetworkPolicy(constant_scores(base), p)
    assert np.array_equal(constant.action(nu, levels), base[levels])
    assert (repr(constant), repr(policy)) == (
        "NetworkPolicy(score, constant, delta_t=1)",
        "NetworkPolicy(score, width=5, delta_t=1)",
    )


def test_one_level_of_zero_scores_is_the_linear_chain():
    arrivals = ArrivalProcess.constant(0.9)
    p = SystemParameters(3, 3, (1.0, 0.5), (0.4, 0.6), arrivals, delta_t=2.0)
    policy = NetworkPolicy(constant_scores(np.zeros((1, 8))), p)
    drops = MeanFieldSystem(p).simulate(policy, np.zeros(30, dtype=np.int64)).drops
    assert drops == pytest.approx(random_routing_drops(p, 30), rel=1e-10)


@pytest.mark.parametrize("delta_t", [1.0, 5.0, 10.0])
def test_zero_scores_are_worth_what_the_linear_chain_says(delta_t):
    p = SystemParameters(delta_t=delta_t)
    policy = NetworkPolicy(constant_scores(np.zeros((2, 6))), p)
    epochs = p.num_epochs()
    result = evaluate_policy(
        MeanFieldSystem(p), policy, num_epochs=epochs, num_runs=500, seed=int(delta_t)
    )
    exact = random_routing_drops(p, epochs).sum()
    assert abs(result.mean - exact) < 4.5 * result.standard_error


def test_a_policy_runs_at_other_delays_and_kernels(network):
    p = network.parameters
    arrivals = ArrivalProcess(p.arrivals.rates, np.full((3, 3), 1 / 3), (1.0, 0.0, 0.0))
    other = SystemParameters(2, 3, (1.0, 0.5), (0.4, 0.6), arrivals, delta_t=0.5)
    for system in (MeanFieldSystem(other), FiniteSystem(other, 30, 5)):
        result = evaluate_policy(system, network, num_epochs=3, num_runs=2, seed=0)
        assert np.isfinite(result.drops).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"buffer_size": 3}, "buffer_size must be 2, for which the policy was trained, got 3"),
        ({"num_choices": 2}, "num_choices must be 3, for which the policy was trained, got 2"),
        ({"service_rates": (1.0, 2.0)}, "service_rates must be (1.0, 0.5)"),
        ({"class_fractions": (0.5, 0.5)}, "class_fractions must be (0.4, 0.6)"),
        ({"arrivals": ArrivalProcess()}, "rates must be (1.2, 0.8, 0.1), for which the policy"),
    ],
    ids=lambda part: "-".join(part) if isinstance(part, dict) else "",
)
def test_a_policy_that_was_trained_for_something_else_is_refused(changes, message, network):
    other = network.parameters.replace(**changes)
    system = MeanFieldSystem(other)
    levels = np.zeros((2, 3), dtype=np.int64)
    uses = [
        lambda: network.require_fit(other),
        lambda: system.simulate(network, levels),
        lambda: evaluate_policy(system, network, num_epochs=2, num_runs=2, seed=0),
        lambda: evaluate_policy(
            FiniteSystem(other, 9, 3), network, num_epochs=2, num_runs=2, seed=0
        ),
    ]
    for use in uses:
        with pytest.raises(InvalidInput, match=re.escape(message)):
            use()


@pytest.mark.parametrize("name", ["base", "from_distribution", "from_level", "hidden_bias", "out"])
def test_weights_that_do_not_fit_are_refused(name, network):
    cut = {**network.weights, name: network.weights[name][..., :-1]}
    with pytest.raises(InvalidInput, match="weights must be"):
        NetworkPolicy(cut, network.parameters, network.kind)


def test_weights_of_another_kind_are_refused(small):
    score = random_policy(small, ActionKind.SCORE)
    with pytest.raises(InvalidInput, match="weights must be"):
        NetworkPolicy(score.weights, small, ActionKind.TABLE)
