"""Times with units, as they are typed and shown: 100ms, 1s, 2.5min."""

import re
from fractions import Fraction
from typing import Any

import click

from mfc_lb.cli.values import Several

#: Microseconds in each unit.
UNITS = {"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6}

_WRITTEN = re.compile(r"(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>[a-zµ]*)")
_ALLOWED = "a time with a unit (us, ms, s, min, h), such as 100ms,"


class Duration(click.ParamType[int]):
    """A time of at least 0 with its unit; whole microseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the microseconds."""
        if isinstance(value, int):
            return value
        found = _WRITTEN.fullmatch(value.strip())
        unit = found["unit"].replace("µ", "u") if found else ""
        if found is None or (unit not in UNITS and Fraction(found["number"]) != 0):
            self.fail(f"must be {_ALLOWED} got {value!r}", param, ctx)
        exact = Fraction(found["number"]) * UNITS.get(unit, 1)
        if exact.denominator != 1:
            self.fail(f"must be whole microseconds, got {value!r}", param, ctx)
        return int(exact)


DURATIONS = Several(Duration(), "times such as 100ms")


def show_duration(microseconds: float) -> str:
    """Return a time with four digits and the largest unit that fits into it.

    Examples
    --------
    >>> show_duration(0), show_duration(59_950_000), show_duration(500_000)
    ('0 s', '59.95 s', '500 ms')
    """
    if microseconds == 0:
        return "0 s"
    fitting = [unit for unit, length in UNITS.items() if length <= microseconds] or ["us"]
    # 59.95 s rather than 0.9992 min, and 90 s rather than 1.5 min.
    unit = fitting[-1]
    if unit in ("min", "h") and microseconds < 5 * UNITS[unit]:
        unit = fitting[-2]
    number = microseconds / UNITS[unit]
    digits = max(0, 4 - len(str(int(number))))
    text = f"{number:,.{digits}f}".replace(",", " ")
    return f"{text.rstrip('0').rstrip('.') if digits else text} {unit}"
