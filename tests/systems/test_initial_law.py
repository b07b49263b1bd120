"""What a run begins with fits the model: every server class has its fraction of the queues."""

import numpy as np
import pytest

from mfc_lb import (
    ConstantPolicy,
    FiniteSystem,
    InfiniteAgentSystem,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    random_choice,
)

P = SystemParameters(service_rates=(0.2, 2.0), class_fractions=(0.5, 0.5), delta_t=2.0)
RND = ConstantPolicy(random_choice(P))
SYSTEMS = [MeanFieldSystem(P), InfiniteAgentSystem(P, 20), FiniteSystem(P, 100, 20)]
RUNS = {"num_epochs": 3, "num_runs": 4, "seed": 1}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("masses", [(0.0, 1.0), (1.0, 0.0), (0.501, 0.499)])
def test_a_law_that_gives_a_class_another_mass_is_refused(system, masses):
    nu = np.repeat(masses, 6) / 6
    with pytest.raises(InvalidInput, match=r"mass of nu in each server class must be \[0.5, 0.5\]"):
        evaluate(system, RND, **RUNS, nu=nu)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
def test_a_law_that_fits_is_used(system):
    full = np.zeros(12)
    full[[5, 11]] = 0.5
    assert evaluate(system, RND, **RUNS, nu=full).mean > evaluate(system, RND, **RUNS).mean


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
def test_all_runs_begin_alike(system):
    starts = np.tile(P.empty_distribution, (4, 1))
    with pytest.raises(InvalidInput, match=r"nu shape must be \(12,\), for all runs alike"):
        evaluate(system, RND, **RUNS, nu=starts)


def test_a_simulation_of_the_mean_field_may_have_a_start_for_each_path():
    starts = np.stack([P.empty_distribution, np.repeat(1 / 12, 12)])
    run = MeanFieldSystem(P).simulate(RND, np.zeros((2, 3), int), starts)
    assert run.distributions[:, 0].tolist() == starts.tolist()
    starts[1, 0] += starts[1, 6]
    starts[1, 6] = 0.0
    with pytest.raises(InvalidInput, match="mass of nu in each server class"):
        MeanFieldSystem(P).simulate(RND, np.zeros((2, 3), int), starts)


def test_few_queues_are_divided_over_the_classes_first():
    """Twelve equal shares of four queues: two queues of each class, not four of the first."""
    states = InfiniteAgentSystem(P, 4).initial_states(np.full(12, 1 / 12))
    assert (states < 6).sum() == 2
    assert InfiniteAgentSystem(P, 3).initial_states().tolist() == [0, 0, 6]


def test_a_run_may_go_on_from_the_law_of_its_queues():
    """Three queues of two classes have the masses 2/3 and 1/3, which no other system may have."""
    system, levels = FiniteSystem(P, 30, 3), np.zeros(4, int)
    last = system.simulate(RND, levels, 1).distributions[-1]
    assert system.simulate(RND, levels, 2, last).distributions[0].tolist() == last.tolist()
    with pytest.raises(InvalidInput, match="mass of nu"):
        FiniteSystem(P, 30, 10).simulate(RND, levels, 2, last)
