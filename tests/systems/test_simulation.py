"""Finite and infinite-agent systems: exact laws, conservation, agents one by one, limits."""

import re

import numpy as np
import pytest
import scipy.stats

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    FiniteSystem,
    InfiniteAgentSystem,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    random_choice,
    score_rule,
    softmin,
)
from mfc_lb.systems import epoch_by_expm
from mfc_lb.systems.finite import spread_picks
from mfc_lb.systems.queue_system import serve_epoch

SEEDS = (1, 2, 3)


def systems(p, num_queues=50):
    return [
        FiniteSystem(p, 200, num_queues, "per_packet"),
        FiniteSystem(p, 200, num_queues, "per_epoch"),
        FiniteSystem(p, 200, num_queues, "per_epoch", distinct_queues=True),
        InfiniteAgentSystem(p, num_queues),
        InfiniteAgentSystem(p, num_queues, distinct_queues=True),
    ]


def loads_agent_by_agent(rule, states, num_agents, routing, generator, *, distinct=False):
    """Each agent samples, looks and chooses by itself, as the model says it."""
    table, num_choices = np.asarray(rule), rule.num_choices
    loads = np.zeros(len(states))
    for _ in range(num_agents):
        queues = generator.choice(len(states), num_choices, replace=not distinct)
        shares = table[tuple(states[queues])]
        if routing == "per_packet":
            np.add.at(loads, queues, shares)
        else:
            loads[queues[generator.choice(num_choices, p=shares)]] += 1
    return loads


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule_name", ["jsq", "softmin", "random"])
@pytest.mark.parametrize(
    ("routing", "distinct"), [("per_packet", False), ("per_epoch", False), ("per_epoch", True)]
)
def test_rates_have_the_law_of_single_agents(seed, rule_name, routing, distinct):
    """Means, variances and covariances of the queues' loads equal those of agents one by one."""
    p = SystemParameters(buffer_size=2)
    rules = {"jsq": join_shortest_queue(p), "softmin": softmin(p, 0.8), "random": random_choice(p)}
    rule = rules[rule_name]
    states, num_agents, repeats = np.array([0, 0, 0, 1, 1, 2]), 7, 4000
    system = FiniteSystem(p, num_agents, 6, routing, distinct_queues=distinct)
    counts = np.bincount(states, minlength=3)
    ours, plain = np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    per_agent = 6 / num_agents
    fast = np.stack(
        [system._queue_rates(states, counts, 1.0, rule, ours) / per_agent for _ in range(repeats)]
    )
    slow = np.stack(
        [
            loads_agent_by_agent(rule, states, num_agents, routing, plain, distinct=distinct)
            for _ in range(repeats // 4)
        ]
    )
    assert fast.sum(axis=1) == pytest.approx(num_agents)
    for moment in (lambda x: x, lambda x: x**2, lambda x: x * np.roll(x, 1, axis=1)):
        first, second = moment(fast), moment(slow)
        error = np.sqrt(first.var(axis=0) / len(first) + second.var(axis=0) / len(second))
        assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) < 5 * error + 1e-12).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("picks", [10, 500])
def test_picks_are_spread_uniformly(seed, picks):
    # Below and above the number at which binomial draws replace single throws.
    states, generator = np.repeat([0, 1], [4, 3]), np.random.default_rng(seed)
    group = np.array([0, 1])
    loads = np.stack(
        [
            spread_picks(states, group, np.array([picks, 0]), group, np.ones(2), generator)
            for _ in range(3000)
        ]
    )
    assert (loads[:, 4:] == 0).all()
    assert (loads.sum(axis=1) == picks).all()
    variance = picks * 0.25 * 0.75
    assert np.abs(loads[:, :4].mean(axis=0) - picks / 4).max() < 5 * np.sqrt(variance / 3000)
    spread = loads[:, :4].var(axis=0)
    assert np.abs(spread / variance - 1).max() < 5 * np.sqrt(2 / 3000) * 1.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_queue_over_an_epoch_has_its_exact_law(seed):
    rate, service, delta_t, size, repeats = 1.4, 1.0, 2.5, 3, 100_000
    states = np.full(repeats, 2)
    arrivals, departures, drops = serve_epoch(
        states, np.full(repeats, rate), np.array([service]), size, delta_t,
        np.random.default_rng(seed),
    )  # fmt: skip
    exact = epoch_by_expm(rate, service, size, delta_t)[:, 2]
    observed = np.bincount(states, minlength=size + 1)
    assert scipy.stats.chisquare(observed, repeats * exact[:-1]).pvalue > 1e-6
    # Drops are at most the arrivals, whose variance bounds theirs.
    assert abs(drops / repeats - exact[-1]) < 5 * np.sqrt(2 * rate * delta_t / repeats)
    assert abs(arrivals / repeats - rate * delta_t) < 5 * np.sqrt(rate * delta_t / repeats)
    assert arrivals - drops - departures == (states - 2).sum()


@pytest.mark.parametrize("index", range(5))
def test_conservation_in_every_epoch(index):
    p = SystemParameters(4, 2, (1.0, 0.5), (0.5, 0.5), delta_t=3.0)
    system = systems(p)[index]
    levels = np.random.default_rng(1).integers(0, 2, 60)
    path = system.simulate(ConstantPolicy(softmin(p, 1.0)), levels, np.random.SeedSequence(1))
    filling = path.distributions @ p.fillings
    growth = np.diff(filling)
    served = path.arrivals - path.departures - path.drops
    assert served == pytest.approx(growth, abs=1e-12)
    assert path.distributions.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    halves = path.distributions.reshape(61, 2, 5).sum(axis=2)
    assert halves == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("index", range(5))
def test_no_arrivals_means_no_packets(index):
    p = SystemParameters(arrivals=ArrivalProcess.constant(0.0))
    path = systems(p)[index].simulate(
        ConstantPolicy(join_shortest_queue(p)), np.zeros(5, dtype=int), np.random.SeedSequence(1)
    )
    assert (path.arrivals == 0).all()
    assert (path.drops == 0).all()
    assert (path.distributions[:, 0] == 1).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("routing", ["per_packet", "per_epoch"])
def test_a_large_system_follows_the_mean_field(seed, routing):
    p = SystemParameters(delta_t=3.0)
    policy, levels = ConstantPolicy(join_shortest_queue(p)), np.array([0, 0, 1, 0, 1, 1])
    limit = MeanFieldSystem(p).simulate(policy, levels)
    system = FiniteSystem(p, 10**10, 40_000, routing)
    path = system.simulate(policy, levels, np.random.SeedSequence(seed))
    # Fluctuations of a fraction over M queues are at most 1/(2√M); they grow along the path a bit.
    assert np.abs(path.distributions - limit.distributions).max() < 5 * 0.5 / np.sqrt(40_000)
    assert np.abs(path.drops - limit.drops).max() < 5 * np.sqrt(3 * 0.9 / 40_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_many_agents_equal_infinitely_many(seed):
    p = SystemParameters(delta_t=2.0)
    policy = ConstantPolicy(join_shortest_queue(p))
    options = {"num_epochs": 40, "num_runs": 60, "seed": seed}
    infinite = evaluate(InfiniteAgentSystem(p, 30), policy, **options)
    for routing in ("per_packet", "per_epoch"):
        finite = evaluate(FiniteSystem(p, 10**8, 30, routing), policy, **options)
        difference = finite.difference(infinite)
        assert abs(difference.mean) < 5 * difference.standard_error


def test_few_agents_make_whole_steps():
    # One agent with a choice per epoch sends everything to one queue.
    p = SystemParameters()
    system = FiniteSystem(p, 1, 10, "per_epoch")
    states, generator = np.zeros(10, dtype=int), np.random.default_rng(1)
    counts = np.bincount(states, minlength=6)
    rates = system._queue_rates(states, counts, 0.9, random_choice(p), generator)
    assert sorted(rates.tolist()) == [0.0] * 9 + [9.0]


def test_huge_numbers_of_agents_and_queues_run():
    p = SystemParameters(10, 3, (1.0, 0.5, 2.0), (0.2, 0.3, 0.5), delta_t=1.0)
    policy = ConstantPolicy(join_shortest_queue(p))
    for routing in ("per_packet", "per_epoch"):
        system = FiniteSystem(p, 2**53, 10_000, routing)
        path = system.simulate(policy, np.zeros(3, dtype=int), np.random.SeedSequence(1))
        assert path.arrivals.sum() == pytest.approx(3 * 0.9, rel=0.05)


def test_splitting_a_class_in_two_equal_ones_changes_nothing():
    single = SystemParameters(3, 2, delta_t=2.0)
    double = SystemParameters(3, 2, (1.0, 1.0), (0.5, 0.5), delta_t=2.0)
    levels = np.zeros(30, dtype=int)
    one, two = (
        MeanFieldSystem(p).simulate(ConstantPolicy(join_shortest_queue(p)), levels)
        for p in (single, double)
    )
    assert two.drops == pytest.approx(one.drops, rel=1e-12)


def test_queues_are_apportioned_by_largest_remainders():
    p = SystemParameters(1, 2, (1.0, 0.5, 2.0), (0.5, 0.3, 0.2))
    counts = np.bincount(InfiniteAgentSystem(p, 7).initial_states(), minlength=6)
    assert counts.tolist() == [4, 0, 2, 0, 1, 0]
    nu = [0.25, 0.25, 0.3, 0.0, 0.0, 0.2]
    counts = np.bincount(InfiniteAgentSystem(p, 20).initial_states(nu), minlength=6)
    assert counts.tolist() == [5, 5, 6, 0, 0, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_agents": 0}, "num_agents must be an integer >= 1 and <= 9007199254740992, got 0"),
        ({"num_agents": 2**53 + 1}, "num_agents must be an integer >= 1"),
        ({"num_agents": 1e6}, "num_agents must be an integer >= 1"),
        ({"num_queues": 0}, "num_queues must be an integer >= 1 and <= 100000000, got 0"),
        ({"num_queues": -5}, "num_queues must be an integer >= 1 and <= 100000000, got -5"),
        ({"routing": "per_hour"}, "routing must be 'per_packet' or 'per_epoch', got 'per_hour'"),
        ({"distinct_queues": True}, "routing must be 'per_epoch' when distinct_queues is True"),
        ({"distinct_queues": 1}, "distinct_queues must be True or False, got 1"),
        (
            {"num_queues": 1, "distinct_queues": True, "routing": "per_epoch"},
            "num_queues must be an integer >= 2 and <= 100000000, got 1",
        ),
        ({"parameters": 5}, "parameters must be SystemParameters, got 5"),
        # Where single events are too many to simulate, numbers would silently be wrong.
        (
            {"parameters": SystemParameters(arrivals=ArrivalProcess.constant(1e8))},
            "delta_t must be so short that fewer than 1e+09 events are expected",
        ),
    ],
)
def test_wrong_systems_are_refused(arguments, message):
    given = {"parameters": SystemParameters(), "num_agents": 100, "num_queues": 10} | arguments
    with pytest.raises(InvalidInput, match=re.escape(message)):
        FiniteSystem(**given)


@pytest.mark.parametrize("levels", [[7], [-1], [0.5], 0, "high"])
def test_levels_that_there_are_not_are_refused(levels):
    p = SystemParameters()
    policy, seed = ConstantPolicy(random_choice(p)), np.random.SeedSequence(1)
    for simulate in (
        MeanFieldSystem(p).simulate,
        lambda policy, levels: InfiniteAgentSystem(p, 5).simulate(policy, levels, seed),
    ):
        with pytest.raises(InvalidInput, match="levels must be paths of integers from 0 to 1"):
            simulate(policy, levels)


def test_no_epochs_are_no_drops():
    p = SystemParameters()
    policy, none = ConstantPolicy(random_choice(p)), np.zeros(0, dtype=int)
    assert MeanFieldSystem(p).simulate(policy, none).drops.shape == (0,)
    finite = InfiniteAgentSystem(p, 5).simulate(policy, none, np.random.SeedSequence(1))
    assert finite.drops.shape == (0,)


def test_a_policy_cannot_change_the_past():
    p = SystemParameters()

    def vandal(nu, level):  # noqa: ARG001
        nu[:] = 0.0
        return random_choice(p)

    path = InfiniteAgentSystem(p, 5).simulate(vandal, [0, 0], np.random.SeedSequence(1))
    assert path.distributions.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("index", range(5))
def test_a_batch_of_rules_is_refused(index):
    p = SystemParameters()
    for batch in (score_rule(p, np.zeros((3, 6))), np.full((3, 6, 6, 2), 0.5)):
        policy, levels = ConstantPolicy(batch), np.zeros(2, dtype=int)
        with pytest.raises(InvalidInput, match="decision_rule shape must be that of one rule"):
            systems(p)[index].simulate(policy, levels, np.random.SeedSequence(1))


def test_wrong_initial_distributions_are_refused():
    p = SystemParameters()
    for nu in ([1.0], [0.5] * 6, [2.0, -1.0, 0, 0, 0, 0], [np.nan] * 6):
        with pytest.raises(InvalidInput, match=r"nu (must|shape)"):
            InfiniteAgentSystem(p, 10).initial_states(nu)
