"""Values as they are typed: numbers, lists and matrices."""

from typing import Any

import click


class Whole(click.ParamType[int]):
    """An integer; 1e9 and 1_000_000 are read, too."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer."""
        try:
            return _integer(value)
        except (ValueError, OverflowError):
            self.fail(f"must be an integer, got {value!r}", param, ctx)


class Real(click.ParamType[float]):
    """A number; what range is allowed is for the library to say."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        try:
            return float(value)
        except ValueError:
            self.fail(f"must be a number, got {value!r}", param, ctx)


class Several(click.ParamType[tuple[Any, ...]]):
    """Values of one kind, separated by commas."""

    def __init__(self, kind: click.ParamType[Any], plural: str) -> None:
        self.kind, self.plural = kind, plural
        self.name = f"{kind.name},..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the values."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            return tuple(self.kind.convert(item.strip(), param, ctx) for item in value.split(","))
        except click.BadParameter:
            allowed = f"{self.plural} separated by commas"
            self.fail(f"must be {allowed}, got {value!r}", param, ctx)


class Rows(click.ParamType[tuple[tuple[float, ...], ...]]):
    """The rows of a matrix, separated by semicolons; their entries, by commas."""

    name = "row;..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[float, ...], ...]:
        """Return the rows."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            rows = [[float(entry) for entry in row.split(",")] for row in value.split(";")]
        except ValueError:
            allowed = "numbers, with ',' between entries and ';' between rows"
            self.fail(f"must be {allowed}, got {value!r}", param, ctx)
        if len({len(row) for row in rows}) > 1:
            self.fail(f"must be made of rows of one length, got {value!r}", param, ctx)
        return tuple(map(tuple, rows))


NUMBERS = Several(Real(), "numbers")
INTEGERS = Several(Whole(), "integers")


def _integer(value: Any) -> int:
    if not isinstance(value, str):
        return int(value)
    try:
        return int(value)
    except ValueError:
        number = float(value)
        if number.is_integer():
            return int(number)
        raise
