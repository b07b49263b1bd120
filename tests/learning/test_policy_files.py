"""Policies in files: what is written is read, and what is damaged is refused."""

import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest

import mfc_lb
from mfc_lb import InvalidInput, load_policy
from mfc_lb.files import sha256
from mfc_lb.learning import (
    ActionKind,
    NetworkPolicy,
    PathwiseSettings,
    load_card,
    save_policy,
    train_pathwise,
)
from mfc_lb.learning import policy_files as module
from mfc_lb.learning.policy_files import PolicyCard, card_checksum
from tests.learning.policies import NO_PATHS

ROOT = Path(__file__).parent.parent.parent
TRAINING = {"method": "by hand", "seed": 3, "rate": np.float64(0.1)}
RESULTS = {"seconds": 1.5, "candidates": {"random": {"mean": np.float64(40.0)}}}


@pytest.fixture
def stored(network, tmp_path) -> Path:
    """Return the name, without a suffix, of a stored random network."""
    path = tmp_path / "folder" / "mf-dt2.5"
    save_policy(network, path.with_name("mf-dt2.5.safetensors"), training=TRAINING, results=RESULTS)
    return path


@pytest.mark.parametrize("suffix", [".safetensors", ".json", ""])
def test_what_is_written_is_read(suffix, stored, network):
    path = stored.with_name(stored.name + suffix)
    if not suffix:
        path = str(path)
    read = load_policy(path, network.parameters)
    assert read.parameters == network.parameters
    assert read.kind is network.kind
    assert read.weights.keys() == network.weights.keys()
    for name, weight in network.weights.items():
        assert np.array_equal(read.weights[name], weight)
        assert read.weights[name].dtype == np.float64


def test_the_saved_policy_is_the_trained_one(tmp_path):
    """Scores that no level changes are one row in memory, which is not how they are written."""
    settings = PathwiseSettings(
        sees_level=False, constant_steps=60, network_steps=5, num_paths=8, num_validation_paths=4
    )
    trained = train_pathwise(mfc_lb.SystemParameters(delta_t=5.0), settings).policy
    mfc_lb.save_policy(trained, tmp_path / "mf")
    read = load_policy(tmp_path / "mf")
    assert read == trained
    assert read.weights["base"][0].tolist() == trained.weights["base"][0].tolist()
    assert len(set(read.weights["base"][0].tolist())) == 6


ORDERS = {
    "columns": np.asfortranarray,
    "one row": lambda weight: np.broadcast_to(weight[..., :1, :], weight.shape),
    "backwards": lambda weight: weight[..., ::-1],
    "every second": lambda weight: np.repeat(weight, 2, axis=-1)[..., ::2],
    "big end first": lambda weight: weight.astype(">f8"),
    "single precision": lambda weight: weight.astype(np.float32),
    "lists": lambda weight: weight.tolist(),
}


@pytest.mark.parametrize("order", ORDERS)
def test_weights_are_written_as_they_are_and_not_as_they_lie_in_memory(order, network, tmp_path):
    arrays = {name: np.atleast_2d(weight) for name, weight in network.weights.items()}
    laid = {name: ORDERS[order](weight) for name, weight in arrays.items()}
    laid["hidden_bias"] = laid["hidden_bias"][0]
    policy = NetworkPolicy(laid, network.parameters, network.kind)
    save_policy(policy, tmp_path / "mf")
    read = load_policy(tmp_path / "mf")
    assert read == policy
    for name, weight in laid.items():
        assert np.array_equal(read.weights[name], np.asarray(weight, dtype=np.float64))


def test_nothing_is_saved_that_does_not_read_back_the_same(stored, network, monkeypatch):
    before = {path: path.read_bytes() for path in stored.parent.iterdir()}
    other = {name: weight + 1.0 for name, weight in network.weights.items()}
    for name, broken in (
        ("tensor_bytes", lambda _, write=module.tensor_bytes: write(other)),
        ("card_checksum", sha256),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, broken)
            with pytest.raises(InvalidInput, match=r"cannot be written: its .* not read back"):
                save_policy(network, stored)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", lambda path, _: path.open("wb").close())
        with pytest.raises(InvalidInput, match=r"cannot be written: mf-dt2\.5.* not what was"):
            save_policy(network, stored)
    assert {path: path.read_bytes() for path in stored.parent.iterdir()} == before


class Colour(StrEnum):
    RED = "red"


def test_a_card_holds_what_json_gives_back(network, tmp_path):
    given = {"tuple": (1, 2.5), "array": np.eye(2), "count": np.int64(3), "kind": Colour.RED}
    save_policy(network, tmp_path / "mf", training=given, results={"none": None, "ü": "\n"})
    card = load_card(tmp_path / "mf")
    assert card.training == {
        "tuple": (1, 2.5),
        "array": ((1, 0), (0, 1)),
        "count": 3,
        "kind": "red",
    }
    assert card.results == {"none": None, "ü": "\n"}


def test_a_card_cannot_be_edited_and_may_be_compared_and_pickled(network, tmp_path):
    given = {"steps": [1, 2], "inside": {"seed": 10**400}}
    save_policy(network, tmp_path / "mf", training=given)
    card, same = load_card(tmp_path / "mf"), load_card(tmp_path / "mf")
    given["inside"]["seed"] = 0
    assert card.training == {"steps": (1, 2), "inside": {"seed": 10**400}}
    with pytest.raises(TypeError):
        card.training["inside"]["seed"] = 0
    with pytest.raises(TypeError):
        card.results["more"] = 0
    again = pickle.loads(pickle.dumps(card))
    assert (card, hash(card)) == (same, hash(same)) == (again, hash(again))
    with pytest.raises(TypeError):
        again.training["steps"] = ()
    assert replace(card, training={}) != card


@pytest.mark.parametrize("given", [["steps"], "steps", 3, np.ones(2)], ids=str)
def test_a_card_is_made_of_mappings(given, network, tmp_path):
    for where in ("training", "results", "computed"):
        with pytest.raises(InvalidInput, match=f"{where} must be a mapping"):
            save_policy(network, tmp_path / "mf", **{where: given})
    assert not list(tmp_path.iterdir())


def test_a_card_that_is_made_is_as_one_that_is_read(network):
    array = np.zeros(2)
    card, same, other = (
        PolicyCard(network.parameters, network.kind, {"zero": zero, "array": array})
        for zero in (0, -0.0, 1)
    )
    assert (card, hash(card)) == (same, hash(same))
    assert (card != other, hash(card) != hash(other)) == (True, True)
    array[0] = 1.0
    assert card.training["array"] == (0.0, 0.0)
    for field in ("training", "results"):
        with pytest.raises(InvalidInput, match=f"{field} must be a mapping, got 3"):
            replace(card, **{field: 3})


class Own(NetworkPolicy):
    """Does something else."""

    def action(self, nu, level):
        return -super().action(nu, level)


class Alternating(mfc_lb.ArrivalProcess):
    def sample_levels(self, num_epochs, generator):
        return np.arange(num_epochs) % 2


def test_what_a_file_cannot_say_is_not_saved(network, tmp_path):
    """It would come back as something else."""
    own = Own(network.weights, network.parameters, network.kind)
    p = network.parameters
    numbers = {name: getattr(p.arrivals, name) for name in ("rates", "kernel", "initial")}
    demand = replace(network, parameters=replace(p, arrivals=Alternating(**numbers)))
    for policy in (own, demand):
        with pytest.raises(InvalidInput, match="policy must be"):
            save_policy(policy, tmp_path / "mf")
    assert not list(tmp_path.iterdir())
    assert (own != network, network != own) == (True, True)
    own.note = "kept"
    again = pickle.loads(pickle.dumps(own))
    assert (type(again), again.note, again == own) == (Own, "kept", True)
    assert again.weights["base"].flags.writeable is False


LOOP: dict[str, object] = {}
LOOP["again"] = LOOP


@pytest.mark.parametrize(
    "given",
    [
        {"path": Path("x")},
        {"set": {1}},
        {1: "a number as a name"},
        {"inside": {None: 1}},
        {"nan": float("nan")},
        {"inf": np.float64("inf")},
        {"complex": np.complex128(1j)},
        {"text": "\ud800"},
        {"masked": np.ma.masked_array([1.0, 2.0], [False, True])},
        LOOP,
    ],
    ids=lambda given: str(list(given)),
)
def test_a_card_of_what_json_does_not_hold_is_refused(given, network, tmp_path):
    for where in ("training", "results", "computed"):
        with pytest.raises(InvalidInput, match="the card must be made of what JSON holds"):
            save_policy(network, tmp_path / "mf", **{where: given})
    assert not list(tmp_path.iterdir())


def test_what_is_no_network_is_not_saved(tmp_path):
    constant = mfc_lb.ConstantPolicy(mfc_lb.random_choice(mfc_lb.SystemParameters()))
    for policy in (constant, None, tmp_path):
        with pytest.raises(InvalidInput, match="policy must be a NetworkPolicy"):
            save_policy(policy, tmp_path / "mf")


def test_the_card_says_what_is_known(stored, network):
    card = load_card(stored)
    assert (card.parameters, card.kind) == (network.parameters, network.kind)
    assert (card.training, card.results) == (TRAINING, RESULTS)
    assert card.version == mfc_lb.__version__
    assert sorted(path.name for path in stored.parent.iterdir()) == [
        "mf-dt2.5.json",
        "mf-dt2.5.safetensors",
    ]


def test_the_same_policy_gives_the_same_bytes(stored, network, tmp_path):
    again = tmp_path / "again"
    save_policy(network, again, training=TRAINING, results=RESULTS)
    for suffix in (".safetensors", ".json"):
        first, second = (path.with_name(path.name + suffix) for path in (stored, again))
        assert first.read_bytes() == second.read_bytes()


def test_a_policy_for_another_system_is_refused(stored, network):
    other = network.parameters.replace(buffer_size=7)
    with pytest.raises(InvalidInput, match="buffer_size must be 2, for which the policy was tr"):
        load_policy(stored, other)
    for none in (5, mfc_lb.SystemParameters, {}):
        with pytest.raises(InvalidInput, match="parameters must be SystemParameters, got"):
            load_policy(stored, none)


@pytest.mark.parametrize("where", [0, 9, -1])
def test_damaged_weights_are_refused(stored, where):
    path = stored.with_name("mf-dt2.5.safetensors")
    content = bytearray(path.read_bytes())
    content[where] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInput, match="policy must be the file that its card describes"):
        load_policy(stored)


def card_of(stored):
    return stored.with_name("mf-dt2.5.json")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b"null", b"{}", b"\xff\xfe", b'{"parameters": 3}'],
    ids=repr,
)
def test_a_card_that_is_none_is_refused(stored, content):
    card_of(stored).write_bytes(content)
    for load in (load_policy, load_card):
        with pytest.raises(InvalidInput, match=r"policy must have a readable card, got .*mf-dt2"):
            load(stored)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "simplex"),
        ("parameters", {"buffer_size": -1}),
        ("parameters", {"arrivals": {"rates": [1.0], "kernel": [[0.5]], "initial": [1.0]}}),
        ("parameters", {"unknown": 1}),
    ],
)
def test_a_card_of_impossible_values_is_refused(stored, field, value):
    card = json.loads(card_of(stored).read_text("utf-8"))
    card[field] = card[field] | value if isinstance(value, dict) else value
    card_of(stored).write_text(json.dumps(card), "utf-8")
    with pytest.raises(InvalidInput, match="policy must have a readable card"):
        load_policy(stored)


@pytest.mark.parametrize(
    "name", ["parameters", "kind", "training", "results", "version", "sha256", "card_sha256"]
)
def test_a_card_that_lacks_something_is_refused(stored, name):
    card = json.loads(card_of(stored).read_text("utf-8"))
    del card[name]
    card_of(stored).write_text(json.dumps(card), "utf-8")
    with pytest.raises(InvalidInput, match=f"policy must have a readable card.*{name}"):
        load_policy(stored)


def sign(card: dict) -> bytes:
    """Return a card as somebody writes it who computes its checksum, too."""
    del card["card_sha256"]
    digest = card_checksum(json.dumps(card).encode())
    return json.dumps({**card, "card_sha256": digest}).encode()


def test_a_card_of_another_policys_parameters_is_refused(stored):
    card = json.loads(card_of(stored).read_bytes())
    card["parameters"]["buffer_size"] = 3
    card_of(stored).write_text(json.dumps(card), "utf-8")
    with pytest.raises(InvalidInput, match="policy must be described by the card that was written"):
        load_policy(stored)
    card_of(stored).write_bytes(sign(card))
    with pytest.raises(InvalidInput, match="weights must be"):
        load_policy(stored)


def test_a_card_may_be_laid_out_anew(stored, network):
    card = json.loads(card_of(stored).read_bytes())
    card_of(stored).write_text(json.dumps(card, indent=7).replace("\n", "\r\n"), "utf-8")
    assert load_policy(stored) == network


@pytest.mark.parametrize("kind", [ActionKind.SCORE])
def test_no_flipped_bit_of_a_card_passes(stored):
    content = card_of(stored).read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        card_of(stored).write_bytes(bytes(damaged))
        with pytest.raises(InvalidInput, match="policy must"):
            load_card(stored)


@pytest.mark.parametrize("opened", [b"[", b'{"parameters":', b'{"training": [', b"[{}, "])
def test_a_deeply_nested_card_is_refused(stored, opened):
    card_of(stored).write_bytes(opened * 100_000)
    for load in (load_policy, load_card):
        with pytest.raises(InvalidInput, match="policy must have a readable card"):
            load(stored)


@pytest.mark.parametrize(
    ("field", "value"),
    [("training", 3), ("results", "none"), ("sha256", None), ("parameters", []), ("kind", [])],
)
def test_a_signed_card_of_other_kinds_of_values_is_refused(stored, field, value):
    card = json.loads(card_of(stored).read_bytes())
    card_of(stored).write_bytes(sign({**card, field: value}))
    with pytest.raises(InvalidInput, match="policy must"):
        load_policy(stored)


@pytest.mark.parametrize("path", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused(path, network):
    for use in (load_policy, load_card, lambda path: save_policy(network, path)):
        with pytest.raises(InvalidInput, match="policy must be the path of a file"):
            use(path)


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
def test_a_missing_file_is_refused(stored, suffix):
    missing = stored.with_name(stored.name + suffix)
    missing.unlink()
    message = f"got {str(stored)!r} ({missing.name}: No such file"
    with pytest.raises(InvalidInput, match=re.escape(message)):
        load_policy(stored)


def test_a_folder_that_cannot_be_written_is_refused(network, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InvalidInput, match="the policy cannot be written"):
        save_policy(network, tmp_path / "file" / "policy", training={}, results={})


@pytest.mark.parametrize("kind", [ActionKind.SCORE])
def test_loading_and_evaluating_need_no_torch(stored):
    program = f"""
import sys
import mfc_lb
policy = mfc_lb.load_policy({str(stored)!r})
system = mfc_lb.FiniteSystem(policy.parameters, 100, 10)
mfc_lb.evaluate(system, policy, num_epochs=2, num_runs=2, seed=0)
print([name for name in ("torch", "gymnasium", "stable_baselines3") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.strip() == "[]"
