"""Typed parameters of a notebook: what is refused before it runs."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from mfc_lb.errors import InvalidInput, require

#: What a parameter may hold.
Value = int | float | str | bool

#: What a notebook says of a text that may be anything, such as the name of a file.
ANY_TEXT = "any text"

# An unknown name that is like no known one is answered with all of them, if they are as few.
_FEW = 12
_INTEGER = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook.

    Parameters
    ----------
    name : str
        The variable's name in the notebook.
    type_name : {"int", "float", "str", "bool"}
        Its declared type.
    default : int, float, str or bool
        Its value in the notebook.
    help : str
        What it means, in words.
    minimum, maximum : float, optional
        Smallest and largest value allowed, both included.
    choices : tuple
        The only values allowed, if not empty; a string without them may be any text.
    """

    name: str
    type_name: str
    default: Value
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] = ()

    @property
    def allowed(self) -> str:
        """What is allowed, in words, such as ``"one integer, 1 to 10000"``."""
        if self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        if self.minimum is None or self.maximum is None:
            return ANY_TEXT if self.type_name == "str" else "true or false"
        kind = "one integer" if self.type_name == "int" else "one number"
        return f"{kind}, {self.minimum:.16g} to {self.maximum:.16g}"

    def convert(self, value: object) -> Value:
        """Return `value`, which may be a string from a command line, in the declared type.

        Raises
        ------
        InvalidInput
            If it is of another type, not finite, not one value, or not allowed.
        """
        converted = as_type(value, self.type_name)
        if converted is None or not self._allows(converted):
            raise InvalidInput(f"{self.name} must be {self.allowed}, got {value!r}")
        return converted

    def _allows(self, value: Value) -> bool:
        if self.choices:
            return value in self.choices
        if self.minimum is None or self.maximum is None or isinstance(value, str):
            return True
        return self.minimum <= value <= self.maximum


def convert_parameters(
    parameters: Iterable[Parameter], given: Mapping[str, object], where: str
) -> dict[str, Value]:
    """Check and convert the values given for a notebook's parameters.

    Parameters
    ----------
    parameters : iterable of Parameter
        What the notebook declares.
    given : mapping from str to object
        Values by name; strings are read as the declared type.
    where : str
        The notebook's name, for messages.

    Returns
    -------
    dict
        The given values, in the declared types.

    Raises
    ------
    InvalidInput
        If a name is unknown or a value not allowed.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise InvalidInput(f"{where} has no parameter {name!r}{did_you_mean(name, known)}")
    return {name: known[name].convert(value) for name, value in given.items()}


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """Split command-line words such as ``"delta_t=3"`` into names and values.

    Raises
    ------
    InvalidInput
        If one is not of this form or a name comes twice.

    Examples
    --------
    >>> parse_assignments(["delta_t=3", "size=paper"])
    {'delta_t': '3', 'size': 'paper'}
    """
    given: dict[str, str] = {}
    for assignment in assignments:
        name, sign, value = (part.strip() for part in assignment.partition("="))
        require(bool(name and sign and value), "parameter", assignment, "given as NAME=VALUE")
        if name in given:
            raise InvalidInput(f"{name} is given twice, as {given[name]!r} and as {value!r}")
        given[name] = value
    return given


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known ones, or all if few.

    Examples
    --------
    >>> did_you_mean("deltat", ["delta_t", "size"])
    '; did you mean delta_t?'
    >>> did_you_mean("news", ["delta_t", "size"])
    '; there are: delta_t, size'
    """
    options = list(known)
    near = difflib.get_close_matches(name.lower(), options, cutoff=0.5)
    if not near and len(options) > _FEW:
        near = _with_its_words(name, options) or difflib.get_close_matches(name, options, cutoff=0)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; there are: {', '.join(options) or 'none'}"


def _with_its_words(name: str, options: Iterable[str]) -> list[str]:
    """Return the first three names that have a word of this one."""
    words = {word for word in re.split(r"[\W_]+", name.lower()) if len(word) > 2}
    return [option for option in options if any(word in option for word in words)][:3]


def as_type(value: object, type_name: str) -> Value | None:
    """Return `value` in the type of that name, or None where it cannot be read as one."""
    if isinstance(value, str):
        return _from_text(value.strip(), type_name)
    if type_name == "bool" or isinstance(value, bool):
        return value if type_name == "bool" and isinstance(value, bool) else None
    if type_name == "int":
        return int(value) if isinstance(value, Integral) else None
    if type_name == "float" and isinstance(value, Real):
        return _finite(value)
    return None


def _from_text(text: str, type_name: str) -> Value | None:
    if type_name == "str":
        return text or None
    if type_name == "bool":
        return {"true": True, "false": False}.get(text.lower())
    if type_name == "int":
        return int(text) if _INTEGER.fullmatch(text) else None
    return _finite(text)


def _finite(value: Real | str) -> float | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
