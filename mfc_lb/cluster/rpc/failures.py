"""What the end of a call means, in one line."""

from grpc import StatusCode
from grpc.aio import AioRpcError

from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.security import MAX_MESSAGE_BYTES, Address

#: Codes with which a balancer explains itself.
_EXPLAINED = frozenset({StatusCode.FAILED_PRECONDITION, StatusCode.INVALID_ARGUMENT})


def failure_of(error: AioRpcError, address: Address) -> ClusterFailure:
    """Return the error of a call to the balancer at an address."""
    code, details = error.code(), " ".join((error.details() or "").split())
    if code in _EXPLAINED:
        return ClusterFailure(details)
    if code == StatusCode.RESOURCE_EXHAUSTED:
        return ClusterFailure(f"a message was longer than {MAX_MESSAGE_BYTES} bytes")
    if code in {StatusCode.UNAVAILABLE, StatusCode.CANCELLED}:
        return ClusterFailure(f"the balancer at {address} is gone")
    return ClusterFailure(f"the balancer at {address} failed ({code.name}: {details})")
