"""The small experiments that notebooks run themselves."""

from types import SimpleNamespace

import numpy as np
import pytest

from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters, evaluate
from mfc_lb import join_shortest_queue as jsq
from mfc_lb import random_choice as rnd
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import find, live
from mfc_lb.experiments.cases import BASELINES, MF, RND
from mfc_lb.experiments.comparison import ComparisonSize
from mfc_lb.experiments.live import compute, paired_drops, paths_to_limit
from mfc_lb.experiments.modelling_choices import ChoicesSize
from mfc_lb.experiments.prose import as_text
from mfc_lb.model import TableRule, matching_score_rule
from mfc_lb.systems import MeanFieldSystem


def test_stale_news_ends_at_the_mean_fields_next_distribution() -> None:
    p = SystemParameters(delta_t=10.0)
    table = live.stale_news(p, {"JSQ(2)": jsq(p)}, arrival_rate=0.9)
    end = table[table.time == p.delta_t]
    nu = end.fraction.to_numpy()
    following, _ = MeanFieldSystem(p).step(nu, 0.9, jsq(p))
    assert end.fraction @ end.mean_filling == pytest.approx(following @ p.fillings, rel=1e-12)
    assert nu @ end.arrival_rate == pytest.approx(0.9, rel=1e-12)


def test_stale_news_begins_with_what_was_reported() -> None:
    p = SystemParameters(delta_t=2.0)
    start = live.stale_news(p, {"RND": rnd(p)}, arrival_rate=0.6, num_times=2).query("time == 0")
    assert start.mean_filling.tolist() == pytest.approx(start.reported.tolist(), abs=1e-14)


def test_old_news_turns_the_order_of_the_queues_round() -> None:
    p = SystemParameters(delta_t=10.0)
    table = live.stale_news(p, {"JSQ(2)": jsq(p), "RND": rnd(p)}, arrival_rate=0.9)
    end = table[table.time == p.delta_t].groupby("policy").mean_filling
    assert end.apply(lambda means: means.is_monotonic_decreasing)["JSQ(2)"]
    assert end.apply(lambda means: means.is_monotonic_increasing)["RND"]


def test_stale_news_refuses_several_server_classes() -> None:
    p = SystemParameters(service_rates=(1.0, 2.0), class_fractions=(0.5, 0.5))
    with pytest.raises(InvalidInput, match="service_rates"):
        live.stale_news(p, {"RND": rnd(p)}, arrival_rate=0.9)


def test_delay_sweep_has_an_estimate_for_each_policy_and_delay() -> None:
    size = {"num_agents": 100, "num_queues": 10, "num_runs": 3, "seed": 1}
    table = live.delay_sweep(SystemParameters(), (5.0, 10.0), **size)
    assert table.groupby(["policy", "delta_t"]).size().tolist() == [1, 1, 1, 1]
    systems = table[["num_queues", "num_agents", "routing", "num_runs"]].drop_duplicates()
    assert systems.to_numpy().tolist() == [[10, 100, "per_packet", 3]]
    assert (table.interval_low <= table.estimate).all()
    assert (table.estimate <= table.interval_high).all()


def test_one_run_counts_the_drops_of_the_run() -> None:
    p = SystemParameters(delta_t=5.0)
    system = FiniteSystem(p, num_agents=1000, num_queues=50)
    policy, levels = ConstantPolicy(jsq(p)), np.array([0, 0, 1])
    table = live.one_run(system, {"JSQ(2)": policy}, levels, seed=3)
    run = system.simulate(policy, levels, np.random.SeedSequence(3))
    assert table.drops.iloc[-1] == pytest.approx(run.drops.sum())
    assert table.time.tolist() == [0.0, 5.0, 10.0, 15.0]
    assert table.arrival_rate.tolist() == [0.9, 0.9, 0.6, 0.6]


def test_score_match_lists_equal_rates() -> None:
    nu = np.full(6, 1 / 6)
    table = np.random.default_rng(1).dirichlet(np.ones(2), size=(6, 6))
    rule = TableRule(table)
    scores = matching_score_rule(rule.arrival_rates(nu, 1.0), nu, 2)
    match = live.score_match(rule, scores, nu)
    assert match.rate.tolist() == pytest.approx(match.wanted_rate.tolist(), abs=1e-10)


SIZE = ChoicesSize(delta_ts=(10.0,), nums_queues=(5,), nums_runs=(4,))


def test_a_live_table_has_the_columns_of_the_stored_one() -> None:
    table = compute("modelling_choices", SIZE)
    assert list(table.columns) == list(find("modelling_choices").columns)


def test_the_seed_decides_the_runs() -> None:
    tables = [compute("modelling_choices", SIZE, seed) for seed in (1, 1, 2)]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="experiment"):
        compute("comparision", SIZE)


def test_larger_systems_follow_the_mean_field_more_closely() -> None:
    p = SystemParameters(delta_t=5.0)
    paths = paths_to_limit(p, jsq(p), (10, 1000), horizon=100.0, seed=1)
    wide = paths.pivot(index="time", columns="num_queues", values="mean_filling")
    gaps = wide.sub(wide[np.inf], axis=0).abs().mean()
    assert gaps[1000] < gaps[10] / 3
    assert wide.index.max() == 100.0


def test_a_rounded_negative_zero_has_no_sign() -> None:
    assert as_text(-0.001, 2) == "0.00"


def test_baselines_alone_need_no_learned_policy() -> None:
    """At a delay for which none is stored."""
    size = ComparisonSize((19.5,), (5,), 2, 2, 2, policies=BASELINES)
    assert set(compute("comparison", size).policy) == set(BASELINES)


def test_a_policy_competes_with_others_on_the_same_paths() -> None:
    p = SystemParameters(delta_t=10.0)
    policy, stored = live.stored_or_trained(p)
    assert stored
    system = FiniteSystem(p, num_agents=100, num_queues=10)
    policies = {RND: ConstantPolicy(rnd(p)), MF: policy}
    table = paired_drops(system, policies, num_runs=3, seed=1).set_index(["policy", "reference"])
    drops = table.estimate.xs("none", level="reference")
    assert table.estimate[MF, RND] == pytest.approx(drops[MF] - drops[RND])
    assert table.estimate[RND, MF] == pytest.approx(drops[RND] - drops[MF])
    limit = evaluate(MeanFieldSystem(p), policy, num_epochs=50, num_runs=3, seed=1)
    assert table.estimate[MF, "mean_field"] == pytest.approx(drops[MF] - limit.mean)


@pytest.mark.parametrize("changed", [{"delta_t": 5.5}, {"delta_t": 5.0, "buffer_size": 4}])
def test_a_policy_that_is_not_stored_is_trained(monkeypatch, changed) -> None:
    result = SimpleNamespace(policy="trained")
    monkeypatch.setattr("mfc_lb.learning.pathwise.train_pathwise", lambda *_: result)
    assert live.stored_or_trained(SystemParameters(**changed)) == ("trained", False)
