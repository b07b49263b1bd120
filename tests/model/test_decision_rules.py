"""Decision rules: every formula against the definition of λ(s), summed tuple by tuple."""

import itertools
import re

import numpy as np
import pytest

from mfc_lb import (
    ConstantPolicy,
    InvalidInput,
    SystemParameters,
    join_shortest_queue,
    random_choice,
    score_rule,
    shortest_expected_delay,
    softmin,
)
from mfc_lb.model import PriorityRule, ScoreRule, TableRule, as_decision_rule, matching_score_rule
from mfc_lb.model.exponential_race import ExponentialRace

CASES = [(1, 1), (1, 4), (2, 2), (2, 6), (3, 4), (4, 3)]


def rates_by_definition(table, nu, arrival_rate):
    """λ(s) = λ Σ_k Σ_{s̄ : s̄_k = s} Π_{i≠k} ν(s̄_i) h(k|s̄), as it is written."""
    num_choices, num_states = table.shape[-1], table.shape[0]
    rates = np.zeros(num_states)
    for states in itertools.product(range(num_states), repeat=num_choices):
        for k in range(num_choices):
            others = np.prod([nu[states[i]] for i in range(num_choices) if i != k])
            rates[states[k]] += arrival_rate * others * table[states][k]
    return rates


def distinct_rates_by_definition(table, queue_states, arrival_rate):
    """Expected rate of each queue when an agent samples ordered tuples of distinct queues."""
    num_choices, num_queues = table.shape[-1], len(queue_states)
    rates, tuples = np.zeros(num_queues), 0
    for queues in itertools.permutations(range(num_queues), num_choices):
        tuples += 1
        shares = table[tuple(queue_states[j] for j in queues)]
        for k, queue in enumerate(queues):
            rates[queue] += shares[k]
    return arrival_rate * num_queues * rates / tuples


def random_table(num_states, num_choices, generator):
    table = generator.random((num_states,) * num_choices + (num_choices,))
    return table / table.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(("num_choices", "num_states"), CASES)
def test_table_rates_are_the_definition(num_choices, num_states):
    generator = np.random.default_rng(num_states)
    table = random_table(num_states, num_choices, generator)
    nu = generator.dirichlet(np.ones(num_states))
    expected = rates_by_definition(table, nu, 0.9)
    assert TableRule(table).arrival_rates(nu, 0.9) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("num_choices", "num_states"), CASES)
@pytest.mark.parametrize("kind", ["priority", "score"])
def test_compact_rules_have_the_rates_of_their_tables(kind, num_choices, num_states):
    generator = np.random.default_rng(num_states)
    keys = generator.integers(0, 3, num_states).astype(float)
    rule = PriorityRule(keys, num_choices) if kind == "priority" else ScoreRule(keys, num_choices)
    nu = generator.dirichlet(np.ones(num_states))
    expected = rates_by_definition(np.asarray(rule), nu, 0.7)
    assert rule.arrival_rates(nu, 0.7) == pytest.approx(expected, rel=1e-12)
    assert nu @ rule.arrival_rates(nu, 0.7) == pytest.approx(0.7, rel=1e-13)


@pytest.mark.parametrize("num_choices", [1, 2, 3])
@pytest.mark.parametrize("kind", ["table", "priority", "score"])
def test_distinct_queues_against_enumeration(kind, num_choices):
    generator = np.random.default_rng(num_choices)
    rule = {
        "table": TableRule(random_table(3, num_choices, generator)),
        "priority": PriorityRule([0, 1, 1], num_choices),
        "score": ScoreRule([0.0, -1.0, 2.0], num_choices),
    }[kind]
    queue_states = np.array([0, 0, 1, 1, 1, 2])
    counts = np.bincount(queue_states, minlength=3)
    expected = distinct_rates_by_definition(np.asarray(rule), queue_states, 0.9)
    rates = rule.distinct_arrival_rates(counts, 0.9)[queue_states]
    assert rates == pytest.approx(expected, rel=1e-12)
    assert rates.mean() == pytest.approx(0.9, rel=1e-12)


def test_rates_are_defined_where_no_queue_is():
    p = SystemParameters()
    rates = join_shortest_queue(p).arrival_rates(p.empty_distribution, 1.0)
    # All queues are empty: they share the packets; a lone fuller queue would get none, and a lone
    # emptier one cannot exist.
    assert rates.tolist() == [1, 0, 0, 0, 0, 0]


def test_jsq2_is_the_sum_of_two_tails():
    p = SystemParameters()
    nu = np.random.default_rng(1).dirichlet(np.ones(6))
    tails = np.append(np.cumsum(nu[::-1])[::-1], 0.0)
    rates = join_shortest_queue(p).arrival_rates(nu, 0.9)
    assert rates == pytest.approx(0.9 * (tails[:-1] + tails[1:]), rel=1e-14)


def test_random_choice_ignores_the_states():
    p = SystemParameters(num_choices=3)
    nu = np.random.default_rng(1).dirichlet(np.ones(6))
    assert random_choice(p).arrival_rates(nu, 0.9) == pytest.approx([0.9] * 6, rel=1e-14)
    assert np.unique(np.asarray(random_choice(p))).tolist() == [1 / 3]


def test_ties_are_split_evenly():
    rule = np.asarray(join_shortest_queue(SystemParameters(num_choices=3)))
    assert rule[2, 2, 2].tolist() == [1 / 3, 1 / 3, 1 / 3]
    assert rule[2, 1, 1].tolist() == [0.0, 0.5, 0.5]
    assert rule[0, 1, 2].tolist() == [1.0, 0.0, 0.0]


def test_sed_compares_delays_and_ties_equal_ones():
    p = SystemParameters(buffer_size=2, service_rates=(0.1, 0.2), class_fractions=(0.5, 0.5))
    rule = shortest_expected_delay(p)
    # delays 10, 20, 30 in the slow class, 5, 10, 15 in the fast one
    assert rule.group_of_state.tolist() == [1, 3, 4, 0, 1, 2]
    alike = shortest_expected_delay(SystemParameters())
    assert np.array_equal(alike, join_shortest_queue(SystemParameters()))


def test_softmin_between_random_and_jsq():
    p = SystemParameters(num_choices=3)
    assert np.asarray(softmin(p, 0.0)) == pytest.approx(np.asarray(random_choice(p)))
    assert np.asarray(softmin(p, 800.0)) == pytest.approx(np.asarray(join_shortest_queue(p)))
    table = np.asarray(softmin(p, 0.5))
    weights = np.exp(-0.5 * np.array([1, 3, 4]))
    assert table[1, 3, 4] == pytest.approx(weights / weights.sum(), rel=1e-14)


def test_adding_a_constant_to_scores_changes_nothing():
    p = SystemParameters()
    scores = np.array([0.3, 1.0, -2.0, 0.0, 0.5, 9.0])
    shifted = np.asarray(score_rule(p, scores + 100.0))
    assert shifted == pytest.approx(np.asarray(score_rule(p, scores)), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e150])
@pytest.mark.parametrize("num_choices", [1, 2, 3])
def test_extreme_scores_stay_finite_and_keep_the_flow(scale, num_choices):
    scores = scale * np.array([1.0, -1.0, 0.0, 1.0])
    nu = np.array([0.0, 0.25, 0.25, 0.5])
    rates = ScoreRule(scores, num_choices).arrival_rates(nu, 1.0)
    assert np.isfinite(rates).all()
    assert nu @ rates == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("num_choices", [1, 2, 3, 4])
@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0, 1000.0])
def test_the_exponential_race_equals_the_table(spread, num_choices):
    generator = np.random.default_rng(num_choices)
    scores = spread * generator.standard_normal(5)
    nu = generator.dirichlet(np.ones(5), size=3)
    nu[0] = [0, 0, 1, 0, 0]
    expected = ScoreRule(scores, num_choices).arrival_rates(nu, 1.0)
    assert ExponentialRace(scores, num_choices).rates(nu) == pytest.approx(expected, abs=1e-14)


def test_large_buffers_and_many_choices_need_no_table():
    p = SystemParameters(buffer_size=100, num_choices=4)
    nu = np.random.default_rng(1).dirichlet(np.ones(p.num_states))
    for rule in (join_shortest_queue(p), random_choice(p), softmin(p, 0.3)):
        assert nu @ rule.arrival_rates(nu, 0.9) == pytest.approx(0.9, rel=1e-12)
    with pytest.raises(InvalidInput, match=re.escape("decision rule as an array must be small")):
        np.asarray(softmin(p, 0.3))
    with pytest.raises(
        InvalidInput,
        match=re.escape("at most 1048576 outcomes of sampling, got (S+d-1 over d) = 4598126"),
    ):
        _ = softmin(p, 0.3).packet_split
    with pytest.raises(InvalidInput, match=re.escape("S^d <= 32768, got 101^4")):
        softmin(p, 0.3).distinct_arrival_rates(np.full(101, 10), 0.9)


def test_the_array_of_a_rule_is_a_copy():
    rule = TableRule(np.full((3, 3, 2), 0.5))
    np.array(rule)[0, 0] = [1.0, 0.0]
    assert rule[0, 0].tolist() == [0.5, 0.5]


def test_permuting_the_slots_of_a_table_changes_no_rate():
    generator = np.random.default_rng(3)
    table = random_table(4, 3, generator)
    swapped = np.swapaxes(table, 0, 2)[..., [2, 1, 0]]
    nu = generator.dirichlet(np.ones(4))
    first, second = (TableRule(t).arrival_rates(nu, 1.0) for t in (table, swapped))
    assert first == pytest.approx(second, rel=1e-13)


def test_a_batch_of_rules_and_distributions():
    generator = np.random.default_rng(4)
    tables = np.stack([random_table(4, 2, generator) for _ in range(3)])
    nu, rate = generator.dirichlet(np.ones(4), size=3), np.array([0.9, 0.6, 0.0])
    batch = TableRule(tables).arrival_rates(nu, rate)
    scores = generator.standard_normal((3, 4))
    score_batch = ScoreRule(scores, 2).arrival_rates(nu, rate)
    for row in range(3):
        assert (batch[row] == TableRule(tables[row]).arrival_rates(nu[row], rate[row])).all()
        single = ScoreRule(scores[row], 2).arrival_rates(nu[row], rate[row])
        assert (score_batch[row] == single).all()


@pytest.mark.parametrize(("num_choices", "num_states"), [(1, 3), (2, 6), (3, 5), (4, 3)])
def test_scores_reproduce_the_rates_of_any_table(num_choices, num_states):
    # The theorem: all that S^d·d numbers do to the system, S−1 scores do as well.
    generator = np.random.default_rng(num_choices)
    nu = generator.dirichlet(np.ones(num_states))
    table = TableRule(random_table(num_states, num_choices, generator))
    wanted = table.arrival_rates(nu, 1.0)
    match = matching_score_rule(wanted, nu, num_choices)
    assert match.arrival_rates(nu, 1.0) == pytest.approx(wanted, abs=1e-11)


def test_rates_that_no_rule_has_are_refused():
    # With d = 2 no state can receive more than twice its share.
    with pytest.raises(InvalidInput, match="rates must be the rates of some score rule"):
        matching_score_rule([2.5, 0.5, 0.5], [0.25, 0.25, 0.5], num_choices=2)
    with pytest.raises(InvalidInput, match="rates must be 1 on average over nu"):
        matching_score_rule([1.5, 1.5], [0.5, 0.5], num_choices=2)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((6, 6, 3)) / 3, "decision_rule shape must be (S,)*d + (d,)"),
        (np.ones((6, 5, 2)) / 2, "decision_rule shape must be (S,)*d + (d,)"),
        (np.ones((6, 6, 2)), "decision_rule must sum to 1 within 1e-09, got a sum of 2.0"),
        (np.full((6, 6, 2), np.nan), "decision_rule must be made of probabilities >= 0"),
        (np.stack([np.full((6, 6), 1.5), np.full((6, 6), -0.5)], -1), "probabilities >= 0"),
        ("jsq", "decision_rule must be numeric"),
        (1.0, "decision_rule shape"),
    ],
)
def test_wrong_tables_are_refused(table, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        as_decision_rule(table, SystemParameters())


def test_rules_of_other_parameters_are_refused():
    rule = join_shortest_queue(SystemParameters(buffer_size=4))
    with pytest.raises(InvalidInput, match=re.escape("decision_rule shape must be (6,)*2 + (2,)")):
        as_decision_rule(rule, SystemParameters())


@pytest.mark.parametrize("beta", [-1.0, float("nan"), float("inf"), "sharp"])
def test_wrong_beta_is_refused(beta):
    with pytest.raises(InvalidInput, match=r"beta must be a finite number >= 0"):
        softmin(SystemParameters(), beta)


@pytest.mark.parametrize("scores", [[1.0, 2.0], [np.nan] * 6, [np.inf] * 6, "low"])
def test_wrong_scores_are_refused(scores):
    with pytest.raises(InvalidInput, match="scores"):
        score_rule(SystemParameters(), scores)


@pytest.mark.parametrize(("buffer_size", "beta"), [(150_000, 1.0), (150_000, 40.0), (40_000, 2.0)])
def test_a_softmin_that_is_too_large_is_refused_before_memory_is_asked_for(buffer_size, beta):
    rule = softmin(SystemParameters(buffer_size=buffer_size), beta)
    nu = np.eye(1, buffer_size + 1)[0]
    with pytest.raises(InvalidInput, match="scores must be so few and so close together that"):
        rule.arrival_rates(nu, 1.0)


def test_an_error_in_an_array_of_the_user_reaches_the_user():
    class Faulty:
        def __array__(self, dtype=None, copy=None):
            raise ValueError("my own mistake")

    for make in (TableRule, ConstantPolicy):
        with pytest.raises(ValueError, match="my own mistake"):
            make(Faulty())


def test_a_softmin_of_a_large_buffer_works():
    p = SystemParameters(buffer_size=3000)
    nu = np.zeros(3001)
    nu[[0, 3000]] = 0.5
    rates = softmin(p, 1.0).arrival_rates(nu, 1.0)
    assert rates[[0, 3000]] == pytest.approx([1.5, 0.5], rel=1e-12)
