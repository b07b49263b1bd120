"""The values that each notebook has to reproduce: ``book/expected/<notebook>.json``.

An entry says how far a value may be off, and what kind of difference that is:

``exact``
    Nothing random remains: a seed, a closed form or a stored table fixes it. The tolerance is what
    rounding may change, two parts in a million; integers and words need none. An entry that is
    ``"optimised": true`` comes from a training or an optimiser that runs while the page is made,
    which amplifies rounding: its tolerance is at most half of the value.
``sampling``
    An estimate: another seed would move it by about its standard error, which the run has to
    record, too. The tolerance is four to five of these.
``timing``
    A duration, which no two machines share; its name ends in "seconds".

An entry's ``"shown_times"`` is the factor between the value and the number in its text, where that
is not the usual one, see `value_texts`: 1000 for seconds that the page shows as milliseconds.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mfc_lb.companion.checks import report
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import Notebook
from mfc_lb.companion.parameters import Value
from mfc_lb.companion.records import read_values
from mfc_lb.companion.value_texts import FACTORS, error_faults, text_faults, usual_factor

EXACT, SAMPLING, TIMING = "exact", "sampling", "timing"
KINDS = (EXACT, SAMPLING, TIMING)

SIZES = ("quick", "paper")

#: The tolerance of an estimate, in standard errors.
FEWEST_ERRORS, MOST_ERRORS = 4.0, 5.0
#: The widest tolerance of what is exact, relative to the value: of all, and of what is optimised.
ROUNDING, AMPLIFIED = 2e-6, 0.5
#: A tolerance that is always allowed: a number as small is an error of single precision or less.
SMALLEST = 1e-7

_FIELDS = {"value", "tolerance", "kind", "standard_error", "why", "optimised", "shown_times"}
# The seeds fix a standard error, too; entries hold three digits of it.
_ERROR_FACTOR = 1.3


def check_values(
    notebook: Notebook, parameters: Mapping[str, Value], folder: Path, book: Book
) -> None:
    """Compare recorded values with ``book/expected/<notebook>.json``.

    The names must be the expected ones, and the texts true, in every run; the numbers must be the
    expected ones in a run with the default parameters.

    Raises
    ------
    CompanionError
        With one line for each value that is missing, not expected, or off.
    """
    recorded = read_values(folder)
    size = notebook.size(parameters)
    expected = read_expected(notebook.name, book).get(size, {})
    file = f"book/expected/{notebook.name}.json"
    common = expected.keys() & recorded.keys()
    faults = [f"the value {name!r} was not recorded" for name in expected.keys() - recorded.keys()]
    faults += [
        f"the value {name!r} = {recorded[name]['value']!r} has no entry in {file} for size {size!r}"
        for name in recorded.keys() - expected.keys()
    ]
    found = [(name, recorded[name], expected[name]) for name in common]
    faults += [fault for named in found for fault in _untrue(*named)]
    if not notebook.deviates(parameters):
        faults += [fault for named in found for fault in _off(*named)]
    report(notebook.name, sorted(faults))


def check_files(names: Iterable[str], book: Book) -> None:
    """Check that each file of expected values is that of one of these notebooks.

    Raises
    ------
    CompanionError
        With one line for each other file.
    """
    others = {path.name for path in book.expected.glob("*")} - {f"{name}.json" for name in names}
    report("book/expected", [f"{other} is for no notebook of the book" for other in sorted(others)])


def read_expected(name: str, book: Book) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the expected values of a notebook: ``{size: {value's name: entry}}``.

    Raises
    ------
    CompanionError
        If the file is not of the form ``{"quick": {"drops": {"value": 1.0, "tolerance": 0.1,
        "kind": "sampling", "standard_error": 0.02, "why": "…"}}, "paper": {…}}``, or a number is
        not finite, a key comes twice or a tolerance is wider than its kind allows.
    """
    path = book.expected / f"{name}.json"
    if not path.exists():
        return {}
    try:
        expected: dict[str, dict[str, dict[str, Any]]] = json.loads(
            path.read_text("utf-8"), object_pairs_hook=_once
        )
    except ValueError as error:
        raise CompanionError(f"{name}: {path.name} is not JSON: {error}") from None
    if not (_is_object(expected) and all(_is_object(part) for part in expected.values())):
        raise CompanionError(f"{name}: {path.name} must hold {{size: {{value's name: entry}}}}")
    others = [f"unknown size {size!r} in {path.name}" for size in expected if size not in SIZES]
    report(name, others)
    faults = [
        f"{size}/{value} in {path.name} must have {fault}"
        for size, values in expected.items()
        for value, entry in values.items()
        for fault in _malformed(value, entry)
    ]
    report(name, faults)
    return expected


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the key {twice[0]!r} comes twice")
    return dict(pairs)


def _is_object(content: object) -> bool:
    return isinstance(content, dict)


def _is_number(content: object) -> bool:
    number = isinstance(content, (int, float)) and not isinstance(content, bool)
    return number and math.isfinite(content)  # type: ignore[arg-type]


def _malformed(name: str, entry: Any) -> Iterator[str]:
    """Yield what an entry must have and has not."""
    if not _is_object(entry):
        yield "the fields of an entry"
        return
    unknown = sorted(entry.keys() - _FIELDS)
    if unknown:
        yield f"no field {unknown[0]!r}"
    if not str(entry.get("why", "")).strip():
        yield "a 'why'"
    if entry.get("shown_times", 1) not in FACTORS:
        yield f"a 'shown_times' that is one of {', '.join(map(str, FACTORS))}"
    value, kind = entry.get("value"), entry.get("kind")
    if not (_is_number(value) or isinstance(value, str)):
        yield "a 'value' that is a finite number or a word"
    elif kind not in KINDS:
        yield f"a 'kind' that is one of {', '.join(KINDS)}"
    elif kind == TIMING and not name.endswith("seconds"):
        yield f"another 'kind' than {TIMING!r}, since its name does not end in 'seconds'"
    else:
        yield from _malformed_tolerance(entry)


def _malformed_tolerance(entry: Mapping[str, Any]) -> Iterator[str]:
    value, kind = entry["value"], entry["kind"]
    tolerance = entry.get("tolerance", 0)
    needed = isinstance(value, float) or kind != EXACT
    if not (_is_number(tolerance) and tolerance >= 0) or (needed and "tolerance" not in entry):
        yield "a finite 'tolerance' >= 0"
    elif kind == EXACT and tolerance > _widest(entry):
        yield f"a 'tolerance' of at most {_widest(entry):.3g}, since its kind is 'exact'"
    elif entry.get("optimised", True) is not True or (kind != EXACT and "optimised" in entry):
        yield "an 'optimised' that is true, and only if its kind is 'exact'"
    elif kind == SAMPLING and not _is_multiple(tolerance, entry.get("standard_error")):
        errors = f"{FEWEST_ERRORS:g} to {MOST_ERRORS:g}"
        yield f"a 'standard_error' > 0 and a 'tolerance' that is {errors} times as large"
    elif kind != SAMPLING and "standard_error" in entry:
        yield f"no 'standard_error', since its kind is {kind!r}"


def _widest(entry: Mapping[str, Any]) -> float:
    """Return the widest tolerance of an entry whose kind is exact."""
    if isinstance(entry["value"], str):
        return 0.0
    relative = AMPLIFIED if entry.get("optimised") else ROUNDING
    return max(relative * abs(float(entry["value"])), SMALLEST)


def _is_multiple(tolerance: float, error: Any) -> bool:
    if not (_is_number(error) and error > 0):
        return False
    return bool(FEWEST_ERRORS - ROUNDING <= tolerance / error <= MOST_ERRORS + ROUNDING)


def _untrue(name: str, found: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a recorded text does not show its value."""
    faults = text_faults(found["value"], found["text"], _factor(found, entry))
    yield from (f"{fault}, recorded as {name!r}" for fault in faults)


def _factor(found: Mapping[str, Any], entry: Mapping[str, Any]) -> int:
    return int(entry.get("shown_times", usual_factor(found["text"])))


def _off(name: str, found: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a recorded value."""
    value, expected = found["value"], entry["value"]
    if not _agrees(value, expected, entry.get("tolerance", 0)):
        yield f"the value {name!r} is {value!r}, expected {_shown(entry)}"
    if entry["kind"] == SAMPLING and not _alike(found.get("standard_error"), entry):
        error = found.get("standard_error", "not recorded")
        expected = entry["standard_error"]
        yield f"the standard error of {name!r} is {error}, expected about {expected!r}"
    if found.get("standard_error"):
        shown_error = found["standard_error"] * _factor(found, entry)
        faults = error_faults(found["text"], shown_error)
        yield from (f"{fault} of {name!r}" for fault in faults)


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
