"""The audit of intervals: it counts right, and finds intervals that are not honest."""

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from mfc_lb.experiments import EXPERIMENTS, find, load
from mfc_lb.experiments.audit import (
    SHARES,
    audit_tables,
    compare,
    draw_share,
    quantities,
    report,
)
from mfc_lb.results.experiment import estimate_columns
from mfc_lb.systems import Estimate

DATA = Path(__file__).parents[2] / "data"


def sampled_table(rng, num_rows=400, num_runs=30, honest=1.0):
    """Means of normal samples around each row's number; intervals times `honest`."""
    rows = []
    for row in range(num_rows):
        estimate = Estimate.of(rng.normal(row, 2.0, num_runs))
        error = honest * estimate.standard_error
        named = {"delta_t": float(row % 20), "policy": f"policy {row // 20}"}
        rows.append(named | estimate_columns(Estimate(estimate.mean, error, num_runs)))
    return pd.DataFrame(rows)


def test_every_experiment_is_audited():
    assert SHARES.keys() == set(EXPERIMENTS)


def test_honest_intervals_pass_and_narrow_ones_do_not():
    honest = [sampled_table(np.random.default_rng(seed)) for seed in (1, 2)]
    assert compare("a", "b", "quick", *honest).probability > 0.01
    narrow = [sampled_table(np.random.default_rng(seed), honest=0.7) for seed in (1, 2)]
    found = compare("a", "b", "quick", *narrow)
    assert (found.compared, found.probability) == (400, 0.0)


def test_a_difference_counts_if_it_exceeds_the_joint_interval():
    def table(*estimates):
        rows = [
            {"policy": str(row), "baseline_drops": value, "estimate": value}
            | {"standard_error": half / 2, "num_runs": 9}
            | {"interval_low": value - half, "interval_high": value + half}
            for row, (value, half) in enumerate(estimates)
        ]
        return pd.DataFrame(rows)

    mine = table((0.0, 3.0), (0.0, 3.0), (7.0, 0.0), (1.0, 0.0))
    # Allowed are 5, 5, nothing (both are exact, which is not the audit's business), and 2.
    theirs = table((5.1, 4.0), (-4.9, 4.0), (8.0, 0.0), (2.0, 2.0), (0.0, 1.0))
    found = compare("a", "b", "quick", mine, theirs)
    expected = {"table": "a", "against": "b", "size": "quick", "compared": 3, "missed": 1}
    chance = round(float(binom.sf(0, 3, 0.05)), 4)
    assert asdict(found) == expected | {"probability": chance, "largest": 1.02}
    assert report([found]).decode().splitlines()[1] == f"a,b,quick,3,1,{chance},1.02"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_share_has_values_of_the_size_in_their_order(name):
    size = find(name).size("paper")
    share = draw_share(size, SHARES[name], seed=4)
    assert share == draw_share(size, SHARES[name], seed=4)
    for fields, count in SHARES[name].items():
        whole, drawn = (
            list(zip(*(getattr(one, field) for field in fields), strict=True))
            for one in (size, share)
        )
        assert len(drawn) == count
        places = [whole.index(value) for value in drawn]
        assert all(first < second for first, second in pairwise(places))
    drawn_fields = {field for fields in SHARES[name] for field in fields}
    kept = asdict(size).keys() - drawn_fields
    assert all(getattr(share, field) == getattr(size, field) for field in kept)


def test_other_seeds_draw_other_shares():
    size = find("comparison").size("paper")
    shares = {draw_share(size, SHARES["comparison"], seed).delta_ts for seed in range(20)}
    assert len(shares) > 5
    assert {delta for deltas in shares for delta in deltas} == set(size.delta_ts)


def test_tables_share_what_is_the_same_system():
    delay, model = (
        quantities(name, load(name, "paper")) for name in ("trace_delay", "convergence")
    )
    found = compare("trace_delay", "convergence", "paper", delay, model)
    # JSQ(2) and random routing, 100 queues and infinitely many agents, at delays of 1, 5 and 10.
    assert found.compared == 6
    study = quantities("trace_study", load("trace_study", "paper"))
    found = compare("trace_study", "trace_delay", "paper", study, delay)
    # Three balancers and three differences (of which trace_delay has two) on two traces.
    assert found.compared == 2 * (3 + 2)


def test_stored_tables_agree_with_each_other():
    findings = list(audit_tables("paper"))
    pairs = {(found.table, found.against) for found in findings}
    assert {("comparison", "populations"), ("trace_study", "trace_delay")} <= pairs
    assert all(found.probability > 1e-3 and found.largest < 2.0 for found in findings)


@pytest.mark.parametrize("size", ["quick", "paper"])
def test_the_kept_report_is_of_all_tables_and_finds_honest_intervals(size):
    kept = pd.read_csv(DATA / f"audit-{size}.csv")
    seeds = kept[kept.against.str.startswith("seed")]
    assert set(seeds.table) == set(EXPERIMENTS)
    assert set(kept["size"]) == {size}
    assert (kept.probability > 1e-3).all()


def test_the_command_audits_one_experiment(command, tmp_path):
    output = tmp_path / "found.csv"
    arguments = ("audit", "trajectories", "--size", "quick", "--seed", "2")
    code, out, _ = command(*arguments, "--output", str(output))
    assert code == 0
    assert output.read_text() in out
    (row,) = pd.read_csv(output).to_dict("records")
    assert (row["table"], row["against"], row["size"]) == ("trajectories", "seed 2", "quick")
    assert row["compared"] > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "experiment must be one of"),
        (["trajectories", "--seed", "-1"], "seed must be an integer >= 0, got -1"),
        (["trajectories", "--output", "/dev/null/x"], "results cannot be written"),
    ],
)
def test_mistakes_are_refused_before_anything_is_computed(command, arguments, message):
    code, out, err = command("audit", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
