"""Work on a Dask cluster that runs already, through joblib's Dask backend.

joblib's backend waits for ever for a call that Dask gave up, and for workers that do not come back.
Here, either ends the run. Dask itself repeats the calls of a lost worker on the others.
"""

import asyncio
import json
import platform
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

import joblib
from distributed import Client, KilledWorker, Security
from distributed.core import rpc
from joblib._dask import DaskDistributedBackend

from mfc_lb.baseline import in_force
from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import sha256
from mfc_lb.results.circumstances import PACKAGES, package_versions
from mfc_lb.results.sources import library_digest

T = TypeVar("T")

#: How long to wait for the scheduler's answer.
CONNECT_SECONDS = 10.0

#: How long a run goes on without any worker: one that a nanny starts again needs some seconds.
WORKERLESS_SECONDS = 30.0

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d+")
_alone = threading.Lock()


def finished(
    calls: Iterable[Callable[[], T]], address: str, data: Callable[[], Mapping[str, Any]]
) -> Iterator[T]:
    """Compute calls on a cluster and yield their results in the order in which they end.

    Parameters
    ----------
    calls : iterable of callable
        Without arguments; what they are made of must be importable on the workers.
    address : str
        Of the scheduler.
    data : callable
        Returns digests of the files that the calls read; on each worker, too.

    Yields
    ------
    object
        What a call returned.

    Raises
    ------
    InvalidInput
        If no scheduler answers at the address, or a worker has other code, packages or data: its
        results could have other bytes.
    ConnectionError
        If all workers or the scheduler are lost, or one call after the other loses its worker.
    """
    with _client(address) as client:
        expected = _surroundings(data)
        _require_same_workers(client, data, expected)
        backend = _Backend(client=client)
        # All at once, so that workers that come later find something to do, too.
        options = {"pre_dispatch": "all", "return_as": "generator_unordered"}
        parallel = joblib.Parallel(backend=backend, **options)
        jobs = (joblib.delayed(_on_worker)(call, data, expected) for call in calls)
        with _watched(client, backend):
            try:
                yield from parallel(jobs)
            except CancelledError:
                raise ConnectionError(f"the Dask scheduler at {address} was lost") from None
            except KilledWorker as error:
                deaths = error.allowed_failures + 1
                raise ConnectionError(f"{deaths} Dask workers died of one call") from None


class _Backend(DaskDistributedBackend):  # type: ignore[misc]
    """joblib's backend, which also hears of calls that end without a result."""

    def __init__(self, client: Client) -> None:
        super().__init__(client=client)
        self._answer: list[Callable[[object], None]] = []

    def __reduce__(self) -> Any:
        return DaskDistributedBackend, ()

    def effective_n_jobs(self, n_jobs: int) -> int:
        # With a single core, joblib would compute in this very process instead.
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Any, callback: Callable[[object], None]) -> "Future[Any]":
        self._answer.append(callback)
        future: Future[Any] = super().submit(func, callback)
        future.add_done_callback(partial(_tell_of_failure, callback))
        return future

    def give_up(self, error: Exception) -> None:
        """Let the run end with this error; calls that have ended do not mind."""
        for callback in self._answer:
            callback(error)


def _tell_of_failure(callback: Callable[[object], None], future: "Future[Any]") -> None:
    error = future.exception()
    if error is not None:
        callback(error)


# --- the cluster ------------------------------------------------------------------------------


@contextmanager
def _client(address: str) -> Iterator[Client]:
    allowed = "the address of a Dask scheduler, tcp://HOST:PORT"
    require(_ADDRESS.fullmatch(address) is not None, "dask", address, allowed)
    try:
        # In a thread, since a notebook's own thread has an event loop that runs.
        with ThreadPoolExecutor(1) as thread:
            kind = thread.submit(asyncio.run, _kind(address)).result()
        require(kind == "Scheduler", "dask", address, f"{allowed} (that is a {kind})")
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ImportError, CancelledError) as error:
        reason = " ".join(str(error).split()) or f"no answer after {CONNECT_SECONDS:g} s"
        raise InvalidInput(f"no Dask scheduler answers at {address}: {reason}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKERLESS_SECONDS)
        except TimeoutError:
            raise InvalidInput(
                f"the Dask cluster at {address} has no worker after {WORKERLESS_SECONDS:g} s"
            ) from None
        yield client


async def _kind(address: str) -> str:
    """Return what answers at an address: Scheduler, Worker or Nanny.

    `Client` itself would wait for ever for a server that accepts connections and says nothing.
    """
    connection = Security().get_connection_args("client")
    server = rpc(address, timeout=CONNECT_SECONDS, connection_args=connection)
    try:
        identity = await asyncio.wait_for(server.identity(), CONNECT_SECONDS)
    finally:
        await server.close_rpc()
    return str(identity["type"])


@contextmanager
def _watched(client: Client, backend: _Backend) -> Iterator[None]:
    """End the run once no worker has been seen for `WORKERLESS_SECONDS`."""
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(client, backend, over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def _watch(client: Client, backend: _Backend, over: threading.Event) -> None:
    seen = time.monotonic()
    while not over.wait(0.5):
        if _has_workers(client):
            seen = time.monotonic()
        elif time.monotonic() - seen > WORKERLESS_SECONDS:
            lost = f"all Dask workers are gone, for {WORKERLESS_SECONDS:g} s now"
            backend.give_up(ConnectionError(lost))
            return


def _has_workers(client: Client) -> bool:
    assert client.scheduler is not None
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=WORKERLESS_SECONDS))
    except (OSError, TimeoutError, CancelledError):
        return False


# --- on the workers ---------------------------------------------------------------------------


def _on_worker(
    call: Callable[[], T], data: Callable[[], Mapping[str, Any]], expected: Mapping[str, Any]
) -> T:
    """Compute a call, unless this worker would give other bytes.

    One at a time, also where a worker has several threads: the limits on threads and what is done
    to stderr hold for a whole process.
    """
    with _alone:
        difference = _difference(expected, _surroundings(data))
        require(difference is None, "a Dask worker", difference, "like this process")
        # Inner loops would be sent to the cluster, too, and wait for this very worker.
        with joblib.parallel_config(backend="sequential"):
            return call()


def _surroundings(data: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the bytes of a result depend on, as this process has it."""
    digest = sha256(json.dumps(data(), sort_keys=True).encode())
    return {**_software(), "digest of the data files": digest}


@cache
def _software() -> dict[str, Any]:
    python = ".".join(platform.python_version_tuple()[:2])
    about = {"python": python, "baseline": in_force()}
    return {**about, **package_versions(PACKAGES), "digest of mfc_lb": library_digest()}


def _difference(here: Mapping[str, Any], there: Mapping[str, Any]) -> str | None:
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    if not names:
        return None
    name = names[0]
    return f"{name} {str(there.get(name))[:12]} (here {str(here.get(name))[:12]})"


def _require_same_workers(
    client: Client, data: Callable[[], Mapping[str, Any]], expected: Mapping[str, Any]
) -> None:
    """Refuse the cluster before anything runs on it; `_on_worker` sees workers that come later."""
    answers = client.run(_surroundings, data, on_error="return")
    for address, answer in answers.items():
        failed = isinstance(answer, BaseException)
        difference = str(answer) if failed else _difference(expected, answer)
        if difference is not None:
            raise InvalidInput(f"the Dask worker {address} differs: {difference}")
