"""The commands of `mfc-lb results`."""

import sys
from pathlib import Path

import click

from mfc_lb.baseline import in_force
from mfc_lb.cli.results import results
from mfc_lb.cli.terminal import console, new_table
from mfc_lb.errors import check_int
from mfc_lb.experiments import EXPERIMENTS, find
from mfc_lb.experiments.learned import reproduce_policies, store_all
from mfc_lb.results.checksums import (
    checksums_file,
    compute_checksums,
    keep_checksums,
    kept_checksums,
)
from mfc_lb.results.folders import results_folder
from mfc_lb.results.reproduction import reproduce
from mfc_lb.results.reproduction_report import csv_report, terminal_report
from mfc_lb.results.runner import locked, run
from mfc_lb.results.spot_check import spot_check
from mfc_lb.results.storage import StoredResult, write_bytes

#: Names of what is stored, beside those of the experiments.
POLICIES, TRACES, LIVE_CLUSTER = _OTHERS = ("policies", "traces", "live_cluster")

_SIZES = click.Choice(["quick", "paper"])
_SIZES_HELP = "quick: seconds each. paper: the paper's sizes, minutes to an hour each."
_processes = click.option(
    "--processes", default=-1, show_default=True, help="Number of processes; -1: one per core."
)
_dask = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Scheduler of a Dask cluster that does the work, such as tcp://127.0.0.1:8786. Needs the "
    "extra 'dask': pip install 'mfc_lb[dask]'.",
)
_output = click.option(
    "--output", type=click.Path(path_type=Path), help="Folder of results [default: data/results]."
)


@results.command("list", epilog="\b\nExample:\n  mfc-lb results list")
def list_command() -> None:
    """Show the experiments and what is stored of them."""
    table = new_table("Experiments", "name")
    for column in ("question", "quick", "paper"):
        table.add_column(column)
    for experiment in map(find, EXPERIMENTS):
        states = (
            StoredResult(results_folder(), experiment, size).state for size in experiment.sizes
        )
        table.add_row(experiment.name, experiment.question, *states)
    console().print(table)


@results.command("run", epilog="\b\nExample:\n  mfc-lb results run comparison --size quick")
@click.argument("name")
@click.option("--size", type=_SIZES, default="quick", show_default=True, help=_SIZES_HELP)
@_processes
@_dask
@_output
def run_command(
    name: str, size: str, processes: int, dask: str | None, output: Path | None
) -> None:
    """Compute the experiment NAME and store its table, unless that is there already."""
    folder = output or results_folder()
    stored = run(find(name), size, folder, processes=processes, dask=dask)
    click.echo(f"{stored.table}: {stored.state}")


@results.command("policies", epilog="\b\nExample:\n  mfc-lb results policies --output policies")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Folder of policies [default: data/policies]."
)
@_processes
@_dask
def policies_command(output: Path | None, processes: int, dask: str | None) -> None:
    """Train the policies for the delays of the paper and store them."""
    for path in store_all(output, processes=processes, dask=dask):
        click.echo(path)


@results.command("record-live", epilog="\b\nExample:\n  mfc-lb results record-live killed")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of recorded runs [default: data/live_cluster].",
)
def record_live_command(names: tuple[str, ...], output: Path | None) -> None:
    """Make the live runs that the book shows and keep their logs: all of them take three minutes.

    They are processes of this machine; how late they are depends on it.
    """
    from mfc_lb.experiments.live_records import record

    for path in record(names, output):
        click.echo(path)


@results.command("reproduce", epilog="\b\nExample:\n  mfc-lb results reproduce --only trace_study")
@click.option("--size", type=_SIZES, default="paper", show_default=True, help=_SIZES_HELP)
@click.option(
    "--only",
    "names",
    type=click.Choice([*EXPERIMENTS, *_OTHERS]),
    multiple=True,
    metavar="NAME",
    help=f"{', '.join([*EXPERIMENTS, *_OTHERS])}; repeatable.  [default: all]",
)
@click.option(
    "--differences",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="CSV file for all differences; the terminal shows the first ones of each result.",
)
@_processes
@_dask
def reproduce_command(
    size: str, names: tuple[str, ...], differences: Path | None, processes: int, dask: str | None
) -> None:
    """Recompute what is stored in data/ from nothing and compare it row by row.

    Besides the experiments there are: policies, which are trained anew and compared by their drops;
    traces, which are generated anew; and live_cluster, recorded runs of real processes, which can
    only be checked.

    Exit code 0 if everything agrees, 1 if anything differs, 2 for a mistake in the command.
    """
    from mfc_lb.experiments.kept_files import check_live_records, reproduce_traces

    if differences is not None:
        write_bytes(differences, csv_report([]))  # refused now, not after hours
    experiments = [find(name) for name in names or EXPERIMENTS if name not in _OTHERS]
    verdicts = reproduce(experiments, size, results_folder(), processes=processes, dask=dask)
    if not names or POLICIES in names:
        verdicts.append(reproduce_policies(processes=processes, dask=dask))
    if not names or TRACES in names:
        verdicts.append(reproduce_traces())
    if not names or LIVE_CLUSTER in names:
        verdicts += check_live_records()
    console().print(terminal_report(verdicts))
    if differences is not None:
        write_bytes(differences, csv_report(verdicts))
        click.echo(f"All differences: {differences}")
    sys.exit(0 if all(verdict.agrees for verdict in verdicts) else 1)


@results.command("check", epilog="\b\nExample:\n  mfc-lb results check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--size", type=_SIZES, default="quick", show_default=True, help=_SIZES_HELP)
@click.option("--write", is_flag=True, help="Keep the checksums of this machine instead.")
@_processes
def check_command(names: tuple[str, ...], size: str, write: bool, processes: int) -> None:
    """Compute tables here and say whether they are the same to the byte as everywhere.

    Compares their checksums with data/checksums.json: for the quick size in two minutes, for all or
    the experiments NAME.

    Exit code 0 if all are the same, 1 if not.
    """
    chosen = [find(name) for name in names or EXPERIMENTS]
    found, kept = compute_checksums(chosen, size, processes), kept_checksums(size)
    same = {name: kept["sha256"].get(name) == checksum for name, checksum in found.items()}
    none_kept = dict.fromkeys(found.keys() - kept["sha256"].keys(), "none is kept")
    table = new_table("Tables", "experiment")
    for column in ("SHA-256", ""):
        table.add_column(column)
    for name, checksum in found.items():
        verdict = "same" if same[name] else none_kept.get(name, "DIFFERS")
        table.add_row(name, checksum[:16], verdict)
    console().print(table)
    click.echo(f"Numerical baseline: {in_force()} here, {kept['baseline']} in data/checksums.json.")
    if write:
        keep_checksums(size, found)
        click.echo(f"Written: {checksums_file()}")
    sys.exit(0 if write or all(same.values()) else 1)


@results.command("spot-check", epilog="\b\nExample:\n  mfc-lb results spot-check comparison")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--size", type=_SIZES, default="paper", show_default=True, help=_SIZES_HELP)
@click.option("--seed", default=1, show_default=True, help="Chooses the cells.")
@_processes
def spot_check_command(names: tuple[str, ...], size: str, seed: int, processes: int) -> None:
    """Compute a random share of the cells of stored results again, after code has changed.

    One cell in twenty, at least three of each experiment NAME, or of all. If they are the same to
    the byte, the manifest says so, and the result is current; if not, run it anew.
    """
    wrong = 0
    for experiment in [find(name) for name in names or EXPERIMENTS]:
        stored = StoredResult(results_folder(), experiment, size)
        differing = spot_check(stored, seed, processes)
        wrong += len(differing)
        shown = f"other: {', '.join(differing)}" if differing else f"the same; {stored.state}"
        click.echo(f"{stored.name}: {shown}")
    sys.exit(1 if wrong else 0)


@results.command("audit", epilog="\b\nExample:\n  mfc-lb results audit trace_study --size quick")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--size", type=_SIZES, default="paper", show_default=True, help=_SIZES_HELP)
@click.option("--seed", default=1, show_default=True, help="Draws the share and the new runs.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="CSV file for the findings."
)
def audit_command(names: tuple[str, ...], size: str, seed: int, output: Path | None) -> None:
    """Recompute a share of every stored table from another seed and count intervals that miss.

    Then compare tables that estimate the same. 5 % of the intervals of 95 % may miss. In one
    process; the paper's size takes some twenty minutes.
    """
    from mfc_lb.experiments.audit import audit_seeds, audit_tables, report

    check_int("seed", seed, 0)
    if output is not None:
        write_bytes(output, report([]))  # refused now, not after minutes
    experiments = [find(name).name for name in names] or list(EXPERIMENTS)
    with locked(results_folder() / ".audit") as work:
        findings = [audit_seeds(name, size, seed, work) for name in experiments]
    findings += [] if names else audit_tables(size)
    click.echo(report(findings), nl=False)
    if output is not None:
        write_bytes(output, report(findings))
