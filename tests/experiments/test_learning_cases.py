"""Trainings, certificates and looks into policies that notebooks compute themselves."""

import numpy as np
import pandas as pd
import pytest

from mfc_lb import ConstantPolicy, SystemParameters, join_shortest_queue, random_choice, softmin
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import learning_cases as cases
from mfc_lb.learning import NetworkPolicy, PathwiseSettings
from mfc_lb.systems import MeanFieldSystem, random_routing_drops

P = cases.two_levels(0.9, 0.6, buffer_size=2, num_choices=2, delta_t=10.0)
LEVELS = np.array([[0, 1, 0, 0, 1, 1], [1, 0, 1, 1, 0, 0]])
NU = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])


def scoring(*scores) -> NetworkPolicy:
    return NetworkPolicy({"base": np.array(scores, dtype=float)}, P)


@pytest.fixture(scope="module")
def paths() -> cases.CommonPaths:
    return cases.CommonPaths(P, num_paths=20, seed=3)


def test_two_levels_at_the_papers_numbers_are_the_papers() -> None:
    same = cases.two_levels(0.9, 0.6, buffer_size=5, num_choices=2, delta_t=3.0)
    assert same == SystemParameters(delta_t=3.0)


def test_random_routing_is_known_exactly_and_controls_the_others(paths) -> None:
    exact = random_routing_drops(P, P.num_epochs()).sum()
    random = paths.estimate(ConstantPolicy(random_choice(P)))
    assert random.mean == pytest.approx(exact, rel=1e-12)
    assert random.standard_error < 1e-12
    raw = paths.drops(ConstantPolicy(softmin(P, 0.3))).std(ddof=1) / np.sqrt(20)
    assert paths.estimate(ConstantPolicy(softmin(P, 0.3))).standard_error < raw / 3


def test_fewer_than_three_paths_are_refused() -> None:
    with pytest.raises(InvalidInput, match="num_paths"):
        cases.CommonPaths(P, num_paths=2, seed=1)


def test_the_best_softmin_is_the_best_baseline(paths) -> None:
    drops = {name: paths.drops(policy).mean() for name, policy in paths.baselines().items()}
    assert list(drops) == ["JSQ(2)", "RND", "softmin"]
    assert min(drops, key=drops.get) == "softmin"


def test_training_is_followed_beside_the_baselines(paths) -> None:
    settings = PathwiseSettings(constant_steps=20, network_steps=10, num_validation_paths=20)
    result, curve = cases.train_on(paths, settings)
    runs, baselines = curve[curve.kind == "score"], curve[curve.kind == "none"]
    assert runs.environment_steps.tolist() == [0, 6400, 12800, 19200]
    assert set(baselines.method) == {"JSQ(2)", "RND", "softmin"}
    assert runs.estimate.iloc[-1] < baselines.estimate.min()
    assert result.policy.parameters == P


def test_comparison_is_paired_with_the_learned_policy(paths) -> None:
    learned = scoring([0.0, -0.2, -0.8], [0.0, -0.4, -1.2])
    table = cases.comparison({"RND": ConstantPolicy(random_choice(P)), "MF": learned}, paths)
    rows = table.set_index(["policy", "reference"]).estimate
    assert rows["MF", "MF"] == 0.0
    gap = paths.drops(ConstantPolicy(random_choice(P))) - paths.drops(learned)
    assert rows["RND", "MF"] == pytest.approx(gap.mean(), rel=1e-12)


def test_nobody_drops_less_than_the_clairvoyant() -> None:
    system = MeanFieldSystem(P)
    policies = {
        "JSQ(2)": ConstantPolicy(join_shortest_queue(P)),
        "MF": scoring([0, -0.2, -0.8], [0, -0.4, -1]),
    }
    table = cases.certificate(policies, system, LEVELS, num_steps=150)
    rows = table.set_index(["policy", "measure", "reference"]).estimate
    assert rows["JSQ(2)", "ratio", "clairvoyant"] > rows["MF", "ratio", "clairvoyant"] >= 1.0
    best = rows["MF", "drops", "none"] / rows["MF", "ratio", "clairvoyant"]
    starts = rows["clairvoyant", "drops", "from MF"], rows["clairvoyant", "drops", "from RND"]
    assert best <= min(starts) + 1e-12
    assert starts[0] == pytest.approx(starts[1], rel=1e-4)
    assert rows["clairvoyant", "difference", "starts"] == pytest.approx(starts[1] - starts[0])


def test_typical_distributions_are_those_met_at_each_level_in_the_second_half() -> None:
    system, policy = MeanFieldSystem(P), ConstantPolicy(join_shortest_queue(P))
    met = system.simulate(policy, LEVELS).distributions
    found = cases.typical_distributions(policy, system, LEVELS)
    # Levels 0 1 1 and 1 0 0, from the fourth epoch on.
    assert found[0] == pytest.approx((met[0, 3] + met[1, 4] + met[1, 5]) / 3)
    assert found[1] == pytest.approx((met[0, 4] + met[0, 5] + met[1, 3]) / 3)


def test_a_level_that_does_not_occur_is_refused() -> None:
    policy = ConstantPolicy(random_choice(P))
    with pytest.raises(InvalidInput, match=r"without the levels \[1\]"):
        cases.typical_distributions(policy, MeanFieldSystem(P), np.zeros((2, 4), dtype=int))


@pytest.mark.parametrize("num_choices", [2, 3])
def test_decisions_are_the_softmax_of_the_scores(num_choices) -> None:
    p = P.replace(num_choices=num_choices)
    scores = np.array([[0.0, -1.0, -3.0], [0.0, -2.0, -2.5]])
    table = cases.decisions(NetworkPolicy({"base": scores}, p), p, NU)
    assert len(table) == 18
    for row in table.itertuples():
        own, other = np.exp(scores[[0.9, 0.6].index(row.level_rate)][[row.first, row.others]])
        assert row.probability == pytest.approx(own / (own + (num_choices - 1) * other))


def test_decisions_need_a_choice_and_one_server_class() -> None:
    one = P.replace(num_choices=1)
    with pytest.raises(InvalidInput, match="num_choices"):
        cases.decisions(ConstantPolicy(random_choice(one)), one, NU)
    two = P.replace(service_rates=(1.0, 2.0), class_fractions=(0.5, 0.5))
    with pytest.raises(InvalidInput, match="service_rates"):
        cases.decisions(ConstantPolicy(random_choice(two)), two, NU)


def test_rates_balance_at_each_level() -> None:
    policies = {
        "JSQ(2)": ConstantPolicy(join_shortest_queue(P)),
        "MF": scoring([0, -1, -2], [0, -2, -4]),
    }
    table = cases.rates_by_level(policies, P, NU)
    means = (table.fraction * table.arrival_rate).groupby([table.level_rate, table.policy]).sum()
    assert means[0.9].tolist() == pytest.approx([0.9, 0.9])
    assert means[0.6].tolist() == pytest.approx([0.6, 0.6])


def test_scores_along_a_path_are_relative_to_the_empty_queue() -> None:
    policy = scoring([1.0, 0.5, -1.0], [2.0, 0.0, -1.0])
    table = cases.scores_along_path(policy, MeanFieldSystem(P), np.array([0, 1]))
    assert table.time.tolist() == [0.0] * 3 + [10.0] * 3
    assert table.arrival_rate.tolist() == [0.9] * 3 + [0.6] * 3
    assert table.score.tolist() == [0.0, -0.5, -2.0, 0.0, -2.0, -3.0]
    assert cases.shares_of_level(table).to_dict() == pytest.approx({0: 1, 1: 1, 2: 1, "all": 1})


def test_share_of_level_is_the_share_of_the_variance_between_levels() -> None:
    rates = {"arrival_rate": [0.9, 0.9, 0.6, 0.6]}
    # Around the means 2 and -2 the variance is 1, around their mean it is 5.
    one = pd.DataFrame(rates | {"filling": 1, "score": [3.0, 1.0, -1.0, -3.0]})
    # Here the levels explain nothing, and the variance is 4.
    two = pd.DataFrame(rates | {"filling": 2, "score": [2.0, -2.0, 2.0, -2.0]})
    still = pd.DataFrame(rates | {"filling": 0, "score": 0.0})
    shares = cases.shares_of_level(pd.concat([still, one, two]))
    assert shares.to_dict() == pytest.approx({0: 1.0, 1: 0.8, 2: 0.0, "all": 4 / 9})
