"""The options that commands share, and what a newcomer has to know of each."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from mfc_lb.cli.table_file import TableFile, refuse_one_file_twice
from mfc_lb.cli.values import NUMBERS, Real, Rows, Whole

F = TypeVar("F", bound=Callable[..., Any])

SYSTEM, SERVERS, DEMAND = "What is simulated", "Queues and servers", "How much arrives"
EFFORT, OUTPUT = "How long, how often", "Output"


class Option(click.Option):
    """An option that the help lists under a heading."""

    def __init__(self, *names: Any, section: str = "Other", **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.section = section


class Command(click.Command):
    """A command whose help lists the options under their headings, and which spares its inputs."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless it would write one of its files over another."""
        refuse_one_file_twice(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, heading by heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            # What an argument is, the command's text says.
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "section", "Other"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def option(
    *names: str, section: str, text: str, otherwise: str | None = None, **attributes: Any
) -> Callable[[F], F]:
    """Return the decorator that adds one option.

    Parameters
    ----------
    *names : str
        Names of the option.
    section : str
        Heading in the help.
    text : str
        What it means and what is allowed.
    otherwise : str, optional
        What holds without it, where that is not just a default value.
    **attributes
        See `click.option`.
    """
    told = f"{text}  [default: {otherwise}]" if otherwise else text
    shown: dict[str, Any] = {"show_default": otherwise is None} | attributes
    return click.option(*names, cls=Option, section=section, help=told, **shown)


def combined(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator that adds several options, in this order."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


which_system = combined(
    option(
        "--system",
        type=click.Choice(["finite", "infinite-agents", "mean-field"]),
        default="finite",
        section=SYSTEM,
        text="finite: N agents and M queues. infinite-agents: so many agents that a queue's load "
        "follows from the queues' states. mean-field: infinitely many queues, too; only the "
        "arrival rate is random.",
    ),
    option(
        "--num-agents",
        type=Whole(),
        section=SYSTEM,
        otherwise="M²",
        text="Number N of agents that send packets; 1 to 2^53. The time a run takes does not "
        "depend on it.",
    ),
    option(
        "--routing",
        type=click.Choice(["per-packet", "per-epoch"]),
        section=SYSTEM,
        otherwise="per-packet",
        text="An agent chooses among its d queues anew for each packet, or once per epoch.",
    ),
    option(
        "--distinct-queues",
        is_flag=True,
        show_default=False,
        section=SYSTEM,
        text="The d queues of an agent are distinct (only with per-epoch routing or infinitely "
        "many agents). By default it may pick a queue twice, as in the model.",
    ),
)


def _unless(usual: str | None, **papers: Any) -> dict[str, Any]:
    """Return what holds without an option: what `usual` says, or else the paper's value."""
    return {"otherwise": usual} if usual else papers


def queues_and_servers(usual: str | None = None) -> Callable[[F], F]:
    """Return the options for queues and servers; without them, the paper's hold or `usual`."""
    return combined(
        option(
            "--buffer-size",
            type=Whole(),
            section=SERVERS,
            text="Places B of a queue, the packet in service included; at least 1.",
            **_unless(usual, default=5),
        ),
        option(
            "--num-choices",
            type=Whole(),
            section=SERVERS,
            text="Number d of queues that an agent picks at random and looks at; at least 1.",
            **_unless(usual, default=2),
        ),
        option(
            "--service-rates",
            type=NUMBERS,
            section=SERVERS,
            text="Packets that a busy server finishes per unit of time, one rate > 0 for each "
            "class of servers.",
            **_unless(usual, default="1"),
        ),
        option(
            "--class-fractions",
            type=NUMBERS,
            section=SERVERS,
            text="Fraction of the servers in each class; their sum is 1.",
            **_unless(usual, otherwise="equal"),
        ),
    )


def demand(usual: str | None = None) -> Callable[[F], F]:
    """Return the options for the arrivals; without them, the paper's hold or `usual`."""
    return combined(
        option(
            "--arrival-rates",
            type=NUMBERS,
            section=DEMAND,
            text="Packets per queue and unit of time, one rate >= 0 for each level of demand; one "
            "number alone stays for ever.",
            **_unless(usual, default="0.9,0.6"),
        ),
        option(
            "--arrival-kernel",
            type=Rows(),
            section=DEMAND,
            text="How the level changes from epoch to epoch: row i has the probabilities of the "
            "next level when the present one is i, and sums to 1.",
            **_unless(usual, otherwise="0.8,0.2;0.5,0.5"),
        ),
        option(
            "--arrival-initial",
            type=NUMBERS,
            section=DEMAND,
            text="Probabilities of the first epoch's level; their sum is 1.",
            **_unless(usual, otherwise="equal"),
        ),
    )


def delta_t(usual: str | None = None) -> Callable[[F], F]:
    """Return the option for one delay; without it, Δt is 1 or `usual`."""
    return option(
        "--delta-t",
        type=Real(),
        section=SYSTEM,
        text="Delay Δt: the time between two looks at the queues (an epoch), in units of time, of "
        "which 1 is the mean service time at rate 1; > 0. The paper studies 1 to 10.",
        **_unless(usual, default="1"),
    )


num_queues = option(
    "--num-queues",
    type=Whole(),
    section=SYSTEM,
    otherwise="100",
    text="Number M of queues, each with its server; at least 1.",
)

seed = option(
    "--seed",
    type=Whole(),
    default=0,
    section=EFFORT,
    text="Same seed, same numbers; at least 0.",
)

effort = combined(
    option(
        "--horizon",
        type=Real(),
        section=EFFORT,
        otherwise="500",
        text="Simulated time of a run, rounded to whole epochs; > 0.",
    ),
    option(
        "--num-epochs",
        type=Whole(),
        section=EFFORT,
        otherwise="horizon / Δt",
        text="Number of epochs of a run, instead of its horizon; at least 1.",
    ),
    option(
        "--runs",
        type=Whole(),
        section=EFFORT,
        otherwise="100 up to 1000 queues, then fewer, at least 10",
        text="Number of independent runs; the intervals come from how they differ.",
    ),
    seed,
    option(
        "--processes",
        type=Whole(),
        section=EFFORT,
        otherwise="1, or for long work one per core",
        text="Processes that share the runs; -1 is one per core. Results do not depend on it.",
    ),
)

output = option(
    "--output",
    type=TableFile(),
    section=OUTPUT,
    metavar="FILE.csv",
    text="Also write the numbers to this file, in full precision; it appears whole or not at all.",
)
