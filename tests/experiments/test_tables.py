"""What the experiments compute: reproducible, and right where that is known."""

import math

import numpy as np
import pytest

from mfc_lb import SystemParameters
from mfc_lb.experiments import EXPERIMENTS, find, load, run
from mfc_lb.experiments.cases import JSQ, MF, RND, Case, Limit, mean_field_system
from mfc_lb.experiments.trajectories import ObservedSystem, TrajectoriesSize, follow
from mfc_lb.results.experiment import cell_seed
from mfc_lb.results.reproduction import reproduce
from mfc_lb.systems import Estimate, random_routing_drops


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_quick_result_is_reproduced(name, tmp_path):
    """In one process, whatever number of them made what is stored."""
    run(find(name), "quick", tmp_path)
    (verdict,) = reproduce([find(name)], "quick", tmp_path, processes=1)
    assert verdict.differences == ()
    assert verdict.rows > 0
    assert verdict.agrees


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_estimate_has_its_error(name):
    table = load(name)
    assert list(table.columns) == list(find(name).columns)
    numbers = table.drop(columns="beta", errors="ignore")
    assert not numbers.isna().any().any()
    if "beta" in table:  # every baseline is a softmin, what is learned is none
        assert (table.beta.isna() == (table.policy == MF)).all()
    assert (table.standard_error >= 0).all()
    sampled = table[table.num_runs > 0]
    assert (sampled.interval_low <= sampled.estimate).all()
    assert (sampled.estimate <= sampled.interval_high).all()
    assert (table[table.num_runs == 0].standard_error == 0).all()


# --- trajectories -----------------------------------------------------------------------------

SIZE = TrajectoriesSize(
    delta_ts=(2.0, 4.0), levels=(0, 1, 0), time_step=0.5, num_queues=200, num_runs=40
)


def test_parts_of_an_epoch_end_where_the_epoch_ends():
    case = Case(4.0, JSQ, math.inf)
    fractions = np.asarray(follow(case, SIZE, 1)["fractions"])[0]
    levels = SIZE.epoch_levels(4.0)
    whole = mean_field_system(4.0).simulate(case.make_policy(), levels).distributions
    assert fractions[:: SIZE.num_parts(4.0)] == pytest.approx(whole, abs=1e-13)
    assert fractions.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


def test_all_delays_see_the_same_arrivals_in_time():
    assert SIZE.epoch_levels(4.0).tolist() == [0, 1, 0]
    assert SIZE.epoch_levels(2.0).tolist() == [0, 0, 1, 1, 0, 0]


def test_finite_system_seen_in_parts_agrees_with_the_mean_field():
    finite = Case(4.0, JSQ, math.inf, 200, 40_000, "per_epoch")
    seen = np.asarray(follow(finite, SIZE, 1)["fractions"])
    limit = np.asarray(follow(Case(4.0, JSQ, math.inf), SIZE, 1)["fractions"])[0]
    error = seen.std(axis=0, ddof=1) / math.sqrt(SIZE.num_runs)
    # The finite system is biased by about 1/M.
    assert (np.abs(seen.mean(axis=0) - limit) < 5 * error + 2 / 200).all()


def test_one_part_is_the_system_itself():
    case = Case(4.0, RND, 0.0, 50, 2500, "per_epoch")
    levels = SIZE.epoch_levels(4.0)
    seen = ObservedSystem(case, 1)
    observed = seen.simulate(case.make_policy(), levels, np.random.SeedSequence(3))
    plain = case.make_system().simulate(case.make_policy(), levels, np.random.SeedSequence(3))
    assert np.array_equal(observed.distributions, plain.distributions)
    assert np.array_equal(np.stack(seen.observed), plain.distributions[1:])


def test_trajectories_conserve_queues_and_packets():
    table = load("trajectories")
    fractions = table[table.measure == "fraction"]
    keys = ["system", "delta_t", "policy", "time"]
    assert fractions.groupby(keys).estimate.sum().to_numpy() == pytest.approx(1.0, abs=1e-8)
    rates = table[(table.measure == "arrival_rate") & (table.system == "mean_field")]
    merged = rates.merge(fractions, on=[*keys, "filling"], suffixes=("_rate", ""))
    mean = (merged.estimate_rate * merged.estimate).groupby([merged[key] for key in keys]).sum()
    expected = merged.groupby(keys).mean_arrival_rate.first()
    assert mean.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-8)


# --- the others -------------------------------------------------------------------------------


def test_mean_field_rows_are_controlled_by_the_exact_value():
    rng = np.random.default_rng(1)
    control, parameters = rng.normal(40.0, 2.0, 400), SystemParameters(delta_t=5.0)
    limit = Limit(parameters, control)
    expected = random_routing_drops(parameters, parameters.num_epochs()).sum()
    samples = 0.5 * control + rng.normal(3.0, 0.1, 400)
    estimate = limit.estimate(samples)
    assert estimate.standard_error < 0.2 * Estimate.of(samples).standard_error
    assert abs(estimate.mean - (0.5 * expected + 3.0)) < 5 * estimate.standard_error
    assert limit.estimate(control).mean == pytest.approx(expected, rel=1e-12)


def test_differences_of_the_comparison_are_those_of_its_means():
    table = load("comparison")
    finite = table[table.system == "finite"].set_index(
        ["routing", "num_queues", "delta_t", "policy", "reference"]
    )
    means = finite.estimate.unstack("reference")
    jsq, random = (means.xs(name, level="policy") for name in (JSQ, RND))
    assert jsq["RND"].to_numpy() == pytest.approx(
        (jsq["none"] - random["none"]).to_numpy(), abs=1e-7
    )


def test_comparison_pairs_all_systems_of_one_delay():
    cells = find("comparison").cells(find("comparison").size("quick"), 5)
    seeds = {(cell.compute.args[0].delta_t, cell.compute.args[2]) for cell in cells}
    assert seeds == {(delta_t, cell_seed(5, delta_t)) for delta_t in (1.0, 3.0, 5.0, 7.0, 10.0)}


def test_choices_do_nothing_where_they_cannot():
    """With infinitely many agents, random routing gives every queue λ, however it samples."""
    table = load("modelling_choices")
    same = table[(table.system == "infinite_agents") & (table.policy == RND)]
    assert len(same) > 0
    assert (same.estimate == 0).all()
