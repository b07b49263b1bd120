"""The values that each notebook has to reproduce: ``book/expected/<notebook>.json``.

An entry says how far a value may be off, and what kind of difference that is:

``exact``
    Nothing random remains: a seed, a closed form or a stored table fixes it. The tolerance is what
    rounding, an optimiser's or a quadrature's error may change; integers and words need none.
``sampling``
    An estimate: another seed would move it by about its standard error, which the run has to
    record, too. The tolerance is four to five of these.
``timing``
    A duration, which no two machines share.
"""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mfc_lb.companion.checks import report
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import Notebook
from mfc_lb.companion.parameters import Value
from mfc_lb.companion.records import read_values

EXACT, SAMPLING, TIMING = "exact", "sampling", "timing"
KINDS = (EXACT, SAMPLING, TIMING)

#: The tolerance of an estimate, in standard errors.
FEWEST_ERRORS, MOST_ERRORS = 4.0, 5.0

_FIELDS = {"value", "tolerance", "kind", "standard_error", "why"}
# A standard error is an estimate, too: of ten runs, it is off by a quarter.
_ERROR_FACTOR = 2.0
_ROUNDING = 1e-6


def check_values(
    notebook: Notebook, parameters: Mapping[str, Value], folder: Path, book: Book
) -> None:
    """Compare recorded values with ``book/expected/<notebook>.json``.

    The names must be the expected ones in every run; the numbers, in a run with the default
    parameters.

    Raises
    ------
    CompanionError
        With one line for each value that is missing, not expected, or off.
    """
    recorded = read_values(folder)
    size = notebook.size(parameters)
    expected = read_expected(notebook.name, book).get(size, {})
    file = f"book/expected/{notebook.name}.json"
    faults = [f"the value {name!r} was not recorded" for name in expected.keys() - recorded.keys()]
    faults += [
        f"the value {name!r} = {recorded[name]['value']!r} has no entry in {file} for size {size!r}"
        for name in recorded.keys() - expected.keys()
    ]
    if not notebook.deviates(parameters):
        common = expected.keys() & recorded.keys()
        faults += [fault for name in common for fault in _off(name, recorded[name], expected[name])]
    report(notebook.name, sorted(faults))


def read_expected(name: str, book: Book) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the expected values of a notebook: ``{size: {value's name: entry}}``.

    Raises
    ------
    CompanionError
        If the file is not of the form ``{"quick": {"drops": {"value": 1.0, "tolerance": 0.1,
        "kind": "sampling", "standard_error": 0.02, "why": "…"}}, "paper": {…}}``.
    """
    path = book.expected / f"{name}.json"
    if not path.exists():
        return {}
    try:
        expected: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CompanionError(f"{name}: {path.name} is not JSON: {error}") from None
    if not (_is_object(expected) and all(_is_object(part) for part in expected.values())):
        raise CompanionError(f"{name}: {path.name} must hold {{size: {{value's name: entry}}}}")
    faults = [
        f"{size}/{value} in {path.name} must have {fault}"
        for size, values in expected.items()
        for value, entry in values.items()
        for fault in _malformed(entry)
    ]
    report(name, faults)
    return expected


def _is_object(content: object) -> bool:
    return isinstance(content, dict)


def _is_number(content: object) -> bool:
    return isinstance(content, (int, float)) and not isinstance(content, bool)


def _malformed(entry: Any) -> Iterator[str]:
    """Yield what an entry must have and has not."""
    if not _is_object(entry):
        yield "the fields of an entry"
        return
    unknown = sorted(entry.keys() - _FIELDS)
    if unknown:
        yield f"no field {unknown[0]!r}"
    if not str(entry.get("why", "")).strip():
        yield "a 'why'"
    value, kind = entry.get("value"), entry.get("kind")
    if not (_is_number(value) or isinstance(value, str)):
        yield "a 'value' that is a number or a word"
    elif kind not in KINDS:
        yield f"a 'kind' that is one of {', '.join(KINDS)}"
    else:
        yield from _malformed_tolerance(entry)


def _malformed_tolerance(entry: Mapping[str, Any]) -> Iterator[str]:
    value, kind = entry["value"], entry["kind"]
    tolerance = entry.get("tolerance", 0)
    needed = isinstance(value, float) or kind != EXACT
    if not (_is_number(tolerance) and tolerance >= 0) or (needed and "tolerance" not in entry):
        yield "a 'tolerance' >= 0"
    elif kind == SAMPLING and not _is_multiple(tolerance, entry.get("standard_error")):
        errors = f"{FEWEST_ERRORS:g} to {MOST_ERRORS:g}"
        yield f"a 'standard_error' > 0 and a 'tolerance' that is {errors} times as large"
    elif kind != SAMPLING and "standard_error" in entry:
        yield f"no 'standard_error', since its kind is {kind!r}"


def _is_multiple(tolerance: float, error: Any) -> bool:
    if not (_is_number(error) and error > 0):
        return False
    return bool(FEWEST_ERRORS - _ROUNDING <= tolerance / error <= MOST_ERRORS + _ROUNDING)


def _off(name: str, found: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a recorded value."""
    value, expected = found["value"], entry["value"]
    if not _agrees(value, expected, entry.get("tolerance", 0)):
        yield f"the value {name!r} is {value!r}, expected {_shown(entry)}"
    if entry["kind"] == SAMPLING and not _alike(found.get("standard_error"), entry):
        error = found.get("standard_error", "not recorded")
        expected = entry["standard_error"]
        yield f"the standard error of {name!r} is {error}, expected about {expected!r}"


def _agrees(value: float | str, expected: float | str, tolerance: float) -> bool:
    if isinstance(value, str) or isinstance(expected, str):
        return bool(value == expected)
    return bool(abs(value - expected) <= tolerance)


def _alike(error: float | None, entry: Mapping[str, Any]) -> bool:
    if error is None or error <= 0:
        return False
    return abs(math.log(error / entry["standard_error"])) <= math.log(_ERROR_FACTOR)


def _shown(entry: Mapping[str, Any]) -> str:
    tolerance = f" ± {entry['tolerance']!r}" if "tolerance" in entry else ""
    return f"{entry['value']!r}{tolerance} ({entry['kind']}: {entry['why']})"
