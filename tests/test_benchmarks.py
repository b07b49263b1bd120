"""The usual ways that the benchmarks compare with give the same numbers; the benchmarks run."""

import csv
import math

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import (
    cluster,
    finite,
    gradients,
    grid,
    live_cluster,
    mean_field,
    memory,
    timing,
)
from benchmarks.__main__ import main
from benchmarks.usual_finite import AgentLevelSystem
from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters, evaluate, join_shortest_queue


def test_usual_mean_field_steps_agree():
    case = mean_field.MeanFieldCase(5, delta_t=3.0)
    usual = case.usual_steps(5, case.tables)
    nu_next, drops = case.system.step(case.nu, case.rates, case.tables)
    assert np.array([row for row, _ in usual]) == pytest.approx(nu_next, abs=1e-13)
    assert np.array([lost for _, lost in usual]) == pytest.approx(drops, rel=1e-12, abs=1e-14)


def test_usual_gradients_agree():
    case = gradients.RollOutCase(batch=3, num_epochs=4, delta_t=3.0)
    assert case.usual().numpy() == pytest.approx(case.ours().numpy(), rel=1e-10)


@pytest.mark.parametrize("routing", ["per_epoch", "per_packet"])
def test_usual_finite_system_agrees(routing):
    """Both means of drops lie within five standard errors of each other."""
    p = SystemParameters(delta_t=5.0)
    policy, num_epochs, num_runs = ConstantPolicy(join_shortest_queue(p)), 8, 200
    system = FiniteSystem(p, num_agents=30, num_queues=10, routing=routing)
    ours = evaluate(system, policy, num_epochs=num_epochs, num_runs=num_runs, seed=1)
    usual = AgentLevelSystem(p, num_agents=30, num_queues=10, routing=routing)
    empty = np.zeros(10, dtype=np.int64)
    paths = np.asarray(p.arrivals.rates)[ours.levels]
    totals = [usual.simulate(path, empty, seed).sum() for seed, path in enumerate(paths)]
    difference = ours.total_drops - totals
    assert abs(difference.mean()) < 5 * difference.std() / math.sqrt(num_runs)
    assert ours.mean > 20 * difference.std() / math.sqrt(num_runs)


def test_measurements_are_paired():
    calls = []
    measured = timing.measure_pair(
        "case", lambda: calls.append("usual"), lambda: calls.append("ours"), pairs=3, units=(2, 1)
    )
    assert {"usual", "ours"} == set(calls)
    assert 0 < measured.low <= measured.ratio <= measured.high


@pytest.fixture
def _quick(monkeypatch):
    monkeypatch.setattr(timing, "MEASURE_SECONDS", 1e-4)


@pytest.mark.usefixtures("_quick")
def test_benchmarks_run_at_tiny_sizes():
    measured = [*mean_field.measure(batch=2, pairs=1)]
    measured += [gradients.measure(1, batch=2, num_epochs=2)]
    measured += [finite.measure(routing, 1, 100, 10) for routing in finite.TARGETS]
    measured += [cluster.measure(peer, 1, 20) for peer in cluster.TARGETS]
    assert [m.ours > 0 and m.usual > 0 for m in measured] == [True] * 8
    assert [0 < size.ours < size.target for size in cluster.measure_large(1000)] == [True] * 2
    time = grid.measure("per_packet", 1, sizes=(5,), delays=(10.0,), num_runs=1)
    assert time.seconds > 0


def test_live_benchmarks_run_at_tiny_sizes():
    at_once, apart = live_cluster.measure(20, 5)
    assert (at_once.unit, at_once.target) == ("jobs/s", 1000.0)
    assert at_once.ours > 0
    assert (apart.unit, apart.target) == ("ms", None)
    assert apart.ours > 0


def test_memory_does_not_grow_with_agents():
    small, large = (memory.measure("per_packet", n, usual=False) for n in (10**4, 10**9))
    assert large.ours < small.ours + 5
    assert math.isnan(large.usual)


@pytest.mark.usefixtures("_quick")
def test_command_prints_and_writes_tables(monkeypatch, tmp_path):
    finite_measure, cluster_measure = finite.measure, cluster.measure
    monkeypatch.setattr(cluster, "measure", lambda peer, pairs: cluster_measure(peer, pairs, 20))
    monkeypatch.setattr(cluster, "measure_large", lambda: iter([cluster.Size("run", 9, "s", 8.0)]))
    live = live_cluster.Measure("at once", 999.0, "jobs/s", 1000.0)
    monkeypatch.setattr(live_cluster, "measure", lambda: iter([live]))
    monkeypatch.setattr(finite, "measure", lambda *given: finite_measure(*given, 100, 10))
    monkeypatch.setattr(memory, "measure", lambda *_, **__: memory.Peak("peak", math.nan, 1.0))
    monkeypatch.setattr(grid, "measure", lambda routing: grid.GridTime(routing, 400.0, 360.0))
    path = tmp_path / "ratios.csv"
    done = CliRunner().invoke(main, ["--pairs", "1", "--grid", "--output", str(path)])
    assert done.exit_code == 0, done.output
    assert "360 s missed" in done.output
    assert "8 s missed" in done.output
    assert "1,000 missed" in done.output
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["unit"] for row in rows] == ["s"] * 11 + ["MiB"] * 6 + ["s", "jobs/s", "s", "s"]
    assert [row["case"] for row in rows[:11] if not float(row["ratio"]) > 0] == []
