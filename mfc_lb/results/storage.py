"""Stored results: a tidy CSV file, and beside it a manifest that says what it was computed from."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mfc_lb
from mfc_lb.errors import InvalidInput
from mfc_lb.files import sha256, write_whole, write_whole_json
from mfc_lb.results.experiment import Cell, Experiment, Result, Row
from mfc_lb.results.sources import code_digest

if TYPE_CHECKING:
    import pandas as pd


class State(StrEnum):
    """How a stored result stands to what would be computed now."""

    CURRENT = "current"
    OTHER_CODE = "computed by other code"
    OTHER_PARAMETERS = "computed from other parameters"
    DAMAGED = "damaged"
    MISSING = "missing"


@dataclass(frozen=True)
class StoredResult:
    """The files of one experiment at one size.

    Parameters
    ----------
    folder : Path
        Where they are.
    experiment : Experiment
        The experiment.
    size : str
        Name of the size.
    """

    folder: Path
    experiment: Experiment[Any]
    size: str

    @property
    def name(self) -> str:
        """Stem of the files' names."""
        return f"{self.experiment.name}-{self.size}"

    @property
    def table(self) -> Path:
        """The CSV file."""
        return self.folder / f"{self.name}.csv"

    @property
    def manifest(self) -> Path:
        """The manifest."""
        return self.folder / f"{self.name}.json"

    @property
    def state(self) -> State:
        """How it stands to what would be computed now."""
        if not (self.table.is_file() and self.manifest.is_file()):
            return State.MISSING
        manifest = read_json(self.manifest)
        if not _is_manifest(manifest) or manifest["sha256"] != sha256(self.table.read_bytes()):
            return State.DAMAGED
        now = inputs(self.experiment, self.size)
        if any(manifest.get(field) != now[field] for field in ("parameters", "seed")):
            return State.OTHER_PARAMETERS
        # Code that was tried and gave the same is as good as the code that computed it.
        codes = (manifest.get("code"), manifest.get("checked", {}).get("code"))
        return State.CURRENT if now["code"] in codes else State.OTHER_CODE

    def cells(self) -> Sequence[Cell]:
        """Return the cells from which it is made."""
        return self.experiment.cells(self.experiment.size(self.size), self.experiment.seed)

    def write(
        self,
        results: Mapping[str, Result],
        origin: dict[str, Any],
        seconds: float,
        computed: dict[str, Any],
    ) -> None:
        """Write the table, then the manifest; each appears whole or not at all.

        Parameters
        ----------
        results : mapping from str to Result
            What each cell left behind, in the cells' order.
        origin : dict
            The `inputs` from which it was computed.
        seconds : float
            That it took, summed over the cells.
        computed : dict
            The `circumstances`.
        """
        rows = self.experiment.rows(self.experiment.size(self.size), results)
        content = table_bytes(rows, list(self.experiment.columns))
        manifest = origin | {
            "wall_time_seconds": round(seconds, 1),
            "computed": computed,
            "sha256": sha256(content),
            "rows": len(rows),
            "columns": dict(self.experiment.columns),
            "cells": cell_digests(self.experiment, results),
        }
        write_bytes(self.table, content)
        write_json(self.manifest, manifest)

    def read(self) -> "pd.DataFrame":
        """Return the table."""
        return read_table(self.table)


def _is_manifest(content: Any) -> bool:
    whole = isinstance(content, dict) and "sha256" in content
    parts = ("code", "cells", "checked")
    return whole and all(isinstance(content.get(part, {}), dict) for part in parts)


def inputs(experiment: Experiment[Any], size: str) -> dict[str, Any]:
    """Return all that a result depends on, as the manifest says it."""
    chosen_size = experiment.size(size)
    chosen = asdict(chosen_size)
    parameters = {**experiment.constants, **chosen}
    return {
        "experiment": experiment.name,
        "size": size,
        "question": experiment.question,
        # JSON has no tuples: compare like with like.
        "parameters": json.loads(json.dumps(parameters)),
        "seed": experiment.seed,
        "code": {"version": mfc_lb.__version__, "sha256": code_digest(experiment)},
        **experiment.data(chosen_size),
    }


def cell_digests(experiment: Experiment[Any], results: Mapping[str, Result]) -> dict[str, str]:
    """Return a digest of what each cell left behind, but for what no two runs share."""
    measured = frozenset(experiment.measured)
    return {
        key: sha256(json.dumps(_without(result, measured), sort_keys=True).encode())[:16]
        for key, result in results.items()
    }


def _without(result: Any, measured: frozenset[str]) -> Any:
    if isinstance(result, Mapping):
        kept = ((key, value) for key, value in result.items() if key not in measured)
        return {key: _without(value, measured) for key, value in kept}
    if isinstance(result, list):
        return [_without(value, measured) for value in result]
    return result


def table_bytes(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    """Return a table as CSV: floats with ten significant digits, lines that end in a newline."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        assert row.keys() == set(columns), f"columns {set(row) ^ set(columns)} do not match"
        writer.writerow([_cell_text(row[column]) for column in columns])
    return text.getvalue().encode()


def _cell_text(value: str | int | float) -> str:
    # Adding zero turns -0 into 0.
    return f"{value + 0.0:.10g}" if isinstance(value, float) else str(value)


def read_table(path: Path) -> "pd.DataFrame":
    """Return a stored table."""
    import pandas as pd

    return pd.read_csv(path)


def read_json(path: Path) -> Any:
    """Return a JSON file's content, or None if there is none that can be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def write_json(path: Path, content: object) -> None:
    """Write a JSON file that appears whole or not at all, or refuse the folder in one line."""
    with _telling():
        write_whole_json(path, content)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, or refuse the folder in one line."""
    with _telling():
        write_whole(path, content)


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"results cannot be written: {error}") from None
