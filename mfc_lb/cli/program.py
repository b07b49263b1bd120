"""The program `mfc-lb`: its commands, and how it ends."""

import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

import click

from mfc_lb import baseline
from mfc_lb.cli.book import book
from mfc_lb.cli.cluster import cluster
from mfc_lb.cli.compare import compare
from mfc_lb.cli.evaluate import evaluate
from mfc_lb.cli.figure import figure
from mfc_lb.cli.mistakes import explain
from mfc_lb.cli.notebook import notebook
from mfc_lb.cli.results import results
from mfc_lb.cli.simulate import simulate
from mfc_lb.cli.trace import trace
from mfc_lb.cli.train import train

INTERRUPTED = 130

# Paragraphs behind \b are not filled.
HELP = """Load balancing with delayed information.

Simulate it, compare ways of routing, learn better ones, send the jobs of your own traces through
a balancer, and rerun the book about it.

\b
Many clients ("agents") send packets to many servers. In front of each
server, packets wait in a queue. A queue has few places; a packet that
finds it full is lost ("dropped"). Only every Δt units of time do the
agents learn how full the queues are. In between they act on what they
last heard, and if all of them rush to the shortest queue, it overflows.

\b
A policy says how an agent chooses among d queues that it picks at random:
  random   any of them, whatever their states (RND)
  jsq      the shortest (join the shortest queue)
  sed      the one with the shortest expected delay (differs from jsq
           where servers differ in speed)
  softmin  the shorter, the likelier: one packet less makes a queue
           exp(β) times as likely; β = 0 is random, large β is jsq

\b
A trained policy knows the level of demand and how full the queues were:
train learns one where queues and agents are infinitely many, evaluate
tries it where they are not.

\b
Time is measured in mean service times. Results are drops per queue over
the whole run: the fewer, the better. All defaults are the paper's
(Tahir, Cui and Koeppl, ICPP 2022, doi 10.1145/3545008.3545025).

\b
A work trace says which jobs arrive when, and for how long each needs a
core. trace makes one or shows yours; cluster sends its jobs through a
balancer to workers, simulated or real, and measures response times.

\b
Start with:
  mfc-lb simulate --policy jsq --delta-t 5
  mfc-lb compare --policies random,jsq,softmin:0.5 --delta-t 1,5,10
  mfc-lb train --delta-t 5
  mfc-lb evaluate mf-dt5.safetensors --num-agents 10000 --num-queues 100
  mfc-lb trace generate ramp --durations 100ms,500ms,1s --output ramp.csv
  mfc-lb cluster compare ramp.csv --refresh 0,100ms,1s --picture ramp.png
  mfc-lb notebook list
  mfc-lb figure list
  mfc-lb results list
"""


class Program(click.Group):
    """A group of commands that ends in an exit code and, if something is wrong, in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a newcomer meets them."""
        return list(self.commands)

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command line and exit.

        The codes are 0 for success, 1 for a run that failed, 2 for a mistake of the user's and 130
        for an interrupt. Only an error of our own shows a traceback.
        """
        _never_fail_to_print()
        baseline.establish()
        kwargs = {"prog_name": "mfc-lb"} | kwargs | {"standalone_mode": False}
        try:
            code = super().main(*args, **kwargs)
            sys.stdout.flush()
        except click.Abort:
            _end(INTERRUPTED, "interrupted")
        except BrokenPipeError:
            _end_without_reader()
        except Exception as error:
            explained = explain(error)
            if explained is None:
                raise
            _end(*explained, details=getattr(error, "details", ""))
        sys.exit(code if isinstance(code, int) else 0)


def _never_fail_to_print() -> None:
    """Show `?` for what a terminal's encoding lacks, such as Greek letters."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _end(code: int, message: str, details: str = "") -> NoReturn:
    if details:
        click.echo(details, err=True)
    # A message may quote a file that is no text; a terminal would obey what is in it.
    shown = "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in message)
    click.echo(f"mfc-lb: {shown}", err=True)
    sys.exit(code)


def _end_without_reader() -> NoReturn:
    """Leave quietly when nobody reads the output any more, as in ``mfc-lb ... | head -1``."""
    # Python flushes once more at its end; let that go nowhere.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from mfc_lb import __version__

        click.echo(f"mfc-lb {__version__}")
        context.exit()


@click.group(
    cls=Program,
    name="mfc-lb",
    help=HELP,
    invoke_without_command=True,
    # Options and choices may be written with underscores, as the library's names are.
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda word: word.replace("_", "-"),
        "max_content_width": 100,
    },
    epilog="\b\nExit codes: 0 success, 1 a run failed, 2 a mistake in what was asked,\n"
    "130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.pass_context
def main(context: click.Context) -> None:
    """Show the help; the commands do the rest."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_commands = (simulate, compare, train, evaluate, trace, cluster, notebook, figure, results, book)
for command in _commands:
    main.add_command(command)
