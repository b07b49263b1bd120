"""The one error that a user's mistake raises, and the checks that raise it."""

import math
import operator
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Largest seed: as many bits as NumPy takes from the system where it is given none.
MAX_SEED = 2**128 - 1


class InvalidInput(ValueError):
    """A value from outside is not allowed; the message names field, value and what is allowed."""


def require(condition: bool, field: str, value: object, allowed: str) -> None:
    """Raise `InvalidInput` with the house's one-line message unless `condition` holds.

    Parameters
    ----------
    condition : bool
        Whether the value is allowed.
    field : str
        Name of the parameter, as the user writes it.
    value : object
        What the user gave.
    allowed : str
        What is allowed, continuing "must be ...".

    Raises
    ------
    InvalidInput
        If `condition` is false.

    Examples
    --------
    >>> require(False, "delta_t", -1.0, "a finite number > 0")
    Traceback (most recent call last):
    mfc_lb.errors.InvalidInput: delta_t must be a finite number > 0, got -1.0
    """
    if not condition:
        raise InvalidInput(f"{field} must be {allowed}, got {shorten(value)}")


def check_int(field: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    """Return `value` as an int of at least `minimum` (and at most `maximum`), or refuse it."""
    allowed = f"an integer >= {minimum}" + ("" if maximum is None else f" and <= {maximum}")
    require(not isinstance(value, (bool, np.bool_)), field, value, allowed)
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{field} must be {allowed}, got {shorten(value)}") from None
    require(minimum <= number and (maximum is None or number <= maximum), field, value, allowed)
    return number


def check_number(field: str, value: Any, allowed: str) -> float:
    """Return a real number of any kind as a float, or refuse it; NaN and infinity are for callers.

    What Python would turn into a number is none if it is true or false, text, complex or an array
    with axes.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    single = kind in "iuf" and not getattr(value, "ndim", 0)
    plain = single and not isinstance(value, (bool, str, bytes))
    require(plain, field, value, allowed)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{field} must be {allowed}, got {shorten(value)}") from None


def check_flag(field: str, value: Any) -> bool:
    """Return `value` as True or False, or refuse what is something else."""
    require(isinstance(value, (bool, np.bool_)), field, value, "True or False")
    return bool(value)


def check_real(field: str, value: Any, minimum: float = 0.0, *, strict: bool = False) -> float:
    """Return `value` as a finite float >= `minimum` (> if `strict`), or refuse it."""
    allowed = f"a finite number {'>' if strict else '>='} {minimum:g}"
    number = check_number(field, value, allowed)
    enough = number > minimum if strict else number >= minimum
    require(math.isfinite(number) and enough, field, value, allowed)
    return number


def check_reals(
    field: str, values: Any, minimum: float = 0.0, *, strict: bool = False
) -> tuple[float, ...]:
    """Return a non-empty tuple of floats that each pass `check_real`, or refuse it."""
    numbers = tuple(
        check_real(f"{field}[{index}]", value, minimum, strict=strict)
        for index, value in enumerate(check_list(field, values, "a sequence of numbers"))
    )
    require(len(numbers) > 0, field, values, "a sequence of at least one number")
    return numbers


def check_list(field: str, values: Any, allowed: str) -> list[Any]:
    """Return what a sequence holds, or refuse text and what has no order."""
    other = isinstance(values, (str, bytes, Set, Mapping, np.ma.MaskedArray))
    listed = isinstance(values, Iterable) and not other and getattr(values, "ndim", 1) > 0
    require(listed, field, values, allowed)
    return list(values)


def check_seed(value: Any) -> int:
    """Return a seed as an int, or refuse it."""
    seed = check_int("seed", value, 0)
    require(seed <= MAX_SEED, "seed", value, "an integer >= 0 and < 2^128")
    return seed


def as_float_array(field: str, values: Any) -> NDArray[np.float64]:
    """Return `values` as a float64 array, or refuse what is not numeric."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    # Not text, nor complex, nor integers beyond 64 bits.
    return _as_array(field, values, "numeric", "iuf").astype(np.float64, copy=False)


def as_int_array(field: str, values: Any, allowed: str) -> NDArray[Any]:
    """Return `values` as an array of integers of any kind, or refuse what is something else."""
    return _as_array(field, values, allowed, "iu")


def _as_array(field: str, values: Any, allowed: str, kinds: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):  # rows of different lengths, or an object's own matter
        if hasattr(values, "__array__"):
            raise
        raise InvalidInput(f"{field} must be {allowed}, got {shorten(values)}") from None
    # What is masked would be taken for valid.
    known = array.dtype.kind in kinds and not isinstance(values, np.ma.MaskedArray)
    require(known, field, values, allowed)
    return array


def shorten(value: object, limit: int = 80) -> str:
    """Return a value in one short line."""
    shown = value.item() if isinstance(value, np.generic) else value
    try:
        text = " ".join(repr(shown).split())
    except ValueError:  # of an integer with thousands of digits
        text = f"{type(value).__name__} of too many digits"
    return text if len(text) <= limit else text[: limit - 3] + "..."
