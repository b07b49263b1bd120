"""Stored results: a tidy CSV file, and beside it a manifest that says what it was computed from."""

import csv
import hashlib
import inspect
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mfc_lb
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments.cases import HORIZON
from mfc_lb.experiments.experiment import Experiment, Row
from mfc_lb.model import SystemParameters

if TYPE_CHECKING:
    import pandas as pd

#: Names a folder that takes the place of ``data/results``.
RESULTS_VARIABLE = "MFC_LB_RESULTS"

_LIBRARY = Path(mfc_lb.__file__).resolve().parent
#: What numbers depend on, besides the experiment's own module.
_SHARED_SOURCES = (
    "model",
    "systems",
    "experiments/experiment.py",
    "experiments/cases.py",
)


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
        if manifest is None or manifest.get("sha256") != _digest(self.table.read_bytes()):
            return State.DAMAGED
        now = inputs(self.experiment, self.size)
        if any(manifest.get(field) != now[field] for field in ("parameters", "seed")):
            return State.OTHER_PARAMETERS
        return State.CURRENT if manifest.get("code") == now["code"] else State.OTHER_CODE

    def write(self, rows: Sequence[Row], origin: dict[str, Any], seconds: float) -> None:
        """Write the table, then the manifest; each appears whole or not at all.

        Parameters
        ----------
        rows : sequence of Row
            The table.
        origin : dict
            The `inputs` from which it was computed.
        seconds : float
            That it took, summed over the cells.
        """
        content = table_bytes(rows, list(self.experiment.columns))
        manifest = origin | {
            "wall_time_seconds": round(seconds, 1),
            "sha256": _digest(content),
            "rows": len(rows),
            "columns": dict(self.experiment.columns),
        }
        write_bytes(self.table, content)
        write_json(self.manifest, manifest)

    def read(self) -> "pd.DataFrame":
        """Return the table."""
        return read_table(self.table)


def results_folder() -> Path:
    """Return where results are stored.

    Returns
    -------
    Path
        ``$MFC_LB_RESULTS`` if set, else ``data/results`` of the checkout that holds the library, or
        of the working directory if the library is installed without its checkout.
    """
    named = os.environ.get(RESULTS_VARIABLE)
    if named:
        return Path(named)
    checkout = _LIBRARY.parent
    top = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    return top / "data" / "results"


def inputs(experiment: Experiment[Any], size: str) -> dict[str, Any]:
    """Return all that a result depends on, as the manifest says it."""
    chosen = asdict(experiment.size(size))
    parameters = {"system": asdict(SystemParameters()), "horizon": HORIZON, **chosen}
    return {
        "experiment": experiment.name,
        "size": size,
        "question": experiment.question,
        # JSON has no tuples: compare like with like.
        "parameters": json.loads(json.dumps(parameters)),
        "seed": experiment.seed,
        "code": {"version": mfc_lb.__version__, "sha256": code_digest(experiment)},
    }


def code_digest(experiment: Experiment[Any]) -> str:
    """Return the digest of the sources that an experiment's numbers depend on."""
    files = [Path(inspect.getfile(experiment.cells))]
    for source in _SHARED_SOURCES:
        path = _LIBRARY / source
        files += sorted(path.glob("*.py")) if path.is_dir() else [path]
    lines = (f"{path.name} {_digest(_source(path))}" for path in files)
    return _digest("\n".join(lines).encode())


def _source(path: Path) -> bytes:
    # The same on a checkout with other line ends.
    return path.read_bytes().replace(b"\r\n", b"\n")


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
    """Write a JSON file that appears whole or not at all."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    write_bytes(path, (text + "\n").encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, or refuse the folder in one line."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise InvalidInput(f"results cannot be written: {error}") from None


def _plain(value: Any) -> Any:
    return value.tolist()  # a NumPy scalar or array


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
