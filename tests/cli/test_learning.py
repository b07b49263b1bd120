"""`train` and `evaluate`, and trained policies in `compare`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mfc_lb
from mfc_lb.learning.networks import NetworkPolicy, constant_scores
from mfc_lb.learning.policy_files import load_card, save_policy
from mfc_lb.systems import MeanFieldSystem

ROOT = Path(__file__).parent.parent.parent
P = mfc_lb.SystemParameters(delta_t=5.0)
SCORES = np.array([[0.0, -0.4, -0.8, -1.2, -1.6, -2.0], [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]])
SHORT = ["--num-queues", "10", "--num-epochs", "3", "--runs", "2"]
FEW_STEPS = ["--delta-t", "10", "--gradient-steps", "10,10"]


@pytest.fixture
def policy() -> NetworkPolicy:
    """Write a policy to stored/mf.safetensors."""
    made = NetworkPolicy(constant_scores(SCORES), P)
    save_policy(made, Path("stored/mf.safetensors"), training={}, results={})
    return made


def floats(rows, column):
    return [float(row[column]) for row in rows]


# --- evaluate ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("policy")
def test_evaluate_prints_drops_limit_and_paired_differences(call):
    done = call("evaluate", "stored/mf.safetensors", "--num-agents", "77", *SHORT)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "mf with d = 2, 77 agents, 10 queues, Δt = 5" in done.stdout
    labels = [line.split("  ")[1].strip() for line in done.stdout.splitlines() if " to " in line]
    expected = ["drops", "drops / arrivals", "drops in the mean field"]
    assert [label for label in labels if label] == [*expected, "drops of jsq", "drops of random"]
    assert done.stdout.count("drops minus those") == 3


def test_evaluate_is_the_librarys_evaluation(policy, table):
    rows = table("evaluate", "stored/mf.json", *SHORT, "--seed", "4")
    how = {"num_epochs": 3, "num_runs": 2, "seed": 4}
    system = mfc_lb.FiniteSystem(P, 100, 10)
    rules = {"jsq": mfc_lb.join_shortest_queue(P), "random": mfc_lb.random_choice(P)}
    assert floats(rows, "drops") == mfc_lb.evaluate(system, policy, **how).total_drops.tolist()
    for name, rule in rules.items():
        result = mfc_lb.evaluate(system, mfc_lb.ConstantPolicy(rule), **how)
        assert floats(rows, f"{name}_drops") == result.total_drops.tolist()
    limit = mfc_lb.evaluate(MeanFieldSystem(P), policy, **how)
    assert floats(rows, "mean_field_drops") == limit.total_drops.tolist()
    simulated = list(table("simulate", *SHORT)[0])
    assert list(rows[0]) == [*simulated, "jsq_drops", "random_drops"]
    assert {name: rows[0][name] for name in ("policy", "delta_t")} == {
        "policy": "mf",
        "delta_t": "5.0",
    }


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    "words",
    [
        ["--delta-t", "2"],
        ["--arrival-kernel", "0.1,0.9;1,0", "--arrival-initial", "1,0"],
        ["--buffer-size", "5", "--num-choices", "2", "--service-rates", "1"],
        ["--routing", "per-epoch", "--distinct-queues", "--processes", "2"],
        ["--system", "infinite-agents"],
    ],
    ids=" ".join,
)
def test_evaluate_accepts(words, table):
    rows = table("evaluate", "stored/mf", *SHORT, *words)
    assert min(floats(rows, "drops")) >= 0


@pytest.mark.usefixtures("policy")
def test_evaluate_in_the_mean_field(call):
    done = call("evaluate", "stored/mf", "--system", "mean-field", *SHORT[2:])
    assert "infinitely many queues" in done.stdout
    assert "drops in the mean field" not in done.stdout


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["nothing"], ["POLICY must be", "No such file", "nothing.json"]),
        ([""], ["POLICY must be the path of a file", "got ''"]),
        (["."], ["POLICY must be the path of a file", "got '.'"]),
        (["stored/mf", "--buffer-size", "6"], ["--buffer-size must be 5", "trained", "got 6"]),
        (["stored/mf", "--num-choices", "3"], ["--num-choices must be 2", "trained", "got 3"]),
        (["stored/mf", "--service-rates", "2"], ["--service-rates must be (1.0,)", "(2.0,)"]),
        (["stored/mf", "--service-rates", "1,2"], ["--service-rates", "(1.0, 2.0)", "trained"]),
        (["stored/mf", "--arrival-rates", "0.9,0.5"], ["rates must be (0.9, 0.6)", "trained"]),
        (["stored/mf", "--arrival-rates", "0.9"], ["--arrival-rates", "trained", "(0.9,)"]),
        (["stored/mf", "--class-fractions", "0.5,0.5"], ["--class-fractions", "(0.5, 0.5)"]),
        (["stored/mf", "--num-agents", "0"], ["--num-agents", "got 0"]),
        (["stored/mf", "--delta-t", "-1"], ["--delta-t", "-1.0"]),
        (["stored/mf", "--system", "mean-field", "--num-queues", "5"], ["--num-queues"]),
        (["stored/mf", "--output", "out.txt"], ["--output", ".csv"]),
        ([], ["POLICY"]),
    ],
    ids=" ".join,
)
def test_bad_evaluation_is_refused(words, fragments, refused):
    refused(["evaluate", *words], *fragments)


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    ("damage", "fragment"),
    [
        (lambda weights, _: weights.write_bytes(weights.read_bytes()[:-1]), "its card describes"),
        (lambda _, card: card.write_text("{", "utf-8"), "a readable card"),
        (lambda _, card: card.write_text("[]", "utf-8"), "a readable card"),
        (lambda _, card: card.write_text("[" * 100_000, "utf-8"), "a readable card"),
        (
            lambda _, card: card.write_text(card.read_text("utf-8").replace("5", "6"), "utf-8"),
            "card",
        ),
        (lambda weights, _: weights.unlink(), "No such file"),
    ],
    ids=["weights", "half a card", "no card", "nested", "changed", "missing"],
)
def test_damaged_policy_is_refused(damage, fragment, refused):
    damage(Path("stored/mf.safetensors"), Path("stored/mf.json"))
    refused(["evaluate", "stored/mf.safetensors"], "POLICY must", fragment)


@pytest.mark.usefixtures("policy")
def test_evaluating_needs_no_torch():
    program = f"""
import sys
from mfc_lb.cli import main
try:
    main(["evaluate", "stored/mf", *{SHORT}])
finally:
    print([name for name in sys.modules if name.partition(".")[0] in ("torch", "gymnasium")])
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment())


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


# --- compare ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stored/mf.safetensors", "stored/mf.json"])
def test_a_trained_policy_is_compared(name, policy, table):
    words = ["--delta-t", "3", *SHORT]
    jsq, trained = table("compare", "--policies", f"jsq,{name}", *words)
    system = mfc_lb.FiniteSystem(P.replace(delta_t=3.0), 100, 10)
    expected = mfc_lb.evaluate(system, policy, num_epochs=3, num_runs=2, seed=0).mean
    assert trained["policy"] == name
    assert float(trained["drops"]) == expected
    assert float(trained["difference"]) == pytest.approx(expected - float(jsq["drops"]))


@pytest.mark.usefixtures("policy")
def test_a_trained_policy_that_does_not_fit_is_refused(refused):
    words = ["compare", "--policies", "stored/mf.safetensors,jsq", *SHORT]
    refused([*words, "--buffer-size", "4"], "--buffer-size must be 5", "trained")
    refused(
        ["compare", "--policies", "no.safetensors"],
        "--policies must be a .safetensors file",
        "no.safetensors",
    )


# --- train ------------------------------------------------------------------------------------


def test_train_writes_a_policy_and_says_what_next(call):
    done = call("train", *FEW_STEPS, "--seed", "3")
    assert (done.exit_code, done.stderr) == (0, "")
    assert {path.name for path in Path.cwd().iterdir()} == {"mf-dt10.json", "mf-dt10.safetensors"}
    card = load_card("mf-dt10.safetensors")
    assert card.parameters == P.replace(delta_t=10.0)
    steps = {"constant_steps": 10, "network_steps": 10, "seed": 3, "method": "pathwise"}
    assert {name: card.training[name] for name in steps} == steps
    for name, estimate in card.results["candidates"].items():
        assert f"  {name}  " in done.stdout
        assert estimate["standard_error"] > 0
    assert f"Kept: {card.results['chosen']}, after training for" in done.stdout
    (following,) = [line for line in done.stdout.splitlines() if line.startswith("Next:")]
    words = following.split()[2:]
    assert words[:2] == ["evaluate", "mf-dt10.safetensors"]
    assert call(*words, "--runs", "2", "--num-epochs", "2").exit_code == 0


def test_the_readmes_commands_work(call):
    readme = (ROOT / "README.md").read_text("utf-8")
    shorter = {"train": ["--gradient-steps", "1,1"], "evaluate": ["--runs", "2"]}
    lines = [line.split() for line in readme.splitlines() if line.startswith("    mfc-lb ")]
    found = [words[1:] for words in lines if words[1] in shorter]
    assert [words[0] for words in found] == ["train", "evaluate"]
    for command, *words in found:
        done = call(command, *words, *shorter[command])
        assert (done.exit_code, done.stderr) == (0, "")


def test_train_serves_other_parameters(call):
    words = ["--buffer-size", "2", "--num-choices", "3", "--service-rates", "1,0.5"]
    more = ["--arrival-rates", "0.7", "--output", "other.safetensors", "--objective", "discounted"]
    done = call("train", *FEW_STEPS, *words, *more)
    assert done.exit_code == 0
    assert "Discounted drops per queue" in done.stdout
    card = load_card("other")
    assert card.parameters.service_rates == (1.0, 0.5)
    assert card.training["objective"] == "discounted"


def test_train_by_ppo(call):
    words = ["--method", "ppo", "--action", "table", "--steps", "1", "--delta-t", "10"]
    done = call("train", *words)
    assert (done.exit_code, done.stderr) == (0, "")
    card = load_card("mf-dt10")
    assert (card.kind, card.training["method"], card.training["num_steps"]) == ("table", "ppo", 1)
    assert "finished" in json.loads(Path("mf-dt10.json").read_text("utf-8"))["computed"]
    drops = {name: one["mean"] for name, one in card.results["candidates"].items()}
    assert drops.keys() == card.results["excess"].keys() == {"random", "jsq", "network"}
    assert all(f"{mean:.2f}" in done.stdout for mean in drops.values())
    rows = (line.split() for line in done.stdout.splitlines() if line.startswith("  "))
    shown = [row[0] for row in rows if row]
    assert shown == ["policy", "random", "jsq", "network"]


def test_no_file_is_replaced_unless_it_is_named(call, refused):
    Path("mf-dt10.json").write_text("mine", "utf-8")
    refused(["train", *FEW_STEPS], "--output", "mf-dt10.json", "exists")
    assert call("train", *FEW_STEPS, "--output", "mf-dt10.safetensors").exit_code == 0
    assert json.loads(Path("mf-dt10.json").read_text("utf-8"))["kind"] == "score"


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["--method", "sarsa"], ["--method", "'sarsa'", "ppo"]),
        (["--objective", "best"], ["--objective", "discounted"]),
        (["--action", "table"], ["--action", "left out with --method pathwise", "'table'"]),
        (["--steps", "9"], ["--steps", "left out with --method pathwise", "9"]),
        (["--method", "ppo", "--objective", "evaluation"], ["--objective", "--method ppo"]),
        (["--method", "ppo", "--gradient-steps", "1,1"], ["--gradient-steps", "--method ppo"]),
        (["--method", "ppo", "--steps", "0"], ["--steps", "got 0"]),
        (["--method", "ppo", "--seed", "-1"], ["--seed", "got -1"]),
        (["--method", "ppo", "--num-choices", "9"], ["table", "65536"]),
        (["--gradient-steps", "9"], ["--gradient-steps", "(9,)", "CONSTANTS,NETWORK"]),
        (["--gradient-steps", "9,-9"], ["--gradient-steps", "-9", ">= 0"]),
        (["--gradient-steps", "many"], ["--gradient-steps", "'many'"]),
        (["--seed", "-1"], ["--seed", "got -1"]),
        (["--delta-t", "0"], ["--delta-t", "got 0.0"]),
        (
            ["--delta-t", "1e8"],
            ["--delta-t must be at most 2222.22", "100000000.0"],
        ),
        (["--delta-t", "1e8", "--method", "ppo"], ["--delta-t must be at most 2222.22"]),
        (["--arrival-rates", "1,2,3"], ["--arrival-kernel", "3 x 3"]),
        (["--buffer-size", "100", "--num-choices", "3"], ["number of state tuples", "32768"]),
        (["--output", "policy.npz"], ["--output", "ends in .safetensors", "policy.npz"]),
        (["--output", "nowhere/mf.safetensors"], ["--output", "folder that exists"]),
        (["--runs", "5"], ["--runs"]),
    ],
    ids=" ".join,
)
def test_bad_training_is_refused(words, fragments, refused):
    if "--num-choices" in words and "ppo" in words:
        words = [*words, "--action", "table"]
    refused(["train", *words], *fragments)


def test_a_checkpoint_of_another_run_is_refused(refused):
    Path("mf-dt1.checkpoint").write_bytes(b"not a checkpoint")
    refused(["train"], "the checkpoint must be", "mf-dt1.checkpoint")


def test_the_missing_extra_is_named(monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(["train"], "needs torch, from the extra 'train': pip install 'mfc_lb[train]'")


# The checkpoint is written whenever it may be, so that little has to be trained.
TRAIN = """
import sys
from mfc_lb.learning.checkpoints import Checkpoint
Checkpoint.__init__.__defaults__ = (0.0,)
from mfc_lb.cli import main
main(["train", *sys.argv[1:]])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_run_goes_on_when_the_command_is_given_again(call):
    steps = ["--delta-t", "10", "--gradient-steps", "10,80", "--output"]
    assert call("train", *steps, "whole.safetensors").exit_code == 0
    words = [sys.executable, "-c", TRAIN, *steps, "killed.safetensors"]
    process = subprocess.Popen(words, env=environment())
    wait_for(Path("killed.checkpoint"), process)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not Path("killed.safetensors").exists()
    assert call("train", *steps, "killed.safetensors").exit_code == 0
    first, second = (Path(f"{name}.safetensors").read_bytes() for name in ("whole", "killed"))
    assert first == second
    assert not list(Path.cwd().glob("*.checkpoint"))


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    assert path.exists()
