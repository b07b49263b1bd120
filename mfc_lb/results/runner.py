"""Run an experiment: its cells in any number of processes, each stored as soon as it is done.

A run that was killed at any moment goes on where it stopped when it is started again. The result
does not depend on the number of processes, nor on the order in which cells finish.
"""

import fcntl
import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, TypeVar, cast

import joblib
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from mfc_lb.errors import InvalidInput, check_int, require
from mfc_lb.results.circumstances import circumstances
from mfc_lb.results.experiment import Cell, Experiment, Files, Result
from mfc_lb.results.storage import State, StoredResult, inputs, read_json, write_json

_log = logging.getLogger(__name__)

T = TypeVar("T")

_CLUSTER = {"machine": "a Dask cluster", "processes": "one for each of its workers"}


def run(
    experiment: Experiment[Any],
    size: str,
    folder: Path,
    *,
    processes: int = -1,
    dask: str | None = None,
) -> StoredResult:
    """Compute an experiment and store its result, unless that is stored already.

    Parameters
    ----------
    experiment : Experiment
        What to compute.
    size : str
        Name of the size.
    folder : Path
        Where to store the result, and the finished cells of a run that is not complete.
    processes : int, optional
        Number of processes; by default one per core.
    dask : str, optional
        Address of the scheduler of a Dask cluster that computes the cells instead, such as
        ``tcp://127.0.0.1:8786``; the result has the same bytes.

    Returns
    -------
    StoredResult
        The current result.

    Raises
    ------
    InvalidInput
        If the size is unknown, a file that the cells read is missing, `processes` is not positive,
        `folder` cannot be written, no scheduler answers, or its workers have other code, packages
        or data.
    ConnectionError
        If the cluster is lost. The finished cells are kept.
    """
    _require_files(experiment.data(experiment.size(size)))
    num_processes = check_processes(processes, dask)
    stored = StoredResult(folder, experiment, size)
    # Another process may be at the same work: whoever comes second waits and then finds it done.
    with locked(folder / f".{stored.name}.work") as work:
        if stored.state is not State.CURRENT:
            _fill(stored, work, num_processes, dask)
    return stored


def _require_files(files: Files) -> None:
    """Refuse, before anything is computed, that a file is not there."""
    for kind, digests in files.items():
        missing = ", ".join(name for name, digest in digests.items() if digest is None)
        allowed = "stored (a checkout of the repository has them)"
        require(not missing, kind, f"no {missing}", allowed)


def check_processes(processes: int, dask: str | None) -> int:
    """Return the number of processes, -1 for one per core, or refuse it."""
    if processes == -1:
        return -1
    if dask is not None:
        raise InvalidInput("processes cannot be chosen with dask: the cluster has its workers")
    return check_int("processes", processes, 1)


def _fill(stored: StoredResult, work: Path, processes: int, dask: str | None) -> None:
    experiment, size = stored.experiment, stored.experiment.size(stored.size)
    # Now: the sources may be edited while this runs.
    origin = inputs(experiment, stored.size)
    _discard_stale_cells(work, origin)
    cells = stored.cells()
    data = partial(experiment.data, size)
    _compute_missing(cells, work, partial(finish, processes=processes, dask=dask, data=data))
    finished = {cell.key: read_json(_file(work, cell.key)) for cell in cells}
    results = {key: done["result"] for key, done in finished.items()}
    seconds = sum(done["seconds"] for done in finished.values())
    stored.write(results, origin, seconds, circumstances(processes) | (_CLUSTER if dask else {}))


def _discard_stale_cells(work: Path, now: dict[str, Any]) -> None:
    """Keep the finished cells of an earlier run only if all that they depend on is the same."""
    origin = work / "inputs.json"
    if read_json(origin) != now:
        stale = [path for path in work.glob("*.json") if path != origin]
        if stale:
            _log.info("%s: discarding cells that other inputs gave", now["experiment"])
        for path in stale:
            path.unlink()
        write_json(origin, now)


def _compute_missing(
    cells: Sequence[Cell],
    work: Path,
    finish: Callable[[Sequence[Callable[[], Any]]], Iterator[Any]],
) -> None:
    keys = [cell.key for cell in cells]
    assert len(set(keys)) == len(keys), "two cells have one key"
    missing = [cell for cell in cells if read_json(_file(work, cell.key)) is None]
    num_done = len(cells) - len(missing)
    _log.info("%s: %d of %d cells are done", work.stem.lstrip("."), num_done, len(cells))
    # Large cells first, so that in the end no process waits long for another.
    calls = [partial(_timed, cell) for cell in reversed(missing)]
    with tqdm(total=len(cells), initial=num_done, unit="cell", delay=2, disable=None) as bar:
        for key, done in finish(calls):
            write_json(_file(work, key), done)
            bar.update()


def compute(cells: Sequence[Cell], processes: int = -1) -> dict[str, Result]:
    """Return what cells leave behind, as it would be read from their files."""
    calls = [partial(_timed, cell) for cell in cells]
    done = finish(calls, processes=check_processes(processes, None), dask=None, data=dict)
    return {key: json.loads(json.dumps(timed["result"])) for key, timed in done}


def finish(
    calls: Sequence[Callable[[], T]],
    *,
    processes: int,
    dask: str | None,
    data: Callable[[], Mapping[str, Any]],
) -> Iterator[T]:
    """Compute calls in processes of their own and yield their results as they end.

    Parameters
    ----------
    calls : sequence of callable
        Without arguments; those that take longest first.
    processes : int
        Number of processes; -1 for one per core.
    dask : str or None
        Address of the scheduler of a Dask cluster that computes them instead.
    data : callable
        Returns digests of the files that the calls read.

    Yields
    ------
    object
        What a call returned.
    """
    if dask is not None and calls:
        yield from _dask_cluster().finished(calls, dask, data)
        return
    # New processes: those of an earlier run would be taken to leak memory when a cell loads torch.
    get_reusable_executor().shutdown(wait=True)
    jobs = (joblib.delayed(call)() for call in calls)
    workers = min(processes, max(1, len(calls)))
    yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)


def _dask_cluster() -> ModuleType:
    try:
        return import_module("mfc_lb.results.dask_cluster")
    except ModuleNotFoundError as error:
        needs = f"this needs {error.name}, from the extra 'dask': pip install 'mfc_lb[dask]'"
        raise InvalidInput(needs) from None


def _timed(cell: Cell) -> tuple[str, dict[str, Any]]:
    started = time.perf_counter()
    # On small matrices, more BLAS threads only wait for each other.
    with redirect_stderr(cast("TextIO", _NotTerminal(sys.stderr))), threadpool_limits(1, "blas"):
        result = cell.compute()
    return cell.key, {"seconds": time.perf_counter() - started, "result": result}


class _NotTerminal:
    """Passes everything on, but is no terminal: progress bars within a cell stay away."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _file(work: Path, key: str) -> Path:
    return work / f"{key}.json"


@contextmanager
def locked(work: Path) -> Iterator[Path]:
    """Give a folder that no other process uses, and remove it if the block succeeds.

    The lock is on the folder itself. It ends with the process, however that ends. What an earlier
    process left in the folder is still there.
    """
    descriptor = _lock(work)
    try:
        (work / ".gitignore").write_text("*\n", "utf-8")
        yield work
        shutil.rmtree(work)
    finally:
        os.close(descriptor)


def _lock(work: Path) -> int:
    while True:
        try:
            work.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(work, os.O_RDONLY)
        except OSError as error:
            raise InvalidInput(f"results cannot be written: {error}") from None
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # While this process waited, the folder may have been removed, or removed and made again.
        if work.is_dir() and os.path.samestat(os.fstat(descriptor), work.stat()):
            return descriptor
        os.close(descriptor)
