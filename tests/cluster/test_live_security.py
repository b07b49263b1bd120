"""Where a live cluster listens, and whom it trusts: loopback, certificates, addresses."""

import asyncio
import shutil
import socket
import ssl
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mfc_lb.cluster import LeastLoaded, Trace
from mfc_lb.cluster.rpc.balancer import BalancerSettings, serve_balancer
from mfc_lb.cluster.rpc.client import replay
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.cluster.rpc.security import Address, Security
from mfc_lb.cluster.rpc.worker import serve_worker
from mfc_lb.errors import InvalidInput
from tests.cluster.live import PLAIN, balancer, run, task, worker


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_beyond_loopback_only_with_certificates_or_on_request(host):
    async def listen(security: Security):
        return security.listen(Address(host, 0))[1]

    with pytest.raises(InvalidInput, match="listen must be on loopback"):
        run(listen(PLAIN))
    with pytest.raises(InvalidInput, match="address must be on loopback"):
        PLAIN.channel(Address(host, 1))
    if host == "0.0.0.0":
        assert run(listen(Security(insecure=True))).port > 0


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:

        async def listen():
            PLAIN.listen(Address("127.0.0.1", taken.getsockname()[1]))

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


NOW, PAST, FUTURE = (
    ("20200101000000Z", "20980101000000Z"),
    *((f"{year}0101000000Z", f"{year}0102000000Z") for year in (2020, 2097)),
)
AUTHORITY = """
[ca]
default_ca = ours
[ours]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
unique_subject = no
policy = any
[any]
commonName = supplied
"""


class Authority:
    """Signs certificates, in a folder."""

    def __init__(self, folder) -> None:
        self.folder = folder
        (folder / "ca.cnf").write_text(AUTHORITY)
        (folder / "index.txt").write_text("")
        (folder / "serial").write_text("01\n")
        self.openssl("req", "-x509", *self.new_key("ca"), "-out", "ca.pem")

    def openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def new_key(self, name: str) -> list[str]:
        words = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout"
        return [*words.split(), f"{name}.key", "-subj", f"/CN={name}"]

    def sign(self, name: str, host: str = "IP:127.0.0.1", valid: tuple[str, str] = NOW) -> Security:
        """Return a certificate for a host, valid from one day to another."""
        (self.folder / "san.cnf").write_text(f"subjectAltName={host}\n")
        self.openssl("req", *self.new_key(name), "-out", f"{name}.csr")
        words = "ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key"
        words += f" -extfile san.cnf -in {name}.csr -out {name}.pem"
        self.openssl(*words.split(), "-startdate", valid[0], "-enddate", valid[1])
        names = (f"{name}.pem", f"{name}.key", "ca.pem")
        return Security(*(self.folder / name for name in names))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Certificates of two authorities, and none."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    ours, theirs = (Authority(tmp_path_factory.mktemp(name)) for name in ("ours", "theirs"))
    found = {
        "none": PLAIN,
        "ours": ours.sign("ours"),
        "theirs": theirs.sign("theirs"),
        "elsewhere": ours.sign("elsewhere", host="DNS:example.org"),
        "old": ours.sign("old", valid=PAST),
        "young": ours.sign("young", valid=FUTURE),
    }
    # They trust our authority, but theirs did not sign for us.
    found["intruder"] = replace(found["theirs"], tls_ca=found["ours"].tls_ca)
    return found


def test_mutual_tls(certificates):
    ours = certificates["ours"]

    async def session():
        async with balancer(ours, num_workers=1) as address, worker(address, 1, ours):
            return await replay(Trace.from_arrays([0], [0]), address, ours)

    assert len(run(session()).log) == 4


@pytest.mark.parametrize(
    ("theirs", "mine", "told"),
    [
        ("ours", "none", "it speaks TLS only, and we have no certificate"),
        ("none", "ours", "it does not speak TLS"),
        ("ours", "theirs", "its certificate is not signed by our authority"),
        ("elsewhere", "ours", "its certificate is for another name"),
        ("ours", "intruder", "it does not accept our certificate"),
    ],
)
def test_certificates_on_which_two_sides_do_not_agree(certificates, theirs, mine, told):
    """Both who send jobs and who serve them are told, long before their patience ends."""

    async def session():
        async with balancer(certificates[theirs], num_workers=1) as address:
            stranger = certificates[mine]
            with pytest.raises(ClusterFailure) as of_client:
                await replay(Trace.from_arrays([0], [0]), address, stranger, patience=1000)
            with pytest.raises(ClusterFailure) as of_worker:
                await serve_worker(address, stranger, 1, patience=1000)
            return address, str(of_client.value), str(of_worker.value)

    address, *found = run(session())
    line = f"no connection to the balancer at {address}: {told}"
    assert [message.partition(" (tls_")[0] for message in found] == [line, line]


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("old", "certificate has expired", "its certificate, or its authority's, has expired"),
        ("young", "certificate is not yet valid", "its certificate is not valid yet"),
    ],
)
def test_certificates_at_the_wrong_time(certificates, name, ours, theirs):
    """Ours is refused when it is read; the balancer's may have expired since it was."""
    wrong = certificates[name]
    for use in (wrong.listen, wrong.channel):
        with pytest.raises(InvalidInput, match=rf"tls_cert must be valid now, got .*\({ours}\)"):
            run(using(use))

    async def session():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(wrong.tls_cert, wrong.tls_key)
        async with await asyncio.start_server(print, "127.0.0.1", ssl=context) as server:
            address = Address(*server.sockets[0].getsockname())
            with pytest.raises(ClusterFailure, match=f": {theirs}$"):
                await serve_worker(address, certificates["ours"], 1, patience=1000)

    run(session())


def test_a_worker_may_come_before_its_balancer(certificates):
    """Nobody answers at first: that says nothing of certificates."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("127.0.0.1", taken.getsockname()[1])

    async def session(security):
        early = asyncio.create_task(serve_worker(address, security, 1, tell=told.append))
        await asyncio.sleep(0.2)
        settings = BalancerSettings(LeastLoaded(), num_workers=1)
        async with task(serve_balancer(settings, address, security, lambda _: None)):
            while not told and not early.done():
                await asyncio.sleep(0.01)
        await asyncio.gather(early, return_exceptions=True)

    told = []
    run(session(certificates["ours"]))
    assert told == [0]


def test_certificates_are_named_by_paths():
    assert Security("a", "b", "c") == Security(Path("a"), Path("b"), Path("c"))
    with pytest.raises(InvalidInput, match="tls_key must be the path of a file, got ''"):
        Security("a", "", "c")


def test_certificates_that_are_incomplete():
    with pytest.raises(InvalidInput, match="tls_cert must come with a key and an authority"):
        Security(tls_cert=Path("ours.pem"))


FIELDS = ("tls_cert", "tls_key", "tls_ca")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "content", [b"", b"nothing", b"-----BEGIN CERTIFICATE-----\nnothing\n", None]
)
def test_files_that_are_no_certificates(tmp_path, certificates, field, content):
    path = tmp_path / "some.pem"
    if content is not None:
        path.write_bytes(content)
    wrong = replace(certificates["ours"], **{field: path})
    allowed = "a readable file" if content is None else "a PEM file of "
    told = f"{field} must be {allowed}"
    for use in (wrong.listen, wrong.channel):
        with pytest.raises(InvalidInput, match=told):
            run(using(use))


def test_keys_that_do_not_fit(certificates):
    ours, theirs = certificates["ours"], certificates["theirs"]
    path = ours.tls_key.with_name("locked.key")
    words = ["openssl", "ec", "-aes128", "-passout", "pass:secret", "-out", str(path)]
    subprocess.run([*words, "-in", str(ours.tls_key)], check=True, capture_output=True)
    for key, told in (
        (theirs.tls_key, "the key of tls_cert"),
        (ours.tls_cert, "a PEM file of a key without a password"),
        (path, "a PEM file of a key without a password"),
    ):
        wrong = replace(ours, tls_key=key)
        for use in (wrong.listen, wrong.channel):
            with pytest.raises(InvalidInput, match=f"tls_key must be {told}, got '{key}'"):
                run(using(use))


async def using(use):
    return use(Address("127.0.0.1", 1))


@pytest.mark.parametrize("seconds", [0, 0.09, 3601, float("nan"), "1", None, True])
def test_keepalive_has_limits(seconds):
    with pytest.raises(InvalidInput, match=r"keepalive must be a number from 0.1 to 3600, got"):
        Security(keepalive=seconds)
