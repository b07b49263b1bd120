"""Whether this machine computes the same bytes: checksums of tables, kept in the repository."""

import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mfc_lb.baseline import in_force
from mfc_lb.files import sha256
from mfc_lb.results.experiment import Experiment
from mfc_lb.results.folders import committed_results_folder
from mfc_lb.results.runner import run
from mfc_lb.results.storage import StoredResult, read_json, write_json


def checksums_file() -> Path:
    """Return where they are: ``data/checksums.json``."""
    return committed_results_folder().parent / "checksums.json"


def table_checksum(stored: StoredResult) -> str:
    """Return the SHA-256 of a table, without the columns that no two runs share."""
    import pandas as pd

    table = pd.read_csv(stored.table, dtype=str, keep_default_na=False)
    text = io.StringIO()
    kept = table.drop(columns=list(stored.experiment.measured))
    kept.to_csv(text, index=False, lineterminator="\n")
    return sha256(text.getvalue().encode())


def compute_checksums(
    experiments: Sequence[Experiment[Any]], size: str, processes: int = -1
) -> dict[str, str]:
    """Compute experiments from nothing and return the checksum of each table, by name."""
    with TemporaryDirectory(prefix="mfc_lb-") as scratch:
        return {
            experiment.name: table_checksum(
                run(experiment, size, Path(scratch), processes=processes)
            )
            for experiment in experiments
        }


def kept_checksums(size: str) -> dict[str, Any]:
    """Return the ``baseline`` and the ``sha256`` by name that the repository has for a size."""
    kept: dict[str, Any] = (read_json(checksums_file()) or {}).get(size, {})
    return {"baseline": "none", "sha256": {}} | kept


def keep_checksums(size: str, found: dict[str, str]) -> None:
    """Write checksums, computed by this process, into the repository's file."""
    entry = {"baseline": in_force(), "sha256": kept_checksums(size)["sha256"] | found}
    write_json(checksums_file(), (read_json(checksums_file()) or {}) | {size: entry})
