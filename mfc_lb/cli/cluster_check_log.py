"""`mfc-lb cluster check-log`: what holds in an event log, or what is wrong."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.cluster_files import try_files, write_table
from mfc_lb.cli.durations import Duration, show_duration
from mfc_lb.cli.mistakes import FAILED, naming_options, refuse
from mfc_lb.cli.options import OUTPUT, Command, option
from mfc_lb.cli.table_file import TableFile

if TYPE_CHECKING:
    from mfc_lb.cluster import EventLog, Fault

#: What holds in a log without faults.
HOLDS = (
    "every job arrives once and ends once",
    "every job is assigned at once, and nothing starts before that",
    "every worker serves first come, first served, each job for its service time",
    "no core is idle while its worker has waiting jobs",
    "never are more jobs in service than cores, nor more at a worker than its capacity",
    "only a full worker drops jobs",
)
# The first tolerance that is tried for a live cluster, in microseconds; then twice as much, ...
FIRST_TOLERANCE = 1000


@click.command(
    "check-log",
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb cluster check-log run.log --output events.csv",
)
@click.argument("log", metavar="FILE", type=click.Path(path_type=Path))
@option(
    "--tolerance",
    type=Duration(),
    section="How strictly",
    otherwise="0 for a simulation; for a live cluster, as little as will do",
    text="Delay that an action may have, in time of the trace: how long a job may be at the "
    "balancer and a core idle while a job waits, and how much shorter or longer service may take. "
    "Such as 5ms.",
)
@option(
    "--output",
    type=TableFile(),
    section=OUTPUT,
    metavar="FILE.csv",
    text="Also write the events as a table: kind, time_us, job_id, worker, service_time_us.",
)
def check_log(**given: Any) -> None:
    """Replay an event log, and say what holds in it or what is wrong.

    The log alone is looked at, by code that shares nothing with the simulator; whether it tells
    what happened, it cannot say. If something is
    wrong, up to 20 faults are listed and the exit code is 1.
    """
    log = given["log"]
    try_files(given | {"log": None})
    found = _read(log)
    write_table(given, "output", found.to_frame)
    click.echo(f"{log}: {_described(found)}")
    faults, allowed = _check(found, given["tolerance"])
    if faults:
        _tell_faults(log, faults)
        click.get_current_context().exit(FAILED)
    click.echo("in this log:")
    for line in HOLDS:
        click.echo(f"  {line}")
    if allowed:
        is_least = given["tolerance"] is None and allowed > FIRST_TOLERANCE
        least = "; half of that does not do" if is_least else ""
        late = f"up to {show_duration(allowed)} of the trace early or late"
        click.echo(f"with actions that are {late}{least}")


def _read(path: Path) -> "EventLog":
    from mfc_lb.cluster import read_log

    try:
        return read_log(path)
    except OSError as error:
        refuse("FILE", f"a file that can be read ({error.strerror})", str(path))


def _check(log: "EventLog", tolerance: int | None) -> tuple[list["Fault"], int]:
    """Return the faults, and the tolerance without which there would be some."""
    from mfc_lb.cluster import check_log as check
    from mfc_lb.cluster.traces import LONGEST_US

    if tolerance is not None or log.header.source == "simulation":
        allowed = tolerance or 0
        with naming_options(tolerance_us="--tolerance"):
            return check(log, allowed), allowed
    faults = check(log, LONGEST_US)
    allowed = FIRST_TOLERANCE
    while not faults and check(log, allowed):
        allowed *= 2
    return faults, allowed


def _described(log: "EventLog") -> str:
    from mfc_lb.cli.terminal import counted

    header = log.header
    cluster = header.cluster
    cores = sorted(set(cluster.cores))
    each = counted(cores[0], "core") if len(cores) == 1 else f"{cores[0]} to {cores[-1]} cores"
    told: dict[str, Any] = {
        f"{header.source} of {header.balancer}": True,
        f"{cluster.num_workers} workers with {each}": True,
        f"capacity {cluster.capacity}": cluster.capacity is not None,
        f"refresh every {show_duration(cluster.refresh_interval_us)}": cluster.refresh_interval_us,
        f"{len(log)} events until {show_duration(log.end_us)}": True,
    }
    return ", ".join(line for line, shown in told.items() if shown)


def _tell_faults(log: Path, faults: list["Fault"]) -> None:
    from mfc_lb.cluster.replay import MAX_FAULTS

    for fault in faults:
        click.echo(f"  {fault}")
    number = f"{len(faults)} faults" if len(faults) > 1 else "1 fault"
    more = " or more" if len(faults) == MAX_FAULTS else ""
    click.echo(f"mfc-lb: {log} has {number}{more}", err=True)
