"""`mfc-lb cluster simulate`: one balancer on one trace."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.cluster_files import files, try_files, write_files, write_table
from mfc_lb.cli.cluster_options import BALANCER_WORDS, cluster_of, named_balancer, shape
from mfc_lb.cli.durations import Duration, show_duration
from mfc_lb.cli.mistakes import naming_options
from mfc_lb.cli.options import EFFORT, OUTPUT, Command, combined, option, seed
from mfc_lb.cli.pictures import picture, write_picture
from mfc_lb.cli.table_file import TableFile
from mfc_lb.cli.trace_file import FORMATS, read_given, which_trace

if TYPE_CHECKING:
    import pandas as pd

    from mfc_lb.cluster import ClusterParameters, SimulationResult, Trace

# A picture's curves are averages over so many windows of time.
NUM_WINDOWS = 200

outputs = combined(
    files,
    option(
        "--load",
        type=TableFile(),
        section=OUTPUT,
        metavar="FILE.csv",
        text="Write the load over time to this file, a line whenever it changes: time_us and, over "
        "the workers, mean, standard_deviation, skewness and excess_kurtosis of jobs per core.",
    ),
    picture,
)


@click.command(
    cls=Command,
    help=f"""Send the jobs of a trace through one balancer to simulated workers.

A worker serves first come, first served; a job takes one core for its service time. Prints response
times, drops and load. The load is the number of jobs at a worker, in service and waiting, over its
cores; the picture shows its mean over the workers and their standard deviation over time.

{FORMATS}
{BALANCER_WORDS}""",
    epilog="\b\nExample:\n  mfc-lb cluster simulate my.csv --arrival-column t --service-column d "
    "--time-unit ms \\\n    --workers 16 --cores 8 --balancer jsq:3 --refresh 100ms "
    "--picture load.png",
)
@which_trace
@shape
@option(
    "--horizon",
    type=Duration(),
    section=EFFORT,
    otherwise="until every job has ended",
    text="Stop so long after the first arrival, such as 10min.",
)
@seed
@outputs
def simulate(**given: Any) -> None:
    """Send the jobs of a trace through one balancer to simulated workers."""
    trace, cluster = read_given(given), cluster_of(given)
    try_files(given, "load", "picture")
    result = _simulate(given, trace, cluster)
    if given["picture"] is not None:
        from mfc_lb.figures.cluster import load_curves

        write_picture(load_curves(_curves(given, result)), given["picture"])
    write_files(result, given)
    write_table(given, "load", result.load_moments.to_frame)
    _show(given, result)


def _simulate(
    given: dict[str, Any], trace: "Trace", cluster: "ClusterParameters"
) -> "SimulationResult":
    from mfc_lb.cluster import simulate_cluster

    load = trace.offered_load(sum(cluster.cores))
    balancer = named_balancer(given["balancer"], "--balancer", load)
    horizon = given["horizon"]
    if horizon is not None:
        horizon += _first_arrival(trace)
    names = {"num_choices": "the number in --balancer jsq:D", "horizon_us": "--horizon"}
    with naming_options(**names):
        return simulate_cluster(trace, cluster, balancer, seed=given["seed"], horizon_us=horizon)


def _first_arrival(trace: "Trace") -> int:
    return int(trace.arrival_time_us[0]) if len(trace) else 0


def _curves(given: dict[str, Any], result: "SimulationResult") -> "pd.DataFrame":
    """Return the table that `load_curves` shows; seconds since the first arrival."""
    import numpy as np
    import pandas as pd

    from mfc_lb.cli.cluster_comparison import short_name
    from mfc_lb.cluster.load_windows import window_averages

    first, end = _first_arrival(result.trace), result.load_moments.end_us
    since = np.linspace(0, max(end - first, 1), NUM_WINDOWS + 1)
    averages = window_averages(result.load_moments, first + since)
    parts = [
        pd.DataFrame(
            {
                "window_start": since[:-1] / 1e6,
                "window_end": since[1:] / 1e6,
                "measure": f"load_{name}",
                "estimate": values,
                "interval_low": values,
                "interval_high": values,
            }
        )
        for name, values in averages.items()
    ]
    named = {"trace": Path(given["trace"]).name, "balancer": short_name(given["balancer"])}
    return pd.concat(parts).assign(**named, reference="none")


def _show(given: dict[str, Any], result: "SimulationResult") -> None:
    from mfc_lb.cli.terminal import console, new_table

    table = new_table(f"{given['trace']}, {_title(given, result)}", "", "")
    table.show_header = False
    for name, value in _described(result).items():
        table.add_row(name, value)
    console().print(table)
    for name in ("output", "log", "load", "picture"):
        if given[name] is not None:
            click.echo(f"{given[name]}: {WRITTEN[name]}")


#: What is said of the files.
WRITTEN = {
    "output": "the job table",
    "log": "every action; mfc-lb cluster check-log checks from it that the run kept the rules",
    "load": "the load over time",
    "picture": "the load over time",
}


def _title(given: dict[str, Any], result: "SimulationResult") -> str:
    from mfc_lb.cli.cluster_comparison import short_name
    from mfc_lb.cli.terminal import counted

    cores = result.log.header.cluster.cores
    alike = len(set(cores)) == 1
    each = f"{counted(cores[0], 'core')} each" if alike else f"{counted(sum(cores), 'core')} in all"
    interval = given["refresh"]
    age = f", loads known every {show_duration(interval)}" if interval else ""
    return f"{short_name(given['balancer'])}: {counted(len(cores), 'worker')}, {each}{age}"


def _described(result: "SimulationResult") -> dict[str, str]:
    """Return what is printed, line by line."""
    from mfc_lb.cli.terminal import grouped

    s = result.summary()
    counts = {
        "jobs finished": s.finished,
        "  dropped": s.dropped,
        "  neither, at the horizon": s.unfinished,
    }
    times = {
        "response time: mean": s.response_mean,
        "  median": s.response_p50,
        "  exceeded by 5 % of the jobs": s.response_p95,
        "  exceeded by 1 % of the jobs": s.response_p99,
        "waiting time: mean": s.waiting_mean,
    }
    loads = {
        "load (jobs per core): mean over workers and time": s.load_mean,
        "  standard deviation over workers, mean over time": s.load_standard_deviation,
    }
    return (
        {name: grouped(count) for name, count in counts.items()}
        | {name: _or_unknown(time, show_duration) for name, time in times.items()}
        | {name: _or_unknown(load, "{:.4g}".format) for name, load in loads.items()}
    )


def _or_unknown(value: float, shown: Callable[[float], str]) -> str:
    from mfc_lb.cli.terminal import NOT_KNOWN

    return NOT_KNOWN if math.isnan(value) else shown(value)
