"""A live cluster of processes: it agrees with the simulator, and survives kill -9."""

import asyncio
import signal
import subprocess
import sys
import time
from itertools import permutations

import numpy as np
import pytest

from mfc_lb.cluster import (
    ClusterParameters,
    EventKind,
    RoundRobin,
    Trace,
    check_log,
    simulate_cluster,
)
from mfc_lb.cluster.rpc.client import replay
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.loopback import loopback_cluster, run_live, worker_process
from mfc_lb.cluster.rpc.outcome import LiveResult
from mfc_lb.cluster.rpc.security import Security
from tests.cluster.live import LONG_US, RawClient

CORES = (1, 1, 2)
NUM_KILLS = 20


def replayed(trace, address, **options) -> LiveResult:
    done = asyncio.run(asyncio.wait_for(replay(trace, address, Security(), **options), 60))
    return LiveResult(trace, done)


@pytest.fixture(scope="module")
def in_turns():
    """A cluster whose balancer sends jobs to the workers in turns."""
    with loopback_cluster(["--balancer", "round-robin"], CORES) as running:
        yield running


def test_events_are_those_of_the_simulator_within_the_jitter(in_turns):
    arrivals = np.arange(12) * 150_000
    services = np.random.default_rng(1).integers(1, 9, 12) * 100_000
    trace = Trace.from_arrays(arrivals, services)
    live = replayed(trace, in_turns.address)
    simulated = simulate_cluster(trace, ClusterParameters(CORES), RoundRobin())
    assert check_log(live.log, live.lags.largest) == []

    realised, intended = live.result.to_frame(), simulated.to_frame()
    assert realised.job_id.tolist() == intended.job_id.tolist()
    assert realised.worker.tolist() == intended.worker.tolist()
    # Each worker serves four jobs; what is late may add up over those that wait for each other.
    bound = live.lags.largest * (2 * 4 + 1)
    for column in ("arrival_time_us", "start_time_us", "finish_time_us"):
        assert (realised[column] - intended[column]).abs().max() <= bound
    place = {event: index for index, (event, _) in enumerate(dated(live.log))}
    assert len(place) == len(simulated.log) == len(live.log)
    for (earlier, t), (later, u) in permutations(dated(simulated.log), 2):
        assert u - t <= 2 * bound or place[earlier] < place[later]


def dated(log):
    """Return events, as pairs of kind and job, with their times."""
    kind, time_us, job, _, _ = (column.tolist() for column in log.events)
    return list(zip(zip(kind, job, strict=True), time_us, strict=True))


def test_a_worker_that_is_killed_is_replaced_by_a_new_process(in_turns):
    """With a client that sends jobs when it is told to: nothing depends on how fast anything is."""

    async def session(process):
        async with Security().channel(in_turns.address) as channel:
            client = RawClient(channel)
            await client.begin()
            await client.send((0, LONG_US), (1, LONG_US), (2, LONG_US))
            assert await client.events(9)
            process.kill()
            lost = await client.events(3)
            with worker_process(in_turns.address, CORES[2], 2) as (_, ready):
                await asyncio.to_thread(ready)
                await client.send((3, 0), (4, 0))
                return lost, await client.events(6)

    lost, back = asyncio.run(asyncio.wait_for(session(in_turns.workers[2]), 60))
    assert lost == [("WORKER_LOST", -1, 2), ("RETURNED", 2, 2), ("ASSIGNED", 2, 0)]
    assert back[0] == ("WORKER_BACK", -1, 2)
    # Four jobs have been decided before: the next go to workers 1 and 2.
    assert [event for event in back if event[0] == "ASSIGNED"] == [
        ("ASSIGNED", 3, 1),
        ("ASSIGNED", 4, 2),
    ]


def test_twenty_workers_are_killed_and_no_job_is_lost_or_answered_twice():
    """Each has seconds of work left when it is killed; the last has a core for every job."""
    num_jobs = 600
    trace = Trace.from_arrays(np.zeros(num_jobs, int), np.full(num_jobs, 200_000))
    cores = [1] * NUM_KILLS + [num_jobs]
    with loopback_cluster(["--balancer", "round-robin"], cores) as running:
        victims = list(running.workers[:-1])
        num_ended = 0

        def progress(count: int) -> None:
            """Kill a worker whenever ten more jobs have ended."""
            nonlocal num_ended
            num_ended += count
            while victims and num_ended >= 10 * (NUM_KILLS - len(victims) + 1):
                victims.pop().kill()

        live = replayed(trace, running.address, progress=progress)
        assert victims == []
        codes = [process.wait(10) for process in running.workers[:-1]]
        assert codes == [-signal.SIGKILL] * NUM_KILLS

    events = live.log.events
    ended = np.isin(events.kind, [EventKind.FINISHED, EventKind.DROPPED])
    assert sorted(events.job_id[ended].tolist()) == list(range(num_jobs))
    assert live.num_lost == NUM_KILLS
    returned_from = set(events.worker[events.kind == EventKind.RETURNED].tolist())
    assert returned_from == set(range(NUM_KILLS))
    assert check_log(live.log, 10**9) == []
    assert live.result.to_frame().final_state.eq("finished").all()


def test_no_worker_is_left():
    with loopback_cluster([], [1, 1]) as running:
        trace = Trace.from_arrays([0, 0, 0], [LONG_US] * 3)

        async def session():
            waiting = asyncio.create_task(replay(trace, running.address, Security()))
            for process in running.workers:
                process.kill()
            await waiting

        with pytest.raises(ClusterFailure, match=r"no worker is left; 0 of the [123] jobs"):
            asyncio.run(asyncio.wait_for(session(), 60))


@pytest.mark.parametrize(
    ("killed", "told"),
    [("worker", "no worker is left; "), ("balancer", r"balancer at .* is gone")],
)
def test_the_reason_is_told_to_a_client_that_has_much_to_say(killed, told):
    """The client is writing when the run ends: its write fails before it reads why."""
    trace = Trace.from_arrays(np.arange(60_000) * 20, np.full(60_000, 10))
    with loopback_cluster([], [1]) as running:
        victim = running.workers[0] if killed == "worker" else running.balancer
        with pytest.raises(ClusterFailure, match=told):
            replayed(trace, running.address, progress=lambda _: victim.kill())


def test_a_worker_that_is_stopped_is_noticed_in_the_keepalive_time():
    """It stands still with a job in service, which the lags tell."""
    trace = Trace.from_arrays([0, 0, 0], [100_000, 0, 0])
    num_ended = 0

    def progress(count: int) -> None:
        nonlocal num_ended
        num_ended += count
        if num_ended == 2:  # the third job ended at worker 0, so the first has started there
            running.workers[0].send_signal(signal.SIGSTOP)

    with loopback_cluster(["--keepalive", "0.5", "--balancer", "round-robin"], [2, 1]) as running:
        live = replayed(trace, running.address, progress=progress, time_scale=10)
        running.workers[0].kill()
    assert live.num_lost == live.num_returned == 1
    events = live.log.events
    (lost,) = events.time_us[events.kind == EventKind.WORKER_LOST].tolist()
    started = events.time_us[(events.kind == EventKind.STARTED) & (events.job_id == 0)][0]
    stood_still = int(lost - started - 100_000)
    assert live.lags.services.max() >= stood_still
    assert 10 * (lost - started) < 10_000_000  # real microseconds; a minute without ping timeout


def test_a_balancer_that_is_stopped_is_noticed_in_the_keepalive_time():
    with loopback_cluster([], [1]) as running:

        async def session():
            trace = Trace.from_arrays([0, 0], [0, LONG_US])
            stop = lambda _: running.balancer.send_signal(signal.SIGSTOP)  # noqa: E731
            await replay(trace, running.address, Security(keepalive=0.5), progress=stop)

        with pytest.raises(ClusterFailure, match=f"the balancer at {running.address} is gone"):
            asyncio.run(asyncio.wait_for(session(), 30))
        running.balancer.kill()


def test_processes_end_with_the_block():
    with pytest.raises(KeyError), loopback_cluster([], [1]) as running:
        raise KeyError
    assert running.balancer.returncode is not None
    assert all(process.returncode is not None for process in running.workers)


def test_a_process_that_does_not_start_says_why():
    told = "balancer did not start: --capacity must be"
    with pytest.raises(ClusterFailure, match=told), loopback_cluster(["--capacity", "0"], [1]):
        pass


def test_a_process_that_starts_too_slowly_says_so(monkeypatch):
    monkeypatch.setattr("mfc_lb.cluster.rpc.loopback.START_PATIENCE", 0.01)
    told = "balancer did not start: it was not ready within 0.01 s"
    with pytest.raises(ClusterFailure, match=told), loopback_cluster([], [1]):
        pass


def test_a_run_inside_an_event_loop_as_in_a_notebook():
    async def cell():
        cluster = ClusterParameters((1,), refresh_interval_us=1000)
        return run_live(Trace.from_arrays([0, 5], [0, 0]), cluster, "random", seed=2)

    live = asyncio.run(cell())
    assert live.log.header.balancer == "Random()"
    assert live.log.header.seed == 2
    assert live.result.finished.tolist() == [True, True]


def test_processes_end_when_their_parent_is_killed():
    program = """
import sys
from mfc_lb.cluster.rpc.loopback import loopback_cluster
with loopback_cluster([], [1]) as running:
    print(running.balancer.pid, running.workers[0].pid, flush=True)
    sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    children = [int(word) for word in parent.stdout.readline().split()]
    assert len(children) == 2
    parent.kill()
    parent.communicate(timeout=30)
    deadline = time.monotonic() + 30
    while any(map(is_running, children)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(process_id: int) -> bool:
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process_id)], capture_output=True, text=True, check=False
    )
    return found.returncode == 0 and not found.stdout.startswith("Z")
