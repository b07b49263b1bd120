"""Policies in files: the weights as safetensors, and beside them a card that people can read.

Nothing is written that does not read back as the same policy and the same card.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as tensor_bytes

import mfc_lb
from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import as_path, sha256, write_whole
from mfc_lb.learning.actions import ActionKind
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.model import ArrivalProcess, SystemParameters

WEIGHTS_SUFFIX, CARD_SUFFIX = ".safetensors", ".json"
#: Field of a card that holds its own checksum, `card_checksum`.
CHECKSUM = "card_sha256"


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

    def __post_init__(self) -> None:
        """Take copies that cannot be edited."""
        self.__setstate__(vars(self))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields with plain dictionaries and lists, which can be pickled."""
        return vars(self) | {name: _plain(getattr(self, name)) for name in ("training", "results")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take copies that cannot be edited."""
        names = "training", "results"
        kept = {name: _frozen(_plain(_checked(name, state[name]))) for name in names}
        vars(self).update(state | kept)

    def __hash__(self) -> int:
        """Hash what is compared."""
        compared = self.training, self.results
        return hash((self.parameters, self.kind, self.version, _hashable(compared)))


def save_policy(
    policy: NetworkPolicy,
    path: str | PathLike[str],
    *,
    training: Mapping[str, Any] | None = None,
    results: Mapping[str, Any] | None = None,
    computed: Mapping[str, Any] | None = None,
) -> None:
    """Write a policy and its card; each file appears whole or not at all.

    What is to be written is read back first, and has to be the same policy and the same card.

    Parameters
    ----------
    policy : NetworkPolicy
        What to write.
    path : str or Path
        Of the weights, with the suffix ``.safetensors`` or none; the card is beside it, with the
        suffix ``.json``.
    training, results : mapping, optional
        See `PolicyCard`; anything that JSON holds.
    computed : mapping, optional
        When, where and with what it was trained, for those who read the card.

    Raises
    ------
    InvalidInput
        If the file cannot be written, or the card is given what JSON does not hold.

    Examples
    --------
    >>> policy = load_policy("data/policies/mf-dt5")  # doctest: +SKIP
    >>> save_policy(policy, "mine.safetensors", training={"method": "copied"})  # doctest: +SKIP
    """
    # A file cannot say what a subclass does otherwise.
    is_network = type(policy) is NetworkPolicy
    require(is_network, "policy", policy, "a NetworkPolicy itself, as training gives it")
    weights, card = _paths(path)
    content = _weights_content(policy)
    described = {
        "parameters": asdict(policy.parameters),
        "kind": str(policy.kind),
        "training": _checked("training", training),
        "results": _checked("results", results),
        **({} if computed is None else {"computed": _checked("computed", computed)}),
        "version": mfc_lb.__version__,
        "sha256": sha256(content),
    }
    described_content = _card_content(described)
    same = _described(json.loads(described_content)).parameters == policy.parameters
    told = "SystemParameters with an ArrivalProcess themselves"
    require(same, "policy", policy.parameters, f"one whose parameters are {told}")
    try:
        write_whole(weights, content)
        write_whole(card, described_content)
    except OSError as error:
        raise InvalidInput(f"the policy cannot be written: {error}") from None


def _checked(field_name: str, given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    require(given is None or isinstance(given, Mapping), field_name, given, "a mapping")
    return given or {}


def _weights_content(policy: NetworkPolicy) -> bytes:
    content = tensor_bytes(dict(policy.weights))
    if NetworkPolicy(read_tensors(content), policy.parameters, policy.kind) != policy:
        raise InvalidInput("the policy cannot be written: its weights do not read back the same")
    return content


def _card_content(described: Mapping[str, Any]) -> bytes:
    try:
        plain = _plain(described)
        content = json.dumps(plain, indent=2, ensure_ascii=False).encode()
        plain[CHECKSUM] = card_checksum(content)
        content = (json.dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()
        same = json.loads(content) == plain and card_checksum(content) == plain[CHECKSUM]
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the card must be made of what JSON holds: {error}") from None
    if not same:
        raise InvalidInput("the policy cannot be written: its card does not read back the same")
    return content


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back; NumPy's become plain numbers."""
    if isinstance(value, Mapping):
        for key in value:
            require(isinstance(key, str), "names", key, "text")
        return {key: _plain(entry) for key, entry in value.items()}
    # What is masked would come back as None.
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, np.ma.MaskedArray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    require(value is None or finite or isinstance(value, str), "values", value, "plain and finite")
    return value


def _frozen(value: Any) -> Any:
    """Return a copy of plain values that cannot be edited."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(entry) for key, entry in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _hashable(value: Any) -> Any:
    """Return what has the same hash for equal values; 1, 1.0 and True are equal."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(entry)) for key, entry in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, tuple) else value


def card_checksum(content: bytes) -> str:
    """Return the SHA-256 of all that a card says, but for its checksum.

    Parameters
    ----------
    content : bytes
        Of the card's file.

    Returns
    -------
    str
        In hexadecimal. It depends on the names, their order and every character of a value, and not
        on the white space between them.

    Raises
    ------
    ValueError, RecursionError
        If this is no JSON.
    """

    def as_written(number: str) -> dict[str, None]:
        return {number: None}

    card = json.loads(
        content,
        object_pairs_hook=list,
        parse_float=as_written,
        parse_int=as_written,
        parse_constant=as_written,
    )
    counted = [pair for pair in card if pair[:1] != (CHECKSUM,)]
    return sha256(json.dumps(counted).encode())


def load_policy(
    path: str | PathLike[str], parameters: SystemParameters | None = None
) -> NetworkPolicy:
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
    policy = NetworkPolicy(_tensors(content, weights), card.parameters, card.kind)
    if parameters is not None:
        policy.require_fit(parameters)
    return policy


def _tensors(content: bytes, file: Path) -> dict[str, NDArray[Any]]:
    try:
        return read_tensors(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"policy must be a safetensors file, got {file} ({error})") from None


def load_card(path: str | PathLike[str]) -> PolicyCard:
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


def _read_card(path: str | PathLike[str]) -> tuple[PolicyCard, str]:
    _, file = _paths(path)
    content = _read(file, path)
    try:
        card = json.loads(content)
        described, digest = _described(card), card["sha256"]
        same = card[CHECKSUM] == card_checksum(content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(f"policy must have a readable card, got {file} ({error!r})") from None
    require(same, "policy", str(file), "described by the card that was written with it")
    return described, digest


def _described(card: Mapping[str, Any]) -> PolicyCard:
    given = dict(card["parameters"])
    given["arrivals"] = ArrivalProcess(**given["arrivals"])
    return PolicyCard(
        SystemParameters(**given),
        ActionKind(card["kind"]),
        dict(card["training"]),
        dict(card["results"]),
        str(card["version"]),
    )


def _paths(path: str | PathLike[str]) -> tuple[Path, Path]:
    stem = as_path("policy", path)
    if stem.suffix in (WEIGHTS_SUFFIX, CARD_SUFFIX):
        stem = stem.with_suffix("")
    return stem.with_name(stem.name + WEIGHTS_SUFFIX), stem.with_name(stem.name + CARD_SUFFIX)


def _read(path: Path, given: str | PathLike[str]) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        both = f"a {WEIGHTS_SUFFIX} file with its card {CARD_SUFFIX} beside it"
        reason = f"{path.name}: {error.strerror}"
        raise InvalidInput(f"policy must be {both}, got {str(given)!r} ({reason})") from None
