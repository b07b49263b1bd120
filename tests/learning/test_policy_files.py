"""Policies in files: what is written is read, and what is damaged is refused."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mfc_lb
from mfc_lb import InvalidInput, load_policy
from mfc_lb.learning import ActionKind, load_card, save_policy

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


@pytest.mark.parametrize("name", ["parameters", "kind", "training", "results", "version", "sha256"])
def test_a_card_that_lacks_something_is_refused(stored, name):
    card = json.loads(card_of(stored).read_text("utf-8"))
    del card[name]
    card_of(stored).write_text(json.dumps(card), "utf-8")
    with pytest.raises(InvalidInput, match=f"policy must have a readable card.*{name}"):
        load_policy(stored)


def test_a_card_of_another_policys_parameters_is_refused(stored):
    card = json.loads(card_of(stored).read_text("utf-8"))
    card["parameters"]["buffer_size"] = 3
    card_of(stored).write_text(json.dumps(card), "utf-8")
    with pytest.raises(InvalidInput, match="weights must be"):
        load_policy(stored)


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
