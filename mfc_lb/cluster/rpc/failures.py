"""What the end of a call means, in one line."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from google.protobuf.message import DecodeError
from grpc import StatusCode
from grpc.aio import AioRpcError

from mfc_lb.cluster.rpc import service_pb2 as service
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.security import MAX_MESSAGE_BYTES, Address

#: Codes of a connection that broke; a write that failed has made any other status INTERNAL.
_GONE = frozenset({StatusCode.UNAVAILABLE, StatusCode.CANCELLED, StatusCode.INTERNAL})


async def while_heard(writing: Coroutine[Any, Any, None]) -> None:
    """Write until the call ends; who reads will know why it ended."""
    with suppress(AioRpcError, asyncio.InvalidStateError):
        await writing


def require_no_failure(message: service.LogRecords | service.Order | None) -> None:
    """Raise the failure that the balancer tells, if it does; None stands for what is no message."""
    if message is None:
        raise DecodeError
    if message.failure:
        raise ClusterFailure(" ".join(message.failure.split()))


@contextmanager
def calling(address: Address) -> Iterator[None]:
    """Say what the end of a call to the balancer at an address means."""
    try:
        yield
    except AioRpcError as error:
        raise _failure_of(error, address) from None
    except DecodeError:
        raise _stranger(address) from None


def _failure_of(error: AioRpcError, address: Address) -> ClusterFailure:
    code, details = error.code(), " ".join((error.details() or "").split())
    if code == StatusCode.RESOURCE_EXHAUSTED:
        return ClusterFailure(f"a message was longer than {MAX_MESSAGE_BYTES} bytes")
    if code == StatusCode.UNIMPLEMENTED:
        return _stranger(address)
    if code in _GONE:
        return ClusterFailure(f"the balancer at {address} is gone")
    return ClusterFailure(f"the balancer at {address} failed ({code.name}: {details})")


def _stranger(address: Address) -> ClusterFailure:
    return ClusterFailure(f"what answers at {address} is no balancer of this version")
