"""The mean-field system against independent numbers, exact values and properties."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    random_choice,
    softmin,
)
from mfc_lb.model import TableRule
from mfc_lb.systems import blocking_rate, epoch_by_expm, random_routing_drops

REFERENCE = Path(__file__).parent / "reference" / "mean_field_one_step.json"
CASES = json.loads(REFERENCE.read_text())

# Exact expected total drops per queue under random routing over round(500/Δt) epochs from empty
# queues with the paper's arrivals, Δt = 1..10, computed independently.
RANDOM_TOTALS = (
    38.731996471252515, 39.40585614903828, 39.97065573375631, 40.251205824688775,
    40.528592331620096, 40.5802591777871, 40.66880788075808, 40.72281371752272,
    41.50377696564127, 41.25977679804393,
)  # fmt: skip


def parameters_of(case, arrivals):
    return SystemParameters(
        buffer_size=case["buffer_size"],
        num_choices=case["num_choices"],
        service_rates=case["service_rates"],
        class_fractions=case["class_fractions"],
        arrivals=arrivals,
        delta_t=case["delta_t"],
    )


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("own_rate", [True, False])
def test_one_step_equals_the_reference(case, own_rate):
    # Both for parameters whose arrival level is the case's rate, and for the paper's levels.
    rate = case["arrival_rate"]
    p = parameters_of(case, ArrivalProcess.constant(rate) if own_rate else ArrivalProcess())
    nu_next, drops = MeanFieldSystem(p).step(case["nu"], rate, case["decision_rule"])
    rates = TableRule(case["decision_rule"]).arrival_rates(np.array(case["nu"]), rate)
    assert rates == pytest.approx(case["arrival_rate_per_state"], rel=1e-12)
    assert nu_next == pytest.approx(case["nu_next"], rel=1e-12)
    assert drops == pytest.approx(case["expected_drops"], rel=1e-12)


def test_known_loss_rates():
    losses = blocking_rate([0.9, 0.6, 1.0, 0.0], 1.0, 5)
    assert losses == pytest.approx([0.113420294989532, 0.019575725026853, 1 / 6, 0.0], abs=1e-15)
    # Overload far beyond the powers that float64 can hold.
    assert blocking_rate(1e4, 1.0, 200) == pytest.approx(1e4 - 1.0, rel=1e-12)


@pytest.mark.parametrize("delta_t", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("rate", [0.0, 0.6, 1.0, 1.7])
def test_random_routing_settles_at_the_closed_form_loss(rate, delta_t):
    p = SystemParameters(arrivals=ArrivalProcess.constant(rate), delta_t=delta_t)
    levels = np.zeros(int(400 / delta_t), dtype=int)
    path = MeanFieldSystem(p).simulate(ConstantPolicy(random_choice(p)), levels)
    assert path.drops[-1] / delta_t == pytest.approx(blocking_rate(rate, 1.0, 5), rel=1e-9)


@pytest.mark.parametrize("delta_t", range(1, 11))
def test_exact_total_of_random_routing(delta_t):
    p = SystemParameters(delta_t=delta_t)
    total = random_routing_drops(p, p.num_epochs()).sum()
    assert total == pytest.approx(RANDOM_TOTALS[delta_t - 1], rel=1e-12)


def test_the_linear_chain_is_the_average_over_all_rate_paths():
    # Four epochs have sixteen paths: sum them all instead of sampling them.
    p = SystemParameters(3, 2, (1.0, 0.4), (0.3, 0.7), delta_t=2.0)
    arrivals = p.arrivals
    paths = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    chance = np.array(arrivals.initial)[paths[:, 0]]
    for epoch in range(3):
        chance = chance * np.array(arrivals.kernel)[paths[:, epoch], paths[:, epoch + 1]]
    drops = MeanFieldSystem(p).simulate(ConstantPolicy(random_choice(p)), paths).drops
    assert random_routing_drops(p, 4) == pytest.approx(chance @ drops, rel=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_evaluation_of_random_routing_agrees_with_its_exact_value(seed):
    p = SystemParameters(delta_t=5.0)
    policy = ConstantPolicy(random_choice(p))
    result = evaluate(MeanFieldSystem(p), policy, num_epochs=100, num_runs=400, seed=seed)
    assert abs(result.mean - RANDOM_TOTALS[4]) < 5 * result.standard_error


def test_jsq_and_random_cross_near_6_7():
    # The mean difference over common paths changes its sign between Δt = 6 and Δt = 7.5.
    differences = []
    for delta_t in (6.0, 7.5):
        p = SystemParameters(delta_t=delta_t)
        policies = ConstantPolicy(join_shortest_queue(p)), ConstantPolicy(random_choice(p))
        jsq, rnd = (
            evaluate(MeanFieldSystem(p), q, num_epochs=p.num_epochs(), num_runs=100, seed=4)
            for q in policies
        )
        differences.append(jsq.difference(rnd))
    assert differences[0].interval(0.9999)[1] < 0 < differences[1].interval(0.9999)[0]


def test_with_fresh_news_the_herd_is_gone():
    # Δt → 0 is the classical supermarket model, whose d = 2 fixed point without a buffer limit is
    # s_k = λ^(2^k − 1); the buffer is large enough not to matter.
    rate = 0.7
    p = SystemParameters(12, 2, arrivals=ArrivalProcess.constant(rate), delta_t=0.01)
    policy = ConstantPolicy(join_shortest_queue(p))
    path = MeanFieldSystem(p).simulate(policy, np.zeros(10_000, dtype=int))
    tails = np.cumsum(path.distributions[-1][::-1])[::-1]
    expected = rate ** (2.0 ** np.arange(5) - 1)
    assert tails[:5] == pytest.approx(expected, abs=0.01)


def test_a_batch_equals_its_rows_bit_for_bit():
    p = SystemParameters(delta_t=2.0)
    system, policy = MeanFieldSystem(p), ConstantPolicy(softmin(p, 0.7))
    levels = np.random.default_rng(1).integers(0, 2, (50, 20))
    together = system.simulate(policy, levels)
    for row in (0, 17, 49):
        alone = system.simulate(policy, levels[row])
        assert (alone.distributions == together.distributions[row]).all()
        assert (alone.drops == together.drops[row]).all()


def test_long_runs_keep_their_mass():
    p = SystemParameters(delta_t=1.0)
    path = MeanFieldSystem(p).simulate(
        ConstantPolicy(join_shortest_queue(p)), np.zeros(20_000, dtype=int)
    )
    assert abs(path.distributions[-1].sum() - 1.0) < 1e-11
    assert (path.distributions >= 0).all()


@pytest.mark.parametrize(
    ("nu", "rate", "message"),
    [
        ([0.5, 0.5], 0.9, "nu shape must be (..., 6)"),
        ([1, 1, 0, 0, 0, 0], 0.9, "nu must sum to 1 within 1e-09, got a sum of 2.0"),
        ([1.5, -0.5, 0, 0, 0, 0], 0.9, "nu must be made of probabilities >= 0, got [-0.5]"),
        ([np.nan] * 6, 0.9, "nu must be made of probabilities >= 0, got [nan]"),
        ("empty", 0.9, "nu must be numeric, got 'empty'"),
        ([1, 0, 0, 0, 0, 0], -0.1, "arrival_rate must be finite and >= 0, got -0.1"),
        ([1, 0, 0, 0, 0, 0], np.nan, "arrival_rate must be finite and >= 0, got nan"),
        ([1, 0, 0, 0, 0, 0], np.inf, "arrival_rate must be finite and >= 0, got inf"),
        ([1, 0, 0, 0, 0, 0], "high", "arrival_rate must be numeric, got 'high'"),
        ([0, 0, 0, 0, 0, 0], 0.9, "nu must sum to 1 within 1e-09, got a sum of 0.0"),
        (np.full((3, 6), 1 / 6), [0.9, 0.6], "batches of nu (3,), arrival_rate (2,) and rule"),
        ([1, 0, 0, 0, 0, 0], 1e300, "delta_t must be shorter at arrival rates up to"),
    ],
)
def test_wrong_arguments_are_refused(nu, rate, message):
    p = SystemParameters()
    with pytest.raises(InvalidInput, match=re.escape(message)):
        MeanFieldSystem(p).step(nu, rate, random_choice(p))


def test_sub_epoch_times_compose():
    # An epoch of length 2 with rates held is two half epochs with the same rates.
    start = epoch_by_expm(0.9, 1.0, 5, 1.0)
    assert start @ start == pytest.approx(epoch_by_expm(0.9, 1.0, 5, 2.0), abs=1e-14)
