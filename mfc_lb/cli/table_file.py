"""Files that commands write; a CSV file appears whole or not at all."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, ClassVar

import click

from mfc_lb.cli.mistakes import option_name, refuse
from mfc_lb.files import write_whole

#: One row of a table: values by column.
Row = dict[str, Any]


class NewFile(click.ParamType[Path]):
    """The name of a file to be written; checked before anything runs."""

    name = "file"
    suffix: ClassVar[str]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        path = Path(value)
        if path.suffix.lower() != self.suffix:
            ending = f"a file name that ends in {self.suffix}"
            self.fail(f"must be {ending}, got {str(path)!r}", param, ctx)
        if path.is_dir():
            self.fail(f"must be a file, not a folder, got {str(path)!r}", param, ctx)
        if not path.parent.is_dir():
            self.fail(f"must be in a folder that exists, got {str(path)!r}", param, ctx)
        return path


class TableFile(NewFile):
    """The name of a CSV file."""

    suffix = ".csv"


class PolicyFile(NewFile):
    """The name of a trained policy's file."""

    suffix = ".safetensors"


def refuse_one_file_twice(ctx: click.Context) -> None:
    """Refuse a file to be written that the command reads, too, or writes twice."""
    given = [(parameter, ctx.params.get(parameter.name or "")) for parameter in ctx.command.params]
    files = [(parameter, Path(name)) for parameter, name in given if isinstance(name, str | Path)]
    for written, path in files:
        for other, name in files:
            same = other is not written and name.resolve() == path.resolve()
            if same and isinstance(written.type, NewFile):
                allowed = f"another file than {option_name(other)}"
                refuse(option_name(written), allowed, str(path))


class Table:
    """Rows that a block collects for a file."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def extend(self, rows: Sequence[Row]) -> None:
        """Add rows; all have the same columns in the same order."""
        self.rows.extend(rows)


@contextmanager
def table_file(path: Path | None) -> Iterator[Table]:
    """Give a table that is written if the block succeeds.

    Parameters
    ----------
    path : Path or None
        Where to; nowhere if None. That it can be written is tried out before the block begins.

    Yields
    ------
    Table
        To fill.
    """
    table = Table()
    if path is None:
        yield table
        return
    try_writing(path)
    yield table
    with _telling(path):
        write_whole(path, _csv(table.rows))


def try_writing(path: Path) -> None:
    """Refuse the name of a file that cannot be written."""
    with _telling(path), NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
        pass


def _csv(rows: Sequence[Row]) -> bytes:
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise click.UsageError(
            f"--output must be a file that can be written, got {str(path)!r} ({error.strerror})"
        ) from None
