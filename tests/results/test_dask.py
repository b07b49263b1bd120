"""Experiments on a Dask cluster: the same bytes, also when workers are killed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import find
from mfc_lb.results import dask_cluster
from mfc_lb.results.experiment import Cell
from mfc_lb.results.runner import run
from mfc_lb.results.storage import read_json

ROOT = Path(__file__).parents[2]
# By this name a worker finds it, too; another package may be called tests there.
sys.path.append(str(ROOT / "tests" / "results"))
from cells_for_dask import Size, die, roots  # noqa: E402

#: For what takes no time unless something is broken.
PATIENCE = 120


class Cluster:
    """A scheduler and workers, each a process of its own on this machine."""

    def __init__(self, folder: Path, processes: ExitStack) -> None:
        self.folder = folder
        self._processes = processes
        self.workers: list[subprocess.Popen[bytes]] = []
        self._file = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "tcp://127.0.0.1", "--port", "0", "--no-show"
        )
        wait_until(self._file.is_file)
        self.address = json.loads(self._file.read_text())["address"]

    def add_worker(self, num_threads: int = 1, library: Path = ROOT) -> subprocess.Popen[bytes]:
        words = ("--no-nanny", "--nthreads", str(num_threads), "--local-directory")
        scratch = self.folder / f"worker-{len(self.workers)}"
        worker = self._start("worker", *words, str(scratch), library=library)
        self.workers.append(worker)
        return worker

    def wait_for_workers(self) -> None:
        with Client(self.address, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(len(self.workers), timeout=PATIENCE)

    def _start(self, kind: str, *words: str, library: Path = ROOT) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self._file)]
        return self._processes.enter_context(
            ended(
                [*command, "--no-dashboard", *words],
                cwd=self.folder,
                env=os.environ
                | {
                    "PYTHONPATH": os.pathsep.join([str(library), str(Path(__file__).parent)]),
                },
            )
        )


@contextmanager
def ended(command: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, **options, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Let no worker be too slow to start."""
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", float(PATIENCE))
    monkeypatch.setattr(dask_cluster, "WORKERLESS_SECONDS", float(PATIENCE))


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    """Return a cluster without workers."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    with ExitStack() as processes:
        yield Cluster(folder, processes)


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


def failed(running: "Future[Any]") -> bool:
    return running.done() and bool(running.result())


def begun(folder: Path, waiting: range) -> dict[int, int]:
    """Return which waiting cells have begun, and in which process."""
    pairs = (path.name.split("-") for path in folder.glob("*-*"))
    return {int(pid): int(number) for number, pid in pairs if int(number) in waiting}


# --- the same bytes ---------------------------------------------------------------------------


def test_a_cluster_gives_the_bytes_of_this_machine(cluster, tmp_path):
    for _ in range(2):
        cluster.add_worker()
    for name in ("trace_study", "trace_delay"):
        here = run(find(name), "quick", tmp_path / "here", processes=1)
        there = run(find(name), "quick", tmp_path / "there", dask=cluster.address)
        assert there.table.read_bytes() == here.table.read_bytes()
        assert read_json(there.manifest)["computed"]["machine"] == "a Dask cluster"


def test_the_loss_of_a_worker_changes_nothing(cluster, background, tmp_path):
    """Killed while it computes; its cell is computed again by the other one."""
    for _ in range(2):
        cluster.add_worker()
    cluster.wait_for_workers()  # so that each has one of the cells that wait
    folder, waiting = tmp_path / "cells", range(2)
    experiment = roots(folder, Size(2, num_waiting=2))
    running = background.submit(run, experiment, "quick", tmp_path / "there", dask=cluster.address)
    wait_until(lambda: len(begun(folder, waiting)) == 2 or failed(running))
    victim = cluster.workers[0]
    number = begun(folder, waiting)[victim.pid]
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    (folder / "go").touch()
    there = running.result(PATIENCE)
    assert {path.name for path in folder.glob(f"{number}-*")} == {
        f"{number}-{worker.pid}" for worker in cluster.workers
    }
    here = run(experiment, "quick", tmp_path / "here", processes=1)
    assert there.table.read_bytes() == here.table.read_bytes()


def test_workers_that_are_all_gone_end_the_run_which_then_goes_on(
    cluster, background, tmp_path, monkeypatch
):
    cluster.add_worker()
    folder, results = tmp_path / "cells", tmp_path / "there"
    experiment = roots(folder, Size(6, num_waiting=2))
    running = background.submit(run, experiment, "quick", results, dask=cluster.address)
    work = results / ".roots-quick.work"
    wait_until(lambda: len(list(work.glob("cell-*.json"))) == 4 or failed(running))
    cluster.workers[0].kill()
    with monkeypatch.context() as soon:
        soon.setattr(dask_cluster, "WORKERLESS_SECONDS", 1.0)
        with pytest.raises(ConnectionError, match="all Dask workers are gone, for 1 s now"):
            running.result(PATIENCE)
    kept = {path.name: path.stat().st_mtime_ns for path in work.glob("cell-*.json")}
    assert set(kept) == {f"cell-{number}.json" for number in range(2, 6)}
    before = len(list(folder.iterdir()))
    (folder / "go").touch()
    cluster.add_worker()
    there = run(experiment, "quick", results, dask=cluster.address)
    assert len(list(folder.iterdir())) == before + 1 + 2
    here = run(experiment, "quick", tmp_path / "here", processes=1)
    assert there.table.read_bytes() == here.table.read_bytes()


def test_a_lost_scheduler_ends_the_run(cluster, background, tmp_path):
    cluster.add_worker()
    folder, results = tmp_path / "cells", tmp_path / "there"
    experiment = roots(folder, Size(4, num_waiting=1))
    running = background.submit(run, experiment, "quick", results, dask=cluster.address)
    work = results / ".roots-quick.work"
    wait_until(lambda: len(list(work.glob("cell-*.json"))) == 3 or failed(running))
    cluster.scheduler.kill()
    with pytest.raises(ConnectionError, match=r"the Dask scheduler at tcp://.* was lost"):
        running.result(PATIENCE)
    assert len(list(work.glob("cell-*.json"))) == 3


def test_a_cell_that_kills_its_workers_ends_the_run(cluster, tmp_path):
    for _ in range(4):
        cluster.add_worker()
    experiment = roots(tmp_path / "cells", Size(1))
    deadly = type(experiment)(**vars(experiment) | {"cells": lambda *_: [Cell("deadly", die)]})
    with pytest.raises(ConnectionError, match="4 Dask workers died of one call"):
        run(deadly, "quick", tmp_path / "there", dask=cluster.address)


@pytest.mark.parametrize("num_threads", [1, 4])
def test_cells_run_on_the_workers_one_at_a_time(cluster, tmp_path, num_threads):
    """Even on a cluster with one thread, and even in a worker with several."""
    columns = ("process", "active", "threads", "terminal")
    experiment = roots(tmp_path / "cells", Size(8), columns)
    worker = cluster.add_worker(num_threads)
    table = run(experiment, "quick", tmp_path / "there", dask=cluster.address).read()
    assert set(table.process) == {worker.pid}
    assert set(table.active) == set(table.threads) == {1}
    assert not table.terminal.any()


# --- what is refused --------------------------------------------------------------------------


def test_a_worker_with_other_code_is_refused(cluster, tmp_path):
    library = tmp_path / "other"
    shutil.copytree(ROOT / "mfc_lb", library / "mfc_lb")
    with (library / "mfc_lb" / "systems" / "queue.py").open("a") as file:
        file.write("\nCHANGED = True\n")
    cluster.add_worker(library=library)
    with pytest.raises(InvalidInput, match=r"the Dask worker tcp://.* differs: digest of mfc_lb"):
        run(find("trace_study"), "quick", tmp_path / "there", dask=cluster.address)


def test_a_worker_that_comes_later_is_checked_too():
    there = dask_cluster._surroundings(dict)
    assert dask_cluster._on_worker(int, dict, there) == 0
    with pytest.raises(InvalidInput, match=r"numpy .* \(here 1\.0\)"):
        dask_cluster._on_worker(int, dict, there | {"numpy": "1.0"})
    with pytest.raises(InvalidInput, match="digest of the data files"):
        dask_cluster._on_worker(int, lambda: {"policies": "0"}, there)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dask", "nonsense"], "dask must be the address of a Dask scheduler, tcp://HOST:PORT"),
        (["--dask", ""], "dask must be the address of a Dask scheduler"),
        (["--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answers at tcp://127.0.0.1:1: "),
        (["--dask", "tcp://127.0.0.1:1", "--processes", "2"], "processes cannot be chosen with"),
    ],
)
def test_mistakes_are_one_line(command, monkeypatch, words, message):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.5)
    code, out, err = command("run", "trace_study", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert without_log(err).count("\n") == 1


def test_a_server_that_says_nothing_is_not_waited_for(command, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        code, _, err = command("run", "trace_study", "--dask", address)
    assert code == 2
    assert (
        without_log(err)
        == f"mfc-lb: no Dask scheduler answers at {address}: no answer after 0.5 s\n"
    )


def test_a_cluster_without_workers_is_refused(cluster, command, monkeypatch):
    monkeypatch.setattr(dask_cluster, "WORKERLESS_SECONDS", 0.5)
    code, _, err = command("run", "trace_study", "--dask", cluster.address)
    expected = f"mfc-lb: the Dask cluster at {cluster.address} has no worker after 0.5 s\n"
    assert (code, without_log(err)) == (2, expected)


def test_the_missing_extra_is_named(command, monkeypatch):
    monkeypatch.delitem(sys.modules, "mfc_lb.results.dask_cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = command("run", "trace_study", "--dask", "tcp://127.0.0.1:1")
    assert code == 2
    assert "needs distributed, from the extra 'dask': pip install 'mfc_lb[dask]'" in err
    assert without_log(err).count("\n") == 1


def without_log(err: str) -> str:
    """Leave out the line that says how many cells are done."""
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if "cells are done" not in line)


def test_a_lost_cluster_is_told_in_one_line(command, monkeypatch):
    def lose(*_: object, **__: object) -> None:
        raise ConnectionError("all Dask workers are gone, for 30 s now")

    monkeypatch.setattr("mfc_lb.cli.results_commands.run", lose)
    code, out, err = command("run", "trace_study", "--dask", "tcp://127.0.0.1:1")
    assert (code, out) == (1, "")
    assert err == "mfc-lb: all Dask workers are gone, for 30 s now; start it again\n"
