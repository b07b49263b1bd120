"""What a build did, where, and how long it took.

The run report is the only file of a build in which times and places may stand. It lies beside the
pages, and no page shows anything of it: two builds of one commit differ in their reports alone.
"""

import json
import platform
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb.companion.location import LIBRARY
from mfc_lb.companion.records import MEASUREMENTS_FILE, read_measurements, write_json

if TYPE_CHECKING:
    from mfc_lb.companion.execution import Run

REPORT_FILE = "run-report.json"


class Stopwatch:
    """Runs from the moment that it is made."""

    def __init__(self) -> None:
        self._started = datetime.now(UTC)
        self._reading = time.perf_counter()

    @property
    def times(self) -> dict[str, Any]:
        """When it was started (UTC), and the seconds since then."""
        return {
            "started": self._started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self._reading, 3),
        }


def write_run_report(
    folder: Path, name: str, stopwatch: Stopwatch, parameters: Mapping[str, Any]
) -> None:
    """Leave the report of one notebook's run in the run's folder, measurements included."""
    circumstances = _circumstances()
    entry = stopwatch.times | {
        "state": "executed",
        "commit": circumstances["commit"],
        "parameters": dict(parameters),
        "measurements": read_measurements(folder),
    }
    (folder / MEASUREMENTS_FILE).unlink(missing_ok=True)
    write_json(folder / REPORT_FILE, circumstances | {"notebooks": {name: entry}})


def write_book_report(
    path: Path, size: str, stopwatch: Stopwatch, runs: Iterable["Run"], kept: Iterable["Run | None"]
) -> None:
    """Leave the report of a build of the whole book.

    Parameters
    ----------
    path : Path
        Where to, see `book_report`.
    size : str
        Size of the book.
    stopwatch : Stopwatch
        Started with the build.
    runs : iterable of Run
        All runs.
    kept : iterable of Run or None
        Those of them that an earlier build had left.
    """
    old = {run.name for run in kept if run is not None}
    notebooks = {run.name: _entry(run) for run in runs}
    for name in old:
        notebooks[name]["state"] = "kept"
    report = _circumstances() | stopwatch.times | {"size": size, "notebooks": notebooks}
    write_json(path, report)


def book_report(pages: Path, build: Path) -> Path:
    """Return where the report on a book's pages is: beside them, never among them."""
    usual = pages.absolute() == (build / "html").absolute()
    return build / REPORT_FILE if usual else pages.with_name(f"{pages.name}-{REPORT_FILE}")


def _entry(run: "Run") -> dict[str, Any]:
    report = json.loads((run.folder / REPORT_FILE).read_text("utf-8"))
    entry: dict[str, Any] = report["notebooks"][run.name]
    return entry


def _circumstances() -> dict[str, Any]:
    # Imported here since it computes, and a notebook's kernel needs none of it.
    from mfc_lb.results.circumstances import commit, machine

    return {
        "commit": commit(LIBRARY.parent),
        "machine": machine(),
        "python": platform.python_version(),
        "packages": {dist.name: dist.version for dist in distributions()},
    }
