"""Policies by name, by scores, or from a file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb.cli.mistakes import refuse

if TYPE_CHECKING:
    from mfc_lb.model import DecisionRule, Policy, SystemParameters

NAMES = ("random", "jsq", "sed", "softmin")
SUFFIXES = (".npy", ".csv", ".json")
STORED = ".safetensors"
DEFAULT_BETA = 1.0


def named_policy(text: str, parameters: "SystemParameters", field: str) -> "Policy":
    """Return the policy that a word means.

    Parameters
    ----------
    text : str
        ``random``, ``jsq``, ``sed``, ``softmin``, ``softmin:BETA`` or the name of a file that holds
        a decision rule or a trained policy.
    parameters : SystemParameters
        Gives the states and the number of choices.
    field : str
        The option, for messages.
    """
    from mfc_lb.model import ConstantPolicy

    if text.lower().endswith(STORED) or _is_card(Path(text)):
        from mfc_lb import load_policy

        return load_policy(text, parameters)
    if text.lower().endswith(SUFFIXES):
        return ConstantPolicy(rule_from_file(text, parameters, field))
    return ConstantPolicy(_named_rule(text, parameters, field))


def _is_card(path: Path) -> bool:
    return path.suffix.lower() == ".json" and path.with_suffix(STORED).is_file()


def _named_rule(text: str, parameters: "SystemParameters", field: str) -> "DecisionRule":
    from mfc_lb import model

    name, colon, _ = text.partition(":")
    if name not in NAMES or (colon and name != "softmin"):
        files = "a .npy, .csv, .json or .safetensors file"
        refuse(field, f"one of random, jsq, sed, softmin:BETA, or {files}", text)
    if name == "softmin":
        return model.softmin(parameters, _beta(text, field) if colon else DEFAULT_BETA)
    by_name = {
        "random": model.random_choice,
        "jsq": model.join_shortest_queue,
        "sed": model.shortest_expected_delay,
    }
    return by_name[name](parameters)


def rule_from_file(name: str, parameters: "SystemParameters", field: str) -> "DecisionRule":
    """Return the decision rule in a file: an array of shape (S,)*d + (d,).

    In a CSV file it is one line of d probabilities for each tuple of states, in order.
    """
    from mfc_lb.model import as_decision_rule

    path = Path(name)
    if path.suffix.lower() not in SUFFIXES:
        refuse(field, "a .npy, .csv or .json file", name)
    try:
        table = _read(path)
    except (OSError, ValueError, EOFError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        refuse(field, f"a readable {path.suffix} file ({reason})", name)
    if path.suffix.lower() == ".csv":
        table = _unflattened(table, parameters, field)
    return as_decision_rule(table, parameters)


def _beta(text: str, field: str) -> float:
    try:
        beta = float(text.partition(":")[2])
    except ValueError:
        beta = -1.0
    if not 0 <= beta < float("inf"):
        refuse(field, "softmin:BETA with a finite number BETA >= 0", text)
    return beta


def _read(path: Path) -> Any:
    import numpy as np

    if path.suffix.lower() == ".npy":
        return np.load(path, allow_pickle=False)
    text = path.read_text("utf-8")
    if path.suffix.lower() == ".json":
        return json.loads(text)
    lines = [line for line in text.splitlines() if line.strip()]
    return [[float(entry) for entry in line.split(",")] for line in lines]


def _unflattened(lines: list[list[float]], parameters: "SystemParameters", field: str) -> Any:
    import numpy as np

    states, choices = parameters.num_states, parameters.num_choices
    widths = {len(line) for line in lines}
    if len(lines) != states**choices or widths != {choices}:
        found = f"{len(lines)} lines of {' or '.join(map(str, sorted(widths))) or 0}"
        refuse(field, f"a file of {states}^{choices} lines of {choices} probabilities", found)
    return np.reshape(lines, (states,) * choices + (choices,))
