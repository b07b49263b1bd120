"""The split of a per-packet agent's rate: its mean is λ(s), its law is that of single agents."""

import itertools

import numpy as np
import pytest

from mfc_lb.model import PriorityRule, ScoreRule, TableRule

RULES = {
    "priority": PriorityRule([0, 1, 1, 2], 2),
    "priority, d=3": PriorityRule([0, 1, 1, 2], 3),
    "score": ScoreRule([0.0, -1.0, 0.5, 0.5], 2),
    "score, d=3": ScoreRule([0.0, -1.0, 0.5, 0.5], 3),
    "score, d=1": ScoreRule([0.0, -1.0, 0.5, 0.5], 1),
    "table": TableRule(np.random.default_rng(1).dirichlet([1, 1, 1], size=(4, 4, 4))),
}


@pytest.mark.parametrize("name", RULES)
def test_expected_picks_give_the_arrival_rates(name):
    rule, nu = RULES[name], np.array([0.1, 0.2, 0.3, 0.4])
    split = rule.packet_split
    chances = split.probabilities(nu)
    assert chances.sum() == pytest.approx(1.0, rel=1e-13)
    flow = np.zeros(split.group_of_state.max() + 1)
    per_outcome = chances[split.outcome] * split.multiplicity * split.cell_share[split.cell]
    np.add.at(flow, split.cell_group[split.cell], per_outcome)
    rates = rule.arrival_rates(nu, 1.0)
    expected = np.bincount(split.group_of_state, weights=nu * rates)
    assert flow == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_second_moments_are_those_of_single_agents(name):
    # E[Σ_k share_k²] decides how noisy a queue's rate is; the mean alone would not catch an error.
    rule, nu = RULES[name], np.array([0.1, 0.2, 0.3, 0.4])
    table, split = np.asarray(rule), rule.packet_split
    expected = sum(
        np.prod(nu[list(states)]) * (table[states] ** 2).sum()
        for states in itertools.product(range(4), repeat=rule.num_choices)
    )
    chances = split.probabilities(nu)
    per_outcome = chances[split.outcome] * split.multiplicity * split.cell_share[split.cell] ** 2
    assert per_outcome.sum() == pytest.approx(expected, rel=1e-12)


def test_picks_count_every_slot():
    split = PriorityRule([0, 0], 3).packet_split
    # One group: outcomes are 1, 2 or 3 ties; every agent ties three times.
    picks = split.picks(np.array([0, 0, 7]))
    assert picks.tolist() == [0, 0, 21]
    assert split.cell_share.tolist() == [1.0, 0.5, 1 / 3]
