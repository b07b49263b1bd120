"""What other choices change: against closed forms, and against the same thing computed directly."""

import numpy as np
import pytest

from mfc_lb import ArrivalProcess, ConstantPolicy, MeanFieldSystem, SystemParameters
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import open_choices
from mfc_lb.experiments.cases import learned_policy, rate_paths
from mfc_lb.experiments.open_choices import MAPPINGS, Remapped
from mfc_lb.model import PriorityRule, join_shortest_queue, random_choice
from mfc_lb.systems import random_routing_drops


def drops(delta_t, policy, levels):
    system = MeanFieldSystem(SystemParameters(delta_t=delta_t))
    return system.simulate(policy, levels).drops.sum(axis=-1)


# --- the start --------------------------------------------------------------------------------


def test_another_start_changes_random_routing_as_its_linear_chain_says():
    found = open_choices.starting_level(10.0, 0.71, 2, seed=1).set_index("policy")

    def total(high):
        arrivals = ArrivalProcess(initial=(high, 1 - high))
        return random_routing_drops(SystemParameters(delta_t=10.0, arrivals=arrivals), 50).sum()

    assert found.estimate["RND"] == pytest.approx(total(0.71) / total(0.5) - 1, rel=1e-12)
    assert found.num_runs["RND"] == 0


def test_the_models_own_start_changes_nothing_and_the_opposite_start_the_opposite():
    own, high, low = (
        open_choices.starting_level(5.0, start, 20, seed=1).estimate for start in (0.5, 0.8, 0.2)
    )
    assert (own == 0).all()
    assert high.to_numpy() == pytest.approx(-low.to_numpy())
    assert (high > 0).all()


def test_a_start_that_is_no_probability_is_refused():
    with pytest.raises(InvalidInput, match=r"high_start must be a probability, got 1\.5"):
        open_choices.starting_level(5.0, 1.5, 2, seed=1)


# --- epochs, precision, ties ------------------------------------------------------------------


def test_the_number_of_epochs_is_rounded_half_to_even():
    found = open_choices.rounding_of_epochs((3.0, 8.0, 9.0, 10.0)).set_index("delta_t")
    assert found.epochs.tolist() == [167, 62, 56, 50]
    assert found.time.tolist() == [501, 496, 504, 500]
    exact = random_routing_drops(SystemParameters(delta_t=8.0), 63)
    assert found.last_epoch[8.0] == pytest.approx(exact.sum() / exact[:62].sum() - 1)
    assert found.last_epoch[10.0] == 0


def test_single_precision_is_seen_but_only_just():
    assert 1e-10 < open_choices.single_precision(5.0, 5, seed=1) < 1e-6


def test_the_first_of_the_tied_is_taken_for_certain_and_rates_stay():
    rule = open_choices.first_of_tied()
    table, jsq = np.asarray(rule), np.asarray(join_shortest_queue(SystemParameters()))
    ties = np.eye(6, dtype=bool)
    assert (table[ties] == [1, 0]).all()
    assert (table[~ties] == jsq[~ties]).all()
    assert open_choices.change_of_rates(rule) < 1e-14


def test_a_rule_that_differs_from_jsq_has_other_rates():
    other = open_choices.TableRule(np.asarray(random_choice(SystemParameters())))
    assert open_choices.change_of_rates(other) > 0.1


# --- actions ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def levels():
    return rate_paths(SystemParameters(delta_t=5.0), 3, seed=1)


def test_a_policy_read_as_it_was_trained_is_the_policy(levels):
    policy = learned_policy(5.0)
    same = Remapped(policy, lambda scores: scores)
    assert drops(5.0, same, levels) == pytest.approx(drops(5.0, policy, levels), rel=1e-12)


def test_the_likelier_choice_is_that_of_the_better_score():
    policy, nu = learned_policy(5.0), SystemParameters().empty_distribution
    certain = np.asarray(Remapped(policy, MAPPINGS["most_likely"])(nu, 0))
    expected = PriorityRule(-policy.action(nu, 0), num_choices=2)
    assert certain == pytest.approx(np.asarray(expected))


def test_shares_are_sigmoids_over_their_sum():
    policy, nu = learned_policy(5.0), SystemParameters().empty_distribution
    shares = np.asarray(Remapped(policy, MAPPINGS["shares"])(nu, 1))
    sigmoids = 1 / (1 + np.exp(-policy.action(nu, 1)))
    expected = sigmoids[:, None] / (sigmoids[:, None] + sigmoids)
    assert shares[..., 0] == pytest.approx(expected)


def test_what_another_reading_costs_is_the_difference_of_drops(levels):
    found = open_choices.other_mappings(5.0, 3, seed=1).set_index("choice").estimate
    policy = learned_policy(5.0)
    own = drops(5.0, policy, levels).mean()
    other = drops(5.0, Remapped(policy, MAPPINGS["most_likely"]), levels).mean()
    assert found["most_likely"] == pytest.approx(other / own - 1)


# --- objectives -------------------------------------------------------------------------------


def test_without_a_discount_and_with_as_many_epochs_both_objectives_are_one():
    found = open_choices.by_objective(1.0, 1.0, 5, seed=1).set_index("objective").estimate
    assert found["discounted"] == pytest.approx(found["total"], rel=1e-12)


def test_the_missing_return_is_a_geometric_mean_over_the_episode():
    gamma = 0.99
    expected = gamma * (1 - gamma**500) / (1 - gamma) / 500
    assert open_choices.missing_return(gamma) == pytest.approx(expected)
    assert open_choices.missing_return(1.0) == 1


# --- finite systems ---------------------------------------------------------------------------


def test_distinct_queues_are_less_of_random_routing(levels):
    p = SystemParameters(delta_t=5.0)
    jsq, rnd = (np.asarray(make(p)) for make in (join_shortest_queue, random_choice))
    pure = drops(5.0, ConstantPolicy(jsq), levels).mean()
    mixed = drops(5.0, ConstantPolicy(0.98 * jsq + 0.02 * rnd), levels).mean()
    found = open_choices.distinct_queues(5.0, 50, 3, seed=1)
    assert found.mean == pytest.approx(1 - mixed / pure)


def test_per_packet_is_exact():
    # The example of `random_drops_by_population`.
    expected = 42.411063 / 43.546059 - 1
    assert open_choices.per_packet(10.0, 50) == pytest.approx(expected, abs=1e-7)


def test_the_overview_has_every_choice_at_every_delay():
    table = open_choices.overview((5.0, 10.0), 0.71, 50, 5, seed=1)
    assert table.groupby("delta_t").size().tolist() == [7, 7]
    row = table.set_index(["delta_t", "choice"]).loc[(10.0, "per_packet")]
    assert row.estimate == open_choices.per_packet(10.0, 50)
    assert not table.isna().any(axis=None)
