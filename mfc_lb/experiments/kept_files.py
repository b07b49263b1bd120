"""The other data of the book: traces, which are made again, and recorded runs, which cannot be."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from mfc_lb.cluster import STUDY_TRACES, check_log, parse_log, study_trace
from mfc_lb.cluster.traces import LONGEST_US
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments.live_records import RECORDED, card, records_folder
from mfc_lb.files import sha256
from mfc_lb.results.differences import Difference
from mfc_lb.results.folders import data_folder
from mfc_lb.results.reproduction import Verdict
from mfc_lb.results.storage import State

#: Of the traces in ``data/traces``.
SEED = 1


def reproduce_traces(folder: Path | None = None) -> Verdict:
    """Make the traces of the trace study again and compare them line by line.

    Parameters
    ----------
    folder : Path, optional
        Where they are stored; ``data/traces`` by default.

    Returns
    -------
    Verdict
        Of all of them together.
    """
    kept = folder or data_folder() / "traces"
    started, rows = time.perf_counter(), 0
    found: list[Difference] = []
    for name in STUDY_TRACES:
        stored, fresh = _lines(kept / f"{name}.csv"), _fresh_lines(name)
        rows += len(fresh)
        found += _differing_lines(name, stored, fresh)
    return Verdict("traces", "regenerated", rows, time.perf_counter() - started, None, tuple(found))


def check_live_records(folder: Path | None = None) -> list[Verdict]:
    """Check the recorded live runs: their checksums, and all rules that a log has to keep.

    A live run measures processes of one machine at one time; nobody can compute it again.

    Parameters
    ----------
    folder : Path, optional
        Where they are stored; ``data/live_cluster`` by default.

    Returns
    -------
    list of Verdict
        One for each recorded run; its rows are events.
    """
    return [_check(name, folder or records_folder()) for name in RECORDED]


def _check(name: str, folder: Path) -> Verdict:
    path, started = folder / f"{name}.log", time.perf_counter()
    if not (path.is_file() and card(name, folder)):
        return Verdict(f"live {name}", "checked", 0, 0.0, State.MISSING, (), "nothing is kept")
    content = path.read_bytes()
    intact = sha256(content) == card(name, folder)["sha256"]
    events, fault = _fault(content)
    return Verdict(
        f"live {name}",
        "checked",
        events,
        time.perf_counter() - started,
        State.CURRENT if intact else State.DAMAGED,
        (),
        fault,
    )


def _fault(content: bytes) -> tuple[int, str | None]:
    """Return the number of events of a log, and the first rule that it breaks."""
    try:
        log = parse_log(content, "the log")
    except InvalidInput as error:
        return 0, str(error)
    # How late a process acts is what was measured.
    faults = check_log(log, LONGEST_US)
    return len(log), str(faults[0]) if faults else None


def _fresh_lines(name: str) -> list[str]:
    with TemporaryDirectory(prefix="mfc_lb-") as scratch:
        path = Path(scratch) / f"{name}.csv"
        study_trace(name, seed=SEED).write_csv(path)
        return _lines(path)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True) if path.is_file() else []


def _differing_lines(name: str, stored: list[str], fresh: list[str]) -> Iterator[Difference]:
    for row in range(max(len(stored), len(fresh))):
        before, now = ("".join(lines[row : row + 1]) for lines in (stored, fresh))
        if before != now:
            # The header is line 0 of the rows.
            yield Difference(f"{name}, {row}", "line", before.strip(), now.strip())
