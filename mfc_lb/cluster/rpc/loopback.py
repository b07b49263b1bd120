"""A whole cluster on this machine: a balancer and workers as processes of their own.

They end with this process, however it ends: each watches a pipe that only this process holds open.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from mfc_lb.cluster.parameters import ClusterParameters
from mfc_lb.cluster.rpc.client import check_time_scale, replay
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.outcome import LiveResult
from mfc_lb.cluster.rpc.security import Address, Security
from mfc_lb.cluster.rpc.tasks import run_to_end
from mfc_lb.cluster.simulator import MAX_SEED
from mfc_lb.cluster.traces import Trace
from mfc_lb.errors import check_int, require

#: What runs `mfc-lb`.
PROGRAM = (sys.executable, "-c", "from mfc_lb.cli import main; main()", "cluster")
# Where mfc_lb is, also if it is not installed.
_HOME = str(Path(__file__).parents[3])
#: Seconds that a process has for becoming ready, and for ending.
START_PATIENCE, END_PATIENCE = 60.0, 5.0


@dataclass(frozen=True, eq=False)
class LoopbackCluster:
    """A balancer and its workers.

    Attributes
    ----------
    address : Address
        Of the balancer.
    balancer : Popen
        Its process.
    workers : list of Popen
        Their processes, by worker.
    """

    address: Address
    balancer: "subprocess.Popen[str]"
    workers: "list[subprocess.Popen[str]]"


def run_live(
    trace: Trace,
    cluster: ClusterParameters,
    balancer: str = "least-loaded",
    *,
    seed: int = 0,
    time_scale: float = 1.0,
    tell: Callable[[LoopbackCluster], object] = lambda _: None,
    progress: Callable[[int], object] = lambda _: None,
) -> LiveResult:
    """Send the jobs of a trace through a balancer to workers, all processes on this machine.

    There is a process for each worker, and every user of this machine can take part while it lasts.

    Parameters
    ----------
    trace : Trace
        The jobs.
    cluster : ClusterParameters
        Workers, capacity and refresh interval.
    balancer : str
        What ``mfc-lb cluster balancer --balancer`` understands, such as ``jsq:2``.
    seed : int, 0 to 2^64 - 1
        Of the balancer's choices.
    time_scale : float, 1e-6 to 1e6
        Real seconds for each second of the trace.
    tell : callable
        Is told the processes when they are ready.
    progress : callable
        Is told how many more jobs have ended.

    Returns
    -------
    LiveResult
        Its log is right, see `LiveResult.require_right`.

    Raises
    ------
    InvalidInput
        If a value is out of range.
    ClusterFailure
        If a process does not start (its message says why), or no worker is left.
    """
    require(isinstance(trace, Trace), "trace", trace, "a Trace")
    require(isinstance(cluster, ClusterParameters), "cluster", cluster, "ClusterParameters")
    require(isinstance(balancer, str), "balancer", balancer, "a balancer's name, such as 'jsq:2'")
    seed = check_int("seed", seed, 0, MAX_SEED)
    time_scale = check_time_scale(time_scale)
    load = trace.offered_load(sum(cluster.cores))
    words = ["--balancer", balancer, "--seed", str(seed), "--expected-load", str(load)]
    words += ["--refresh", f"{cluster.refresh_interval_us}us"]
    words += [] if cluster.capacity is None else ["--capacity", str(cluster.capacity)]
    with loopback_cluster(words, cluster.cores) as running:
        tell(running)
        work = replay(trace, running.address, Security(), time_scale=time_scale, progress=progress)
        live = LiveResult(trace, run_to_end(work))
    live.require_right()
    return live


@contextmanager
def loopback_cluster(
    balancer_options: Sequence[str], cores: Sequence[int]
) -> Iterator[LoopbackCluster]:
    """Run a cluster on this machine as long as a block lasts.

    Parameters
    ----------
    balancer_options : sequence of str
        Of ``mfc-lb cluster balancer``, but for the number of workers and the address.
    cores : sequence of int
        Cores of each worker.

    Yields
    ------
    LoopbackCluster
        Whose workers are at their places.

    Raises
    ------
    ClusterFailure
        If a process does not start.
    """
    with ExitStack() as stack:
        words = ["balancer", "--workers", str(len(cores)), *balancer_options]
        balancer, told = stack.enter_context(_process(words))
        address = Address.parse("address", told())
        workers = [
            stack.enter_context(worker_process(address, number, place))
            for place, number in enumerate(cores)
        ]
        for _, ready in workers:
            ready()
        yield LoopbackCluster(address, balancer, [process for process, _ in workers])


@contextmanager
def worker_process(
    address: Address, cores: int, place: int
) -> "Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]":
    """Run a worker on this machine as long as a block lasts.

    Parameters
    ----------
    address : Address
        Of the balancer.
    cores, place : int
        Its cores and which worker it is.

    Yields
    ------
    process : Popen
        The worker.
    ready : callable
        Waits until it is at its place.
    """
    words = ["worker", str(address), "--cores", str(cores), "--place", str(place)]
    with _process(words) as found:
        yield found


@contextmanager
def _process(
    words: Sequence[str],
) -> "Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]":
    """Run a command in a session of its own, so that Ctrl-C is for this process alone."""
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*PROGRAM, *words, "--end-with-input"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([_HOME, *sys.path])},
        )
        try:
            yield process, lambda: _wait_until_ready(process, errors, words[0])
        finally:
            _end(process)


def _wait_until_ready(process: "subprocess.Popen[str]", errors: IO[str], name: str) -> str:
    """Return the last word of the line that the process prints when it is ready."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        process.kill()

    timer = threading.Timer(START_PATIENCE, end)
    timer.start()
    try:
        line = process.stdout.readline() if process.stdout else ""
    finally:
        timer.cancel()
    if line:
        return line.split()[-1]
    process.wait(END_PATIENCE)
    errors.seek(0)
    said = errors.read().strip().rpartition("\n")[2]
    reason = said.removeprefix("mfc-lb: ") or f"exit code {process.returncode}"
    if is_late.is_set():
        reason = f"it was not ready within {START_PATIENCE:g} s"
    raise ClusterFailure(f"the {name} did not start: {reason}")


def _end(process: "subprocess.Popen[str]") -> None:
    """End a process, whatever it does; its pipes are closed."""
    process.terminate()
    try:
        process.wait(END_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def end_with_input() -> None:
    """End this process at once when its standard input ends; returns, and watches in a thread."""

    def watch() -> None:
        # Not sys.stdin: a thread that waits there holds a lock that Python's end needs.
        while os.read(0, 1024):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
