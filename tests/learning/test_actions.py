"""From actions to decision rules."""

import re

import numpy as np
import pytest

from mfc_lb import InvalidInput, SystemParameters, random_choice
from mfc_lb.learning import ActionKind, action_size, decision_rule_of
from mfc_lb.model import ScoreRule, TableRule


def rule_of(action, kind, parameters):
    return decision_rule_of(action, kind, parameters.num_states, parameters.num_choices)


def test_sizes(small):
    assert action_size(SystemParameters(), ActionKind.SCORE) == 6
    assert action_size(SystemParameters(), ActionKind.TABLE) == 72
    assert action_size(small, ActionKind.TABLE) == 6**3 * 3


@pytest.mark.parametrize("size", [1e3, 1e6, 1e300])
@pytest.mark.parametrize("sign", ["up", "down", "mixed"])
def test_extreme_actions_give_finite_rules(small, kind, size, sign):
    numbers = np.random.default_rng(0).choice([-size, size], action_size(small, kind))
    action = {"up": np.abs(numbers), "down": -np.abs(numbers), "mixed": numbers}[sign]
    table = np.asarray(rule_of(action, kind, small))
    assert np.isfinite(table).all()
    assert table.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
    nu = np.full(6, 1 / 6)
    rates = rule_of(action, kind, small).arrival_rates(nu, 1.0)
    assert nu @ rates == pytest.approx(1.0, rel=1e-12)


def test_a_constant_action_is_random_routing(small, kind):
    for value in (-1e3, 0.0, 1e3):
        action = np.full(action_size(small, kind), value)
        expected = np.asarray(random_choice(small))
        assert np.asarray(rule_of(action, kind, small)) == pytest.approx(expected, abs=1e-15)


def test_a_table_is_the_papers_normalised_numbers(small):
    numbers = np.random.default_rng(1).standard_normal(action_size(small, ActionKind.TABLE))
    in_unit_interval = (1.0 / (1.0 + np.exp(-numbers))).reshape(6, 6, 6, 3)
    expected = in_unit_interval / in_unit_interval.sum(axis=-1, keepdims=True)
    rule = rule_of(numbers, ActionKind.TABLE, small)
    assert isinstance(rule, TableRule)
    assert np.asarray(rule) == pytest.approx(expected, rel=1e-13)


def test_scores_are_scores(small):
    scores = np.random.default_rng(1).standard_normal(6)
    rule = rule_of(scores, ActionKind.SCORE, small)
    assert isinstance(rule, ScoreRule)
    assert np.array_equal(rule.scores, scores)


def test_actions_far_beyond_any_bound_still_differ(kind):
    """No clipping: what is sampled far out means something else than what is sampled near."""
    p = SystemParameters(buffer_size=1)
    action = np.zeros(action_size(p, kind))
    action[0] = -30.0
    near = np.asarray(rule_of(action, kind, p))
    action[0] = -31.0
    assert (np.asarray(rule_of(action, kind, p)) != near).any()


def test_a_batch_of_actions_is_a_batch_of_rules(small, kind):
    actions = np.random.default_rng(2).standard_normal((4, action_size(small, kind)))
    nu = np.random.default_rng(3).dirichlet(np.ones(6), size=4)
    batch = rule_of(actions, kind, small).arrival_rates(nu, 0.9)
    for row in range(4):
        assert np.array_equal(
            batch[row], rule_of(actions[row], kind, small).arrival_rates(nu[row], 0.9)
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(small, kind, bad):
    action = np.full(action_size(small, kind), 0.5)
    action[1] = bad
    with pytest.raises(InvalidInput, match="must be finite numbers"):
        rule_of(action, kind, small)


def test_a_table_too_large_is_refused():
    with pytest.raises(InvalidInput, match=re.escape("entries of a table must be at most 65536")):
        action_size(SystemParameters(num_choices=9), ActionKind.TABLE)


def test_an_unknown_kind_is_refused():
    with pytest.raises(InvalidInput, match="kind must be 'score' or 'table', got 'simplex'"):
        ActionKind("simplex")
