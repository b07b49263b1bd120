"""What a reproduction found: for people on the terminal, all of it as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from mfc_lb.results.differences import Difference
from mfc_lb.results.reproduction import Verdict

#: Differences of one result that are shown on the terminal.
MOST_SHOWN = 20

_COLUMNS = ("result", "row", "column", "stored", "recomputed", "difference")


def terminal_report(verdicts: Sequence[Verdict]) -> Group:
    """Return one line for each result, and the first differences of each."""
    details = [_detail(verdict) for verdict in verdicts if verdict.differences]
    faults = [Text(f"{verdict.name}: {verdict.fault}") for verdict in verdicts if verdict.fault]
    return Group(_overview(verdicts), *details, *faults, Text(_conclusion(verdicts)))


def csv_report(verdicts: Iterable[Verdict]) -> bytes:
    """Return all differences as CSV, one line for each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for verdict in verdicts:
        for one in verdict.differences:
            writer.writerow([verdict.name, *_cells(one)])
    return text.getvalue().encode()


def _overview(verdicts: Iterable[Verdict]) -> Table:
    table = Table(box=box.SIMPLE)
    right = {"rows", "differ", "seconds"}
    for name in ("result", "done", "rows", "differ", "seconds", "checksum", "outcome"):
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for verdict in verdicts:
        table.add_row(
            verdict.name,
            verdict.way,
            str(verdict.rows),
            str(verdict.differing_rows),
            f"{verdict.seconds:.0f}",
            verdict.checksum,
            "agrees" if verdict.agrees else "DIFFERS",
        )
    return table


def _detail(verdict: Verdict) -> Table:
    number = len(verdict.differences)
    shown = f"the first {MOST_SHOWN} of {number}" if number > MOST_SHOWN else str(number)
    table = Table(title=f"{verdict.name}: {shown} differences", box=box.SIMPLE)
    for name in _COLUMNS[1:]:
        table.add_column(name)
    for one in verdict.differences[:MOST_SHOWN]:
        table.add_row(*_cells(one))
    return table


def _cells(one: Difference) -> list[str]:
    return [one.row, one.column, str(one.stored), str(one.fresh), f"{one.size:.3g}"]


def _conclusion(verdicts: Sequence[Verdict]) -> str:
    wrong = [verdict.name for verdict in verdicts if not verdict.agrees]
    rows = sum(verdict.rows for verdict in verdicts)
    if not wrong:
        agreeing = (
            f"All {len(verdicts)} results agree" if len(verdicts) > 1 else "The result agrees"
        )
        return f"{agreeing}, row by row ({rows} rows)."
    return f"{len(wrong)} of {len(verdicts)} results do not agree: {', '.join(wrong)}."
