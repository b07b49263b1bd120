"""The compiled rates of score rules, their adjoint, and steps of many arrival chains."""

import numpy as np
import pytest

from mfc_lb.model import ArrivalProcess, ScoreRule, TableRule, matching_score_rule
from mfc_lb.model.score_rates import rivals, score_rates, score_rates_adjoint

SIZES = [(1, 4), (2, 6), (3, 5), (4, 3), (2, 1)]


def drawn(num_states, batch=(), seed=0, spread=1.0):
    generator = np.random.default_rng([seed, num_states])
    scores = spread * generator.standard_normal((*batch, num_states))
    return scores, generator.dirichlet(np.ones(num_states), size=batch or None)


@pytest.mark.parametrize(("num_choices", "num_states"), SIZES)
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e3, 1e150])
def test_rates_are_those_of_the_rules_table(num_choices, num_states, spread):
    scores, nu = drawn(num_states, spread=spread)
    expected = TableRule(np.asarray(ScoreRule(scores, num_choices))).arrival_rates(nu, 1.0)
    rates = score_rates(scores, nu, num_choices)
    assert rates == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert nu @ rates == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("num_choices", [1, 2, 3, 4])
def test_rates_are_defined_where_no_queue_is(num_choices):
    scores, _ = drawn(4)
    nu = np.array([0.0, 1.0, 0.0, 0.0])
    # Every rival is in state 1: a rate is d times the share against d − 1 of them.
    weights = np.exp(scores - scores[1])
    expected = num_choices * weights / (weights + num_choices - 1)
    assert score_rates(scores, nu, num_choices) == pytest.approx(expected, rel=1e-13)


def test_rivals_are_counted_with_their_orders():
    for num_choices, num_states in SIZES:
        multisets, orders = rivals(num_states, num_choices)
        assert orders.sum() == num_states ** (num_choices - 1)
        assert multisets.shape == (len(orders), num_choices - 1)


@pytest.mark.parametrize(("num_choices", "num_states"), SIZES)
def test_a_row_of_a_batch_is_what_it_is_alone(num_choices, num_states):
    scores, nu = drawn(num_states, batch=(3, 7))
    cotangent = np.random.default_rng(1).standard_normal(nu.shape)
    batch = score_rates(scores, nu, num_choices)
    adjoint = score_rates_adjoint(scores, nu, num_choices, cotangent)
    for row in np.ndindex(3, 7):
        assert np.array_equal(batch[row], score_rates(scores[row], nu[row], num_choices))
        alone = score_rates_adjoint(scores[row], nu[row], num_choices, cotangent[row])
        assert all(
            np.array_equal(whole[row], one) for whole, one in zip(adjoint, alone, strict=True)
        )


@pytest.mark.parametrize("count", [1, 5])
def test_one_rule_serves_many_distributions_and_the_other_way_round(count):
    scores, nu = drawn(6, batch=(count,))
    for one in range(count):
        many = score_rates(scores[one], nu, 2)
        assert np.array_equal(many, score_rates(np.tile(scores[one], (count, 1)), nu, 2))
        many = score_rates(scores, nu[one], 2)
        assert np.array_equal(many, score_rates(scores, np.tile(nu[one], (count, 1)), 2))


@pytest.mark.parametrize(("num_choices", "num_states"), SIZES)
@pytest.mark.parametrize("hole", [False, True], ids=["everywhere", "zeros in nu"])
def test_adjoint_equals_finite_differences(num_choices, num_states, hole):
    scores, nu = drawn(num_states, seed=2)
    if hole:
        nu[0] = 0.0
    cotangent = np.random.default_rng(3).standard_normal(num_states)
    per_score, per_nu = score_rates_adjoint(scores, nu, num_choices, cotangent)
    step = 1e-6

    def slope(change):
        """Central difference; the rates are polynomials in ν, on and off the simplex alike."""
        values = [
            cotangent @ score_rates(scores + sign * change[0], nu + sign * change[1], num_choices)
            for sign in (1.0, -1.0)
        ]
        return (values[0] - values[1]) / (2.0 * step)

    none = np.zeros(num_states)
    for state, unit in enumerate(step * np.eye(num_states)):
        assert per_score[state] == pytest.approx(slope((unit, none)), rel=1e-7, abs=1e-8)
        assert per_nu[state] == pytest.approx(slope((none, unit)), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("num_choices", [1, 2, 3, 4])
@pytest.mark.parametrize("spread", [1e3, 1e8, 1e300])
def test_adjoint_of_extreme_gaps_is_finite(num_choices, spread):
    scores = spread * np.array([1.0, -1.0, 0.0, 1.0, -0.5])
    nu = np.array([0.2, 0.3, 0.0, 0.1, 0.4])
    for part in score_rates_adjoint(scores, nu, num_choices, np.ones(5)):
        assert np.isfinite(part).all()


def test_adding_a_constant_to_all_scores_has_no_gradient():
    scores, nu = drawn(5, batch=(8,))
    cotangent = np.random.default_rng(4).standard_normal(nu.shape)
    per_score, _ = score_rates_adjoint(scores, nu, 3, cotangent)
    assert per_score.sum(axis=-1) == pytest.approx(np.zeros(8), abs=1e-14)


@pytest.mark.parametrize(("num_choices", "num_states"), [(2, 6), (3, 5), (3, 6), (4, 4)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scores_reach_the_rates_of_a_random_table_at_a_random_nu(num_choices, num_states, seed):
    generator = np.random.default_rng([seed, num_choices, num_states])
    table = generator.dirichlet(np.ones(num_choices), size=(num_states,) * num_choices)
    nu = generator.dirichlet(np.ones(num_states))
    wanted = TableRule(table).arrival_rates(nu, 1.0)
    match = matching_score_rule(wanted, nu, num_choices)
    assert score_rates(match.scores, nu, num_choices) == pytest.approx(wanted, abs=1e-10)


ARRIVALS = ArrivalProcess(
    (0.9, 0.6, 0.3), ((0.5, 0.5, 0.0), (0.0, 0.2, 0.8), (0.1, 0.1, 0.8)), (0.7, 0.0, 0.3)
)
COUNT = 40_000


def far_off(counts, chances):
    """Return whether frequencies differ from probabilities by more than five standard errors."""
    chances = np.asarray(chances)
    errors = np.sqrt(chances * (1.0 - chances) / counts.sum())
    return bool((np.abs(counts / counts.sum() - chances) > 5.0 * errors + 1e-15).any())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_first_and_next_levels_come_as_often_as_they_should(seed):
    generator = np.random.default_rng(seed)
    first = ARRIVALS.first_levels(COUNT, generator)
    assert not far_off(np.bincount(first, minlength=3), ARRIVALS.initial)
    present = np.repeat(np.arange(3), COUNT)
    following = ARRIVALS.next_levels(present, generator)
    for level, chances in enumerate(ARRIVALS.kernel):
        assert not far_off(np.bincount(following[present == level], minlength=3), chances)


def test_many_chains_use_one_draw_each():
    generator, same = (np.random.default_rng(5) for _ in range(2))
    levels = ARRIVALS.next_levels(ARRIVALS.first_levels(7, generator), generator)
    same.random(14)
    assert generator.random() == same.random()
    assert levels.shape == (7,)
    assert ARRIVALS.first_levels(0, generator).shape == (0,)
