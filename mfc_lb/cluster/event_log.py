"""Logs as files: length-delimited protobuf messages, the same bytes for the same run anywhere."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from mfc_lb.cluster import messages_pb2 as messages
from mfc_lb.cluster.event_coding import decode_events, encode_events
from mfc_lb.cluster.events import ABSENT, EventKind, EventLog, Events, LogHeader
from mfc_lb.cluster.parameters import ClusterParameters
from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import as_path, write_whole

#: What a header says of the form of the log: of those that are read, the last is written.
FORMAT_VERSIONS = (1, 2)
#: The first with a checksum.
WITH_CHECKSUM = 2
#: Bytes of the checksum, with which a log ends.
CHECKSUM_BYTES = 4
#: Longest record that is read; a header names the cores of every worker.
MAX_RECORD_BYTES = 2**24
#: Where logs come from.
SOURCES = ("simulation", "live")


def delimited(record: messages.LogRecord) -> bytes:
    """Return a record after its length as a varint."""
    content = record.SerializeToString(deterministic=True)
    return _varint(len(content)) + content


def log_bytes(log: EventLog) -> bytes:
    """Return a log as the bytes of its file."""
    require(isinstance(log, EventLog), "log", log, "an EventLog")
    header = messages.LogRecord(header=header_message(log.header))
    content = delimited(header) + encode_events(log.events)
    return content + delimited(end_record(log.end_us, len(log), zlib.crc32(content)))


def end_record(time_us: int, num_events: int, checksum: int) -> messages.LogRecord:
    """Return the end of a log, given the CRC-32 of all bytes before it."""
    end = messages.LogEnd(time_us=time_us, num_events=num_events, checksum=0)
    record = messages.LogRecord(end=end)
    record.end.checksum = zlib.crc32(delimited(record)[:-CHECKSUM_BYTES], checksum)
    return record


def write_log(log: EventLog, path: str | Path) -> None:
    """Write a log to a file, which appears whole or not at all.

    Parameters
    ----------
    log : EventLog
        Of a simulation or of a live cluster.
    path : str or Path
        Where to.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    write_whole(as_path("path", path), log_bytes(log))


def read_log(path: str | Path) -> EventLog:
    """Read the log of a simulation or of a live cluster.

    Parameters
    ----------
    path : str or Path
        Of a file that `write_log` or a balancer wrote.

    Returns
    -------
    EventLog
        The log.

    Raises
    ------
    InvalidInput
        If the file is no complete log; the message says which record is wrong, and where.
    OSError
        If the file cannot be read.
    """
    return parse_log(as_path("path", path).read_bytes(), str(path))


def parse_log(content: bytes, name: str = "log") -> EventLog:
    """Return the log that some bytes hold, see `read_log`.

    Parameters
    ----------
    content : bytes
        Of the file.
    name : str
        How messages call it.
    """
    require(isinstance(content, bytes), "content", content, "the bytes of a log")
    return _Reader(content, name).read()


def header_message(header: LogHeader) -> messages.LogHeader:
    """Return the protobuf message of a header."""
    cluster = header.cluster
    return messages.LogHeader(
        format_version=FORMAT_VERSIONS[-1],
        source=header.source,
        balancer=header.balancer,
        seed=header.seed,
        cores=cluster.cores,
        capacity=cluster.capacity,
        refresh_interval_us=cluster.refresh_interval_us,
        horizon_us=header.horizon_us,
    )


class _Reader:
    """Goes through the records of a log; knows where it is, for messages."""

    def __init__(self, content: bytes, name: str) -> None:
        self.content = content
        self.data: NDArray[np.uint8] = np.frombuffer(content, dtype=np.uint8)
        self.name = name
        self.offset = self.record = self.version = 0

    def read(self) -> EventLog:
        header = self._read_header()
        runs = list(self._read_events())
        events = Events._make(np.concatenate(column) for column in zip(*runs, strict=True))
        end = self._read_end(len(events.kind))
        _check_events(events, header, end.time_us, self.name)
        self._check_sum(end)
        return EventLog(header, events, end.time_us)

    def _read_header(self) -> LogHeader:
        record, size = self._peek()
        self._require(record.WhichOneof("record") == "header", "must be a header")
        self.version = record.header.format_version
        known = self.version in FORMAT_VERSIONS
        self._require(known, f"must have a format_version of {FORMAT_VERSIONS}")
        self._require(record.header.source in SOURCES, f"must have a source of {SOURCES}")
        try:
            header = _header(record.header)
        except InvalidInput as error:
            raise self._mistake(f"is not a valid header: {error}") from None
        self._advance(size)
        return header

    def _read_events(self) -> Iterator[Events]:
        """Yield events in runs: the usual form fast, any other form by the library."""
        while True:
            events, offset = decode_events(self.data, self.offset)
            self.record += len(events.kind)
            self.offset = offset
            yield events
            record, size = self._peek()
            if record.WhichOneof("record") == "end":
                return
            self._require(record.WhichOneof("record") == "event", "must be an event or the end")
            yield self._event(record.event)
            self._advance(size)

    def _event(self, event: messages.Event) -> Events:
        number = int(event.kind)
        self._require(number in set(EventKind), f"must have a known kind of event, got {number}")
        kind = EventKind(number)
        wanted = (kind.has_job, kind.has_worker, kind == EventKind.ARRIVED)
        names = ("job_id", "worker", "service_time_us")
        present = tuple(event.HasField(name) for name in names)
        fields = ", ".join(name for name, has in zip(names, wanted, strict=True) if has)
        self._require(present == wanted, f"must have the fields of {kind.name}: {fields}")
        worker = event.worker if kind.has_worker else ABSENT
        service = event.service_time_us if kind == EventKind.ARRIVED else ABSENT
        self._require(worker < 2**31, f"must name a worker, got {worker}")
        values = (int(kind), event.time_us, event.job_id, worker, service)
        kinds = (np.uint8, np.int64, np.int64, np.int32, np.int64)
        return Events._make(np.array([v], dtype=k) for v, k in zip(values, kinds, strict=True))

    def _read_end(self, num_events: int) -> messages.LogEnd:
        record, size = self._peek()
        counted = record.end.num_events
        self._require(counted == num_events, f"must count {num_events} events, got {counted}")
        self._advance(size)
        rest = len(self.content) - self.offset
        self._require(rest == 0, f"must not be there: {rest} bytes follow the end")
        return record.end

    def _check_sum(self, end: messages.LogEnd) -> None:
        found = zlib.crc32(memoryview(self.content)[:-CHECKSUM_BYTES])
        expected = found if self.version >= WITH_CHECKSUM else None
        told = end.checksum if end.HasField("checksum") else None
        if told != expected:
            problem = "its bytes have another checksum than its end tells"
            raise InvalidInput(f"{self.name}: {problem}: something in it was changed")

    def _peek(self) -> tuple[messages.LogRecord, int]:
        """Return the next record and the bytes it takes with its length."""
        size, start = self._length()
        fits = size <= MAX_RECORD_BYTES
        self._require(fits, f"must have at most {MAX_RECORD_BYTES} bytes, says {size}")
        content = self.content[start : start + size]
        self._require(len(content) == size, f"is cut off: {len(content)} of {size} bytes are there")
        record = messages.LogRecord()
        try:
            record.ParseFromString(content)
        except DecodeError:
            raise self._mistake("is not a LogRecord message") from None
        return record, start + size - self.offset

    def _length(self) -> tuple[int, int]:
        size = 0
        for place in range(self.offset, min(self.offset + 10, len(self.content))):
            byte = self.content[place]
            size |= (byte & 0x7F) << 7 * (place - self.offset)
            if byte < 0x80:
                return size, place + 1
        at_end = self.offset + 10 > len(self.content)
        raise self._mistake("is cut off: the log has no end" if at_end else "has no valid length")

    def _advance(self, size: int) -> None:
        self.offset += size
        self.record += 1

    def _require(self, condition: bool, problem: str) -> None:
        if not condition:
            raise self._mistake(problem)

    def _mistake(self, problem: str) -> InvalidInput:
        return InvalidInput(f"{self.name}: record {self.record} at byte {self.offset} {problem}")


def _header(message: messages.LogHeader) -> LogHeader:
    capacity = message.capacity if message.HasField("capacity") else None
    cluster = ClusterParameters(tuple(message.cores), capacity, message.refresh_interval_us)
    horizon = message.horizon_us if message.HasField("horizon_us") else None
    return LogHeader(message.source, message.balancer, message.seed, cluster, horizon)


def _check_events(events: Events, header: LogHeader, end_us: int, name: str) -> None:
    """Refuse numbers that cannot be: what an index or an integral would trip over."""
    of_jobs = events.kind == EventKind.ARRIVED
    wrong = (events.time_us < 0) | (events.time_us > end_us)
    _refuse(wrong, name, "time_us", events.time_us, f"from 0 to the end, {end_us}")
    wrong = of_jobs & (events.service_time_us < 0)
    _refuse(wrong, name, "service_time_us", events.service_time_us, "at least 0")
    last = header.cluster.num_workers - 1
    wrong = ~of_jobs & ((events.worker < 0) | (events.worker > last))
    _refuse(wrong, name, "worker", events.worker, f"from 0 to {last}")


def _refuse(
    wrong: NDArray[np.bool_], name: str, field: str, values: NDArray[Any], allowed: str
) -> None:
    if wrong.any():
        event = int(wrong.argmax())
        raise InvalidInput(
            f"{name}: event {event} must have a {field} {allowed}, got {values[event]}"
        )


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])
