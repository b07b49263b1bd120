"""What a balancer and a worker do, without a network; and the generated code."""

import asyncio
import shutil
from pathlib import Path

import numpy as np
import pytest

import mfc_lb
from mfc_lb.cluster import (
    BALANCERS,
    ClusterParameters,
    Dispatcher,
    EventKind,
    JoinShortestQueue,
    LeastLoaded,
    LogHeader,
    MeanFieldBalancer,
    Random,
    RoundRobin,
    Trace,
    check_log,
    parse_log,
    simulate_cluster,
)
from mfc_lb.cluster import messages_pb2 as messages
from mfc_lb.cluster.event_log import delimited
from mfc_lb.cluster.messages_pb2 import Event, Job
from mfc_lb.cluster.rpc.cores import Cores
from mfc_lb.cluster.rpc.outbox import LARGEST_BATCH, Outbox
from mfc_lb.cluster.rpc.outcome import lags_of, result_of
from mfc_lb.cluster.rpc.run import Run
from mfc_lb.cluster.rpc.security import MAX_MESSAGE_BYTES
from mfc_lb.errors import InvalidInput
from mfc_lb.model import ConstantPolicy, SystemParameters, join_shortest_queue

ROOT = Path(mfc_lb.__file__).parents[1]
MEAN_FIELD = MeanFieldBalancer(ConstantPolicy(join_shortest_queue(SystemParameters())))
FIRST_LEAST_LOADED = LeastLoaded("first")
ONE_OF_EACH = [Random(), RoundRobin(), LeastLoaded(), JoinShortestQueue(), MEAN_FIELD]


class Bench:
    """A run with a clock that is set by hand, and what it sends."""

    def __init__(self, balancer=FIRST_LEAST_LOADED, **cluster) -> None:
        parameters = ClusterParameters(**{"cores": (1, 1, 1)} | cluster)
        header = LogHeader("live", repr(balancer), 0, parameters)
        self.now, self.sent = 0, []
        dispatcher = Dispatcher(balancer, parameters.cores_array, 0)
        self.run = Run(header, dispatcher, lambda: self.now, self._send)

    def _send(self, worker: int, job: Job) -> None:
        self.sent.append((job.job_id, worker))

    def arrive(self, *names: int, service_us: int = 5) -> None:
        self.run.arrive([Job(job_id=name, service_time_us=service_us) for name in names])

    def hear(self, worker: int, *told: tuple[int, int]) -> None:
        self.run.hear(worker, [Event(kind=kind, job_id=job) for kind, job in told])

    def serve(self, worker: int, job: int) -> None:
        self.hear(worker, (messages.STARTED, job))
        self.now += 5
        self.hear(worker, (messages.FINISHED, job))

    def log(self):
        return parse_log(b"".join(map(delimited, self.run.records._items)))


def test_one_of_each_balancer_is_tried():
    assert {type(balancer) for balancer in ONE_OF_EACH} == set(BALANCERS.values())


def test_jobs_of_a_lost_worker_go_to_others_in_order():
    bench = Bench()
    bench.arrive(*range(7))
    assert bench.sent == [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2), (6, 0)]
    bench.hear(0, (messages.STARTED, 0))
    bench.run.lose(0)
    assert bench.sent[7:] == [(0, 1), (3, 2), (6, 1)]
    for worker, job in ((1, 1), (1, 4), (1, 0), (2, 2), (2, 5), (2, 3), (1, 6)):
        bench.serve(worker, job)
    bench.run.expect_no_more()
    log = bench.log()
    assert check_log(log, 100) == []
    table = result_of(log).to_frame()
    assert list(table.final_state) == ["finished"] * 7
    assert table.worker.tolist() == [1, 1, 2, 2, 1, 2, 1]
    assert np.count_nonzero(log.events.kind == EventKind.RETURNED) == 3


def test_late_duplicates_are_ignored():
    bench = Bench(cores=(1, 1))
    bench.arrive(0)
    bench.serve(0, 0)
    before = bench.run.num_events
    for kind in (messages.STARTED, messages.FINISHED, messages.DROPPED):
        bench.hear(0, (kind, 0))
        bench.hear(1, (kind, 0))
        bench.hear(1, (kind, 77))
    bench.arrive(1, 2)
    bench.hear(0, (messages.FINISHED, 1))  # it has not started
    bench.hear(0, (messages.STARTED, 1), (messages.STARTED, 1), (messages.DROPPED, 1))
    assert bench.run.num_events == before + 5
    assert bench.run.loads.tolist() == [1, 1]


@pytest.mark.parametrize("balancer", ONE_OF_EACH, ids=lambda balancer: balancer.name)
@pytest.mark.parametrize("refresh_interval_us", [0, 7])
def test_no_job_goes_to_a_lost_worker(balancer, refresh_interval_us):
    bench = Bench(balancer, cores=(1,) * 5, refresh_interval_us=refresh_interval_us)
    for lost in (0, 3, 1, 4):
        bench.run.lose(lost)
    bench.arrive(*range(20))
    assert {worker for _, worker in bench.sent} == {2}
    bench.run.regain(4)
    bench.now = 10
    bench.arrive(*range(20, 60))
    assert {worker for _, worker in bench.sent} <= {2, 4}


def test_a_balancer_that_insists_on_a_lost_worker_is_overruled():
    class Stubborn(RoundRobin):
        decision = staticmethod(lambda _: 0)

    bench = Bench(Stubborn(), cores=(1, 1, 2))
    bench.run.lose(0)
    bench.arrive(0, 1, 2)
    assert bench.sent == [(0, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("refresh_interval_us", [0, 1, 7, 50])
@pytest.mark.parametrize("balancer", ONE_OF_EACH, ids=lambda balancer: balancer.name)
def test_decisions_and_snapshots_are_those_of_the_simulator(balancer, refresh_interval_us):
    """Events of a simulation, told to a run at their times, lead to the same decisions."""
    generator = np.random.default_rng(5)
    trace = Trace.from_arrays(
        np.sort(generator.integers(0, 300, 200)), generator.integers(0, 9, 200)
    )
    shape = {"cores": (1, 2, 1), "refresh_interval_us": refresh_interval_us}
    log = simulate_cluster(trace, ClusterParameters(**shape), balancer).log
    bench = Bench(balancer, **shape)
    expected = []
    for kind, now, job, worker, service_us in zip(*(c.tolist() for c in log.events), strict=True):
        bench.now = now
        if kind == EventKind.ARRIVED:
            bench.arrive(job, service_us=service_us)
        elif kind == EventKind.ASSIGNED:
            expected.append((job, worker))
        else:
            bench.hear(worker, (kind, job))
    bench.run.expect_no_more()
    assert bench.sent == expected
    again = bench.log()
    assert all(np.array_equal(*pair) for pair in zip(log.events, again.events, strict=True))
    assert check_log(again) == []
    assert lags_of(again, trace).largest == 0


def test_what_cannot_be_changes_nothing():
    bench = Bench()
    bench.arrive(1)
    for jobs in (
        [Job(job_id=2), Job(job_id=1)],
        [Job(job_id=2), Job(job_id=2)],
        [Job(job_id=2), Job(job_id=-1)],
        [Job(job_id=-(2**63))],
        [Job(job_id=2), Job(job_id=3, service_time_us=-1)],
        [Job(job_id=2, service_time_us=2**62)],
    ):
        with pytest.raises(InvalidInput, match=r"\A(job_id|service_time_us) must be "):
            bench.run.arrive(jobs)
    for report in (
        Event(kind=messages.FINISHED),
        Event(kind=messages.ARRIVED, job_id=1),
        Event(kind=99, job_id=1),
        Event(job_id=1),
    ):
        with pytest.raises(InvalidInput, match=r"\Areport must be STARTED"):
            bench.run.hear(0, [Event(kind=messages.STARTED, job_id=1), report])
    assert bench.run.num_events == 2
    assert bench.sent == [(1, 0)]


def test_no_worker_left_ends_the_run():
    bench = Bench(cores=(1,))
    bench.arrive(0, 1)
    bench.run.lose(0)
    assert bench.run.records.is_closed
    assert "no worker is left; 0 of the 2 jobs" in str(bench.run.records._error)


# --- lags -----------------------------------------------------------------------------------------


def test_lags_say_how_late_each_action_was():
    bench = Bench(cores=(1,))
    trace = Trace.from_arrays([0, 10], [20, 5])
    for now, action in (
        (1, lambda: bench.arrive(0, service_us=20)),
        (3, lambda: bench.hear(0, (messages.STARTED, 0))),
        (14, lambda: bench.arrive(1)),
        (22, lambda: bench.hear(0, (messages.FINISHED, 0))),
        (25, lambda: bench.hear(0, (messages.STARTED, 1))),
        (36, lambda: bench.hear(0, (messages.FINISHED, 1))),
        (36, bench.run.expect_no_more),
    ):
        bench.now = now
        action()
    lags = lags_of(bench.log(), trace)
    assert lags.arrivals.tolist() == [1, 4]
    assert lags.starts.tolist() == [2, 3]
    assert lags.services.tolist() == [-1, 6]
    assert lags.largest == 6
    assert check_log(bench.log(), 6) == []
    assert check_log(bench.log(), 5) != []


def test_lags_know_of_jobs_that_wait_for_a_worker_that_is_gone():
    bench = Bench(cores=(2, 1))
    trace = Trace.from_arrays([0] * 4, [5] * 4)
    bench.arrive(*range(4))
    on_first = [job for job, worker in bench.sent if worker == 0]
    bench.hear(0, (messages.STARTED, on_first[0]))
    bench.now = 30  # nobody has noticed so far that the worker died
    bench.run.lose(0)
    while bench.run.loads[1]:
        bench.serve(1, next(iter(bench.run.held[1])))
    bench.run.expect_no_more()
    log = bench.log()
    lags = lags_of(log, trace)
    assert 30 in lags.starts
    assert check_log(log, lags.largest) == []
    assert check_log(log, 29) != []


@pytest.mark.parametrize(("noticed", "late"), [(60, [55]), (6, [1]), (5, [])])
def test_lags_know_of_jobs_that_stand_still_at_a_worker_that_is_gone(noticed, late):
    bench = Bench(cores=(1, 1))
    trace = Trace.from_arrays([0, 0], [5, 5])
    bench.arrive(0, 1)
    bench.hear(0, (messages.STARTED, 0))
    bench.serve(1, 1)
    bench.now = noticed
    bench.run.lose(0)
    bench.serve(1, 0)
    bench.run.expect_no_more()
    log = bench.log()
    lags = lags_of(log, trace)
    assert lags.services.tolist() == [0, *late, 0]
    assert check_log(log, lags.largest) == []
    assert not late or check_log(log, lags.largest - 1) != []


# --- cores ----------------------------------------------------------------------------------------


def told_by_cores(num_cores, capacity, services_ms, ended):
    """Return what cores report of jobs that come at once, until so many have ended."""

    async def serve():
        told, done, remaining = [], asyncio.Event(), [ended]

        def report(kind, job):
            told.append((messages.EventKind.Name(kind), job))
            remaining[0] -= kind != messages.STARTED
            if remaining[0] == 0:
                done.set()

        cores = Cores(num_cores, capacity, 1e-3, report)
        for name, length in enumerate(services_ms):
            cores.take(Job(job_id=name, service_time_us=1_000_000 * length))
        await asyncio.wait_for(done.wait(), 30)
        return told

    return asyncio.run(serve())


def test_cores_serve_first_come_first_served():
    told = told_by_cores(2, None, [10, 30, 10, 10], 4)
    assert [job for kind, job in told if kind == "STARTED"] == [0, 1, 2, 3]
    assert [job for kind, job in told if kind == "FINISHED"][:2] == [0, 2]


def test_a_full_worker_drops():
    told = told_by_cores(1, 2, [5, 5, 5], 3)
    assert ("DROPPED", 2) in told
    assert [job for kind, job in told if kind == "FINISHED"] == [0, 1]
    # A capacity below the number of cores bounds the jobs in service.
    assert ("DROPPED", 1) in told_by_cores(4, 1, [5, 5], 2)


def test_many_jobs_of_length_zero_behind_a_long_one():
    num_jobs = 50_000  # each ends within the end of the one before: no recursion
    told = told_by_cores(1, None, [1] + [0] * num_jobs, num_jobs + 1)
    assert [job for kind, job in told if kind == "FINISHED"] == list(range(num_jobs + 1))


def test_cores_forget():
    async def forget():
        told = []
        cores = Cores(1, None, 1.0, lambda *report: told.append(report))
        cores.take(Job(job_id=1, service_time_us=1))
        cores.take(Job(job_id=2, service_time_us=1))
        cores.forget()
        await asyncio.sleep(0.01)
        return told

    assert asyncio.run(forget()) == [(messages.STARTED, 1)]


# --- messages -------------------------------------------------------------------------------------


def test_outbox_keeps_order_and_splits_what_is_too_long():
    async def send():
        outbox = Outbox()
        for item in range(2 * LARGEST_BATCH + 1):
            outbox.put(item)
        outbox.close(ValueError("the end"))
        outbox.put("too late")
        async for batch in outbox.batches():
            sizes.append(len(batch))
            items.extend(batch)

    sizes, items = [], []
    with pytest.raises(ValueError, match="the end"):
        asyncio.run(send())
    assert sizes == [LARGEST_BATCH, LARGEST_BATCH, 1]
    assert items == list(range(2 * LARGEST_BATCH + 1))


def test_full_batches_are_far_below_the_largest_message():
    event = Event(kind=4, time_us=2**62, job_id=-1, worker=2**31, service_time_us=-1)
    size = len(delimited(messages.LogRecord(event=event)))
    assert LARGEST_BATCH * (size + 10) < MAX_MESSAGE_BYTES / 10


def test_generated_code_is_that_of_the_protocol(tmp_path):
    from grpc_tools import protoc

    name = "mfc_lb/cluster/rpc/service.proto"
    outputs = [f"--{kind}_out={tmp_path}" for kind in ("python", "pyi", "grpc_python")]
    well_known = Path(protoc.__file__).parent / "_proto"
    assert protoc.main(["protoc", f"-I{ROOT}", f"-I{well_known}", *outputs, name]) == 0
    made = sorted(path for path in tmp_path.rglob("*.py*") if path.is_file())
    assert [path.name for path in made] == [
        "service_pb2.py",
        "service_pb2.pyi",
        "service_pb2_grpc.py",
    ]
    for path in made:
        assert path.read_text() == (ROOT / path.relative_to(tmp_path)).read_text()
    shutil.rmtree(tmp_path)
