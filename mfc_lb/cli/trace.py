"""`mfc-lb trace`: make work traces, and look at them."""

from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.durations import show_duration
from mfc_lb.cli.options import OUTPUT, Command, option
from mfc_lb.cli.pictures import picture, write_picture
from mfc_lb.cli.table_file import TableFile
from mfc_lb.cli.terminal import NOT_KNOWN, grouped
from mfc_lb.cli.trace_file import FORMATS, read_given, which_trace, write_trace
from mfc_lb.cli.trace_generate import generate

if TYPE_CHECKING:
    from mfc_lb.cluster import Trace


@click.group(invoke_without_command=True)
@click.pass_context
def trace(context: click.Context) -> None:
    """Make work traces, and look at them.

    A trace says which jobs arrive when, and for how long each needs a core.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


trace.add_command(generate)


@trace.command(
    cls=Command,
    help=f"""Show what is in a trace.

Prints how many jobs arrive in which time, how long they need a core, and how many cores they keep
busy on average: a cluster with fewer falls behind. Of a file with a mistake in it, it prints only
the first mistake: file, line, column and value.

{FORMATS}""",
    epilog="\b\nExample:\n  mfc-lb trace show my.csv --arrival-column t --service-column d "
    "--time-unit ms\n  mfc-lb trace show my.csv --arrival-column t --service-column d "
    "--time-unit ms --picture my.png\n  mfc-lb trace show log.swf.gz --expand-parallel",
)
@which_trace
@picture
@option(
    "--output",
    type=TableFile(),
    section=OUTPUT,
    metavar="FILE.csv",
    text="Write the trace as CSV with job_id, arrival_time_us and service_time_us, sorted by "
    "arrival; it appears whole or not at all.",
)
def show(**given: Any) -> None:
    """Show what is in a trace."""
    found = read_given(given)
    if given["picture"] is not None:
        from mfc_lb.figures.traces import work_trace

        write_picture(work_trace(found.to_frame()), given["picture"])
    _print(given["trace"], found)
    if given["picture"] is not None:
        click.echo(f"{given['picture']}: arrivals over time and service times")
    if given["output"] is not None:
        write_trace(found, given["output"])


def _print(title: str, found: "Trace") -> None:
    from mfc_lb.cli.terminal import console, new_table

    table = new_table(title, "", "")
    for name, value in _described(found).items():
        table.add_row(name, value)
    table.show_header = False
    console().print(table)


def _described(found: "Trace") -> dict[str, str]:
    """Return what is printed, line by line."""
    import numpy as np

    arrivals, services = found.arrival_time_us, found.service_time_us
    described = {"jobs": grouped(len(found))}
    if len(found) == 0:
        return described
    busy = found.offered_load(1)
    measures = {
        "first arrival": arrivals[0],
        "from the first arrival to the last": arrivals[-1] - arrivals[0],
        "service time: mean": services.mean(),
        "  median": np.median(services),
        "  exceeded by 5 % of the jobs": np.quantile(services, 0.95),
        "  longest": services.max(),
    }
    described |= {name: show_duration(float(value)) for name, value in measures.items()}
    cores = f"{busy:.4g}" if np.isfinite(busy) else NOT_KNOWN
    return described | {"cores kept busy on average": cores}
