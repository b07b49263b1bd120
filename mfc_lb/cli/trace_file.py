"""Traces that commands read or write: the argument, the options, what is said about them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.durations import show_duration
from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import combined, option

if TYPE_CHECKING:
    from mfc_lb.cluster import Trace

READING = "How the file is read"

which_trace = combined(
    click.argument("trace", metavar="TRACE"),
    option(
        "--arrival-column",
        section=READING,
        metavar="NAME",
        text="Column of a CSV file with the times at which jobs arrive: numbers, or timestamps "
        "such as 2024-05-31T12:00:00.5Z. In any order.",
    ),
    option(
        "--service-column",
        section=READING,
        metavar="NAME",
        text="Column of a CSV file with the times for which jobs need a core: numbers >= 0.",
    ),
    option(
        "--time-unit",
        type=click.Choice(["ns", "us", "ms", "s", "min", "h"]),
        section=READING,
        text="Unit of the numbers in these two columns; needed with them.",
    ),
    option(
        "--expand-parallel",
        is_flag=True,
        show_default=False,
        section=READING,
        text="Make a job that ran on several processors as many jobs, each for one core. By "
        "default it is one job for one core, and a line says how many there were.",
    ),
)

#: What a command's help says of the files it reads.
FORMATS = """\b
TRACE is a text file, as it is or packed with gzip, with one job per line:
  CSV with a header      the columns arrival_time_us, service_time_us and, if
                         you like, job_id (what mfc-lb trace generate writes);
                         or any others, which you name with the options below
  Standard Workload      of the Parallel Workloads Archive, version 2.2 (.swf)
  Azure Functions 2021   CSV with app, func, end_timestamp, duration
"""


def read_given(given: dict[str, Any]) -> "Trace":
    """Return the trace that the options of `which_trace` name; notes go to standard error."""
    from mfc_lb.cluster import read_trace

    with naming_options(path="TRACE", trace="TRACE"):
        return read_trace(
            given["trace"],
            arrival_column=given["arrival_column"],
            service_column=given["service_column"],
            time_unit=given["time_unit"],
            expand_parallel=given["expand_parallel"],
            tell=lambda line: click.echo(f"note: {line}", err=True),
        )


def write_trace(trace: "Trace", path: Path) -> None:
    """Write the file of --output and say what is in it."""
    try:
        trace.write_csv(path)
    except OSError as error:
        refuse("--output", f"a file that can be written ({error.strerror})", str(path))
    last = trace.arrival_time_us.max(initial=0)
    click.echo(f"{path}: {len(trace)} jobs, the last at {show_duration(last)}")
