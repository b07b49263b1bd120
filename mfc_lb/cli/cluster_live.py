"""`mfc-lb cluster live | balancer | worker | client`: a cluster of real processes."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.cluster_files import files, try_files, write_files
from mfc_lb.cli.cluster_options import (
    BALANCER_WORDS,
    BALANCING,
    WORKERS,
    capacity,
    cluster_of,
    named_balancer,
    refresh,
    shape,
    which_balancer,
)
from mfc_lb.cli.mistakes import naming_options
from mfc_lb.cli.options import EFFORT, Command, combined, option, seed
from mfc_lb.cli.trace_file import FORMATS, read_given, which_trace
from mfc_lb.cli.values import Real, Whole

if TYPE_CHECKING:
    from mfc_lb.cluster import ClusterParameters, Trace
    from mfc_lb.cluster.rpc.loopback import LoopbackCluster
    from mfc_lb.cluster.rpc.outcome import LiveResult
    from mfc_lb.cluster.rpc.security import Address, Security

CONNECTION = "Connection"
ANY_USER = "every user of this machine"
#: Processes are many from here on; and the memory of each, in megabytes.
MANY_PROCESSES, MEGABYTES = 17, 60
_NAMES = {
    "num_workers": "--workers",
    "refresh_interval_us": "--refresh",
    "address": "the address of the balancer",
}

time_scale = option(
    "--time-scale",
    type=Real(),
    default="1",
    section=EFFORT,
    text="Real seconds for each second of the trace, 1e-6 to 1e6: 0.1 runs ten times as fast. "
    "Timers are about a millisecond late, whatever the scale.",
)
expected_load = option(
    "--expected-load",
    type=Real(),
    section=BALANCING,
    otherwise="the policy's first level",
    text="Work per core that is expected: a mean-field policy is told the arrival level that is "
    "nearest to it.",
)
patience = option(
    "--patience",
    type=Real(),
    default="30",
    section=CONNECTION,
    text="Seconds to wait for processes that are not there yet; > 0.",
)
security = combined(
    option(
        "--tls-cert",
        type=click.Path(path_type=Path),
        section=CONNECTION,
        metavar="FILE.pem",
        text="Our certificate. With it, both sides have to show one.",
    ),
    option(
        "--tls-key",
        type=click.Path(path_type=Path),
        section=CONNECTION,
        metavar="FILE.pem",
        text="The private key of our certificate.",
    ),
    option(
        "--tls-ca",
        type=click.Path(path_type=Path),
        section=CONNECTION,
        metavar="FILE.pem",
        text="Certificate of the authority that must have signed the other side's.",
    ),
    option(
        "--insecure",
        is_flag=True,
        show_default=False,
        section=CONNECTION,
        text="Go beyond this machine without certificates: everybody there can read and take part.",
    ),
    option(
        "--keepalive",
        type=Real(),
        default="10",
        section=CONNECTION,
        text="Seconds of silence after which the other side is asked whether it is there, and "
        "seconds for its answer, without which it counts as lost; 0.1 to 3600.",
    ),
    # For processes that another one starts.
    click.option("--end-with-input", is_flag=True, hidden=True, help="End when the input ends."),
)


@click.command(
    cls=Command,
    help=f"""Run a trace on a cluster of real processes on this machine.

Starts a balancer and workers as processes, sends them the jobs of TRACE at their times, and ends
them all. A worker holds one of its cores for the service time of a job, and does nothing else. If
a worker is killed, its unfinished jobs go to others. At the end, the replay checker goes through
the log, and a table says how fast the run was and how late its actions were.

{FORMATS}
{BALANCER_WORDS}""",
    epilog="\b\nExample:\n"
    "  mfc-lb cluster live my.csv --time-scale 0.1 --output jobs.csv --log run.log\n"
    "  mfc-lb cluster live my.csv --cores 1,64 --balancer jsq:2 --refresh 100ms",
)
@which_trace
@shape
@time_scale
@seed
@files
def live(**given: Any) -> None:
    """Run a trace on a cluster of real processes on this machine."""
    from mfc_lb.cluster.rpc.loopback import run_live

    trace, cluster = _read(given), cluster_of(given)
    _try_balancer(given, trace, cluster)
    _warn_of_many(cluster.num_workers + 1)
    with _progress(trace) as progress:
        done = run_live(
            trace,
            cluster,
            given["balancer"],
            seed=given["seed"],
            time_scale=given["time_scale"],
            tell=_tell_processes,
            progress=progress,
        )
    _finish(done, given)


@click.command(
    cls=Command,
    help=f"""Be the balancer of a cluster: workers and clients call it.

Prints its address when they may, and then who comes and who goes. A client's run begins when
--workers workers are there; then it may be served again and again, one client at a time. A worker
that is lost and comes back takes its place again.

{BALANCER_WORDS}""",
    epilog="\b\nExample:\n  mfc-lb cluster balancer --workers 1 --listen 127.0.0.1:50051\n"
    "and in two other terminals\n"
    "  mfc-lb cluster worker 127.0.0.1:50051 --cores 12\n"
    "  mfc-lb cluster client 127.0.0.1:50051 my.csv",
)
@option("--workers", type=Whole(), default=3, section=WORKERS, text="Number of workers; 1 to 1000.")
@capacity
@which_balancer
@refresh
@expected_load
@option(
    "--listen",
    default="127.0.0.1:0",
    section=CONNECTION,
    metavar="HOST:PORT",
    text="Where to listen; with port 0, the system chooses one. Beyond this machine (0.0.0.0) only "
    "with certificates or --insecure.",
)
@patience
@security
@seed
def balancer(**given: Any) -> None:
    """Be the balancer of a cluster."""
    from mfc_lb.cluster.rpc.balancer import BalancerSettings, serve_balancer
    from mfc_lb.cluster.rpc.security import Address

    with _connecting(given):
        settings = BalancerSettings(
            balancer=named_balancer(given["balancer"], "--balancer", given["expected_load"]),
            num_workers=given["workers"],
            capacity=given["capacity"],
            refresh_interval_us=given["refresh"],
            seed=given["seed"],
            patience=given["patience"],
        )
        address, trust = Address.parse("listen", given["listen"]), _security(given)
        work = serve_balancer(
            settings,
            address,
            trust,
            tell=lambda found: _tell_address(found, trust),
            note=lambda line: click.echo(f"note: {line}", err=True),
        )
        asyncio.run(work)


@click.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb cluster worker 127.0.0.1:50051 --cores 4",
)
@click.argument("address", metavar="HOST:PORT")
@option(
    "--cores", type=Whole(), default=4, section=WORKERS, text="Jobs that it serves at one time."
)
@option(
    "--place",
    type=Whole(),
    section=WORKERS,
    otherwise="the first that is free",
    text="Which worker of the cluster to be, from 0. A lost worker's place goes to one with as "
    "many cores.",
)
@patience
@security
def worker(**given: Any) -> None:
    """Be a worker of the cluster whose balancer is at HOST:PORT.

    Serves jobs first come, first served, until the balancer ends: it holds one of its cores for the
    service time of each job.
    """
    from mfc_lb.cluster.parameters import MAX_CORES
    from mfc_lb.cluster.rpc.security import Address
    from mfc_lb.cluster.rpc.worker import MAX_LIVE_WORKERS, serve_worker
    from mfc_lb.errors import check_int

    with _connecting(given):
        cores, place = check_int("cores", given["cores"], 1, MAX_CORES), given["place"]
        if place is not None:
            check_int("place", place, 0, MAX_LIVE_WORKERS - 1)
        address, trust = Address.parse("address", given["address"]), _security(given)
        work = serve_worker(
            address,
            trust,
            cores,
            place=place,
            patience=given["patience"],
            tell=lambda place: click.echo(f"serving as worker {place}"),
        )
        asyncio.run(work)


@click.command(
    cls=Command,
    help=f"""Send the jobs of a trace to the cluster whose balancer is at HOST:PORT.

At the end, the replay checker goes through the log, and a table says how fast the run was and how
late its actions were.

{FORMATS}""",
    epilog="\b\nExample:\n  mfc-lb cluster client 127.0.0.1:50051 my.csv --time-scale 0.1",
)
@click.argument("address", metavar="HOST:PORT")
@which_trace
@time_scale
@patience
@security
@files
def client(**given: Any) -> None:
    """Send the jobs of a trace to a cluster."""
    from mfc_lb.cluster.rpc.client import replay
    from mfc_lb.cluster.rpc.outcome import LiveResult
    from mfc_lb.cluster.rpc.security import Address

    with _connecting(given):
        address, trust = Address.parse("address", given["address"]), _security(given)
        trace = _read(given)
        with _progress(trace) as progress:
            work = replay(
                trace,
                address,
                trust,
                time_scale=given["time_scale"],
                patience=given["patience"],
                progress=progress,
            )
            done = LiveResult(trace, asyncio.run(work))
    done.require_right()
    _finish(done, given)


def _read(given: dict[str, Any]) -> "Trace":
    """Return the trace, after looking at the options that a run would fail on."""
    from mfc_lb.cluster.rpc.client import check_time_scale

    with naming_options():
        check_time_scale(given["time_scale"])
    trace = read_given(given)
    try_files(given)
    return trace


def _try_balancer(given: dict[str, Any], trace: "Trace", cluster: "ClusterParameters") -> None:
    """Refuse a balancer that cannot serve the workers before any process is started."""
    from mfc_lb.cluster import Dispatcher

    chosen = named_balancer(given["balancer"], "--balancer", trace.offered_load(1))
    with naming_options(num_choices="the number in --balancer jsq:D"):
        Dispatcher(chosen, cluster.cores_array, given["seed"])


def _tell_processes(running: "LoopbackCluster") -> None:
    workers = " ".join(str(process.pid) for process in running.workers)
    balancer = f"balancer: process {running.balancer.pid} at {running.address}"
    workers = f"workers: processes {workers}"
    click.echo(f"note: {balancer}, where {ANY_USER} may join; {workers}", err=True)


def _warn_of_many(num_processes: int) -> None:
    if num_processes >= MANY_PROCESSES:
        memory = f"which need about {num_processes * MEGABYTES / 1000:.2g} GB of memory"
        click.echo(f"note: starts {num_processes} processes, {memory}", err=True)


def _tell_address(found: "Address", trust: "Security") -> None:
    click.echo(f"listening at {found}")
    if not trust.uses_tls:
        who = ANY_USER if found.is_loopback else "everybody who can reach it"
        click.echo(f"note: without certificates, {who} may join", err=True)


@contextmanager
def _progress(trace: "Trace") -> Iterator[Callable[[int], object]]:
    """Show how many jobs have ended, if that takes long and somebody looks."""
    from tqdm import tqdm

    with tqdm(total=len(trace), unit="job", delay=2, disable=None, leave=False) as bar:
        yield bar.update


def _finish(done: "LiveResult", given: dict[str, Any]) -> None:
    from mfc_lb.cli.cluster_report import show_live

    write_files(done.result, given)
    show_live(done)


def _security(given: dict[str, Any]) -> "Security":
    from mfc_lb.cluster.rpc.security import Security

    names = ("tls_cert", "tls_key", "tls_ca", "insecure", "keepalive")
    return Security(**{name: given[name] for name in names})


@contextmanager
def _connecting(given: dict[str, Any]) -> Iterator[None]:
    """Prepare a process of a cluster; name options in messages."""
    from mfc_lb.cluster.rpc.loopback import end_with_input

    if given["end_with_input"]:
        end_with_input()
    with naming_options(**_NAMES):
        yield
