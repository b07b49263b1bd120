"""Events to and from the bytes of protobuf, compiled: a log of 10^6 jobs has 4·10^6 of them.

Written are exactly the bytes that the protobuf library writes (fields in the order of their
numbers, zero times left out). Read is that form only: `decode_events` stops at anything else, for
the library to judge.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.events import ABSENT, EventKind, Events
from mfc_lb.compiled import njit

#: Bound on the bytes of one event: two lengths, six tags, and varints.
MAX_EVENT_BYTES = 50
#: Events encoded at a time.
CHUNK = 2**16

_EVENT_TAG = 0x12
_KIND_TAG, _TIME_TAG, _JOB_TAG, _WORKER_TAG, _SERVICE_TAG = 0x08, 0x10, 0x18, 0x20, 0x28
_ARRIVED, _WORKER_LOST, _LAST = (
    int(EventKind.ARRIVED),
    int(EventKind.WORKER_LOST),
    int(max(EventKind)),
)
_SMALLEST_EVENT = 7
_MAX_WORKER = 2**31 - 1


def encode_events(events: Events) -> bytes:
    """Return events as length-delimited `LogRecord` messages."""
    chunks = []
    target = np.empty(CHUNK * MAX_EVENT_BYTES, dtype=np.uint8)
    for first in range(0, len(events.kind), CHUNK):
        size = _encode(target, *(column[first : first + CHUNK] for column in events))
        chunks.append(target[:size].tobytes())
    return b"".join(chunks)


def decode_events(data: NDArray[np.uint8], offset: int) -> tuple[Events, int]:
    """Return the events that follow in the usual form, and the offset of what comes after them.

    Parameters
    ----------
    data : ndarray of uint8
        The whole log.
    offset : int
        Where to begin.
    """
    most = (len(data) - offset) // _SMALLEST_EVENT + 1
    kinds = (np.uint8, np.int64, np.int64, np.int32, np.int64)
    columns = [np.empty(most, dtype=kind) for kind in kinds]
    count, offset = _decode(data, offset, *columns)
    return Events._make(column[:count].copy() for column in columns), int(offset)


@njit()
def _encode(target: Any, kinds: Any, times: Any, jobs: Any, workers: Any, services: Any) -> int:
    place = 0
    for row in range(kinds.size):
        body = place + 3
        end = _put(target, body, _KIND_TAG, kinds[row])
        if times[row] != 0:
            end = _put(target, end, _TIME_TAG, times[row])
        if kinds[row] < _WORKER_LOST:
            end = _put(target, end, _JOB_TAG, jobs[row])
        if kinds[row] != _ARRIVED:
            end = _put(target, end, _WORKER_TAG, workers[row])
        else:
            end = _put(target, end, _SERVICE_TAG, services[row])
        target[place] = end - body + 2
        target[place + 1] = _EVENT_TAG
        target[place + 2] = end - body
        place = end
    return place


@njit()
def _put(target: Any, place: int, tag: int, value: int) -> int:
    """Write a tag and a varint; return the place after them."""
    target[place] = tag
    place += 1
    rest = np.uint64(value)  # of a negative number, its complement, as protobuf does
    while rest >= np.uint64(0x80):
        target[place] = (rest & np.uint64(0x7F)) | np.uint64(0x80)
        rest >>= np.uint64(7)
        place += 1
    target[place] = rest
    return place + 1


@njit()
def _decode(
    data: Any, offset: int, kinds: Any, times: Any, jobs: Any, workers: Any, services: Any
) -> tuple[int, int]:
    count = 0
    while True:
        end = _end_of_event(data, offset)
        if end == 0:
            return count, offset
        place, kind = _get(data, offset + 3, end, _KIND_TAG)
        place, times[count] = _get_unless_zero(data, place, end, _TIME_TAG)
        jobs[count], worker, services[count] = 0, np.int64(ABSENT), ABSENT
        if kind < _WORKER_LOST:
            place, jobs[count] = _get(data, place, end, _JOB_TAG)
        if kind != _ARRIVED:
            place, worker = _get(data, place, end, _WORKER_TAG)
        else:
            place, services[count] = _get(data, place, end, _SERVICE_TAG)
        if place != end or not 1 <= kind <= _LAST or not ABSENT <= worker <= _MAX_WORKER:
            return count, offset
        kinds[count], workers[count] = kind, worker
        count, offset = count + 1, end


@njit()
def _end_of_event(data: Any, offset: int) -> Any:
    """Return where the event that begins here ends, 0 if none does."""
    if offset + _SMALLEST_EVENT > data.size or data[offset + 1] != _EVENT_TAG:
        return 0
    size = np.int64(data[offset])
    end = offset + 1 + size
    short = size < 0x80 and data[offset + 2] == size - 2
    return end if short and end <= data.size else 0


@njit()
def _get_unless_zero(data: Any, place: int, end: int, tag: int) -> tuple[int, Any]:
    """Return the place after a field and its value; both unchanged and 0 if it is left out."""
    if place < end and data[place] == tag:
        return _get(data, place, end, tag)
    return place, np.int64(0)


@njit()
def _get(data: Any, place: int, end: int, tag: int) -> tuple[int, Any]:
    """Return the place after a field and its value; a place beyond the end if it is not there."""
    beyond = end + 1
    if place >= end or data[place] != tag:
        return beyond, np.int64(0)
    value = np.uint64(0)
    for byte in range(min(10, end - place - 1)):
        part = np.uint64(data[place + 1 + byte])
        value |= (part & np.uint64(0x7F)) << np.uint64(7 * byte)
        if part < np.uint64(0x80):
            return place + 2 + byte, np.int64(value)
    return beyond, np.int64(0)
