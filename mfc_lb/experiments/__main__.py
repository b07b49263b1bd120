"""The experiments on the command line: ``python -m mfc_lb.experiments``."""

import logging
import sys
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import EXPERIMENTS, find
from mfc_lb.experiments.folders import results_folder
from mfc_lb.experiments.learned import reproduce_policies, store_all
from mfc_lb.experiments.reproduction import Verdict, reproduce
from mfc_lb.experiments.runner import run
from mfc_lb.experiments.storage import StoredResult

_console = Console()

#: Name of the trained policies beside those of the experiments.
POLICIES = "policies"

_size = click.option("--size", default="quick", show_default=True, help="quick or paper.")
_processes = click.option(
    "--processes", default=-1, show_default=True, help="Number of processes; -1: one per core."
)
_output = click.option(
    "--output", type=click.Path(path_type=Path), help="Folder of results [default: data/results]."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Run the experiments of the book, and check what is stored of them.

    A run that is killed goes on where it stopped when it is started again.
    """


@cli.command("list")
def list_command() -> None:
    """Show the experiments and what is stored of them."""
    table = _new_table("experiment", "question", "quick", "paper")
    for name, experiment in EXPERIMENTS.items():
        states = (
            StoredResult(results_folder(), experiment, size).state for size in experiment.sizes
        )
        table.add_row(name, experiment.question, *states)
    _console.print(table)


@cli.command("run")
@click.argument("name")
@_size
@_processes
@_output
def run_command(name: str, size: str, processes: int, output: Path | None) -> None:
    """Compute the experiment NAME and store its table, unless that is there already."""
    stored = run(find(name), size, output or results_folder(), processes=processes)
    click.echo(f"{stored.table}: {stored.state}")


@cli.command("policies")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Folder of policies [default: data/policies]."
)
@_processes
def policies_command(output: Path | None, processes: int) -> None:
    """Train the policies for the delays of the paper and store them."""
    for path in store_all(output, processes=processes):
        click.echo(path)


@cli.command("reproduce")
@click.option("--size", default="paper", show_default=True, help="quick or paper.")
@click.option("--only", "names", multiple=True, metavar="NAME", help="Experiment; repeatable.")
@_processes
def reproduce_command(size: str, names: tuple[str, ...], processes: int) -> None:
    """Recompute stored results from nothing and compare them row by row.

    The trained policies, on which some of them depend, are trained anew and compared by their
    drops; their name is policies.
    """
    experiments = [find(name) for name in names or EXPERIMENTS if name != POLICIES]
    verdicts = reproduce(experiments, size, results_folder(), processes=processes)
    if not names or POLICIES in names:
        verdicts.append(reproduce_policies(processes=processes))
    _console.print(_verdict_table(verdicts))
    sys.exit(0 if all(verdict.agrees for verdict in verdicts) else 1)


def _verdict_table(verdicts: list[Verdict]) -> Table:
    table = _new_table("result", "rows", "seconds", "manifest", "comparison")
    for verdict in verdicts:
        outcome = "equal" if verdict.difference is None else verdict.difference
        seconds = f"{verdict.seconds:.0f}"
        table.add_row(verdict.name, str(verdict.rows), seconds, verdict.state, outcome)
    return table


def _new_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE)
    for column in columns:
        table.add_column(column, justify="right" if column in ("rows", "seconds") else "left")
    return table


def main() -> None:
    """Run the command line; a user's mistake is one line and exit code 2."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        cli.main(prog_name="python -m mfc_lb.experiments", standalone_mode=False)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except InvalidInput as error:
        _fail(str(error), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted; start it again to go on", 130)


def _fail(message: str, code: int) -> None:
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
