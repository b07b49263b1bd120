"""A live cluster of tasks: what happens to jobs and messages, step by step; certificates."""

import asyncio
from contextlib import suppress

import grpc
import numpy as np
import pytest
from grpc.aio import AioRpcError

from mfc_lb.cluster import Random, Trace, check_log
from mfc_lb.cluster.messages_pb2 import Job
from mfc_lb.cluster.rpc import service_pb2 as service
from mfc_lb.cluster.rpc.client import replay
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.outcome import LiveResult, result_of
from mfc_lb.cluster.rpc.security import MAX_MESSAGE_BYTES, Address
from mfc_lb.cluster.rpc.service_pb2_grpc import BalancerStub
from mfc_lb.cluster.rpc.worker import serve_worker
from tests.cluster.live import LONG_US, PLAIN, RawClient, RawWorker, balancer, cluster, run, worker

REPLAY, SERVE = "/mfc_lb.cluster.rpc.Balancer/Replay", "/mfc_lb.cluster.rpc.Balancer/Serve"
JOBS = service.ClientMessage(jobs=service.Jobs(jobs=[Job(job_id=1, service_time_us=1)]))
BEGIN = service.ClientMessage(begin=service.Begin(time_scale=1))
REGISTRATION = service.WorkerMessage(registration=service.Registration(cores=1))


# --- whole runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("num_jobs", [0, 1, 5000])
def test_jobs_of_length_zero_at_one_instant(num_jobs):
    async def session():
        zero = np.zeros(num_jobs, dtype=np.int64)
        trace = Trace.from_arrays(zero + 7, zero)
        async with cluster(1, 64) as address:
            return LiveResult(trace, await replay(trace, address, PLAIN))

    live = run(session())
    live.require_right()
    assert check_log(live.log, live.lags.largest) == []
    assert live.result.finished.sum() == num_jobs == len(live.replay.round_trips)
    assert sorted(live.log.header.cluster.cores) == [1, 64]
    if num_jobs:
        assert live.log.events.time_us[0] >= 7
        assert 0 < live.overhead < live.replay.seconds + 1


def test_what_comes_beyond_the_capacity_is_dropped():
    async def session():
        async with balancer(num_workers=1, capacity=3) as address, worker(address, 2):
            trace = Trace.from_arrays([0] * 6, [LONG_US // 1000] * 6)
            return LiveResult(trace, await replay(trace, address, PLAIN, time_scale=0.05))

    live = run(session())
    live.require_right()
    assert live.result.to_frame().final_state.tolist() == ["finished"] * 3 + ["dropped"] * 3


def test_one_balancer_serves_runs_one_after_another_in_the_same_way():
    async def session():
        trace = Trace.from_arrays(range(40), [0] * 40)
        async with cluster(1, 1, balancer=Random(), seed=3) as address:
            return [await replay(trace, address, PLAIN) for _ in range(2)]

    first, second = (result_of(done.log).worker.tolist() for done in run(session()))
    assert first == second
    assert set(first) == {0, 1}


# --- workers that are lost ------------------------------------------------------------------------


def test_a_lost_worker_comes_back():
    async def session():
        async with balancer(num_workers=2) as address, PLAIN.channel(address) as channel:
            client = RawClient(channel)
            async with worker(address, 1):
                async with worker(address, 2, place=1):
                    header = await client.begin()
                    await client.send((5, LONG_US), (6, LONG_US))
                    started = await client.events(6)
                lost = await client.events(3)
                with pytest.raises(ClusterFailure, match="with 3 cores; a lost worker had 2 cores"):
                    async with worker(address, 3):
                        pass
                async with worker(address, 2) as place:
                    await client.send((7, 0))
                    return header, started, lost, place, await client.events(5)

    header, started, lost, place, back = run(session())
    assert list(header.cores) == [1, 2]
    assert [event for event in started if event[0] == "ASSIGNED"] == [
        ("ASSIGNED", 5, 0),
        ("ASSIGNED", 6, 1),
    ]
    assert lost == [("WORKER_LOST", -1, 1), ("RETURNED", 6, 1), ("ASSIGNED", 6, 0)]
    assert place == 1
    assert back == [
        ("WORKER_BACK", -1, 1),
        ("ARRIVED", 7, -1),
        ("ASSIGNED", 7, 1),
        ("STARTED", 7, 1),
        ("FINISHED", 7, 1),
    ]


def test_no_worker_left_is_told_to_the_client():
    async def session():
        async with balancer(num_workers=1) as address, PLAIN.channel(address) as channel:
            lone = RawWorker(channel)
            await lone.register()
            trace = Trace.from_arrays([0, 0], [0, 0])
            waiting = asyncio.create_task(replay(trace, address, PLAIN))
            assert await lone.jobs() == [0, 1]
            await lone.say(("STARTED", 0), ("FINISHED", 0))
            lone.call.cancel()
            with pytest.raises(ClusterFailure, match=r"no worker is left; [01] of the 2 jobs"):
                await waiting
            async with worker(address, 1):  # the balancer goes on
                return await replay(trace, address, PLAIN)

    assert check_log(run(session()).log, 10**9) == []


def test_each_job_has_one_result_whatever_a_worker_says():
    async def session():
        async with balancer(num_workers=2) as address, PLAIN.channel(address) as channel:
            liar, other, client = RawWorker(channel), RawWorker(channel), RawClient(channel)
            assert [await liar.register(), await other.register()] == [0, 1]
            await client.begin()
            await client.send((0, 5), (1, 5))
            assert [await liar.jobs(), await other.jobs()] == [[0], [1]]
            twice = (("STARTED", 0), ("FINISHED", 0)) * 2
            await liar.say(
                *twice, ("STARTED", 1), ("FINISHED", 1), ("FINISHED", 99), ("DROPPED", 0)
            )
            await liar.say(("STARTED", 1), run=liar.run - 1)
            told = await client.events(6)
            await other.say(("STARTED", 1), ("FINISHED", 1))
            told += await client.events(2)
            return told, (await client.end()).num_events

    told, num_events = run(session())
    assert num_events == 8
    assert told[4:] == [
        ("STARTED", 0, 0),
        ("FINISHED", 0, 0),
        ("STARTED", 1, 1),
        ("FINISHED", 1, 1),
    ]


def test_a_balancer_that_is_lost_is_told_to_both_sides():
    async def session():
        async with balancer(num_workers=1) as address, PLAIN.channel(address) as channel:
            lone = RawWorker(channel)
            await lone.register()
            trace = Trace.from_arrays([0], [0])
            waiting = asyncio.create_task(replay(trace, address, PLAIN))
            await lone.jobs()
        with pytest.raises(ClusterFailure, match=r"balancer at 127.0.0.1:.* is gone"):
            await waiting
        with pytest.raises(ClusterFailure, match=r"no balancer answers at 127.0.0.1:"):
            await replay(trace, address, PLAIN, patience=0.2)

    run(session())


def test_a_run_waits_for_its_workers_but_not_for_ever():
    async def session():
        async with balancer(num_workers=2, patience=0.2) as address, worker(address, 1):
            await replay(Trace.from_arrays([0], [0]), address, PLAIN)

    with pytest.raises(ClusterFailure, match=r"only 1 of 2 workers have come within 0.2 s"):
        run(session())


# --- reasons --------------------------------------------------------------------------------------


async def last_words(call, message) -> str:
    """Write until that fails, which hides the status of the call, and only then read."""
    with suppress(AioRpcError):
        while True:
            await call.write(message)
    assert await call.code() == grpc.StatusCode.INTERNAL
    failures = []
    with suppress(AioRpcError):
        async for answer in call:
            failures += [answer.failure]
    assert not any(failures[:-1])
    return failures[-1]


def test_who_writes_when_a_call_ends_is_told_why():
    async def session():
        async with balancer(num_workers=1) as address, PLAIN.channel(address) as channel:
            stub, lone = BalancerStub(channel), RawWorker(channel)
            yield await last_words(stub.Serve(), REGISTRATION)
            await lone.register()
            yield await last_words(stub.Serve(), REGISTRATION)
            client = await at_work(stub, lone)
            yield await last_words(stub.Replay(), BEGIN)
            yield await last_words(client, JOBS)
            client = await at_work(stub, lone)
            lone.call.cancel()
            yield await last_words(client, service.ClientMessage(jobs=service.Jobs()))

    async def at_work(stub, lone):
        client = stub.Replay()
        await client.write(BEGIN)
        await client.write(JOBS)
        assert await lone.jobs() == [1]
        return client

    async def told():
        return [words async for words in session()]

    assert run(told()) == [
        "message must be of the kind 'reports', got 'registration'",
        "no place is free for a worker with 1 core",
        "the balancer already serves a client",
        "job_id must be different for each job, got 1",
        "no worker is left; 0 of the 1 jobs that arrived have ended",
    ]


@pytest.mark.parametrize("methods", [["Replay", "Serve"], []])
def test_what_answers_is_no_balancer(methods):
    """It speaks gRPC, but not ours: garbage, or nothing."""

    async def garbage(*_):
        yield b"\xff\xff\xff"

    async def session():
        handlers = {name: grpc.stream_stream_rpc_method_handler(garbage) for name in methods}
        server, address = PLAIN.listen(Address("127.0.0.1", 0))
        service_name = "mfc_lb.cluster.rpc.Balancer"
        server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(service_name, handlers)]
        )
        await server.start()
        told = f"what answers at {address} is no balancer"
        with pytest.raises(ClusterFailure, match=told):
            await replay(Trace.from_arrays([0], [0]), address, PLAIN)
        with pytest.raises(ClusterFailure, match=told):
            await serve_worker(address, PLAIN, 1)
        await server.stop(None)

    run(session())


# --- messages that are refused --------------------------------------------------------------------


def refusals(address, channel):
    """Say what must be refused; each gives what the balancer answers."""
    oversized = bytes(MAX_MESSAGE_BYTES + 1)
    scales = [service.Begin(time_scale=scale) for scale in (0, -1, float("nan"), 1e9)]
    negative = service.Begin(time_scale=1, origin_us=-1)
    no_cores = service.Registration(cores=0)
    for path, messages, code in (
        (REPLAY, [b"\xff\xff\xff"], "INVALID_ARGUMENT"),
        (REPLAY, [BEGIN.SerializeToString()[:-1]], "INVALID_ARGUMENT"),
        (REPLAY, [oversized], "RESOURCE_EXHAUSTED"),
        (REPLAY, [JOBS.SerializeToString()], "INVALID_ARGUMENT"),
        (REPLAY, [b""], "INVALID_ARGUMENT"),
        (REPLAY, [], "INVALID_ARGUMENT"),
        (REPLAY, [BEGIN.SerializeToString()], "FAILED_PRECONDITION"),  # it serves another client
        *((REPLAY, [raw(begin=begin)], "INVALID_ARGUMENT") for begin in [*scales, negative]),
        (SERVE, [b"\xff\xff\xff"], "INVALID_ARGUMENT"),
        (SERVE, [oversized], "RESOURCE_EXHAUSTED"),
        (SERVE, [service.WorkerMessage(reports=service.Reports()).SerializeToString()], "INVALID"),
        (SERVE, [service.WorkerMessage(registration=no_cores).SerializeToString()], "INVALID"),
        ("/mfc_lb.cluster.rpc.Balancer/Nothing", [b""], "UNIMPLEMENTED"),
    ):
        yield answer(channel, path, messages), code
    for garbage in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00" * 5000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00",
    ):
        yield answer_to_bytes(address, garbage), ""


def raw(**fields) -> bytes:
    return service.ClientMessage(**fields).SerializeToString()


async def answer(channel, path: str, messages: list[bytes]) -> str:
    call = channel.stream_stream(path)()
    try:
        for message in messages:
            await call.write(message)
        await call.done_writing()
        await anything(call)
    except (AioRpcError, asyncio.InvalidStateError):
        pass
    return (await call.code()).name


async def anything(call) -> None:
    while await call.read():
        pass


async def answer_to_bytes(address: Address, garbage: bytes) -> str:
    _, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(garbage)
    await writer.drain()
    writer.close()
    return ""


def test_refused_messages_change_nothing():
    async def session():
        async with balancer(num_workers=1) as address, worker(address, 1):
            options = [("grpc.max_send_message_length", -1)]
            target = str(address)
            async with grpc.aio.insecure_channel(target, options=options) as channel:
                client = RawClient(channel)
                await client.begin()
                await client.send((5, 0))
                told = await client.events(4)
                for answered, code in refusals(address, channel):
                    assert (await answered).startswith(code)
                await client.send((6, 0))
                told += await client.events(4)
                return told, (await client.end()).num_events

    told, num_events = run(session())
    assert num_events == 8
    one = [("ARRIVED", -1), ("ASSIGNED", 0), ("STARTED", 0), ("FINISHED", 0)]
    assert told == [(kind, job, place) for job in (5, 6) for kind, place in one]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"\xff\xff", "malformed"),
        (raw(jobs=service.Jobs(jobs=[Job(job_id=5)])), "job_id must be different for each job"),
        (raw(jobs=service.Jobs(jobs=[Job(service_time_us=-1)])), "service_time_us must be from 0"),
        (raw(begin=service.Begin(time_scale=1)), "message must be of the kind 'jobs'"),
    ],
)
def test_a_client_that_goes_wrong_loses_its_run_and_no_one_else(message, told):
    async def session():
        async with balancer(num_workers=1) as address, worker(address, 1):
            async with PLAIN.channel(address) as channel:
                call = channel.stream_stream(REPLAY)()
                await call.write(BEGIN.SerializeToString())
                await call.write(raw(jobs=service.Jobs(jobs=[Job(job_id=5)])))
                await call.write(message)
                with pytest.raises(AioRpcError) as error:
                    await anything(call)
            return error.value, await replay(Trace.from_arrays([0], [0]), address, PLAIN)

    error, after = run(session())
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert told in error.details()
    assert len(after.log) == 4


def test_a_worker_that_goes_wrong_is_lost():
    async def session():
        async with balancer(num_workers=2) as address, PLAIN.channel(address) as channel:
            bad, good, client = (
                channel.stream_stream(SERVE)(),
                RawWorker(channel),
                RawClient(channel),
            )
            registration = service.Registration(cores=1, worker=0)
            message = service.WorkerMessage(registration=registration)
            await bad.write(message.SerializeToString())
            await bad.read()
            await good.register()
            await client.begin()
            await client.send((4, 0))
            told = await client.events(2)
            await bad.write(b"\xff\xff")
            return told + await client.events(3)

    assert run(session())[1:] == [
        ("ASSIGNED", 4, 0),
        ("WORKER_LOST", -1, 0),
        ("RETURNED", 4, 0),
        ("ASSIGNED", 4, 1),
    ]
