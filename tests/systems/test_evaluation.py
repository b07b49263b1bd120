"""Evaluation: results depend on (seed, run) alone, differences are paired, intervals cover."""

import re
from fractions import Fraction

import joblib
import numpy as np
import pytest

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
)
from mfc_lb.model import PriorityRule
from mfc_lb.systems import Estimate

PARAMETERS = SystemParameters(delta_t=2.0)
JSQ = ConstantPolicy(join_shortest_queue(PARAMETERS))
RND = ConstantPolicy(random_choice(PARAMETERS))
SYSTEMS = [
    MeanFieldSystem(PARAMETERS),
    InfiniteAgentSystem(PARAMETERS, 20),
    FiniteSystem(PARAMETERS, 100, 20, "per_packet"),
    FiniteSystem(PARAMETERS, 100, 20, "per_epoch"),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
def test_a_run_depends_on_seed_and_index_alone(system):
    few = evaluate(system, JSQ, num_epochs=15, num_runs=3, seed=7)
    many = evaluate(system, JSQ, num_epochs=15, num_runs=8, seed=7)
    parallel = evaluate(system, JSQ, num_epochs=15, num_runs=8, seed=7, processes=2)
    assert (few.drops == many.drops[:3]).all()
    assert (many.drops == parallel.drops).all()
    other = evaluate(system, JSQ, num_epochs=15, num_runs=3, seed=8)
    assert (few.drops != other.drops).any()
    longer = evaluate(system, JSQ, num_epochs=20, num_runs=3, seed=7)
    assert (few.levels == longer.levels[:, :15]).all()


def test_runs_are_different():
    result = evaluate(SYSTEMS[2], JSQ, num_epochs=20, num_runs=6, seed=1)
    assert len(np.unique(result.total_drops)) == 6
    assert len(np.unique(result.levels, axis=0)) == 6


def test_policies_and_systems_share_their_arrival_paths():
    levels = [
        evaluate(system, policy, num_epochs=30, num_runs=5, seed=3).levels
        for system in SYSTEMS
        for policy in (JSQ, RND)
    ]
    assert all((levels[0] == other).all() for other in levels)


def test_drops_are_per_queue_and_epoch():
    result = evaluate(SYSTEMS[2], RND, num_epochs=15, num_runs=4, seed=1)
    assert result.drops.shape == result.levels.shape == (4, 15)
    assert result.total_drops == pytest.approx(result.drops.sum(axis=1))
    assert result.mean == pytest.approx(result.total_drops.mean())
    error = result.total_drops.std(ddof=1) / 2
    assert result.standard_error == pytest.approx(error)
    # Student's 97.5 % quantile with three degrees of freedom is 3.182446.
    low, high = result.interval(0.95)
    assert high - low == pytest.approx(2 * 3.182446 * error, rel=1e-6)


def test_pairing_makes_differences_more_precise():
    jsq, rnd = (
        evaluate(SYSTEMS[0], policy, num_epochs=100, num_runs=50, seed=2) for policy in (JSQ, RND)
    )
    paired = jsq.difference(rnd)
    assert paired.mean == pytest.approx(jsq.mean - rnd.mean)
    unpaired = np.hypot(jsq.standard_error, rnd.standard_error)
    assert paired.standard_error < 0.8 * unpaired
    with pytest.raises(InvalidInput, match="other must be evaluated on the same paths"):
        jsq.difference(evaluate(SYSTEMS[0], RND, num_epochs=100, num_runs=50, seed=3))


def test_intervals_cover_as_often_as_they_say():
    generator = np.random.default_rng(1)
    samples = generator.normal(size=(4000, 5))
    hits = sum(low < 0 < high for low, high in (Estimate.of(s).interval(0.9) for s in samples))
    assert abs(hits / 4000 - 0.9) < 5 * np.sqrt(0.09 / 4000)


def test_a_single_run_has_no_standard_error():
    result = evaluate(SYSTEMS[0], JSQ, num_epochs=3, num_runs=1, seed=1)
    assert np.isnan(result.standard_error)
    assert np.isnan(result.interval()).all()


def test_the_initial_distribution_is_used():
    full = np.eye(6)[5]
    for system in SYSTEMS:
        empty_start = evaluate(system, RND, num_epochs=1, num_runs=3, seed=1)
        full_start = evaluate(system, RND, num_epochs=1, num_runs=3, seed=1, nu=full)
        assert (full_start.drops > empty_start.drops).all()


def test_policies_may_return_arrays_and_use_what_they_see():
    table = np.asarray(JSQ.rule)
    seen = []

    def policy(nu, level):
        seen.append((nu.shape, int(level)))
        return table

    system = FiniteSystem(PARAMETERS, 100, 20)
    ours = evaluate(system, policy, num_epochs=5, num_runs=1, seed=1)
    assert seen == [((6,), level) for level in ours.levels[0]]


def test_one_level_and_many_levels():
    arrivals = ArrivalProcess((0.2, 0.5, 1.4), np.full((3, 3), 1 / 3), (0, 0, 1))
    p = SystemParameters(arrivals=arrivals)
    result = evaluate(
        MeanFieldSystem(p), ConstantPolicy(random_choice(p)), num_epochs=9, num_runs=2, seed=1
    )
    assert (result.levels[:, 0] == 2).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_epochs": 0}, "num_epochs must be an integer >= 1 and <= 1000000000, got 0"),
        ({"num_runs": 0}, "num_runs must be an integer >= 1 and <= 1000000000, got 0"),
        ({"num_runs": 2.5}, "num_runs must be an integer >= 1 and <= 1000000000, got 2.5"),
        ({"seed": -1}, "seed must be an integer >= 0, got -1"),
        ({"seed": None}, "seed must be an integer >= 0, got None"),
        ({"processes": 0}, "processes must be an integer >= 1, or -1 for every core, got 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    given = {"num_epochs": 2, "num_runs": 2, "seed": 1} | arguments
    with pytest.raises(InvalidInput, match=re.escape(message)):
        evaluate(SYSTEMS[1], JSQ, **given)


def test_a_rule_is_not_a_policy():
    with pytest.raises(InvalidInput, match=r"policy must be a policy, such as ConstantPolicy"):
        evaluate(SYSTEMS[1], random_choice(PARAMETERS), num_epochs=2, num_runs=2, seed=1)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.array, Fraction])
def test_confidence_is_any_kind_of_number(kind):
    estimate = Estimate(0.0, 1.0, 5)
    assert estimate.interval(kind(0.75)) == estimate.interval(0.75)


@pytest.mark.parametrize("samples", [[], 1.0, [[1.0, 2.0]], ["1"], [1j], [True]])
def test_what_are_no_samples_is_refused(samples):
    with pytest.raises(InvalidInput, match=r"^samples"):
        Estimate.of(samples)


@pytest.mark.parametrize("confidence", [0, 1.0, 95, np.nan, "high", 0.5j, True, [0.5]])
def test_wrong_confidence_is_refused(confidence):
    with pytest.raises(InvalidInput, match="confidence must be a number strictly between"):
        Estimate(0.0, 1.0, 5).interval(confidence)


@pytest.mark.parametrize(
    ("processes", "num_runs", "cores", "started"),
    [(1000, 50, 4, 4), (3, 50, 4, 3), (-1, 50, 4, 4), (1000, 2, 4, 2), (1, 50, 4, 1)],
)
def test_no_more_processes_than_cores_and_runs(processes, num_runs, cores, started, monkeypatch):
    asked, parallel = [], joblib.Parallel

    def recorded(n_jobs, **options):
        asked.append(n_jobs)
        return parallel(n_jobs=1, **options)

    monkeypatch.setattr(joblib, "cpu_count", lambda: cores)
    monkeypatch.setattr(joblib, "Parallel", recorded)
    evaluate(SYSTEMS[1], JSQ, num_epochs=1, num_runs=num_runs, seed=1, processes=processes)
    assert asked == [started]


@pytest.mark.parametrize("system", [FiniteSystem, MeanFieldSystem, PARAMETERS, None])
def test_what_is_no_system_is_refused(system):
    with pytest.raises(InvalidInput, match=r"system must be a system, such as MeanFieldSystem\("):
        evaluate(system, JSQ, num_epochs=2, num_runs=2, seed=1)


def test_the_class_of_policies_is_no_policy():
    with pytest.raises(InvalidInput, match="policy must be a policy, such as"):
        evaluate(SYSTEMS[1], ConstantPolicy, num_epochs=2, num_runs=2, seed=1)


def test_a_simulation_takes_an_integer_or_a_sequence_and_depends_on_it_alone():
    levels, sequence = np.zeros(9, int), np.random.SeedSequence(7)
    for system in SYSTEMS[1:]:
        runs = [system.simulate(JSQ, levels, seed) for seed in (7, 7, sequence, sequence)]
        assert len(set(runs)) == 1
        assert system.simulate(JSQ, levels, 8) != runs[0]
    child = sequence.spawn(1)[0]
    once, again = (SYSTEMS[1].simulate(JSQ, levels, child) for _ in range(2))
    assert once == again != SYSTEMS[1].simulate(JSQ, levels, 7)


@pytest.mark.parametrize("seed", [None, -1, 1.5, "1", np.random.default_rng(1)])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match="seed must be an integer >= 0, got"):
        SYSTEMS[1].simulate(JSQ, np.zeros(2, int), seed)


class Faulty(PriorityRule):
    """A user's rule with a fault of its own."""

    def arrival_rates(self, nu, arrival_rate):
        raise ValueError("my own mistake")


@pytest.mark.parametrize("system", SYSTEMS[:2], ids=lambda s: type(s).__name__)
def test_an_error_in_a_rule_of_the_user_reaches_the_user(system):
    policy = ConstantPolicy(Faulty(np.arange(6), 2))
    with pytest.raises(ValueError, match="my own mistake"):
        evaluate(system, policy, num_epochs=2, num_runs=2, seed=1)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
def test_an_error_in_a_policy_of_the_user_reaches_the_user(system):
    def policy(*_):
        raise ValueError("my own mistake")

    with pytest.raises(ValueError, match="my own mistake"):
        evaluate(system, policy, num_epochs=2, num_runs=2, seed=1)


def test_rules_that_do_not_broadcast_are_refused_in_words():
    table = np.zeros((4, 6))
    with pytest.raises(InvalidInput, match=r"batches of nu \(3,\).* must broadcast"):
        evaluate(
            SYSTEMS[0], lambda *_: score_rule(PARAMETERS, table), num_epochs=2, num_runs=3, seed=1
        )
