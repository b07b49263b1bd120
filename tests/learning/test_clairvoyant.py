"""The optimum with the future known: an estimate that is never above the policy."""

import numpy as np
import pytest
import torch

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    softmin,
)
from mfc_lb.learning import Certificate, certify, clairvoyant_drops
from mfc_lb.learning import clairvoyant as module
from mfc_lb.model import ScoreRule
from mfc_lb.systems import rate_paths


def softmin_policy(beta):
    return ConstantPolicy(ScoreRule(-beta * np.arange(6.0), 2))


def test_the_gradient_of_the_total_equals_finite_differences(small):
    system, generator = MeanFieldSystem(small), np.random.default_rng(0)
    levels = rate_paths(small, 12, 2, 1)
    scores = torch.tensor(generator.standard_normal((2, 12, 6)), requires_grad=True)
    module._total_drops(system, levels, scores).sum().backward()
    for _ in range(3):
        direction = torch.from_numpy(generator.standard_normal(scores.shape))
        with torch.no_grad():
            up, down = (
                float(module._total_drops(system, levels, scores + step * direction).sum())
                for step in (1e-5, -1e-5)
            )
        slope = float((scores.grad * direction).sum())
        assert slope == pytest.approx((up - down) / 2e-5, rel=1e-7)


def test_following_a_policy_gives_its_scores_and_drops(network):
    p = network.parameters
    system, levels = MeanFieldSystem(p), rate_paths(p, 7, 3, 1)
    if network.kind == "table":
        with pytest.raises(InvalidInput, match="policy must be one whose decision rules are score"):
            module.follow(network, system, levels)
        return
    scores, drops = module.follow(network, system, levels)
    expected = system.simulate(network, levels).drops.sum(axis=1)
    assert drops.tolist() == expected.tolist()
    again = module._total_drops(system, levels, torch.from_numpy(scores))
    assert again.numpy() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_optimum_is_never_above_where_it_starts(seed):
    p = SystemParameters(delta_t=3.0)
    levels = rate_paths(p, 15, 4, seed)
    scores = 5.0 * np.random.default_rng(seed).standard_normal((4, 15, 6))
    system = MeanFieldSystem(p)
    start = module._total_drops(system, levels, torch.from_numpy(scores)).numpy()
    few, more = (clairvoyant_drops(system, levels, scores, steps) for steps in (1, 20))
    assert (few <= start).all()
    assert (more < start).all()


@pytest.mark.parametrize("beta", [0.0, 0.5, 40.0])
def test_a_certificate_is_never_above_the_policy(beta):
    p = SystemParameters(delta_t=5.0)
    levels = rate_paths(p, 10, 3, 7)
    certificate = certify(softmin_policy(beta), p, levels=levels, num_steps=15)
    assert (certificate.from_policy <= certificate.policy).all()
    assert (certificate.best <= certificate.from_random).all()
    assert certificate.gap.mean >= 0.0
    assert certificate.ratio.mean >= 1.0


def test_both_starts_agree_where_the_delay_is_long():
    p = SystemParameters(delta_t=10.0)
    levels = rate_paths(p, 25, 6, 3)
    certificate = certify(softmin_policy(0.3), p, levels=levels, num_steps=200)
    assert certificate.from_random == pytest.approx(certificate.from_policy, rel=1e-3)
    # The policy is a good one, so the estimate is near; that it is lower shows that both are right.
    assert (certificate.from_random < certificate.policy).all()
    assert certificate.policy.mean() < 1.03 * certificate.best.mean()


def test_it_finds_the_sharpness_of_jsq_where_that_is_best():
    """With hardly any delay nothing beats JSQ; its own scores have no gradient."""
    p = SystemParameters(delta_t=0.5, arrivals=ArrivalProcess.constant(0.9))
    levels = np.zeros((1, 40), dtype=np.int64)
    system = MeanFieldSystem(p)
    jsq = system.simulate(ConstantPolicy(join_shortest_queue(p)), levels).drops.sum(axis=1)
    certificate = certify(softmin_policy(40.0), p, levels=levels, num_steps=150)
    assert certificate.policy == pytest.approx(jsq, rel=1e-6)
    # So few steps come so near; random routing drops almost fifty times as much.
    assert certificate.from_random == pytest.approx(jsq, rel=0.05)


def test_a_certificates_estimates():
    policy, best = np.array([10.0, 12.0, 11.0]), np.array([9.0, 12.0, 10.5])
    certificate = Certificate(policy, best + np.array([0.0, 0.5, 0.0]), best)
    assert certificate.best.tolist() == best.tolist()
    assert certificate.gap.mean == pytest.approx((policy - best).mean())
    assert certificate.difference_of_starts.mean == pytest.approx(-0.5 / 3.0)
    ratio = certificate.ratio
    assert ratio.mean == pytest.approx(policy.sum() / best.sum())
    # Against the ratio's spread over many resamples of the paths.
    generator = np.random.default_rng(0)
    samples = generator.standard_normal((2000, 400)) + 30.0
    tops = 1.1 * samples + generator.standard_normal((2000, 400))
    spread = np.std(tops.mean(axis=1) / samples.mean(axis=1))
    one = Certificate(tops[0], samples[0], samples[0]).ratio
    assert one.standard_error == pytest.approx(spread, rel=0.2)


@pytest.mark.usefixtures("_two_threads")
def test_it_leaves_threads_and_random_numbers_alone():
    p = SystemParameters(delta_t=5.0)
    clairvoyant_drops(MeanFieldSystem(p), rate_paths(p, 3, 2, 0), np.zeros((2, 3, 6)), 2)


@pytest.mark.parametrize("steps", [0, -1, 1.5])
def test_a_bad_number_of_steps_is_refused(steps):
    p = SystemParameters(delta_t=5.0)
    with pytest.raises(InvalidInput, match="num_steps must be an integer >= 1"):
        clairvoyant_drops(MeanFieldSystem(p), rate_paths(p, 3, 2, 0), np.zeros((2, 3, 6)), steps)


def test_its_own_paths_are_those_of_an_evaluation():
    p = SystemParameters(delta_t=10.0)
    how = {"num_epochs": 6, "seed": 5}
    found = certify(softmin_policy(0.3), p, num_runs=3, num_steps=2, **how)
    evaluated = evaluate(MeanFieldSystem(p), softmin_policy(0.3), num_runs=3, **how)
    assert found.policy.tolist() == evaluated.total_drops.tolist()
    given = certify(softmin_policy(0.3), p, levels=evaluated.levels.tolist(), num_steps=2)
    assert given.from_random.tolist() == found.from_random.tolist()
    assert len(certify(softmin_policy(0.3), p, num_runs=2, num_steps=1).policy) == 2


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"levels": [0, 1, 0]}, "levels shape"),
        ({"levels": 0}, "levels"),
        ({"levels": [[[0, 1]]]}, "levels shape"),
        ({"levels": [[]]}, "levels"),
        ({"levels": np.zeros((0, 3), dtype=int)}, "levels shape"),
        ({"levels": [[0, 2]]}, "levels"),
        ({"levels": [[0.0, 1.0]]}, "levels"),
        ({"num_runs": 0}, "num_runs"),
        ({"num_epochs": 0}, "num_epochs"),
        ({"seed": -1}, "seed"),
        ({"levels": [[0]], "num_steps": 0}, "num_steps"),
    ],
    ids=str,
)
def test_bad_paths_are_refused(given, field):
    with pytest.raises(InvalidInput, match=f"{field} must be"):
        certify(softmin_policy(0.5), SystemParameters(delta_t=5.0), **given)


def test_what_is_no_policy_or_no_parameters_is_refused():
    p = SystemParameters(delta_t=5.0)
    for policy in (None, ConstantPolicy(join_shortest_queue(p))):
        with pytest.raises(InvalidInput, match="policy must be"):
            certify(policy, p, levels=[[0]])
    with pytest.raises(InvalidInput, match="parameters must be"):
        certify(softmin_policy(0.5), MeanFieldSystem(p), levels=[[0]])


@pytest.mark.parametrize("scores", [np.zeros((1, 2, 5)), np.zeros(6), np.full((1, 2, 6), np.nan)])
def test_bad_scores_are_refused(scores):
    with pytest.raises(InvalidInput, match=r"scores( shape)? must be"):
        clairvoyant_drops(MeanFieldSystem(SystemParameters()), [[0, 1]], scores, 1)


class Meddler:
    """Empties what it is shown."""

    def __init__(self, rule):
        self.rule = rule

    def __call__(self, nu, level):
        nu[...] = 0.0
        level[...] = 0
        return self.rule


def test_a_policy_that_edits_what_it_sees_changes_nothing():
    p = SystemParameters(delta_t=10.0)
    rule = softmin(p, 0.3)
    few = {"num_runs": 2, "num_epochs": 4, "num_steps": 3}
    honest, edited = (certify(policy, p, **few) for policy in (ConstantPolicy(rule), Meddler(rule)))
    assert (edited, hash(edited)) == (honest, hash(honest))
    assert honest != certify(ConstantPolicy(rule), p, **few | {"seed": 1})
    with pytest.raises(ValueError, match="read-only"):
        edited.policy[0] = 0.0
