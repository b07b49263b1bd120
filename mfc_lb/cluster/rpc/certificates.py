"""What is wrong with certificates: with our files, and with what the two sides think of each other.

gRPC tells neither apart. So Python's library is asked: of files before they are used, of a
connection after it was refused.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mfc_lb.errors import InvalidInput

#: OpenSSL's codes of verification.
_NOT_YET, _EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 9, 10, 62, 64
#: Why a balancer's certificate is refused.
_REASONS = {
    _NOT_YET: "its certificate is not valid yet",
    _EXPIRED: "its certificate, or its authority's, has expired",
    _OTHER_NAME: "its certificate is for another name",
    _OTHER_ADDRESS: "its certificate is for another name",
}
_STRANGER = "its certificate is not signed by our authority (tls_ca)"
_NOT_ACCEPTED = "it does not accept our certificate (tls_cert): has its authority signed it?"
#: Seconds for a connection that is made in order to find out why there is none.
_PATIENCE = 5.0


def tls_context(certificate: Path, key: Path, authority: Path) -> ssl.SSLContext:
    """Return what a client needs for TLS, from PEM files.

    Raises
    ------
    InvalidInput
        If a file cannot be read or is something else, the key is not the certificate's, or the
        certificate is not valid now.
    """
    context = _new_context()
    _load("tls_ca", authority, context.load_verify_locations)
    _load("tls_cert", certificate, _new_context().load_verify_locations)

    def load_key(path: Path) -> None:
        # The password: without it, somebody would be asked for it.
        context.load_cert_chain(certificate, path, password="")

    _load("tls_key", key, load_key)
    _check_time(certificate, key)
    return context


async def why_refused(context: ssl.SSLContext | None, host: str, port: int) -> str | None:
    """Return why a balancer and we do not agree on TLS; None if nobody is there, or we do.

    Parameters
    ----------
    context : SSLContext or None
        Ours; None if we do without TLS.
    host, port
        Of the balancer.
    """
    try:
        answer = _answer(context or _trusting_context(), host, port)
        accepted = bool(await asyncio.wait_for(answer, _PATIENCE))
    except ssl.SSLCertVerificationError as error:
        return _REASONS.get(error.verify_code, _STRANGER)
    except ssl.SSLEOFError:
        return None
    except ssl.SSLError:
        return "it does not speak TLS" if context else None
    except (OSError, TimeoutError):
        return None
    if context is None:
        return "it speaks TLS only, and we have no certificate"
    return None if accepted else _NOT_ACCEPTED


async def _answer(context: ssl.SSLContext, host: str, port: int) -> bytes:
    """Return the first byte of a server, none if it ends the connection after the handshake."""
    reader, writer = await asyncio.open_connection(host, port, ssl=context)
    try:
        return await reader.read(1)
    finally:
        writer.close()


def _check_time(certificate: Path, key: Path) -> None:
    """Refuse a certificate that is not valid now: show it to ourselves, trusting it as it is."""
    ours, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), _new_context()
    ours.load_cert_chain(certificate, key)
    theirs.load_verify_locations(certificate)
    theirs.check_hostname = False
    theirs.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = theirs.wrap_bio(back, there), ours.wrap_bio(there, back, server_side=True)
    try:
        for side in (client, server, client):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in {_NOT_YET, _EXPIRED}:
            told = f"tls_cert must be valid now, got {str(certificate)!r}"
            raise InvalidInput(f"{told} ({error.verify_message})") from None


def _new_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])  # as gRPC does
    return context


def _trusting_context() -> ssl.SSLContext:
    """Return what accepts any certificate, in order to see whether there is one."""
    context = _new_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _load(field: str, path: Path, load: Callable[[Path], object]) -> None:
    try:
        path.read_bytes()
        load(path)
    except ssl.SSLError as error:
        mismatch = "MISMATCH" in (error.reason or "")
        key = "the key of tls_cert" if mismatch else "a PEM file of a key without a password"
        allowed = key if field == "tls_key" else "a PEM file of certificates"
        raise InvalidInput(f"{field} must be {allowed}, got {str(path)!r}") from None
    except OSError as error:
        readable = f"{field} must be a readable file, got {str(path)!r}"
        raise InvalidInput(f"{readable} ({error.strerror})") from None
