"""One contract for three systems: how a policy is asked, and where levels come from."""

import numpy as np
import pytest

from mfc_lb import (
    ArrivalProcess,
    FiniteSystem,
    InfiniteAgentSystem,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    check_policy,
    evaluate,
    join_shortest_queue,
    load_policy,
    random_choice,
    score_rule,
    softmin,
)
from mfc_lb.model import ConstantPolicy, LevelPaths, sample_path
from mfc_lb.systems import random_routing_drops

P = SystemParameters(delta_t=2.0)
BETAS = np.array([0.4, 1.0])
SYSTEMS = [MeanFieldSystem(P), InfiniteAgentSystem(P, 20), FiniteSystem(P, 100, 20)]


class Alternating(ArrivalProcess):
    """High, low, high, low, ..."""

    def sample_levels(self, num_epochs, generator):
        return np.arange(num_epochs) % 2


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
def test_a_softmin_of_the_level_works_in_all_systems(system):
    ours = evaluate(
        system, lambda _, level: softmin(P, BETAS[level]), num_epochs=9, num_runs=6, seed=1
    )
    scores = -BETAS[:, None] * np.arange(6.0)
    same = evaluate(
        system, lambda _, level: score_rule(P, scores[level]), num_epochs=9, num_runs=6, seed=1
    )
    assert ours.drops.tolist() == same.drops.tolist()


def test_an_array_of_sharpnesses_is_a_batch_of_softmins():
    rows = softmin(P, BETAS[[1, 0, 1]]).scores
    assert rows.tolist() == [softmin(P, beta).scores.tolist() for beta in (1.0, 0.4, 1.0)]


@pytest.mark.parametrize("beta", [[0.5, -1.0], [np.nan], [np.inf], [1e308], ["high"], []])
def test_wrong_sharpnesses_are_refused(beta):
    with pytest.raises(InvalidInput):
        softmin(P, beta)


GOOD = {
    "constant": ConstantPolicy(join_shortest_queue(P)),
    "table": ConstantPolicy(np.asarray(softmin(P, 1.0))),
    "level": lambda _, level: softmin(P, BETAS[level]),
    "distribution": lambda nu, _: score_rule(P, -5 * nu),
    "learned": load_policy("data/policies/mf-dt2"),
    "tables": lambda _, level: np.stack([softmin(P, 1.0), random_choice(P)])[level],
}
BAD = {
    "a list": lambda _, level: [random_choice(P), softmin(P, 1.0)][level],
    "a branch": lambda _, level: softmin(P, 1.0) if level == 0 else random_choice(P),
    "no row for a run": lambda _, level: score_rule(P, -BETAS[level] * np.arange(6.0)),
    "of the whole batch": lambda nu, _: score_rule(P, -5 * np.mean(np.atleast_2d(nu), axis=0)),
    "always a batch": lambda _, level: softmin(P, np.atleast_1d(BETAS[level])),
    "nothing": lambda *_: None,
    "another buffer": lambda *_: softmin(SystemParameters(buffer_size=4), 1.0),
    "the class": ConstantPolicy,
    "a rule": random_choice(P),
}


@pytest.mark.parametrize("policy", GOOD.values(), ids=GOOD)
def test_policies_that_keep_the_contract(policy):
    check_policy(policy, P)


@pytest.mark.parametrize("policy", BAD.values(), ids=BAD)
def test_policies_that_do_not_keep_it_are_refused(policy):
    with pytest.raises(InvalidInput):
        check_policy(policy, P)


def test_what_went_wrong_in_a_policy_is_told():
    def policy(*_):
        raise KeyError("no such level")

    with pytest.raises(InvalidInput, match="one level, got KeyError: 'no such level'") as refusal:
        check_policy(policy, P)
    assert isinstance(refusal.value.__cause__, KeyError)


def test_the_class_instead_of_parameters_is_refused():
    for make in (random_choice, join_shortest_queue, lambda p: softmin(p, 1.0), MeanFieldSystem):
        with pytest.raises(InvalidInput, match="parameters must be SystemParameters, got <class"):
            make(SystemParameters)


def test_all_systems_follow_the_levels_that_a_subclass_draws():
    p = SystemParameters(arrivals=Alternating())
    result = evaluate(
        MeanFieldSystem(p), ConstantPolicy(random_choice(p)), num_epochs=4, num_runs=2, seed=1
    )
    assert result.levels.tolist() == [[0, 1, 0, 1]] * 2


@pytest.mark.parametrize("generators", [1, 3])
def test_systems_side_by_side_follow_them_too(generators):
    streams = [np.random.default_rng(seed) for seed in range(generators)]
    paths, ages = LevelPaths(Alternating(), 3, num_epochs=4), np.array([0, 1, 2])
    paths.begin(np.ones(3, dtype=bool), streams)
    paths.skip_to(ages)
    assert paths.levels.tolist() == [0, 1, 0]
    paths.advance(ages + 1, streams)
    assert paths.levels.tolist() == [1, 0, 1]
    paths.begin(np.array([False, True, False]), streams)
    assert paths.levels.tolist() == [1, 0, 1]
    paths.advance(np.array([2, 1, 4]), streams)
    assert paths.levels.tolist() == [0, 1, 0]


def test_the_chain_draws_as_a_path_does():
    """One system with a stream of its own goes through the levels of `sample_levels`."""
    process, wanted = ArrivalProcess(), []
    streams = [np.random.default_rng(seed) for seed in (5, 6)]
    paths, found = LevelPaths(process, 2, num_epochs=30), []
    wanted = [process.sample_levels(30, np.random.default_rng(seed)).tolist() for seed in (5, 6)]
    paths.begin(np.ones(2, dtype=bool), streams)
    for epoch in range(30):
        found.append(paths.levels.tolist())
        paths.advance(np.full(2, epoch + 1), streams)
    assert np.array(found).T.tolist() == wanted


def test_what_is_exact_for_the_chain_only_refuses_a_subclass():
    p = SystemParameters(arrivals=Alternating())
    stream = np.random.default_rng(1)
    for ask in (
        lambda: random_routing_drops(p, 3),
        lambda: p.arrivals.first_levels(2, stream),
        lambda: p.arrivals.next_levels(np.zeros(2, int), stream),
    ):
        with pytest.raises(InvalidInput, match="arrivals must be an ArrivalProcess that follows"):
            ask()


def test_a_second_way_of_drawing_is_refused():
    with pytest.raises(InvalidInput, match="overridden method must be sample_levels"):

        class Twice(ArrivalProcess):
            def next_levels(self, levels, generator):
                return levels


def test_a_second_way_of_drawing_is_refused_wherever_it_comes_from():
    class Mixin:
        def first_levels(self, count, generator):
            return np.zeros(count, int)

    refused = "overridden method must be sample_levels, which all draws follow, got "
    with pytest.raises(InvalidInput, match=refused):

        class Mixed(Mixin, ArrivalProcess):
            pass

    class Later(ArrivalProcess):
        pass

    process = Later()
    Later.next_levels = Mixin.first_levels
    for use in (
        lambda: LevelPaths(process, 2, 3),
        lambda: sample_path(process, 3, np.random.default_rng(1)),
    ):
        with pytest.raises(InvalidInput, match=refused + r"\['next_levels'\]"):
            use()


@pytest.mark.parametrize("path", [[0, 1], [0, 1, 2], [0.0, 1.0, 0.0], [[0, 1, 0]]])
def test_a_subclass_that_draws_no_levels_is_refused(path):
    class Broken(ArrivalProcess):
        def sample_levels(self, num_epochs, generator):
            return np.array(path)

    with pytest.raises(InvalidInput, match="sample_levels must be 3 integers from 0 to 1"):
        sample_path(Broken(), 3, np.random.default_rng(1))
