"""Cases and the best softmin."""

import math

import numpy as np
import pytest

from mfc_lb import (
    ConstantPolicy,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    softmin,
)
from mfc_lb.experiments.cases import (
    JSQ,
    LARGEST_BETA,
    RND,
    SOFTMIN,
    Case,
    baselines,
    best_beta,
    rate_paths,
    total_drops,
)
from mfc_lb.results.experiment import cell_seed, exactly, root_mean_square


def test_best_beta_is_a_minimum():
    p, beta = SystemParameters(delta_t=5.0), best_beta(5.0, 20)
    levels = rate_paths(p, 20, cell_seed(5, 5.0))
    drops = [
        MeanFieldSystem(p).simulate(ConstantPolicy(softmin(p, b)), levels).drops.sum()
        for b in (0.98 * beta, beta, 1.02 * beta)
    ]
    assert drops[1] == min(drops)
    assert beta == float(f"{beta:.3g}")


def test_nothing_beats_jsq_with_fresh_news():
    assert best_beta(1.0, 20) == LARGEST_BETA


def test_baselines_are_the_three():
    cases = baselines(10.0, 20)
    assert [(case.policy, case.beta > 0.1) for case in cases] == [
        (JSQ, True),
        (RND, False),
        (SOFTMIN, True),
    ]
    assert {case.system_name for case in cases} == {"mean_field"}


def test_keys_tell_all_cases_apart():
    cases = [
        Case(1.0, JSQ, math.inf),
        Case(1.5, JSQ, math.inf),
        Case(1.0, RND, 0.0),
        Case(1.0, SOFTMIN, 0.5),
        Case(1.0, SOFTMIN, 0.6),
        Case(1.0, RND, 0.0, 10),
        Case(1.0, RND, 0.0, 10, 100, "per_epoch"),
        Case(1.0, RND, 0.0, 10, 100, "per_packet"),
        Case(1.0, RND, 0.0, 10, 100, "per_epoch", distinct_queues=True),
    ]
    assert len({case.key for case in cases}) == len(cases)
    assert not any("/" in case.key or " " in case.key for case in cases)


def test_policies_of_one_seed_share_their_paths():
    cases = [Case(10.0, JSQ, math.inf, 10, 100, "per_epoch"), Case(10.0, RND, 0.0)]
    paths = [
        evaluate(case.make_system(), case.make_policy(), num_epochs=50, num_runs=3, seed=9).levels
        for case in cases
    ]
    expected = rate_paths(cases[0].parameters, 3, 9)
    assert all(np.array_equal(path, expected) for path in paths)


def test_runs_depend_on_seed_and_index_alone():
    case = Case(10.0, JSQ, math.inf, 10, 100, "per_epoch")
    assert total_drops(case, 5, 3)[:2] == total_drops(case, 2, 3)
    assert total_drops(case, 2, 3) != total_drops(case, 2, 4)


def test_seeds_of_cells_differ():
    seeds = {cell_seed(seed, *key) for seed in (1, 2) for key in ((), (1.0,), (2.0,), ("a", 1.0))}
    assert len(seeds) == 8
    assert cell_seed(1, 1.0) == cell_seed(1, 1.0)


def test_root_mean_square_of_noise_is_its_deviation():
    samples = np.random.default_rng(1).normal(scale=3.0, size=2000)
    estimate = root_mean_square(samples)
    assert abs(estimate.mean - 3.0) < 5 * estimate.standard_error
    # Of a normal distribution's deviation, the standard error is known.
    assert estimate.standard_error == pytest.approx(3.0 / math.sqrt(4000), rel=0.1)


def test_exact_values_have_no_error():
    assert (exactly(2.0).mean, exactly(2.0).standard_error, exactly(2.0).num_samples) == (
        2.0,
        0.0,
        0,
    )
