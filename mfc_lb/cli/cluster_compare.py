"""`mfc-lb cluster compare`: several balancers on one trace, with news of several ages."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.cluster_files import try_files
from mfc_lb.cli.cluster_options import (
    BALANCER_WORDS,
    BALANCING,
    cluster_of,
    named_balancer,
    workers,
)
from mfc_lb.cli.durations import DURATIONS, Duration
from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import EFFORT, Command, combined, option, output, seed
from mfc_lb.cli.pictures import picture, write_picture
from mfc_lb.cli.table_file import table_file
from mfc_lb.cli.trace_file import FORMATS, read_given, which_trace
from mfc_lb.cli.values import Whole

if TYPE_CHECKING:
    from mfc_lb.cli.cluster_comparison import Group
    from mfc_lb.cluster import Balancer, ClusterParameters, Trace

    Cell = tuple[ClusterParameters, list[Balancer]]

KINDS = ("random", "round-robin", "least-loaded", "jsq", "mean-field")


class ListCommand(Command):
    """A command whose lists may also be typed with blanks: ``--refresh 0 1s`` is ``0,1s``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join what belongs to one list."""
        lists = {"--refresh": _is_time, "--balancers": _is_balancer}
        return super().parse_args(ctx, joined(args, lists))


def joined(words: list[str], lists: Mapping[str, Callable[[str], bool]]) -> list[str]:
    """Return a command line whose lists are one word each.

    Parameters
    ----------
    words : list of str
        The command line.
    lists : mapping of str to callable
        Options that take a list, and what tells whether a word belongs to it.
    """
    result: list[str] = []
    belongs, is_first = None, False
    for word in words:
        if belongs and not is_first and belongs(word.rstrip(",")):
            result[-1] = f"{result[-1].rstrip(',')},{word.rstrip(',')}"
            continue
        if belongs and is_first:
            result.append(word.rstrip(","))
            is_first = False
            continue
        belongs = lists.get(word)
        is_first = belongs is not None
        result.append(word)
    return result


def _is_time(word: str) -> bool:
    with suppress(click.BadParameter):
        return Duration().convert(word, None, None) >= 0
    return False


def _is_balancer(word: str) -> bool:
    return word.partition(":")[0] in KINDS


what_is_compared = combined(
    option(
        "--balancers",
        default="random,round-robin,least-loaded,jsq:2",
        section=BALANCING,
        metavar="WORD,...",
        text="Balancers, separated by commas, see above. The others are compared with the first.",
    ),
    option(
        "--refresh",
        type=DURATIONS,
        default="0,100ms,1s,10s",
        section=BALANCING,
        text="How often the balancer looks at the loads, one time or several: it sees them as they "
        "were at the last multiple of this time of the trace. 0: it always sees the present loads.",
    ),
)
runs = option(
    "--runs",
    type=Whole(),
    default=20,
    section=EFFORT,
    text="Number of runs of a balancer that is random, each with another seed; the intervals come "
    "from how they differ. The jobs are always those of the trace.",
)


@click.command(
    cls=ListCommand,
    help=f"""Compare balancers on a trace, with news of several ages.

Sends the jobs of TRACE through each balancer to simulated workers, and prints a table of response
times, drops and load. A worker serves first come, first served; a job takes one core for its
service time. Differences are paired: all balancers meet the same jobs and, run by run, the same
seeds. The picture shows response times and drops against the refresh interval; in the file of
--output, times are in seconds.

{FORMATS}
{BALANCER_WORDS}""",
    epilog="\b\nExample:\n  mfc-lb cluster compare my.csv --arrival-column t --service-column d "
    "--time-unit ms \\\n    --workers 16 --cores 8 --refresh 0,100ms,1s,10s "
    "--balancers round-robin,least-loaded,jsq:2 \\\n    --picture my.png --output comparison.csv",
)
@which_trace
@workers
@what_is_compared
@runs
@seed
@output
@picture
def compare(**given: Any) -> None:
    """Compare balancers on a trace, with news of several ages."""
    from mfc_lb.cli.cluster_comparison import picture_table, rows
    from mfc_lb.cli.cluster_table import show

    names = _read_names(given)
    trace = read_given(given)
    with naming_options(num_choices="the number in --balancers jsq:D"):
        cells = list(_read_cells(given, names, trace))
        try_files(given, "picture")
        with table_file(given["output"]) as table:
            groups = _simulate(given, trace, names, cells)
            table.extend(rows(given, groups))
    if given["picture"] is not None:
        from mfc_lb.figures.cluster import refresh_curves

        write_picture(refresh_curves(picture_table(given, groups)), given["picture"])
    show(given, trace, groups)


def _read_names(given: dict[str, Any]) -> list[str]:
    names = [name.strip() for name in given["balancers"].split(",")]
    for option_name, values in (("--balancers", names), ("--refresh", given["refresh"])):
        if len(set(values)) < len(values):
            refuse(option_name, "made of different values", values)
    return names


def _read_cells(given: dict[str, Any], names: list[str], trace: "Trace") -> Iterator["Cell"]:
    """Yield each cluster with its balancers, after trying whether they can serve its workers."""
    from mfc_lb.cluster import Dispatcher
    from mfc_lb.errors import check_int

    check_int("runs", given["runs"], 1)
    for interval in given["refresh"]:
        cluster = cluster_of(given, interval)
        load = trace.offered_load(sum(cluster.cores))
        balancers = [named_balancer(name, "--balancers", load) for name in names]
        for balancer in balancers:
            Dispatcher(balancer, cluster.cores_array, given["seed"])
        yield cluster, balancers


def _simulate(
    given: dict[str, Any], trace: "Trace", names: list[str], cells: list["Cell"]
) -> list["Group"]:
    """Return the outcomes at each refresh interval, balancer by balancer."""
    from tqdm import tqdm

    from mfc_lb.cli.cluster_comparison import num_runs, outcome_of

    every = [balancer for _, balancers in cells for balancer in balancers]
    total = sum(num_runs(balancer, given["runs"]) for balancer in every)
    with tqdm(total=total, unit="run", delay=2, disable=None, leave=False) as bar:
        effort = given["runs"], given["seed"], bar.update
        return [
            {
                name: outcome_of(trace, cluster, balancer, *effort)
                for name, balancer in zip(names, balancers, strict=True)
            }
            for cluster, balancers in cells
        ]
