"""Recompute stored results from nothing and compare them row by row."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfc_lb.results.differences import Difference, differences, misfit
from mfc_lb.results.experiment import Experiment
from mfc_lb.results.runner import locked, run
from mfc_lb.results.storage import State, StoredResult, read_json

#: What a stored file says of itself, and how that stands.
CHECKSUMS = {
    State.CURRENT: "right",
    State.OTHER_CODE: "right; computed by other code",
    State.OTHER_PARAMETERS: "right; computed from other parameters",
    State.DAMAGED: "wrong",
    State.MISSING: "missing",
}


@dataclass(frozen=True)
class Verdict:
    """What became of one stored result.

    Attributes
    ----------
    name : str
        Of the result.
    way : str
        What was done: "recomputed", for instance, or only "checked".
    rows : int
        Number of rows that were compared.
    seconds : float
        That the recomputation took, summed over the cells.
    state : State or None
        How the stored result stands to the code and parameters of today; None if it has no
        checksum.
    differences : tuple of Difference
        All that differs.
    fault : str or None
        Why the rows could not be compared.
    """

    name: str
    way: str
    rows: int
    seconds: float
    state: State | None
    differences: tuple[Difference, ...] = ()
    fault: str | None = None

    @property
    def differing_rows(self) -> int:
        """Number of rows in which anything differs."""
        return len({difference.row for difference in self.differences})

    @property
    def checksum(self) -> str:
        """How the checksum stands, in words."""
        return "none" if self.state is None else CHECKSUMS[self.state]

    @property
    def agrees(self) -> bool:
        """Whether the numbers agree and the stored result is what its manifest says."""
        sound = self.state in (State.CURRENT, State.OTHER_CODE, None)
        return sound and not self.differences and self.fault is None


def reproduce(
    experiments: Iterable[Experiment[Any]],
    size: str,
    folder: Path,
    *,
    processes: int = -1,
    dask: str | None = None,
) -> list[Verdict]:
    """Recompute experiments and compare with what is stored.

    A run that is killed goes on where it stopped when it is started again: what is recomputed is in
    a hidden folder beside the stored results, until all of it has been compared.

    Parameters
    ----------
    experiments : iterable of Experiment
        What to recompute.
    size : str
        Name of the size.
    folder : Path
        Of the stored results, which are not changed.
    processes : int, optional
        Number of processes; by default one per core.
    dask : str, optional
        Address of the scheduler of a Dask cluster that recomputes them instead.

    Returns
    -------
    list of Verdict
        One for each experiment.
    """
    verdicts = []
    with locked(folder / ".reproduction") as scratch:
        for experiment in experiments:
            fresh = run(experiment, size, scratch, processes=processes, dask=dask)
            verdicts.append(_judge(StoredResult(folder, experiment, size), fresh))
    return verdicts


def _judge(stored: StoredResult, fresh: StoredResult) -> Verdict:
    manifest = read_json(fresh.manifest)
    rows, seconds = manifest["rows"], float(manifest["wall_time_seconds"])
    fault, found = _compare(stored, fresh)
    return Verdict(
        stored.name, "recomputed", 0 if fault else rows, seconds, stored.state, found, fault
    )


def _compare(
    stored: StoredResult, fresh: StoredResult
) -> tuple[str | None, tuple[Difference, ...]]:
    if stored.state is State.MISSING:
        return "nothing is stored", ()
    try:
        table = stored.read()
    except ValueError:
        return "what is stored is no table", ()
    experiment = stored.experiment
    measured = list(experiment.measured)
    before, now = (one.drop(columns=measured, errors="ignore") for one in (table, fresh.read()))
    fault = misfit(before, now)
    if fault:
        return fault, ()
    allowed = (experiment.tolerance, experiment.absolute_tolerance)
    return None, tuple(differences(before, now, *allowed))
