"""The arrival process: exact stationary law, seeded frequencies, refusals."""

import re

import numpy as np
import pytest
import scipy.linalg

from mfc_lb import ArrivalProcess, InvalidInput

SEEDS = (1, 2, 3)


def test_stationary_probabilities_of_the_paper():
    # 0.2·π_high = 0.5·π_low
    assert ArrivalProcess().stationary == pytest.approx([5 / 7, 2 / 7], rel=1e-14)


def test_any_number_of_levels():
    kernel = np.full((4, 4), 0.25)
    process = ArrivalProcess((0.0, 0.5, 1.0, 2.0), kernel, (1, 0, 0, 0))
    assert process.num_levels == 4
    assert process.stationary == pytest.approx([0.25] * 4)


def test_generator_gives_the_kernel_of_one_epoch():
    generator = np.array([[-0.3, 0.3], [0.1, -0.1]])
    process = ArrivalProcess.from_generator((1.0, 0.5), generator, delta_t=2.0)
    assert np.array(process.kernel) == pytest.approx(scipy.linalg.expm(2 * generator), rel=1e-12)
    assert process.initial == pytest.approx([0.25, 0.75], rel=1e-12)


def test_generator_is_a_semigroup_over_epochs():
    generator = [[-1.0, 0.7, 0.3], [0.2, -0.2, 0.0], [0.5, 0.5, -1.0]]
    rates, start = (1, 2, 3), (1, 0, 0)
    once = np.array(ArrivalProcess.from_generator(rates, generator, 1.0, start).kernel)
    twice = np.array(ArrivalProcess.from_generator(rates, generator, 2.0, start).kernel)
    assert once @ once == pytest.approx(twice, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_frequencies_of_transitions(seed):
    process = ArrivalProcess()
    levels = process.sample_levels(200_000, np.random.default_rng(seed))
    from_high = levels[1:][levels[:-1] == 0]
    from_low = levels[1:][levels[:-1] == 1]
    for observed, expected in ((from_high, 0.2), (from_low, 0.5)):
        error = np.sqrt(expected * (1 - expected) / observed.size)
        assert abs(observed.mean() - expected) < 5 * error


@pytest.mark.parametrize("seed", SEEDS)
def test_initial_level_follows_initial_probabilities(seed):
    process = ArrivalProcess(initial=(0.1, 0.9))
    generator = np.random.default_rng(seed)
    first = [process.sample_levels(1, generator)[0] for _ in range(20_000)]
    assert abs(np.mean(first) - 0.9) < 5 * np.sqrt(0.09 / 20_000)


def test_a_longer_path_begins_with_the_shorter_one():
    process = ArrivalProcess()
    short = process.sample_levels(10, np.random.default_rng(5))
    long = process.sample_levels(30, np.random.default_rng(5))
    assert long[:10].tolist() == short.tolist()


def test_an_absorbing_level_and_a_zero_rate_are_legal():
    process = ArrivalProcess((1.0, 0.0), ((0, 1), (0, 1)), (1, 0))
    levels = process.sample_levels(5, np.random.default_rng(1))
    assert levels.tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rates": (0.9, -0.6)}, "rates[1] must be a finite number >= 0, got -0.6"),
        ({"rates": (0.9, float("nan"))}, "rates[1] must be a finite number >= 0, got nan"),
        ({"rates": ()}, "rates must be a sequence of at least one number"),
        ({"rates": (0.9,)}, "kernel must be a 1 x 1 matrix"),
        ({"kernel": ((0.8, 0.3), (0.5, 0.5))}, "kernel[0] must sum to 1 within 1e-09"),
        ({"kernel": ((1.2, -0.2), (0.5, 0.5))}, "kernel[0] must be made of probabilities >= 0"),
        ({"kernel": ((1, 0), (np.nan, 1))}, "kernel[1] must be made of probabilities >= 0"),
        ({"kernel": ((0, 0), (0.5, 0.5))}, "kernel[0] must sum to 1 within 1e-09, got a sum of 0"),
        ({"initial": (0, 0)}, "initial must sum to 1 within 1e-09, got a sum of 0"),
        ({"kernel": ((1j, 0), (0, 1))}, "kernel must be numeric"),
        ({"kernel": (("0.5", "0.5"), ("0.5", "0.5"))}, "kernel must be numeric"),
        ({"kernel": "high"}, "kernel must be numeric, got 'high'"),
        ({"initial": (0.5, 0.4)}, "initial must sum to 1"),
        ({"initial": (1.0,)}, "initial must be one probability for each of the 2 rates"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        ArrivalProcess(**arguments)


def test_a_generator_with_far_too_many_changes_in_an_epoch_is_refused():
    with pytest.raises(InvalidInput, match="delta_t must be shorter than 1e9 changes of level"):
        ArrivalProcess.from_generator((1.0, 0.5), [[-1, 1], [1, -1]], 1e300)


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        ([[-1, 1]], "generator must be a finite 2 x 2 matrix"),
        ([[-1, 2], [0, 0]], "generator must be a matrix whose rows sum to 0"),
        ([[1, -1], [0, 0]], "generator must be non-negative off its diagonal"),
    ],
)
def test_wrong_generators_are_refused(generator, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        ArrivalProcess.from_generator((1.0, 0.5), generator, 1.0)
