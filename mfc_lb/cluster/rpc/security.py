"""Where processes listen and whom they trust."""

import asyncio
import ipaddress
from dataclasses import dataclass
from pathlib import Path

import grpc

from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.errors import InvalidInput, require

#: Largest message that is accepted; `outbox.LARGEST_BATCH` items are far smaller.
MAX_MESSAGE_BYTES = 2**20

_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # A machine that vanishes closes no connection: ask it every ten seconds whether it is there.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.enable_http_proxy", 0),
    # Two balancers on one port would share the calls among them.
    ("grpc.so_reuseport", 0),
]


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
    """

    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_ca: Path | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        """Check that there are all certificates or none."""
        given = [path is not None for path in (self.tls_cert, self.tls_key, self.tls_ca)]
        if any(given) and not all(given):
            raise InvalidInput("tls_cert must come with a key and an authority, and they with it")

    @property
    def uses_tls(self) -> bool:
        """Whether there are certificates."""
        return self.tls_cert is not None

    def listen(self, server: grpc.aio.Server, address: Address) -> Address:
        """Let a server listen; return where it does.

        Raises
        ------
        InvalidInput
            If the address is not loopback and there are neither certificates nor `insecure`.
        ClusterFailure
            If one cannot listen there.
        """
        self._check_reach("listen", address)
        try:
            if self.uses_tls:
                port = server.add_secure_port(str(address), self._server_credentials())
            else:
                port = server.add_insecure_port(str(address))
        except RuntimeError:
            port = 0
        if port == 0:
            raise ClusterFailure(f"one cannot listen at {address}")
        return Address(address.host, port)

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
            return grpc.aio.secure_channel(str(address), credentials, options=_OPTIONS)
        return grpc.aio.insecure_channel(str(address), options=_OPTIONS)

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

    def _contents(self) -> list[bytes]:
        names = ("tls_key", "tls_cert", "tls_ca")
        return [_read_pem(name, getattr(self, name)) for name in names]


def new_server() -> grpc.aio.Server:
    """Return a server that listens nowhere yet."""
    return grpc.aio.server(options=_OPTIONS)


async def until_connected(channel: grpc.aio.Channel, address: Address, patience: float) -> None:
    """Wait for the balancer, so many seconds at most.

    Raises
    ------
    ClusterFailure
        If it does not answer.
    """
    try:
        await asyncio.wait_for(channel.channel_ready(), patience)
    except TimeoutError:
        problem = f"no balancer answers at {address} within {patience:g} s"
        raise ClusterFailure(f"{problem}, or it accepts no such connection") from None


def _read_pem(field: str, path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        readable = f"{field} must be a readable file, got {str(path)!r}"
        raise InvalidInput(f"{readable} ({error.strerror})") from None
    require(b"-----BEGIN " in content, field, str(path), "a PEM file")
    return content
