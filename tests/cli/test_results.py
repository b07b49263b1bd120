"""What the commands compute, print and write."""

import json
from pathlib import Path

import numpy as np
import pytest

import mfc_lb
from mfc_lb.cli.settings import read_effort

TINY = ["--num-queues", "10", "--num-epochs", "3", "--runs", "2"]
P = mfc_lb.SystemParameters()


def floats(rows: list[dict[str, str]], column: str) -> np.ndarray:
    return np.array([float(row[column]) for row in rows])


def test_defaults_are_the_papers(table):
    rows = table("simulate", *TINY[2:])
    assert {name: rows[0][name] for name in ("policy", "num_agents", "num_queues", "delta_t")} == {
        "policy": "jsq",
        "num_agents": "10000",
        "num_queues": "100",
        "delta_t": "1.0",
    }
    given = {"num_epochs": None, "horizon": None, "runs": None, "seed": 0, "processes": None}
    effort = read_effort(given, mfc_lb.FiniteSystem(P.replace(delta_t=3.0), 100, 10))
    assert (effort.num_epochs, effort.num_runs, effort.processes) == (167, 100, 1)
    large = read_effort(given, mfc_lb.FiniteSystem(P, 10**9, 10**4))
    assert (large.num_epochs, large.num_runs, large.processes) == (500, 10, -1)
    many = read_effort(given | {"runs": 3, "processes": 1000}, mfc_lb.FiniteSystem(P, 100, 10))
    assert many.processes == 3


def test_simulate_prints_mean_error_interval_fraction_and_limit(call):
    done = call("simulate", *TINY, "--delta-t", "5", "--seed", "1")
    assert done.exit_code == 0
    assert done.stderr == ""
    for expected in ("jsq with d = 2", "100 agents", "Δt = 5", "95 % interval", "runs: 2"):
        assert expected in done.stdout
    labels = [line.split("  ")[1].strip() for line in done.stdout.splitlines() if " to " in line]
    assert labels[:3] == ["drops", "drops / arrivals", "drops in the mean field"]


def test_simulate_columns(table):
    rows = table("simulate", *TINY)
    assert list(rows[0]) == [
        "policy",
        "num_agents",
        "num_queues",
        "routing",
        "distinct_queues",
        "buffer_size",
        "num_choices",
        "service_rates",
        "class_fractions",
        "arrival_rates",
        "arrival_kernel",
        "arrival_initial",
        "delta_t",
        "num_epochs",
        "seed",
        "run",
        "expected_arrivals",
        "drops",
        "mean_field_drops",
    ]
    assert [row["run"] for row in rows] == ["0", "1"]
    assert (rows[0]["arrival_rates"], rows[0]["arrival_kernel"]) == ("0.9,0.6", "0.8,0.2;0.5,0.5")


def test_simulate_is_the_librarys_evaluation(table):
    words = ["--delta-t", "4", "--seed", "7", "--num-agents", "55", "--routing", "per-epoch"]
    rows = table("simulate", "--policy", "softmin", "--beta", "0.5", *TINY, *words)
    p = P.replace(delta_t=4.0)
    policy = mfc_lb.ConstantPolicy(mfc_lb.softmin(p, 0.5))
    system = mfc_lb.FiniteSystem(p, 55, 10, "per_epoch")
    result = mfc_lb.evaluate(system, policy, num_epochs=3, num_runs=2, seed=7)
    limit = mfc_lb.evaluate(mfc_lb.MeanFieldSystem(p), policy, num_epochs=3, num_runs=2, seed=7)
    assert floats(rows, "drops").tolist() == result.total_drops.tolist()
    assert floats(rows, "mean_field_drops").tolist() == limit.total_drops.tolist()
    rates = np.array([0.9, 0.6])[result.levels]
    assert floats(rows, "expected_arrivals") == pytest.approx(4.0 * rates.sum(axis=1))


@pytest.mark.parametrize(
    "words",
    [
        ["--system", "infinite-agents", "--distinct-queues"],
        ["--routing", "per-epoch", "--distinct-queues"],
        ["--policy", "softmin:2"],
        ["--policy", "sed", "--service-rates", "1,2,0.5", "--class-fractions", "0.5,0.3,0.2"],
        ["--service-rates", "0.5,1.5"],
        ["--scores", "0,-1,-2,-3,-4,-5"],
        ["--arrival-rates", "0.7"],
        ["--arrival-rates", "0"],
        ["--arrival-rates", "1,0,2", "--arrival-kernel", "0,1,0; 0,0,1; 1,0,0"],
        ["--arrival-initial", "1,0", "--horizon", "2"],
        ["--num_agents", "1e9", "--processes", "1"],
        ["--num-choices", "4"],
        ["--buffer-size", "100", "--delta-t", "50"],
    ],
    ids=" ".join,
)
def test_simulate_accepts(words, table):
    size = TINY[:2] + TINY[4:] if "--horizon" in words else TINY
    rows = table("simulate", *size, *words)
    assert (floats(rows, "drops") >= 0).all()
    assert (floats(rows, "mean_field_drops") >= 0).all()


def test_mean_field_system_needs_no_sizes(table):
    rows = table("simulate", "--system", "mean-field", *TINY[2:])
    assert {(row["num_queues"], row["num_agents"]) for row in rows} == {("inf", "inf")}


def test_one_run_has_no_error(call):
    done = call("simulate", "--num-queues", "10", "--num-epochs", "3", "--runs", "1")
    assert done.exit_code == 0
    assert "nan" not in done.output
    assert "—" in done.output


@pytest.mark.parametrize("suffix", [".npy", ".json", ".csv"])
def test_decision_rule_from_file(suffix, table):
    rule = np.asarray(mfc_lb.join_shortest_queue(P))
    path = Path(f"rule{suffix}")
    if suffix == ".npy":
        np.save(path, rule)
    elif suffix == ".json":
        path.write_text(json.dumps(rule.tolist()), "utf-8")
    else:
        np.savetxt(path, rule.reshape(-1, 2), delimiter=",")
    words = ["simulate", "--system", "mean-field", *TINY[2:]]
    expected = floats(table(*words, "--policy", "jsq"), "drops")
    given = floats(table(*words, "--decision-rule", str(path)), "drops")
    assert given == pytest.approx(expected, rel=1e-12)


def test_compare_columns_and_order(table):
    words = ["--num-queues", "10,20", "--delta-t", "1,5", *TINY[2:]]
    rows = table("compare", "--policies", "random,softmin:0.5", *words)
    estimates = [
        f"{name}{part}"
        for name in ("drops", "drop_fraction", "difference")
        for part in ("", "_standard_error", "_low", "_high")
    ]
    simulated = list(table("simulate", *TINY)[0])
    described = simulated[: simulated.index("run")]
    assert list(rows[0]) == [*described, "num_runs", *estimates, "mean_field_drops"]
    order = [(row["delta_t"], row["num_queues"], row["policy"]) for row in rows]
    policies = ["random", "softmin:0.5"]
    assert order == [(t, m, p) for t in ("1.0", "5.0") for m in ("10", "20") for p in policies]


def test_compare_pairs_policies_on_arrival_rates(table):
    words = ["--num-queues", "10", "--num-epochs", "4", "--runs", "5", "--seed", "3"]
    runs = {name: table("simulate", "--policy", name, *words) for name in ("random", "jsq")}
    first, second = table("compare", "--policies", "random,jsq", "--delta-t", "1", *words)
    difference = floats(runs["jsq"], "drops") - floats(runs["random"], "drops")
    assert float(first["difference"]) == 0.0
    assert float(second["difference"]) == pytest.approx(difference.mean())
    error = difference.std(ddof=1) / np.sqrt(5)
    assert float(second["difference_standard_error"]) == pytest.approx(error)
    drops, arrivals = (floats(runs["jsq"], name).sum() for name in ("drops", "expected_arrivals"))
    assert float(second["drop_fraction"]) == pytest.approx(drops / arrivals)


def test_compare_prints_one_line_per_cell(call):
    done = call("compare", "--policies", "random,jsq,sed", "--delta-t", "1,10", *TINY)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert done.stdout.count("random ") == 3  # twice as a row, once as "minus random"
    assert done.stdout.count("jsq ") == done.stdout.count("sed ") == 2


def test_compare_in_the_mean_field(call):
    words = ["--system", "mean-field", *TINY[2:]]
    assert "∞" in call("compare", *words, "--policies", "jsq,random", "--delta-t", "2").output


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_same_seed_same_bytes_whatever_the_processes(command, call):
    words = [command, *TINY, "--delta-t", "3"]
    contents = []
    for more in (["--processes", "1"], ["--processes", "1"], ["--processes", "2"], ["--seed", "1"]):
        assert call(*words, *more, "--output", "out.csv").exit_code == 0
        contents.append(Path("out.csv").read_bytes())
    assert contents[0] == contents[1] == contents[2] != contents[3]


def test_an_earlier_output_is_replaced_as_a_whole(table):
    Path("out.csv").write_text("old", "utf-8")
    table("simulate", *TINY)
    assert [path.name for path in Path.cwd().iterdir()] == ["out.csv"]
