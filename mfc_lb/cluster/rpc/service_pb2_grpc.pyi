# The types of the generated service_pb2_grpc.py, as far as they are used here; written by hand.
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio

from mfc_lb.cluster.rpc import service_pb2 as service

class BalancerStub:
    def __init__(self, channel: grpc.aio.Channel) -> None: ...
    def Replay(self) -> grpc.aio.StreamStreamCall[service.ClientMessage, service.LogRecords]: ...
    def Serve(self) -> grpc.aio.StreamStreamCall[service.WorkerMessage, service.Order]: ...

class BalancerServicer:
    async def Replay(
        self, request_iterator: AsyncIterator[service.ClientMessage], context: Any
    ) -> None: ...
    async def Serve(
        self, request_iterator: AsyncIterator[service.WorkerMessage], context: Any
    ) -> None: ...

def add_BalancerServicer_to_server(servicer: BalancerServicer, server: grpc.aio.Server) -> None: ...
