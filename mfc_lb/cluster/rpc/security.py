"""Where processes listen and whom they trust."""

import asyncio
import ipaddress
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc

from mfc_lb.cluster.rpc.certificates import tls_context, why_refused
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.tasks import side_by_side
from mfc_lb.errors import InvalidInput, check_number, require
from mfc_lb.files import as_path

#: Largest message that is accepted; `outbox.LARGEST_BATCH` items are far smaller.
MAX_MESSAGE_BYTES = 2**20

#: Seconds of `Security.keepalive`: the shortest and the longest.
KEEPALIVES = (0.1, 3600.0)


@dataclass(frozen=True)
class Address:
    """A host and a port.

    Parameters
    ----------
    host : str
        Name or address; an IPv6 address without brackets.
    port : int, 0 to 65535
        0, where one may listen, lets the system choose.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, field: str, text: str) -> "Address":
        """Return the address that is written as HOST:PORT.

        Raises
        ------
        InvalidInput
            If it is not; `field` is what the message calls it.
        """
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        fits = colon and host and port.isascii() and port.isdigit() and int(port) < 2**16
        require(bool(fits), field, text, "HOST:PORT, such as 127.0.0.1:50051")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can be meant."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    def __str__(self) -> str:
        """Return HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Security:
    """Certificates, or none.

    Parameters
    ----------
    tls_cert, tls_key, tls_ca : Path, optional
        PEM files: our certificate, its key, and the authority that must have signed the other
        side's certificate. All three or none.
    insecure : bool
        Go beyond this machine without certificates: everybody can read and take part.
    keepalive : float, 0.1 to 3600
        Seconds of silence after which the other side is asked whether it is there, and seconds that
        it has for the answer: then it counts as lost.
    """

    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_ca: Path | None = None
    insecure: bool = False
    keepalive: float = 10.0

    def __post_init__(self) -> None:
        """Check that there are all certificates or none, and the time."""
        shortest, longest = KEEPALIVES
        allowed = f"a number from {shortest:g} to {longest:g}"
        keepalive = check_number("keepalive", self.keepalive, allowed)
        require(shortest <= keepalive <= longest, "keepalive", self.keepalive, allowed)
        object.__setattr__(self, "keepalive", keepalive)
        files = {name: getattr(self, name) for name in ("tls_cert", "tls_key", "tls_ca")}
        given = {name: as_path(name, path) for name, path in files.items() if path is not None}
        for name, path in given.items():
            object.__setattr__(self, name, path)
        if given and given.keys() != files.keys():
            raise InvalidInput("tls_cert must come with a key and an authority, and they with it")

    @property
    def uses_tls(self) -> bool:
        """Whether there are certificates."""
        return self.tls_cert is not None

    @property
    def options(self) -> list[tuple[str, int]]:
        """What gRPC is told of every connection."""
        keepalive_ms = round(1000 * self.keepalive)
        return [
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            # A machine that vanishes and a process that is stopped close no connection.
            ("grpc.keepalive_time_ms", keepalive_ms),
            ("grpc.keepalive_timeout_ms", keepalive_ms),
            # Without it, the answer has a minute, whatever the line above says.
            ("grpc.http2.ping_timeout_ms", keepalive_ms),
            ("grpc.http2.max_pings_without_data", 0),
            # The other side may ask as often as it likes.
            ("grpc.http2.max_ping_strikes", 0),
            ("grpc.enable_http_proxy", 0),
            # Two balancers on one port would share the calls among them.
            ("grpc.so_reuseport", 0),
        ]

    def listen(self, address: Address) -> tuple[grpc.aio.Server, Address]:
        """Return a server that listens and is not started yet, and where it listens.

        Raises
        ------
        InvalidInput
            If the address is not loopback and there are neither certificates nor `insecure`, or the
            certificates are none.
        ClusterFailure
            If one cannot listen there.
        """
        self._check_reach("listen", address)
        server = grpc.aio.server(options=self.options)
        try:
            if self.uses_tls:
                port = server.add_secure_port(str(address), self._server_credentials())
            else:
                port = server.add_insecure_port(str(address))
        except RuntimeError:
            port = 0
        if port == 0:
            raise ClusterFailure(f"one cannot listen at {address}")
        return server, Address(address.host, port)

    def channel(self, address: Address) -> grpc.aio.Channel:
        """Return a channel to a balancer, not yet connected.

        Raises
        ------
        InvalidInput
            As for `listen`.
        """
        self._check_reach("address", address)
        if self.uses_tls:
            credentials = self._channel_credentials()
            return grpc.aio.secure_channel(str(address), credentials, options=self.options)
        return grpc.aio.insecure_channel(str(address), options=self.options)

    def _check_reach(self, field: str, address: Address) -> None:
        allowed = "on loopback, unless there are TLS certificates or insecure is set"
        safe = address.is_loopback or self.uses_tls or self.insecure
        require(safe, field, str(address), allowed)

    def _server_credentials(self) -> grpc.ServerCredentials:
        key, certificate, authority = self._contents()
        return grpc.ssl_server_credentials(
            [(key, certificate)], root_certificates=authority, require_client_auth=True
        )

    def _channel_credentials(self) -> grpc.ChannelCredentials:
        key, certificate, authority = self._contents()
        return grpc.ssl_channel_credentials(authority, key, certificate)

    def _contents(self) -> Iterator[bytes]:
        self._context()
        return (path.read_bytes() for path in (self.tls_key, self.tls_cert, self.tls_ca) if path)

    def _context(self) -> ssl.SSLContext | None:
        if self.tls_cert and self.tls_key and self.tls_ca:
            return tls_context(self.tls_cert, self.tls_key, self.tls_ca)
        return None

    async def until_connected(
        self, channel: grpc.aio.Channel, address: Address, patience: float
    ) -> None:
        """Wait for the balancer, so many seconds at most.

        Raises
        ------
        ClusterFailure
            If it does not answer, or the two sides do not agree on certificates.
        """
        ready = side_by_side(channel.channel_ready(), self._look_for_refusal(channel, address))
        try:
            await asyncio.wait_for(ready, patience)
        except TimeoutError:
            problem = f"no balancer answers at {address} within {patience:g} s"
            raise ClusterFailure(f"{problem}, or it accepts no such connection") from None

    async def _look_for_refusal(self, channel: grpc.aio.Channel, address: Address) -> None:
        """Whenever a connection fails, find out whether certificates are the reason."""
        context = self._context()
        while True:
            state = channel.get_state()
            if state == grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                why = await why_refused(context, address.host, address.port)
                if why is not None:
                    raise ClusterFailure(f"no connection to the balancer at {address}: {why}")
            await channel.wait_for_state_change(state)
