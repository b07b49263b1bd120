"""Where a live cluster listens, and whom it trusts: loopback, certificates, addresses."""

import shutil
import socket
import subprocess

import pytest

from mfc_lb.cluster import Trace
from mfc_lb.cluster.rpc.client import replay
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.security import Address, Security, new_server
from mfc_lb.errors import InvalidInput
from tests.cluster.live import PLAIN, balancer, run, worker


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_beyond_loopback_only_with_certificates_or_on_request(host):
    async def listen(security: Security):
        return security.listen(new_server(), Address(host, 0))

    with pytest.raises(InvalidInput, match="listen must be on loopback"):
        run(listen(PLAIN))
    with pytest.raises(InvalidInput, match="address must be on loopback"):
        PLAIN.channel(Address(host, 1))
    if host == "0.0.0.0":
        assert run(listen(Security(insecure=True))).port > 0


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:

        async def listen():
            PLAIN.listen(new_server(), Address("127.0.0.1", taken.getsockname()[1]))

        with pytest.raises(ClusterFailure, match=r"one cannot listen at 127.0.0.1:"):
            run(listen())


@pytest.mark.parametrize("text", ["", "host", ":1", "host:", "host:70000", "host:-1", "host:²"])
def test_addresses_that_are_none(text):
    with pytest.raises(InvalidInput, match="listen must be HOST:PORT"):
        Address.parse("listen", text)


def test_addresses():
    assert str(Address.parse("listen", "[::1]:80")) == "[::1]:80"
    local = ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.8.8.8:1"]
    assert all(Address.parse("listen", text).is_loopback for text in local)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Certificates for 127.0.0.1 from two authorities."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    return {name: make_certificate(folder, name) for name in ("ours", "theirs")}


def make_certificate(folder, name: str) -> Security:
    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    (folder / "san.cnf").write_text("subjectAltName=IP:127.0.0.1\n")
    ca, cert = f"{name}-ca", f"{name}-cert"
    openssl("req", "-x509", *key, "-keyout", f"{ca}.key", "-out", f"{ca}.pem", "-subj", f"/CN={ca}")
    openssl("req", *key, "-keyout", f"{cert}.key", "-out", f"{cert}.csr", "-subj", f"/CN={cert}")
    signer = ("-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial", "-extfile", "san.cnf")
    openssl("x509", "-req", "-in", f"{cert}.csr", *signer, "-out", f"{cert}.pem")
    return Security(folder / f"{cert}.pem", folder / f"{cert}.key", folder / f"{ca}.pem")


def test_mutual_tls(certificates):
    ours, theirs = certificates["ours"], certificates["theirs"]
    # They trust our authority, but theirs did not sign for us.
    intruder = Security(theirs.tls_cert, theirs.tls_key, ours.tls_ca)

    async def session():
        async with balancer(ours, num_workers=1) as address, worker(address, 1, ours):
            trace = Trace.from_arrays([0], [0])
            for stranger in (PLAIN, theirs, intruder):
                with pytest.raises(ClusterFailure, match=r"no balancer answers|is gone"):
                    await replay(trace, address, stranger, patience=0.5)
            return await replay(trace, address, ours)

    assert len(run(session()).log) == 4


def test_certificates_that_are_incomplete_or_none(tmp_path, certificates):
    ours = certificates["ours"]
    with pytest.raises(InvalidInput, match="tls_cert must come with a key and an authority"):
        Security(tls_cert=ours.tls_cert)
    missing = Security(ours.tls_cert, ours.tls_key, tmp_path / "missing.pem")
    with pytest.raises(InvalidInput, match="tls_ca must be a readable file"):
        missing.channel(Address("127.0.0.1", 1))
    (tmp_path / "none.pem").write_text("nothing")
    wrong = Security(ours.tls_cert, tmp_path / "none.pem", ours.tls_ca)
    with pytest.raises(InvalidInput, match="tls_key must be a PEM file"):
        wrong.channel(Address("127.0.0.1", 1))
