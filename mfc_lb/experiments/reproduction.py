"""Recompute stored results from nothing and compare them row by row."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.experiments.experiment import RELATIVE_TOLERANCE, Experiment
from mfc_lb.experiments.runner import run
from mfc_lb.experiments.storage import State, StoredResult, read_json

if TYPE_CHECKING:
    import pandas as pd

#: Stored and recomputed numbers may differ by this, absolutely: a difference that is zero on paper
#: is a rounding error in either.
ABSOLUTE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Verdict:
    """What became of one stored result.

    Attributes
    ----------
    name : str
        Of the result.
    rows : int
        Number of rows that were recomputed.
    seconds : float
        That the recomputation took, summed over the cells.
    state : State
        How the stored result stands to the code and parameters of today.
    difference : str or None
        The first difference; None if stored and recomputed tables agree.
    """

    name: str
    rows: int
    seconds: float
    state: State
    difference: str | None

    @property
    def agrees(self) -> bool:
        """Whether the numbers agree and the stored result is what its manifest says."""
        return self.difference is None and self.state in (State.CURRENT, State.OTHER_CODE)


def reproduce(
    experiments: Iterable[Experiment[Any]], size: str, folder: Path, *, processes: int = -1
) -> list[Verdict]:
    """Recompute experiments into a temporary folder and compare with what is stored.

    Parameters
    ----------
    experiments : iterable of Experiment
        What to recompute.
    size : str
        Name of the size.
    folder : Path
        Of the stored results; nothing in it is changed.
    processes : int, optional
        Number of processes; by default one per core.

    Returns
    -------
    list of Verdict
        One for each experiment.
    """
    verdicts = []
    for experiment in experiments:
        with TemporaryDirectory(prefix="mfc_lb-") as scratch:
            fresh = run(experiment, size, Path(scratch), processes=processes)
            verdicts.append(_judge(StoredResult(folder, experiment, size), fresh))
    return verdicts


def _judge(stored: StoredResult, fresh: StoredResult) -> Verdict:
    manifest = read_json(fresh.manifest)
    seconds = float(manifest["wall_time_seconds"])
    return Verdict(stored.name, manifest["rows"], seconds, stored.state, _compare(stored, fresh))


def _compare(stored: StoredResult, fresh: StoredResult) -> str | None:
    if stored.state is State.MISSING:
        return "nothing is stored"
    try:
        table = stored.read()
    except ValueError:
        return "what is stored is no table"
    experiment = stored.experiment
    measured = list(experiment.measured)
    before, now = table.drop(columns=measured), fresh.read().drop(columns=measured)
    return first_difference(before, now, experiment.tolerance)


def first_difference(
    stored: "pd.DataFrame", fresh: "pd.DataFrame", tolerance: float = RELATIVE_TOLERANCE
) -> str | None:
    """Return where two tables differ first, in words, or None if they agree."""
    if list(stored.columns) != list(fresh.columns):
        return f"columns {list(stored.columns)} became {list(fresh.columns)}"
    if len(stored) != len(fresh):
        return f"{len(stored)} rows became {len(fresh)}"
    for column in stored.columns:
        differs = _differs(stored[column], fresh[column], tolerance)
        if differs.any():
            row = int(differs.argmax())
            values = f"{stored[column].iloc[row]} became {fresh[column].iloc[row]}"
            return f"{column} in row {row + 1} ({int(differs.sum())} of {len(stored)}): {values}"
    return None


def _differs(
    stored: "pd.Series[Any]", fresh: "pd.Series[Any]", tolerance: float
) -> NDArray[np.bool_]:
    before, now = stored.to_numpy(), fresh.to_numpy()
    if before.dtype.kind in "fi" and now.dtype.kind in "fi":
        numbers = before.astype(float), now.astype(float)
        close = np.isclose(*numbers, tolerance, ABSOLUTE_TOLERANCE, equal_nan=True)
        return np.asarray(~close)
    return np.asarray(before != now)
