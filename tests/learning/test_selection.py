"""Which candidate is kept: the simplest than which none is clearly better."""

import numpy as np
import pytest

from mfc_lb import (
    ConstantPolicy,
    MeanFieldSystem,
    SystemParameters,
    join_shortest_queue,
    random_choice,
    softmin,
)
from mfc_lb.learning import NetworkPolicy, best_softmin
from mfc_lb.learning.networks import constant_scores
from mfc_lb.learning.selection import Selection
from mfc_lb.systems import Estimate, rate_paths

P = SystemParameters(delta_t=5.0)
SYSTEM = MeanFieldSystem(P)


@pytest.fixture(scope="module")
def selection():
    return Selection(SYSTEM, 30, 1.0, 20, 0)


def constant(scores):
    return NetworkPolicy(constant_scores(np.tile(scores, (2, 1))), P)


def chosen(selection, trained):
    return selection.result(trained, {}, 0.0, [])


def test_its_simple_policies_are_what_they_are_called(selection):
    levels = rate_paths(P, 20, 5, 0)

    def drops(policy):
        return SYSTEM.simulate(policy, levels).drops

    simple = selection.simple
    assert list(simple) == ["random", "shortest queue", "softmin of the queue"]
    for name, rule in {"random": random_choice, "shortest queue": join_shortest_queue}.items():
        expected = drops(ConstantPolicy(rule(P)))
        assert drops(simple[name]) == pytest.approx(expected, rel=1e-9)
    slope = np.diff(simple["softmin of the queue"].weights["base"], axis=1)
    assert slope == pytest.approx(np.full((2, 5), slope[0, 0]), rel=1e-9)


def test_what_is_no_better_is_not_preferred(selection):
    best = selection.simple["softmin of the queue"]
    same = constant(best.weights["base"][0] + 7.0)
    assert chosen(selection, {"same": same}).chosen == "softmin of the queue"
    worse = constant(np.arange(6.0))
    assert chosen(selection, {"worse": worse}).policy == best


def test_what_is_clearly_better_is_kept(selection):
    # Sharper where demand is low, and among long queues; a softmin cannot be. Training found them.
    scores = [[0.0, -0.4, -0.9, -1.5, -2.3, -3.8], [0.0, -0.5, -1.3, -2.3, -4.0, -7.5]]
    better = NetworkPolicy(constant_scores(np.array(scores)), P)
    result = chosen(selection, {"better": better})
    assert result.chosen == "better"
    assert result.policy is better
    gain = result.candidates["softmin of the queue"].mean - result.candidates["better"].mean
    assert gain > 0.0


def test_the_start_is_gentle_enough_to_learn_from():
    fresh = SystemParameters(delta_t=0.5)
    start = Selection(MeanFieldSystem(fresh), 30, 1.0, 5, 0).gentle_start()
    assert start.tolist() == (-4.0 * np.arange(6)).tolist()


def test_epochs_are_discounted():
    plain, discounted = (Selection(SYSTEM, 30, discount, 5, 0) for discount in (1.0, 0.5))
    levels = plain._levels
    assert np.array_equal(levels, discounted._levels)
    drops = SYSTEM.simulate(ConstantPolicy(random_choice(P)), levels).drops
    result = discounted.result({}, {}, 0.0, [])
    expected = Estimate.of(drops @ 0.5 ** np.arange(30))
    assert result.candidates["random"].mean == pytest.approx(expected.mean)
    assert result.candidates["random"].standard_error == pytest.approx(expected.standard_error)


def test_its_paths_are_not_those_of_an_evaluation_with_the_same_seed(selection):
    assert not np.array_equal(selection._levels, rate_paths(P, 30, 20, 0))


def test_the_best_softmin_is_better_than_its_neighbours():
    levels = rate_paths(P, 40, 10, 1)

    def drops(beta):
        return SYSTEM.simulate(ConstantPolicy(softmin(P, beta)), levels).drops.sum()

    beta = best_softmin(SYSTEM, levels, largest=10.0)
    assert drops(beta) < min(drops(0.9 * beta), drops(1.1 * beta))
    assert best_softmin(SYSTEM, levels, largest=0.1) == pytest.approx(0.1, rel=0.01)
    again = best_softmin(SYSTEM, levels, largest=10.0, keys=2.0 * P.fillings)
    assert again == pytest.approx(beta / 2.0, rel=0.01)
