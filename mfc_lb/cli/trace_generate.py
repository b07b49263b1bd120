"""`mfc-lb trace generate`: traces made by rule."""

from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.durations import DURATIONS, Duration
from mfc_lb.cli.mistakes import naming_options
from mfc_lb.cli.options import OUTPUT, Command, combined, demand, option, seed
from mfc_lb.cli.settings import Given, read_parameters
from mfc_lb.cli.table_file import TableFile, try_writing
from mfc_lb.cli.trace_file import write_trace
from mfc_lb.cli.values import Whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ARRIVALS, SERVICE = "When jobs arrive", "How long they need a core"
# Options whose values are times; the library's parameters end in their unit.
TIMES = (
    "interval",
    "floor",
    "ramp_length",
    "durations",
    "mean_interval",
    "mean_duration",
    "epoch",
)
LEVELS = ("arrival_rates", "arrival_kernel", "arrival_initial")
# Of the model, only the demand is used.
ONE_QUEUE: Given = {
    "buffer_size": 1,
    "num_choices": 1,
    "service_rates": (1.0,),
    "class_fractions": None,
}

output = option(
    "--output",
    type=TableFile(),
    required=True,
    show_default=False,
    section=OUTPUT,
    metavar="FILE.csv",
    text="File for the trace, with the columns job_id, arrival_time_us and service_time_us (whole "
    "microseconds); it appears whole or not at all.",
)
num_jobs = option(
    "--num-jobs", type=Whole(), default=1200, section=ARRIVALS, text="Number of jobs; at least 0."
)
durations = option(
    "--durations",
    type=DURATIONS,
    default="500ms",
    section=SERVICE,
    text="One time for all jobs, or several, of which each job draws one, all equally likely. The "
    "trimodal service of the study is 100ms,500ms,1s.",
)
mean_duration = option(
    "--mean-duration",
    type=Duration(),
    default="500ms",
    section=SERVICE,
    text="Mean of the service times, which are exponential.",
)


@click.group(invoke_without_command=True)
@click.pass_context
def generate(context: click.Context) -> None:
    """Make a trace by rule.

    The four traces of the study have constant arrivals or a ramp, and constant or trimodal service.
    The defaults are for 3 workers of 4 cores each.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@generate.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb trace generate constant --durations 100ms,500ms,1s --seed 1 "
    "--output trace.csv",
)
@option(
    "--interval",
    type=Duration(),
    default="50ms",
    section=ARRIVALS,
    text="Time between two arrivals; the first is at time 0.",
)
@num_jobs
@durations
@seed
@output
def constant(**given: Any) -> None:
    """Make a trace with a constant arrival rate."""
    _generate("constant_trace", given)


@generate.command(
    cls=Command,
    short_help="Make a trace with a growing arrival rate.",
    epilog="\b\nExample:\n  mfc-lb trace generate ramp --durations 100ms,500ms,1s --seed 1 "
    "--output trace.csv",
)
@option(
    "--interval",
    type=Duration(),
    default="100ms",
    section=ARRIVALS,
    text="Time between arrivals when a ramp begins; the arrival rate is its inverse.",
)
@option(
    "--floor",
    type=Duration(),
    default="40ms",
    section=ARRIVALS,
    text="Time between arrivals when a ramp ends: the shortest.",
)
@option(
    "--ramp-length",
    type=Duration(),
    default="30s",
    section=ARRIVALS,
    text="Time that a ramp takes, in which the arrival rate grows linearly. Then it backs off to "
    "the first rate at once.",
)
@option("--repeats", type=Whole(), default=2, section=ARRIVALS, text="Number of ramps.")
@durations
@seed
@output
def ramp(**given: Any) -> None:
    """Make a trace whose arrival rate grows linearly, backs off, and grows again."""
    _generate("ramp_trace", given)


@generate.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb trace generate poisson --num-jobs 10000 --output trace.csv",
)
@option(
    "--mean-interval",
    type=Duration(),
    default="50ms",
    section=ARRIVALS,
    text="Mean time between two arrivals.",
)
@num_jobs
@mean_duration
@seed
@output
def poisson(**given: Any) -> None:
    """Make a trace of Poisson arrivals with exponential service."""
    _generate("poisson_trace", given)


@generate.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb trace generate modulated --num-workers 100 --epoch 2.5s "
    "--output trace.csv",
)
@combined(
    option(
        "--num-workers",
        type=Whole(),
        default=12,
        section=ARRIVALS,
        text="Number M of workers: jobs arrive at M times the arrival rate.",
    ),
    option(
        "--epoch",
        type=Duration(),
        default="500ms",
        section=ARRIVALS,
        text="How long a level of demand lasts before the next is drawn; the model's Δt.",
    ),
    option("--num-epochs", type=Whole(), default=500, section=ARRIVALS, text="Number of epochs."),
)
@demand()
@mean_duration
@seed
@output
def modulated(**given: Any) -> None:
    """Make the model's demand as a trace.

    Poisson arrivals whose rate changes from epoch to epoch, with exponential service. A queue of
    the model is a worker with one core, a packet is a job, and the unit of time is the mean service
    time.
    """
    import numpy as np

    from mfc_lb.systems import rate_paths

    epoch, mean = given.pop("epoch"), given["mean_duration"]
    with naming_options(delta_t="--epoch / --mean-duration"):
        parameters = read_parameters(ONE_QUEUE | given, delta_t=epoch / max(1, mean))
        (levels,) = rate_paths(parameters, given.pop("num_epochs"), 1, given["seed"])
    rates = np.asarray(parameters.arrivals.rates)[levels]
    for name in LEVELS:
        del given[name]
    _generate("modulated_poisson_trace", given | {"epoch": epoch}, rates)


def _generate(name: str, given: Given, *rates: "NDArray[np.float64]") -> None:
    """Call a generator of the library with the options as its parameters."""
    from mfc_lb import cluster

    path = given.pop("output")
    try_writing(path)
    fields = {f"{option}_us" if option in TIMES else option: option for option in given}
    called = {field: "--" + option.replace("_", "-") for field, option in fields.items()}
    with naming_options(**called):
        made = getattr(cluster, name)(*rates, **{field: given[fields[field]] for field in fields})
    write_trace(made, path)
