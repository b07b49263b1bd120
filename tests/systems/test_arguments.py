"""What no argument of the model and the systems may be: refused by its name in one line."""

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
    random_choice,
    score_rule,
    shortest_expected_delay,
    softmin,
)
from mfc_lb.model import as_decision_rule, matching_score_rule, sample_path
from mfc_lb.systems import (
    blocking_rate,
    epoch_by_expm,
    extended_rate_matrix,
    random_routing_drops,
    rate_paths,
    simulate_runs,
)
from tests.arguments import NUMBERS, kind_of, refused

P = SystemParameters()
POLICY, RULE, EMPTY = ConstantPolicy(random_choice(P)), random_choice(P), P.empty_distribution
SYSTEM, LIMIT, LEVELS = InfiniteAgentSystem(P, 5), MeanFieldSystem(P), np.zeros((2, 3), int)
STREAM = np.random.default_rng(1)
RUNS = {"num_epochs": 2, "num_runs": 2, "seed": 1}

#: No array of numbers: of another kind, with rows of different lengths, or beyond all that is.
ARRAYS = [
    "abc", ["1"] * 6, [True] * 6, [1j] * 6, [np.nan] * 6, [np.inf] * 6, [[1], [1, 2]], {0: 1},
    [10**400] * 6, {0.5}, [object()] * 6, [None] * 6, [10**400, 1.0, 0, 0, 0, 0],
    np.ma.array([1, 0, 0, 0, 0, 0], mask=[0, 1, 0, 0, 0, 0]),
]  # fmt: skip


COUNTS = {
    "num_epochs": lambda value: P.arrivals.sample_levels(value, STREAM),
    "num_epochs of a path": lambda value: sample_path(P.arrivals, value, STREAM),
    "num_epochs of runs": lambda value: rate_paths(P, value, 2, 1),
    "num_runs": lambda value: rate_paths(P, 2, value, 1),
    "num_epochs of drops": lambda value: random_routing_drops(P, value),
    "count": lambda value: P.arrivals.first_levels(value, STREAM),
    "buffer_size": lambda value: SystemParameters(buffer_size=value),
    "buffer_size of a queue": lambda value: blocking_rate(1.0, 1.0, value),
    "buffer_size of a matrix": lambda value: extended_rate_matrix(1.0, 1.0, value),
    "num_queues": lambda value: InfiniteAgentSystem(P, value),
    "num_queues of agents": lambda value: FiniteSystem(P, 10, value),
    "num_agents": lambda value: FiniteSystem(P, value, 10),
    "num_choices": lambda value: matching_score_rule([1.0] * 6, [1 / 6] * 6, value),
    "seed": lambda value: SYSTEM.simulate(POLICY, LEVELS[0], value),
    "seed of runs": lambda value: list(simulate_runs(SYSTEM, POLICY, LEVELS, value)),
    "seed of an evaluation": lambda value: evaluate(LIMIT, POLICY, **RUNS | {"seed": value}),
}
REALS = {
    "delta_t": lambda value: SystemParameters(delta_t=value),
    "delta_t of a matrix": lambda value: epoch_by_expm(1.0, 1.0, 5, value),
    "service_rate": lambda value: blocking_rate(1.0, value, 5),
    "service_rate of a matrix": lambda value: extended_rate_matrix(1.0, value, 5),
}
ASKED_FOR_AN_ARRAY = {
    "rates": lambda value: ArrivalProcess(rates=value),
    "kernel": lambda value: ArrivalProcess(kernel=value),
    "initial": lambda value: ArrivalProcess(initial=value),
    "service_rates": lambda value: SystemParameters(service_rates=value),
    "class_fractions": lambda value: SystemParameters(class_fractions=value),
    "levels of chains": lambda value: P.arrivals.next_levels(value, STREAM),
    "beta": lambda value: softmin(P, value),
    "scores": lambda value: score_rule(P, value),
    "decision_rule": lambda value: as_decision_rule(value, P),
    "rates to match": lambda value: matching_score_rule(value, [1 / 6] * 6, 2),
    "nu to match": lambda value: matching_score_rule([1.0] * 6, value, 2),
    "nu": lambda value: LIMIT.step(value, 0.9, RULE),
    "nu of an evaluation": lambda value: evaluate(LIMIT, POLICY, nu=value, **RUNS),
    "nu of queues": SYSTEM.initial_states,
    "arrival_rate": lambda value: LIMIT.step(EMPTY, value, RULE),
    "arrival_rate of a queue": lambda value: blocking_rate(value, 1.0, 5),
    "arrival_rate of a matrix": lambda value: extended_rate_matrix(value, 1.0, 5),
    "levels": lambda value: LIMIT.simulate(POLICY, value),
    "levels of queues": lambda value: SYSTEM.simulate(POLICY, value, 1),
    "levels of runs": lambda value: list(simulate_runs(SYSTEM, POLICY, value, 1)),
}
BY_NAME = {**COUNTS, **REALS}


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("value", NUMBERS, ids=kind_of)
def test_what_is_no_number_is_refused(name, value):
    assert refused(BY_NAME[name], value).startswith(name.split()[0])


@pytest.mark.parametrize("name", COUNTS)
def test_what_is_no_whole_number_is_refused(name):
    assert refused(COUNTS[name], 1.5).startswith(name.split()[0])


@pytest.mark.parametrize("name", ASKED_FOR_AN_ARRAY)
@pytest.mark.parametrize("value", ARRAYS, ids=kind_of)
def test_what_is_no_array_of_numbers_is_refused(name, value):
    assert refused(ASKED_FOR_AN_ARRAY[name], value).startswith(name.split()[0])


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: SYSTEM.simulate(POLICY, LEVELS, 1), "levels shape must be one of 1 axes"),
        (lambda: next(simulate_runs(SYSTEM, POLICY, [0], 1)), "levels shape must be one of 2"),
        (lambda: LIMIT.simulate(POLICY, [0], [[*EMPTY]]), "nu shape must be one that broadcasts"),
        (lambda: P.arrivals.next_levels([[0]], STREAM), "levels must be (n,) integers from 0"),
        (lambda: sample_path(P, 3, STREAM), "process must be an ArrivalProcess, got"),
        (lambda: as_decision_rule(RULE, 5), "parameters must be SystemParameters, got 5"),
        (lambda: matching_score_rule([[1.0]], [[1.0]], 2), "nu shape must be (S,), got (1, 1)"),
        (lambda: FiniteSystem(P, 9, 9, np.array(["a", "b"])), "routing must be 'per_packet' or"),
        (lambda: InfiniteAgentSystem(P, 9, distinct_queues=np.ones(2)), "distinct_queues must be"),
        (lambda: rate_paths(P, 10**9, 10**9, 1), "num_runs must be such that num_runs * num_ep"),
    ],
)
def test_what_does_not_fit_is_refused(ask, told):
    assert refused(lambda _: ask(), None).startswith(told)


def test_one_rate_for_a_batch_of_one_is_no_warning():
    nu, drops = LIMIT.step(EMPTY, [0.9], RULE)
    assert nu.shape == (1, 6)
    assert nu[0].tolist() == LIMIT.step(EMPTY, 0.9, RULE)[0].tolist()
    assert drops.shape == (1,)


FEW = "delta_t must be so short that fewer than 1e+09 events are expected at a queue in an epoch"


@pytest.mark.parametrize(
    "parameters",
    [
        *({"arrivals": ArrivalProcess.constant(rate)} for rate in (5e8, 1e18, 1e300, 1.7e308)),
        *({"service_rates": (rate,)} for rate in (1e9, 1e18, 1e300, 1.7e308)),
        *({"delta_t": time} for time in (1e9, 1e18, 1e300, 1.7e308)),
    ],
)
def test_an_epoch_with_too_many_events_is_refused(parameters):
    assert refused(lambda given: SystemParameters(**given), parameters).startswith(FEW)


@pytest.mark.parametrize("rate", [1e9, 1e18, 1e300, 1.7e308])
def test_a_rate_that_no_series_covers_is_refused(rate):
    told = refused(lambda value: LIMIT.step(EMPTY, [0.9, value], RULE), rate)
    assert told.startswith("delta_t must be shorter at arrival rates up to")


@pytest.mark.parametrize("rate", [0.0, 5e-324, 1e-300])
def test_hardly_any_arrivals_are_none(rate):
    p = SystemParameters(arrivals=ArrivalProcess.constant(rate))
    for system in (MeanFieldSystem(p), InfiniteAgentSystem(p, 4)):
        assert evaluate(system, POLICY, **RUNS).mean == 0.0


def test_delays_beyond_all_numbers_are_refused():
    p = SystemParameters(service_rates=(5e-324, 1.0), class_fractions=(0.5, 0.5))
    assert refused(shortest_expected_delay, p).startswith("service_rates must be such that delays")


def test_an_infinite_load_loses_all():
    assert blocking_rate(1.0, 5e-324, 5) == 1.0
