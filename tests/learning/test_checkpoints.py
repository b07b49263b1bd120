"""A run that was stopped, or killed at any moment, ends with the same weights."""

import copy
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO as PPO_OF_STABLE_BASELINES3

from mfc_lb import ArrivalProcess, InvalidInput, SystemParameters
from mfc_lb.learning import (
    MeanFieldEnv,
    PathwiseSettings,
    PPOSettings,
    load_card,
    train_pathwise,
    train_ppo,
)
from mfc_lb.learning.checkpoints import Checkpoint, _same
from mfc_lb.systems import Estimate
from tests.learning.policies import NO_PATHS

ROOT = Path(__file__).parent.parent.parent
P = SystemParameters(delta_t=10.0)
PATHWISE = PathwiseSettings(
    constant_steps=20, network_steps=20, num_paths=8, width=8, num_validation_paths=4
)
PPO = PPOSettings(
    num_steps=480, num_envs=2, batch_size=16, minibatch_size=8, num_passes=2, width=8,
    episode_epochs=10,
)  # fmt: skip
WAYS = {"pathwise": (train_pathwise, PATHWISE), "ppo": (train_ppo, PPO)}


@pytest.fixture(autouse=True)
def _written_whenever_it_may_be(monkeypatch):
    monkeypatch.setattr(Checkpoint.__init__, "__defaults__", (0.0,))


@pytest.fixture(params=list(WAYS))
def way(request):
    """A way of training, and its settings."""
    return WAYS[request.param]


def reached(result):
    """Return all that training reached, but for the time it took."""
    return (
        {name: weight.tobytes() for name, weight in result.policy.weights.items()},
        {name: estimate.mean for name, estimate in result.candidates.items()},
        [(point.environment_steps, point.drops) for point in result.curve],
    )


def watch(policy):
    """Evaluate a policy cheaply, but so that every weight matters."""
    return Estimate(float(policy.action(np.full((1, 6), 1 / 6), np.zeros(1, int)).sum()), 0.0, 2)


def stop_after(count):
    """Return an evaluation that stops the run at its call number `count`."""
    calls = iter(range(count))

    def evaluate(policy):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return watch(policy)

    return evaluate


# After three points, the last state of pathwise is the one between its two stages.
@pytest.mark.parametrize("stops", [[1], [2, 1], [3]])
def test_a_run_that_was_stopped_goes_on(way, stops, tmp_path):
    train, settings = way
    whole = train(P, settings, evaluate=watch)
    path = tmp_path / "run.checkpoint"
    for count in stops:
        with pytest.raises(KeyboardInterrupt):
            train(P, settings, evaluate=stop_after(count), checkpoint=path)
        assert path.exists()
    resumed = train(P, settings, evaluate=watch, checkpoint=path)
    assert reached(resumed) == reached(whole)
    assert not list(tmp_path.iterdir())


def test_how_often_it_is_written_changes_nothing(way, tmp_path, monkeypatch):
    train, settings = way
    often = train(P, settings, checkpoint=tmp_path / "run")
    monkeypatch.setattr(Checkpoint.__init__, "__defaults__", (1e9,))
    never = train(P, settings, checkpoint=tmp_path / "run")
    assert reached(often) == reached(never)


def stopped(way, path):
    train, settings = way
    with pytest.raises(KeyboardInterrupt):
        train(P, settings, evaluate=stop_after(2), checkpoint=path)
    return train, settings


def test_a_checkpoint_of_another_run_is_refused(way, tmp_path):
    path = tmp_path / "run"
    train, settings = stopped(way, path)
    before = path.read_bytes()
    others = [
        lambda: train(P.replace(delta_t=9.0), settings, checkpoint=path),
        lambda: train(P, replace(settings, seed=1), checkpoint=path),
        lambda: train(P, replace(settings, width=9), checkpoint=path),
        lambda: [
            other(P, theirs, checkpoint=path) for other, theirs in WAYS.values() if other != train
        ],
    ]
    for other in others:
        with pytest.raises(InvalidInput, match="checkpoint must be of a run with the same param"):
            other()
    assert path.read_bytes() == before


@pytest.mark.parametrize("path_of", [str, Path, lambda path: path])
def test_a_checkpoint_is_a_path_or_text(way, path_of, tmp_path):
    train, settings = way
    path = tmp_path / "made" / "run"
    with pytest.raises(KeyboardInterrupt):
        train(P, settings, evaluate=stop_after(2), checkpoint=path_of(path))
    assert path.exists()
    resumed = train(P, settings, evaluate=watch, checkpoint=path_of(path))
    assert reached(resumed) == reached(train(P, settings, evaluate=watch))


@pytest.mark.parametrize("path", [one for one in NO_PATHS if one is not None], ids=repr)
def test_what_is_no_path_is_refused_before_training(way, path):
    train, settings = way
    with pytest.raises(InvalidInput, match="checkpoint must be the path of a file"):
        train(P, settings, evaluate=stop_after(0), checkpoint=path)


def test_other_files_are_refused_before_training(way, tmp_path):
    train, settings = way
    zipped = tmp_path / "model.zip"
    PPO_OF_STABLE_BASELINES3("MlpPolicy", MeanFieldEnv(P), n_steps=2, batch_size=2).save(zipped)
    (tmp_path / "text").write_text("{}", "utf-8")
    torch.save({"origin": "x", "state": {}}, tmp_path / "other")
    too_long = tmp_path / ("x" * 300)
    for path in (zipped, tmp_path / "text", tmp_path / "other", tmp_path, too_long):
        with pytest.raises(InvalidInput, match="checkpoint must be one that training wrote, got"):
            train(P, settings, evaluate=stop_after(0), checkpoint=path)


def test_no_flipped_bit_of_a_checkpoint_passes(way, tmp_path):
    path = tmp_path / "run"
    _, settings = stopped(way, path)
    content = path.read_bytes()
    for position in np.linspace(0, len(content) - 1, 60).astype(int):
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(position) % 8
        path.write_bytes(bytes(damaged))
        with pytest.raises(InvalidInput, match="checkpoint must be one that training wrote, got"):
            Checkpoint(path, P, settings).read()


def test_a_state_that_does_not_read_back_the_same_is_not_kept(way, tmp_path, monkeypatch):
    train, settings = way
    kept, save = tmp_path / "run", torch.save

    def save_less(stored, where):
        save({**stored, "state": {**stored["state"], "seconds": -1.0}}, where)

    monkeypatch.setattr(torch, "save", save_less)
    with pytest.raises(InvalidInput, match="checkpoint cannot be written: it does not read back"):
        train(P, settings, checkpoint=kept)
    assert not kept.exists()


STATES = [0.0, -0.0, 1, True, None, "x", [1.0], {"x": 1.0}, torch.zeros(2), torch.zeros(2, 1)]
STATES += [torch.zeros(2, dtype=torch.float64), torch.tensor([0.0, float("nan")]), float("nan")]


def test_states_are_compared_to_the_byte():
    for index, first in enumerate(STATES):
        for other, second in enumerate(copy.deepcopy(STATES)):
            assert _same({"a": (first,)}, {"a": (second,)}) == (index == other)
    assert _same(torch.arange(6.0).reshape(2, 3).T, torch.arange(6.0).reshape(2, 3).T.contiguous())


@pytest.mark.parametrize("keep", [0, 10, 0.5])
def test_a_damaged_checkpoint_is_refused(way, keep, tmp_path):
    path = tmp_path / "run"
    train, settings = stopped(way, path)
    content = path.read_bytes()
    path.write_bytes(content[: keep if isinstance(keep, int) else int(keep * len(content))])
    with pytest.raises(InvalidInput, match="checkpoint must be one that training wrote, got"):
        train(P, settings, checkpoint=path)


def test_a_checkpoint_that_cannot_be_written_is_refused(way, tmp_path):
    train, settings = way
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InvalidInput, match="the checkpoint cannot be written"):
        train(P, settings, checkpoint=tmp_path / "file" / "run")


# Forks a child that trains, kills it a random time after it has written its state, and so on.
KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
from mfc_lb import SystemParameters
from mfc_lb.learning import *
from mfc_lb.learning.checkpoints import Checkpoint

Checkpoint.__init__.__defaults__ = (0.0,)
folder, name, given = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
settings = PPOSettings(**given) if name == "ppo" else PathwiseSettings(**given)
train = train_ppo if name == "ppo" else train_pathwise
state = folder / "run"

def save(target, checkpoint=None):
    result = train(SystemParameters(delta_t=10.0), settings, checkpoint=checkpoint)
    save_policy(result.policy, folder / target, training={}, results=result.results())

def forked():
    child = os.fork()
    if not child:
        save("resumed", state)
        os._exit(0)
    return child

def written():
    return state.stat().st_mtime_ns if state.exists() else 0

save("whole")
chances, kills = random.Random(0), 0
for _ in range(2):
    child, before = forked(), written()
    while written() == before and not os.waitpid(child, os.WNOHANG)[0]:
        time.sleep(0.005)
    time.sleep(chances.uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    kills += os.waitpid(child, 0)[1] == signal.SIGKILL
assert os.waitpid(forked(), 0)[1] == 0
print(kills)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", list(WAYS))
def test_a_run_that_is_killed_at_any_moment_ends_with_the_same_weights(name, tmp_path):
    given = json.dumps(asdict(WAYS[name][1]))
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), name, given],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1
    first, second = (tmp_path / f"{end}.safetensors" for end in ("whole", "resumed"))
    assert first.read_bytes() == second.read_bytes()
    reached = [load_card(path).results["candidates"] for path in (first, second)]
    assert reached[0] == reached[1]
    # Half a temporary file may be left by a kill, but no checkpoint by the run that ended.
    assert not (tmp_path / "run").exists()


class Alternating(ArrivalProcess):
    def sample_levels(self, num_epochs, generator):
        return np.arange(num_epochs) % 2


def test_a_checkpoint_of_another_demand_is_refused(tmp_path):
    """Its numbers may be the same; the levels are not."""
    settings = PathwiseSettings(constant_steps=1)
    plain, other = (SystemParameters(arrivals=kind()) for kind in (ArrivalProcess, Alternating))
    kept = Checkpoint(tmp_path / "state", plain, settings, every=0.0)
    kept.writer()(lambda: {"step": 1})
    assert kept.read() == {"step": 1}
    with pytest.raises(InvalidInput, match="same parameters and settings"):
        Checkpoint(tmp_path / "state", other, settings).read()


class Shorter(SystemParameters):
    """Runs over half the epochs."""

    def num_epochs(self, horizon=250.0):
        return super().num_epochs(horizon)


@dataclass(frozen=True)
class Recorded(Alternating):
    path: object = None


def recorded(level):
    path = np.zeros(5000, dtype=np.int64)
    path[2500] = level
    return SystemParameters(arrivals=Recorded(path=path))


@pytest.mark.parametrize(
    ("one", "other"),
    [(SystemParameters(), Shorter()), (recorded(0), recorded(1))],
    ids=["parameters", "a field that text shortens"],
)
def test_a_checkpoint_of_another_subclass_is_refused(one, other, tmp_path):
    kept = Checkpoint(tmp_path / "state", one, PATHWISE)
    kept.writer()(lambda: {"step": 1})
    assert kept.read() == {"step": 1}
    with pytest.raises(InvalidInput, match="same parameters and settings"):
        Checkpoint(tmp_path / "state", other, PATHWISE).read()


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (
            PathwiseSettings(seed=np.int64(3), sees_level=np.True_, network_rate=Fraction(1, 2)),
            PathwiseSettings(seed=3, sees_level=True, network_rate=0.5),
        ),
        (
            PPOSettings(num_envs=np.int32(4), clip_range=1, discount=np.float32(0.5)),
            PPOSettings(num_envs=4, clip_range=1.0, discount=0.5),
        ),
    ],
    ids=list(WAYS),
)
def test_equal_settings_go_on_with_each_others_checkpoint(given, plain, tmp_path):
    assert repr(given) == repr(plain)
    Checkpoint(tmp_path / "state", P, given).writer()(lambda: {"step": 1})
    assert Checkpoint(tmp_path / "state", P, plain).read() == {"step": 1}
