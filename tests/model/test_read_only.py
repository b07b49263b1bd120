"""Nobody can edit what the library holds, caches or hands out, nor by what was handed in."""

import copy
import pickle

import numpy as np
import pytest

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    FiniteSystem,
    InfiniteAgentSystem,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    random_choice,
    score_rule,
    softmin,
)
from mfc_lb.model import PriorityRule, ScoreRule, TableRule
from mfc_lb.model.score_rates import rivals
from mfc_lb.systems.mean_field import MeanFieldSystem as Limit

P = SystemParameters(delta_t=2.0)
ARRAYS = {
    "fillings": lambda p: p.fillings,
    "service rates": lambda p: p.state_service_rates,
    "empty": lambda p: p.empty_distribution,
    "stationary": lambda p: p.arrivals.stationary,
    "scores": lambda p: softmin(p, 1.0).scores,
    "scores of a policy": lambda p: ConstantPolicy(softmin(p, 1.0))(p.empty_distribution, 0).scores,
    "rates of scores": lambda p: softmin(p, 1.0).rate_tensor,
    "rates of a table": lambda p: TableRule(softmin(p, 1.0)).rate_tensor,
    "ranks": lambda p: join_shortest_queue(p).group_of_state,
    "split": lambda p: join_shortest_queue(p).packet_split.cell_share,
    "split of scores": lambda p: softmin(p, 1.0).packet_split.cell_group,
    "rivals": lambda p: rivals(p.num_states, p.num_choices)[1],
    "coefficients": lambda p: Limit(p).propagator.coefficients,
    "drops": lambda p: _result(p).drops,
    "levels": lambda p: _result(p).levels,
    "trajectory": lambda p: Limit(p).simulate(_random(p), np.zeros(3, int)).distributions,
}
COPIES = {
    "itself": lambda value: value,
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),
    "copied": copy.copy,
    "deep": copy.deepcopy,
}


def _random(p):
    return ConstantPolicy(random_choice(p))


def _result(p):
    return evaluate(Limit(p), _random(p), num_epochs=3, num_runs=2, seed=1)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_an_array_that_is_handed_out_is_read_only(array, copied):
    p = SystemParameters()
    array(p)  # what is cached is in the copies, or would be
    found = array(copied(p))
    with pytest.raises(ValueError, match="read-only"):
        found[...] = 0


@pytest.mark.parametrize("copied", [COPIES["pickled"], COPIES["deep"]])
def test_copies_of_what_holds_arrays_are_read_only_too(copied):
    result, rule = copied(_result(P)), copied(softmin(P, 1.0))
    for array in (result.drops, result.levels, result.nu, rule.scores, rule.rate_tensor):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_scores_that_are_edited_later_are_another_rule():
    scores, rules = np.zeros(6), []
    for beta in (0.0, 1.0, 4.0):
        scores[:] = -beta * np.arange(6)
        rules.append(score_rule(P, scores))
    assert [-rule.scores[1] for rule in rules] == [0.0, 1.0, 4.0]


def test_tables_keys_and_arrivals_that_are_edited_later_change_nothing():
    table, keys, kernel = np.array(softmin(P, 1.0)), np.arange(6.0), np.full((2, 2), 0.5)
    rules = TableRule(table), PriorityRule(keys, 2), ArrivalProcess(kernel=kernel)
    nu = np.full(6, 1 / 6)
    before = [rule.arrival_rates(nu, 1.0).tolist() for rule in rules[:2]]
    table[...], keys[...], kernel[...] = 0.5, 0.0, (1.0, 0.0)
    assert [rule.arrival_rates(nu, 1.0).tolist() for rule in rules[:2]] == before
    assert rules[2].kernel == ((0.5, 0.5), (0.5, 0.5))


@pytest.mark.parametrize("system", [MeanFieldSystem(P), FiniteSystem(P, 100, 20)])
def test_a_policy_that_edits_what_it_sees_changes_no_physics(system):
    rule = softmin(P, 1.0)

    def vandal(nu, level):
        nu[...] = np.eye(6)[5]
        if np.ndim(level):
            level[...] = 0
        return rule

    runs = {"num_epochs": 10, "num_runs": 4, "seed": 1}
    tame, wild = (evaluate(system, policy, **runs) for policy in (ConstantPolicy(rule), vandal))
    assert tame.drops.tolist() == wild.drops.tolist()
    assert tame.levels.tolist() == wild.levels.tolist()


class VandalRule(ScoreRule):
    def arrival_rates(self, nu, arrival_rate):
        rates = super().arrival_rates(nu, arrival_rate)
        nu[...] = np.eye(6)[5]
        if np.ndim(arrival_rate):
            arrival_rate[...] = 0.0
        return rates

    def distinct_arrival_rates(self, counts, arrival_rate):
        rates = super().distinct_arrival_rates(counts, arrival_rate)
        counts[...] = 0
        return rates


@pytest.mark.parametrize(
    "system",
    [
        MeanFieldSystem(P),
        InfiniteAgentSystem(P, 20),
        InfiniteAgentSystem(P, 20, distinct_queues=True),
        FiniteSystem(P, 100, 20, "per_epoch"),
        FiniteSystem(P, 100, 20, "per_epoch", distinct_queues=True),
    ],
)
def test_a_rule_that_edits_what_it_sees_changes_no_physics(system):
    runs, scores = {"num_epochs": 10, "num_runs": 4, "seed": 1}, softmin(P, 1.0).scores
    rules = ScoreRule(scores, 2), VandalRule(scores, 2)
    tame, wild = (evaluate(system, ConstantPolicy(rule), **runs) for rule in rules)
    assert tame.drops.tolist() == wild.drops.tolist()


def test_a_rule_that_edits_what_it_sees_leaves_the_callers_arrays():
    nu, rate = np.tile(P.empty_distribution, (2, 1)), np.array([0.9, 0.6])
    MeanFieldSystem(P).step(nu, rate, VandalRule(np.zeros(6), 2))
    assert nu.tolist() == np.tile(P.empty_distribution, (2, 1)).tolist()
    assert rate.tolist() == [0.9, 0.6]


@pytest.mark.parametrize(
    "rule", [softmin(P, 1.0), join_shortest_queue(P), TableRule(softmin(P, 1.0))]
)
def test_a_policy_pickles_after_a_per_packet_run(rule):
    policy = ConstantPolicy(rule)
    runs = {"num_epochs": 3, "num_runs": 2, "seed": 1}
    before = evaluate(FiniteSystem(P, 50, 10), policy, **runs)
    evaluate(MeanFieldSystem(P), policy, **runs)
    after = evaluate(FiniteSystem(P, 50, 10), pickle.loads(pickle.dumps(policy)), **runs)
    assert before == after
