"""Balancers: what they choose, what they draw, and the same choices in and out of the simulator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfc_lb import ConstantPolicy, InvalidInput, SystemParameters, join_shortest_queue, softmin
from mfc_lb.cluster import (
    BALANCERS,
    ClusterParameters,
    Dispatcher,
    JoinShortestQueue,
    LeastLoaded,
    MeanFieldBalancer,
    Random,
    RoundRobin,
    Trace,
    simulate_cluster,
)

PARAMETERS = SystemParameters()
ANY = ConstantPolicy(softmin(PARAMETERS, 1.0))
MEAN_FIELD = MeanFieldBalancer(ANY, PARAMETERS)
ALL = [Random(), RoundRobin(), LeastLoaded(), JoinShortestQueue(3, distinct=True), MEAN_FIELD]


def decisions(balancer, jobs, cores, count, seed=1):
    dispatcher = Dispatcher(balancer, np.array(cores), seed)
    view = np.array(jobs, dtype=np.int64)
    return np.array([dispatcher.choose(view) for _ in range(count)])


def shares(balancer, jobs, cores, count=4000):
    return np.bincount(decisions(balancer, jobs, cores, count), minlength=len(jobs)) / count


def assert_shares(found, expected, count=4000):
    """Within 4.5 standard errors of the probabilities."""
    expected = np.asarray(expected)
    errors = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(found - expected) <= 4.5 * errors).all()


# --- what is chosen ---------------------------------------------------------------------------


def test_round_robin_goes_in_turns():
    assert decisions(RoundRobin(), [5, 0, 9], [1, 1, 1], 5).tolist() == [0, 1, 2, 0, 1]


def test_random_is_uniform_whatever_the_loads():
    assert_shares(shares(Random(), [9, 0, 0, 0], [1, 1, 1, 64]), [0.25] * 4)


@pytest.mark.parametrize(
    ("jobs", "cores", "best"),
    [
        ([3, 2, 4], [4, 4, 4], 1),
        ([1, 63], [1, 64], 1),  # 1 against 63/64
        ([0, 1], [1, 64], 0),
        ([2, 100], [1, 64], 1),
        ([3 * 10**15, 10**15 - 1], [3, 1], 1),  # as floats, both loads are equal
    ],
)
def test_load_is_jobs_over_cores(jobs, cores, best):
    """Jobs in service count; unequal cores are compared exactly."""
    assert set(decisions(LeastLoaded(), jobs, cores, 20)) == {best}
    assert set(decisions(JoinShortestQueue(2, distinct=True), jobs[:2], cores[:2], 20)) <= {0, 1}


def test_ties_are_broken_uniformly():
    """Also between unequal cores, and with a better one before or after."""
    assert_shares(shares(LeastLoaded(), [2, 1, 8, 2], [4, 1, 16, 4]), [1 / 3, 0, 1 / 3, 1 / 3])
    assert_shares(shares(LeastLoaded(), [0] * 5, [1] * 5), [0.2] * 5)


def test_ties_go_to_the_first_on_request():
    assert set(decisions(LeastLoaded("first"), [3, 1, 1], [1, 1, 1], 9)) == {1}
    assert set(decisions(JoinShortestQueue(3, True, "first"), [1, 1, 1], [1, 1, 1], 9)) == {0}


def test_power_of_two_with_and_without_replacement():
    """The best of three gets 1 - (2/3)², or 2/3; the worst 1/9, or nothing."""
    jobs, cores = [0, 1, 2], [1, 1, 1]
    assert_shares(shares(JoinShortestQueue(2), jobs, cores), [5 / 9, 3 / 9, 1 / 9])
    assert_shares(shares(JoinShortestQueue(2, distinct=True), jobs, cores), [2 / 3, 1 / 3, 0])


def test_distinct_samples_are_uniform():
    assert_shares(shares(JoinShortestQueue(3, distinct=True), [1] * 5, [1] * 5), [0.2] * 5)
    every = JoinShortestQueue(4, distinct=True)
    assert set(decisions(every, [5, 4, 0, 7], [1] * 4, 50)) == {2}


def test_a_tied_slot_counts_as_in_the_model():
    """JSQ by the model's rule and by the balancer: the same shares of work."""
    jobs, cores, count = [0, 0, 1, 3, 3], [1] * 5, 6_000
    rule = MeanFieldBalancer(ConstantPolicy(join_shortest_queue(PARAMETERS)), PARAMETERS)
    states = np.bincount(jobs, minlength=6)
    rates = join_shortest_queue(PARAMETERS).arrival_rates(states / 5, 1.0)[jobs] / 5
    for balancer in (rule, JoinShortestQueue(2)):
        dispatcher = Dispatcher(balancer, np.array(cores), 3)
        dispatcher.refresh(np.array(jobs), 0)
        view = np.array(jobs)
        chosen = [dispatcher.choose(view) for _ in range(count)]
        assert_shares(np.bincount(chosen, minlength=5) / count, rates, count)


# --- the mean-field balancer ------------------------------------------------------------------


def test_policy_sees_the_empirical_distribution_and_its_level():
    seen = []

    def policy(nu, level):
        seen.append((nu.tolist(), level))
        return join_shortest_queue(p)

    p = SystemParameters(buffer_size=2)
    balancer = MeanFieldBalancer(policy, p, levels=(1, 0))
    cluster = ClusterParameters((1,) * 4, refresh_interval_us=10)
    simulate_cluster(Trace.from_arrays([0, 1, 2, 9, 25], [100] * 5), cluster, balancer)
    assert seen[0] == seen[1] == ([1.0, 0.0, 0.0], 1)
    ((nu, level),) = seen[2:]
    assert level == 0  # the last one stays
    assert sum(nu) == 1.0
    assert nu != [1.0, 0.0, 0.0]


@pytest.mark.parametrize("interval", [0, 7])
def test_a_policy_is_asked_at_every_refresh(interval):
    """At every job if the view is fresh; a policy that never changes its mind need not be asked."""
    asked = []

    def policy(nu, _level):
        asked.append(nu)
        return ANY.rule

    trace = Trace.from_arrays(np.arange(0, 60, 2), [9] * 30)
    cluster = ClusterParameters((1, 2, 1), refresh_interval_us=interval)
    by_policy, by_rule = (
        simulate_cluster(trace, cluster, MeanFieldBalancer(each, PARAMETERS), seed=4)
        for each in (policy, ANY)
    )
    assert by_policy.worker.tolist() == by_rule.worker.tolist()
    # And once for the empty cluster, before anything happens.
    assert len(asked) == 1 + (30 if interval == 0 else 1 + 58 // 7)


def test_fillings_beyond_the_buffer_count_as_full_and_classes_are_told_apart():
    p = SystemParameters(buffer_size=2, service_rates=(1.0, 2.0), class_fractions=(0.5, 0.5))
    seen = []

    def policy(nu, _level):
        seen.append(nu.tolist())
        return join_shortest_queue(p)

    balancer = MeanFieldBalancer(policy, p, worker_classes=(0, 1))
    dispatcher = Dispatcher(balancer, np.array([1, 2]), 1)
    dispatcher.refresh(np.array([9, 1]), 3)
    assert seen[-1] == [0, 0, 0.5, 0, 0.5, 0]
    assert 1 in decisions(balancer, [9, 1], [1, 2], 9)


@pytest.mark.parametrize("jobs", [2, 3, 4, 99])
def test_a_worker_beyond_the_buffer_is_chosen_like_a_full_one(jobs):
    p = SystemParameters(buffer_size=2)
    balancer = MeanFieldBalancer(ConstantPolicy(join_shortest_queue(p)), p)
    assert_shares(shares(balancer, [jobs, 1], [1, 1], 1000), [1 / 4, 3 / 4], 1000)


def test_rules_of_another_shape_are_refused():
    other = ConstantPolicy(join_shortest_queue(SystemParameters(buffer_size=3)))
    balancer = MeanFieldBalancer(other, PARAMETERS)
    with pytest.raises(InvalidInput, match="decision_rule shape"):
        Dispatcher(balancer, np.array([1, 1]), 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LeastLoaded("last"), "tie_break must be 'uniform' or 'first'"),
        (lambda: JoinShortestQueue(0), "num_choices must be an integer >= 1"),
        (lambda: JoinShortestQueue(2, distinct=1), "distinct must be True or False"),
        (lambda: MeanFieldBalancer(3), "policy must be a policy"),
        (lambda: MeanFieldBalancer(ANY, 5), "parameters must be SystemParameters"),
        (lambda: MeanFieldBalancer(ANY, levels=()), "levels must be at least one"),
        (lambda: MeanFieldBalancer(ANY, levels=(2,)), "levels must be an integer"),
        (
            lambda: start(MeanFieldBalancer(ANY, worker_classes=(0,))),
            "worker_classes",
        ),
        (lambda: start(JoinShortestQueue(4, distinct=True)), "num_choices must be at most"),
    ],
)
def test_impossible_balancers_are_refused(make, message):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value).startswith(message)


def start(balancer):
    return Dispatcher(balancer, np.array([1, 1, 1]), 1)


# --- streams ----------------------------------------------------------------------------------


def untouched(generator, seed_copy):
    return generator.bit_generator.state == seed_copy.bit_generator.state


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(0, 9))
def test_a_decision_without_a_tie_draws_nothing_from_ties(jobs, seed):
    for balancer in (LeastLoaded(), JoinShortestQueue(2), JoinShortestQueue(len(jobs), True)):
        used, fresh = (Dispatcher(balancer, np.ones(len(jobs), int), seed) for _ in range(2))
        view = np.array(jobs)
        sample = used.choose(view)
        tied = jobs.count(jobs[sample]) > 1
        if not tied or (isinstance(balancer, LeastLoaded) and jobs.count(min(jobs)) == 1):
            assert untouched(used.ties, fresh.ties)
        elif isinstance(balancer, LeastLoaded):
            fresh.ties.random()
            assert untouched(used.ties, fresh.ties)


def test_least_loaded_draws_no_choices_and_random_no_ties():
    for balancer, name in ((LeastLoaded(), "choices"), (Random(), "ties"), (MEAN_FIELD, "ties")):
        used, fresh = (Dispatcher(balancer, np.ones(4, int), 1) for _ in range(2))
        for _ in range(10):
            used.choose(np.zeros(4, int))
        assert untouched(getattr(used, name), getattr(fresh, name))


def test_a_worker_sampled_twice_is_no_tie():
    used, fresh = (Dispatcher(JoinShortestQueue(3), np.ones(1, int), 1) for _ in range(2))
    used.choose(np.zeros(1, int))
    assert untouched(used.ties, fresh.ties)


@pytest.mark.parametrize("balancer", ALL, ids=lambda balancer: balancer.name)
def test_arrivals_are_the_same_whatever_the_balancer(balancer):
    trace = Trace.from_arrays([0, 0, 3, 5], [4, 2, 2, 0])
    table = simulate_cluster(trace, ClusterParameters((2, 1, 1)), balancer, seed=3).to_frame()
    assert table.job_id.tolist() == trace.job_id.tolist()
    assert table.arrival_time_us.tolist() == trace.arrival_time_us.tolist()


@pytest.mark.parametrize("balancer", ALL, ids=lambda balancer: balancer.name)
def test_dispatcher_repeats_what_the_simulator_decided(balancer):
    """What the live cluster will use decides as the compiled loop does."""
    generator = np.random.default_rng(5)
    trace = Trace.from_arrays(generator.integers(0, 300, 400), generator.integers(0, 20, 400))
    cores = (1, 4, 2, 64)
    result = simulate_cluster(trace, ClusterParameters(cores), balancer, seed=11)
    dispatcher = Dispatcher(balancer, np.array(cores), 11)
    jobs, chosen = np.zeros(4, dtype=np.int64), []
    for kind, _, _, worker, _ in result.log.to_frame().itertuples(index=False):
        if kind == "assigned":
            chosen.append(dispatcher.choose(jobs))
            jobs[worker] += 1
        elif kind == "finished":
            jobs[worker] -= 1
    assert chosen == result.worker.tolist()


@pytest.mark.parametrize("balancer", ALL, ids=lambda balancer: balancer.name)
def test_results_depend_on_the_seed_alone(balancer):
    trace = Trace.from_arrays(np.arange(60), [9] * 60)
    first, again, other = (
        simulate_cluster(trace, ClusterParameters(), balancer, seed=seed).worker.tolist()
        for seed in (1, 1, 2)
    )
    assert first == again
    assert (first != other) == balancer.is_random


def test_choices_are_not_the_draws_of_a_trace_with_the_same_seed():
    """`SeedSequence(seed).spawn` is what traces draw from."""
    taken = [np.random.default_rng(child) for child in np.random.SeedSequence(1).spawn(4)]
    dispatcher = Dispatcher(Random(), np.ones(2, int), 1)
    states = [generator.bit_generator.state for generator in taken]
    assert dispatcher.choices.bit_generator.state not in states
    assert dispatcher.ties.bit_generator.state not in states


def test_registry_names_every_balancer():
    assert {cls.name: cls for cls in BALANCERS.values()} == BALANCERS
    assert {type(balancer) for balancer in ALL} == set(BALANCERS.values())


class Turning(ConstantPolicy):
    """Changes its mind in the second interval."""

    def __call__(self, nu, level):
        return softmin(PARAMETERS, 0.0) if level else self.rule


@pytest.mark.parametrize("interval", [0, 7])
def test_a_subclass_of_a_constant_policy_is_asked_again(interval):
    """It decides as a function that does the same, and not as its base class."""
    turning = Turning(join_shortest_queue(PARAMETERS))
    trace = Trace.from_arrays(np.arange(0, 60, 2), [9] * 30)
    cluster = ClusterParameters((1, 2, 1), refresh_interval_us=interval)
    by_class, by_function, by_base = (
        simulate_cluster(trace, cluster, MeanFieldBalancer(policy, PARAMETERS, (0, 1)), seed=4)
        for policy in (turning, turning.__call__, ConstantPolicy(turning.rule))
    )
    assert by_class.worker.tolist() == by_function.worker.tolist() != by_base.worker.tolist()


@pytest.mark.parametrize("given", [{"levels": 5}, {"levels": None}, {"worker_classes": 5}], ids=str)
def test_what_is_no_list_is_refused(given):
    (name,) = given
    with pytest.raises(InvalidInput, match=f"{name} must be a sequence"):
        MeanFieldBalancer(ANY, PARAMETERS, **given)
