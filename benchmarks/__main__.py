"""``python -m benchmarks``: measure and print."""

import benchmarks.one_thread  # isort: skip  # noqa: F401  (before anything that loads NumPy)

import math
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table

from benchmarks import cluster, finite, gradients, grid, live_cluster, mean_field, memory
from mfc_lb.cli.table_file import Row, TableFile, table_file
from mfc_lb.cli.terminal import console

Measurement = (
    mean_field.Measured | memory.Peak | cluster.Size | live_cluster.Measure | grid.GridTime
)

COLUMNS = ("case", "usual", "ours", "seconds", "unit", "ratio", "low", "high", "target")
UNITS = {"Measured": "s", "Peak": "MiB", "GridTime": "s"}


@click.command()
@click.option("--pairs", default=15, show_default=True, help="Paired measurements of each ratio.")
@click.option(
    "--grid", "with_grid", is_flag=True, help="Also time the paper's whole grid: some minutes."
)
@click.option("--output", type=TableFile(), metavar="FILE.csv", help="Also write a table.")
def main(pairs: int, with_grid: bool, output: Path | None) -> None:
    """Measure the library against the usual way of doing the same work.

    Each ratio is the median of paired measurements, taken in turns, in one process with one thread.
    """
    machine = f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
    terminal = console()
    terminal.print(f"{machine}; {pairs} pairs each; one thread")
    with table_file(output) as table:
        for show, measurements in _tables(pairs, with_grid):
            done = list(measurements)
            terminal.print(show(done))
            table.extend([_row(measured) for measured in done])


def _tables(
    pairs: int, with_grid: bool
) -> Iterator[tuple[Callable[[list[Any]], Table], Iterator[Measurement]]]:
    yield _show_ratios, _ratios(pairs)
    yield _show_peaks, _peaks()
    yield _show_sizes, cluster.measure_large()
    yield _show_live, live_cluster.measure()
    if with_grid:
        yield _show_grids, (grid.measure(routing) for routing in grid.TARGETS)


def _ratios(pairs: int) -> Iterator[mean_field.Measured]:
    for batch in mean_field.TARGETS:
        yield from mean_field.measure(batch, pairs)
    yield gradients.measure(pairs)
    for routing in finite.TARGETS:
        yield finite.measure(routing, pairs)
    for peer in cluster.TARGETS:
        yield cluster.measure(peer, pairs)


def _peaks() -> Iterator[memory.Peak]:
    for routing in finite.TARGETS:
        for num_agents in (10**4, 10**7, 10**9):
            yield memory.measure(routing, num_agents, usual=num_agents <= 10**7)


def _show_ratios(measurements: list[mean_field.Measured]) -> Table:
    title = f"Microseconds per environment step or epoch; {mean_field.NOTE}"
    table = _new_table(title, "usual", "ours", "ratio", "quartiles")
    for m in measurements:
        quartiles = f"{m.low:.0f} to {m.high:.0f}"
        reached = "" if m.target is None else _reached(m.ratio >= m.target, f"{m.target:.0f}")
        times = _microseconds(m.usual), _microseconds(m.ours)
        table.add_row(m.case, *times, f"{m.ratio:.0f}", quartiles, reached)
    return table


def _show_peaks(measurements: list[memory.Peak]) -> Table:
    table = _new_table("Peak memory of a process, in MiB", "usual", "ours")
    for m in measurements:
        usual = "not tried" if math.isnan(m.usual) else f"{m.usual:.0f}"
        table.add_row(m.case, usual, f"{m.ours:.0f}", "")
    return table


def _show_sizes(measurements: list[cluster.Size]) -> Table:
    table = _new_table("One large simulation of a cluster", "ours")
    for m in measurements:
        reached = _reached(m.ours <= m.target, f"{m.target:.0f} {m.unit}")
        table.add_row(m.case, f"{m.ours:.1f} {m.unit}", reached)
    return table


def _show_live(measurements: list[live_cluster.Measure]) -> Table:
    title = "A live cluster on loopback: client, balancer and 3 workers as processes"
    table = _new_table(title, "ours")
    for m in measurements:
        reached = "" if m.target is None else _reached(m.ours >= m.target, f"{m.target:,.0f}")
        table.add_row(m.case, f"{m.ours:,.4g} {m.unit}", reached)
    return table


def _show_grids(measurements: list[grid.GridTime]) -> Table:
    table = _new_table("Wall time of the paper's whole grid", "ours")
    for m in measurements:
        limit = m.target
        reached = "" if limit is None else _reached(m.seconds <= limit, f"{limit:.0f} s")
        table.add_row(m.case, f"{m.seconds:.0f} s", reached)
    return table


def _new_table(title: str, *columns: str) -> Table:
    table = Table("case", title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for column in (*columns, "target"):
        table.add_column(column, justify="right")
    return table


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f}"


def _reached(yes: bool, target: str) -> str:
    return f"{target} {'reached' if yes else 'missed'}"


def _row(measurement: Measurement) -> Row:
    known = {"unit": UNITS.get(type(measurement).__name__)} | asdict(measurement)
    return {column: known.get(column, "") for column in COLUMNS}


if __name__ == "__main__":
    main()
