"""Policies in files: the weights as safetensors, and beside them a card that people can read."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as tensor_bytes

import mfc_lb
from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import sha256, write_whole, write_whole_json
from mfc_lb.learning.actions import ActionKind
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.model import ArrivalProcess, SystemParameters

WEIGHTS_SUFFIX, CARD_SUFFIX = ".safetensors", ".json"


@dataclass(frozen=True)
class PolicyCard:
    """What is known of a stored policy.

    Attributes
    ----------
    parameters : SystemParameters
        What it was trained for.
    kind : ActionKind
        What its actions mean.
    training : mapping
        How it was trained: the method, all settings and the seed.
    results : mapping
        What it reached; plain numbers.
    version : str
        Version of the library that trained it.
    """

    parameters: SystemParameters
    kind: ActionKind
    training: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""


def save_policy(
    policy: NetworkPolicy,
    path: str | Path,
    *,
    training: Mapping[str, Any],
    results: Mapping[str, Any],
    computed: Mapping[str, Any] | None = None,
) -> None:
    """Write a policy and its card; each file appears whole or not at all.

    Parameters
    ----------
    policy : NetworkPolicy
        What to write.
    path : str or Path
        Of the weights, with the suffix ``.safetensors`` or none; the card is beside it, with the
        suffix ``.json``.
    training, results : mapping
        See `PolicyCard`; anything that JSON holds.
    computed : mapping, optional
        When, where and with what it was trained, for those who read the card.

    Raises
    ------
    InvalidInput
        If the file cannot be written.
    """
    weights, card = _paths(path)
    content = tensor_bytes(dict(policy.weights))
    described = {
        "parameters": asdict(policy.parameters),
        "kind": str(policy.kind),
        "training": dict(training),
        "results": dict(results),
        **({} if computed is None else {"computed": dict(computed)}),
        "version": mfc_lb.__version__,
        "sha256": sha256(content),
    }
    try:
        write_whole(weights, content)
        write_whole_json(card, described)
    except OSError as error:
        raise InvalidInput(f"the policy cannot be written: {error}") from None


def load_policy(path: str | Path, parameters: SystemParameters | None = None) -> NetworkPolicy:
    """Read a policy; torch is not needed.

    Parameters
    ----------
    path : str or Path
        Of the weights or of the card, or of both without a suffix.
    parameters : SystemParameters, optional
        Of the system that the policy is for.

    Returns
    -------
    NetworkPolicy
        The policy.

    Raises
    ------
    InvalidInput
        If the files are missing, damaged or do not belong together, or if the policy was trained
        for another buffer size, number of choices, servers or arrival rates than `parameters` has.
    """
    weights, _ = _paths(path)
    card, digest = _read_card(path)
    content = _read(weights, path)
    require(sha256(content) == digest, "policy", str(weights), "the file that its card describes")
    try:
        tensors = read_tensors(content)
    except SafetensorError as error:
        raise InvalidInput(f"policy must be a safetensors file, got {weights} ({error})") from None
    policy = NetworkPolicy(tensors, card.parameters, card.kind)
    if parameters is not None:
        policy.require_fit(parameters)
    return policy


def load_card(path: str | Path) -> PolicyCard:
    """Read what is known of a stored policy.

    Parameters
    ----------
    path : str or Path
        As for `load_policy`.

    Returns
    -------
    PolicyCard
        The card.

    Raises
    ------
    InvalidInput
        If the card is missing or damaged.
    """
    return _read_card(path)[0]


def _read_card(path: str | Path) -> tuple[PolicyCard, str]:
    _, file = _paths(path)
    content = _read(file, path)
    try:
        card = json.loads(content)
        given = dict(card["parameters"])
        given["arrivals"] = ArrivalProcess(**given["arrivals"])
        described = PolicyCard(
            SystemParameters(**given),
            ActionKind(card["kind"]),
            card["training"],
            card["results"],
            card["version"],
        )
        return described, card["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"policy must have a readable card, got {file} ({error!r})") from None


def _paths(path: str | Path) -> tuple[Path, Path]:
    stem = Path(path)
    if stem.suffix in (WEIGHTS_SUFFIX, CARD_SUFFIX):
        stem = stem.with_suffix("")
    return stem.with_name(stem.name + WEIGHTS_SUFFIX), stem.with_name(stem.name + CARD_SUFFIX)


def _read(path: Path, given: str | Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        both = f"a {WEIGHTS_SUFFIX} file with its card {CARD_SUFFIX} beside it"
        reason = f"{path.name}: {error.strerror}"
        raise InvalidInput(f"policy must be {both}, got {str(given)!r} ({reason})") from None
