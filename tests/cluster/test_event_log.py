"""Logs: the same bytes for the same run, readable by anyone, and refused when they are damaged."""

import copy
import hashlib
import pickle
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from google.protobuf.internal.encoder import _VarintBytes
from hypothesis import given
from hypothesis import strategies as st

from mfc_lb import InvalidInput
from mfc_lb.cluster import (
    ClusterParameters,
    EventKind,
    EventLog,
    Events,
    LeastLoaded,
    LogHeader,
    Trace,
    check_log,
    log_bytes,
    parse_log,
    read_log,
    simulate_cluster,
    write_log,
)
from mfc_lb.cluster import messages_pb2 as messages
from mfc_lb.cluster.event_coding import CHUNK, encode_events
from mfc_lb.cluster.event_log import MAX_RECORD_BYTES, delimited

ROOT = Path(__file__).parent.parent.parent
PACKAGE = Path("mfc_lb", "cluster")


def new_log(num_jobs=200, **others):
    generator = np.random.default_rng(4)
    arrivals = np.cumsum(generator.integers(0, 5, num_jobs))
    trace = Trace.from_arrays(arrivals, generator.integers(0, 20, num_jobs))
    cluster = ClusterParameters((2, 1), capacity=3, refresh_interval_us=2)
    return simulate_cluster(trace, cluster, LeastLoaded(), seed=9, **others).log


@pytest.fixture(scope="module")
def log():
    return new_log()


@pytest.fixture(scope="module")
def content(log):
    return log_bytes(log)


def record_of(event):
    """An event as the protobuf library writes it."""
    kind, time, job, worker, service = (int(value) for value in event)
    message = messages.Event(kind=kind, time_us=time)
    if EventKind(kind).has_job:
        message.job_id = job
    if EventKind(kind).has_worker:
        message.worker = worker
    else:
        message.service_time_us = service
    return messages.LogRecord(event=message)


def with_length(record):
    data = record.SerializeToString()
    return _VarintBytes(len(data)) + data


def assert_same(log, other):
    assert log == other
    assert (log.header, log.end_us) == (other.header, other.end_us)
    for column, same in zip(log.events, other.events, strict=True):
        assert column.dtype == same.dtype
        assert column.tolist() == same.tolist()


# --- in memory --------------------------------------------------------------------------------


def test_equal_logs_are_equal(log):
    assert new_log() == log
    assert hash(new_log()) == hash(log)
    assert new_log() != new_log(num_jobs=199)
    later = log.events._replace(time_us=log.events.time_us + 1)
    assert EventLog(log.header, later, log.end_us) != log


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_nobody_edits_a_log(copied):
    events = events_of([(EventKind.WORKER_LOST, 0, 0, 1, -1)])
    log = EventLog(new_log().header, events, 0)
    events.worker[0] = 0  # of the caller, not of the log
    assert copied(log) == log
    assert log.events.worker.tolist() == [1]
    for column in copied(log).events:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


# --- writing ----------------------------------------------------------------------------------


def test_bytes_are_those_of_the_protobuf_library(log, content):
    header = messages.LogHeader(
        format_version=2, source="simulation", balancer="LeastLoaded(tie_break='uniform')", seed=9,
        cores=[2, 1], capacity=3, refresh_interval_us=2,
    )  # fmt: skip
    checksum = zlib.crc32(content[:-4])
    end = messages.LogEnd(time_us=log.end_us, num_events=len(log), checksum=checksum)
    records = [messages.LogRecord(header=header), *map(record_of, zip(*log.events, strict=True))]
    records.append(messages.LogRecord(end=end))
    assert content == b"".join(map(with_length, records))


INT64 = st.integers(-(2**63), 2**63 - 1)
TIMES = st.integers(0, 2**62)
ROWS = st.tuples(st.sampled_from(list(EventKind)), TIMES, INT64, st.integers(0, 999), TIMES).map(
    lambda row: (
        row[0],
        row[1],
        row[2] if row[0].has_job else 0,
        row[3] if row[0].has_worker else -1,
        row[4] if row[0] == EventKind.ARRIVED else -1,
    )
)


def events_of(rows):
    kinds = (np.uint8, np.int64, np.int64, np.int32, np.int64)
    columns = zip(*rows, strict=True) if rows else [()] * 5
    return Events(*(np.array(c, dtype=k) for c, k in zip(columns, kinds, strict=True)))


@given(st.lists(ROWS, max_size=20))
def test_any_event_is_written_as_by_the_library_and_read_back(rows):
    events = events_of(rows)
    assert encode_events(events) == b"".join(with_length(record_of(row)) for row in rows)
    header = LogHeader("live", "any", 2**64 - 1, ClusterParameters((1,) * 1000), 5)
    log = EventLog(header, events, 2**62)
    assert_same(parse_log(log_bytes(log)), log)


def test_logs_longer_than_a_chunk_are_whole():
    rows = [(EventKind.STARTED, 3, job, 0, -1) for job in range(CHUNK + 5)]
    header = LogHeader("simulation", "any", 0, ClusterParameters((1,)))
    log = EventLog(header, events_of(rows), 3)
    assert_same(parse_log(log_bytes(log)), log)


def test_bytes_are_the_same_in_every_process_and_for_one_seed_only(content):
    """A digest made in another process; and a frozen one, beside the invariants of the checker."""
    program = (
        "import hashlib, runpy; module = runpy.run_path('tests/cluster/test_event_log.py');"
        "print(hashlib.sha256(module['log_bytes'](module['new_log']())).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert hashlib.sha256(content).hexdigest() == other == FROZEN
    assert check_log(parse_log(content)) == []


FROZEN = "8597a2f576c0692f29e3cbabf93c94f2adcdd20d48631f2b7202615501f9dcd8"


# --- reading ----------------------------------------------------------------------------------


def test_log_is_read_back(log, content, tmp_path):
    assert_same(parse_log(content), log)
    path = tmp_path / "run.log"
    write_log(log, str(path))
    assert path.read_bytes() == content
    assert_same(read_log(str(path)), log)


@pytest.mark.parametrize("horizon", [0, 100])
def test_a_horizon_is_read_back(horizon):
    log = new_log(horizon_us=horizon)
    assert_same(parse_log(log_bytes(log)), log)


def test_table_has_missing_values_where_there_is_nothing(content):
    frame = parse_log(content).to_frame()
    assert frame.columns.tolist() == ["kind", "time_us", "job_id", "worker", "service_time_us"]
    assert (frame.worker.isna() == (frame.kind == "arrived")).all()
    assert (frame.service_time_us.isna() == (frame.kind != "arrived")).all()
    assert frame.job_id.notna().all()
    lost = EventLog(new_log().header, events_of([(EventKind.WORKER_LOST, 0, 0, 1, -1)]), 0)
    assert lost.to_frame().job_id.isna().all()


def test_fields_in_another_order_are_read_by_the_library(log, content):
    """Protobuf does not promise an order; unknown fields are ignored."""
    records = split(content)
    event = messages.LogRecord.FromString(records[1]).event
    fields = [
        messages.Event(service_time_us=event.service_time_us).SerializeToString(),
        messages.Event(job_id=event.job_id).SerializeToString(),
        messages.Event(kind=event.kind, time_us=event.time_us).SerializeToString(),
        b"\x78\x05",  # field 15, a varint
    ]
    data = b"".join(fields)
    records[1] = b"\x12" + _VarintBytes(len(data)) + data
    assert_same(parse_log(join(records)), log)


def split(content):
    """The records of a log, by a reader of its own."""
    records, place = [], 0
    while place < len(content):
        size, shift = 0, 0
        while True:
            byte = content[place]
            size |= (byte & 0x7F) << shift
            place, shift = place + 1, shift + 7
            if byte < 0x80:
                break
        records.append(content[place : place + size])
        place += size
    return records


def join(records):
    """A log whose checksum is right, whatever its records are."""
    content = b"".join(_VarintBytes(len(record)) + record for record in records)
    return content[:-4] + zlib.crc32(content[:-4]).to_bytes(4, "little")


# --- damage -----------------------------------------------------------------------------------


def refused(content):
    with pytest.raises(InvalidInput) as caught:
        parse_log(content, "run.log")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("run.log: ")
    return str(caught.value)


def test_every_truncation_is_refused():
    content = log_bytes(new_log(num_jobs=3))
    for size in range(len(content)):
        assert "is cut off" in refused(content[:size])


@pytest.mark.parametrize("options", [{"num_jobs": 0}, {"num_jobs": 5}, {"horizon_us": 7}])
def test_every_flipped_bit_is_noticed(options):
    small = log_bytes(new_log(**{"num_jobs": 5} | options))
    for place in range(8 * len(small)):
        flipped = bytearray(small)
        flipped[place // 8] ^= 1 << place % 8
        refused(bytes(flipped))


def test_logs_of_the_first_version_have_no_checksum(log, content):
    first, *events, last = split(content)

    def changed(version, with_checksum):
        header, end = messages.LogRecord.FromString(first), messages.LogRecord.FromString(last)
        header.header.format_version = version
        if not with_checksum:
            end.end.ClearField("checksum")
        records = [header.SerializeToString(), *events, end.SerializeToString()]
        return b"".join(_VarintBytes(len(record)) + record for record in records)

    assert changed(2, True) == content
    assert_same(parse_log(changed(1, False)), log)
    assert "checksum" in refused(changed(1, True))
    assert "checksum" in refused(changed(2, False))


@given(st.data())
def test_no_damaged_byte_crashes_the_reader(data):
    """A log with some bytes changed is refused in one line, or is another log."""
    damaged = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(SMALL) - 1))] = data.draw(st.integers(0, 255))
    (line,) = complaint(bytes(damaged)).splitlines()
    assert line.startswith("run.log: ")


def complaint(content):
    try:
        return f"run.log: {len(parse_log(content, 'run.log'))} events"
    except InvalidInput as error:
        return str(error)


SMALL = log_bytes(new_log(num_jobs=5))


def test_oversized_records_are_refused_before_they_are_read(content):
    head = content[: len(content) - len(split(content)[-1]) - 1]
    message = refused(head + _VarintBytes(2**40))
    assert f"must have at most {MAX_RECORD_BYTES} bytes, says {2**40}" in message
    assert "has no valid length" in refused(head + b"\xff" * 12)


def event(**fields):
    return messages.LogRecord(event=messages.Event(**fields)).SerializeToString()


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (b"\xff\xff\xff", "is not a LogRecord message"),
        (b"", "must be an event or the end"),
        (event(kind=0, job_id=1), "must have a known kind of event, got 0"),
        (event(kind=99, job_id=1, worker=1), "must have a known kind of event, got 99"),
        (event(kind=3, worker=1), "must have the fields of STARTED: job_id, worker"),
        (event(kind=1, job_id=4), "fields of ARRIVED: job_id, service_time_us"),
        (event(kind=7, worker=1, job_id=2), "must have the fields of WORKER_LOST: worker"),
        (event(kind=3, job_id=1, worker=2**31), "must name a worker"),
        (b"\x12\x0a\x08\x03\x18\x01\x20\xff\xff\xff\xff\x7f", "must name a worker"),
        (event(kind=3, job_id=1, worker=2), "must have a worker from 0 to 1, got 2"),
        (event(kind=3, job_id=1, worker=1, time_us=-1), "must have a time_us from 0 to the end"),
        (event(kind=3, job_id=1, worker=1, time_us=10**9), "must have a time_us from 0"),
        (event(kind=1, job_id=1, service_time_us=-5), "must have a service_time_us at least 0"),
    ],
)
def test_malformed_events_are_refused(content, record, problem):
    records = split(content)
    records[3] = record
    assert problem in refused(join(records))


def test_malformed_ends_are_refused(content):
    records = split(content)
    assert "must count" in refused(join(records[:5] + records[6:]))
    assert "bytes follow the end" in refused(content + b"\x00")
    assert "is cut off: the log has no end" in refused(content[: -len(records[-1]) - 1])
    assert "checksum" in refused(content[:-1] + bytes([content[-1] ^ 255]))


def header(**changes):
    fields = {"format_version": 2, "source": "live", "cores": [1]} | changes
    return messages.LogRecord(header=messages.LogHeader(**fields)).SerializeToString()


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (event(kind=3, job_id=1, worker=1), "must be a header"),
        (header(format_version=0), "must have a format_version of (1, 2)"),
        (header(format_version=3), "must have a format_version of (1, 2)"),
        (header(source="elsewhere"), "must have a source of"),
        (header(cores=[]), "is not a valid header: cores must be at least 1"),
        (header(cores=[0]), "is not a valid header: cores[0] must be"),
        (header(capacity=0), "is not a valid header: capacity must be"),
        (header(refresh_interval_us=-1), "is not a valid header: refresh_interval_us must be"),
    ],
)
def test_malformed_headers_are_refused(content, record, problem):
    assert problem in refused(join([record, *split(content)[1:]]))


def test_what_is_no_log_is_refused():
    assert "is cut off" in refused(b"")
    assert "record 0 at byte 0" in refused(b"job_id,arrival_time_us,service_time_us\n" * 9)


# --- the .proto -------------------------------------------------------------------------------


def test_generated_code_is_that_of_the_proto(tmp_path):
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(ROOT)]
    command += [f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    subprocess.run([*command, str(ROOT / PACKAGE / "messages.proto")], check=True)
    for name in ("messages_pb2.py", "messages_pb2.pyi"):
        made = (tmp_path / PACKAGE / name).read_text(encoding="utf-8")
        assert made == (ROOT / PACKAGE / name).read_text(encoding="utf-8")


def test_kinds_are_numbered_as_in_the_proto():
    ours = {kind.name: int(kind) for kind in EventKind}
    assert ours | {"EVENT_KIND_UNSPECIFIED": 0} == dict(messages.EventKind.items())


def test_the_records_of_a_live_cluster_are_the_same_messages(log, content):
    rows = zip(*log.events, strict=True)
    assert b"".join(delimited(record_of(row)) for row in rows) in content
