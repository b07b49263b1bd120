"""Traces from files: our own CSV, any other, the Standard Workload Format, Azure Functions."""

import csv
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.trace_columns import (
    NOT_UTF8,
    REPLACED,
    UNITS,
    UNKNOWN,
    Column,
    read_text,
    refuse_line,
)
from mfc_lb.cluster.traces import COLUMNS, Times, Trace
from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import as_path

Tell = Callable[[str], None]

AZURE_COLUMNS = ("app", "func", "end_timestamp", "duration")
SEPARATORS = ",;\t|"

# Of the Standard Workload Format: the positions of the fields that are used, and their number.
SWF_FIELDS = {
    "job number": 0,
    "submit time": 1,
    "run time": 3,
    "allocated processors": 4,
    "requested processors": 7,
    "status": 10,
}
SWF_NUM_FIELDS = 18
# States of lines that are parts of a job: one that goes on, the last of a job that was completed,
# the last of one that failed. Another line, with state 0 or 1, sums the job up.
SWF_PARTS = (2, 3, 4)
SWF_CANCELLED = 5
MOST_JOBS = 10**9


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=3)


@dataclass(frozen=True)
class Layout:
    """Which columns of a CSV file are what.

    Parameters
    ----------
    arrival_column, service_column : str or None
        Names of the columns with arrival and service times.
    time_unit : str or None
        Unit of both: ns, us, ms, s, min or h.

    Notes
    -----
    All three are needed, or none for a file whose layout is known.
    """

    arrival_column: str | None = None
    service_column: str | None = None
    time_unit: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """What is not None, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


def read_trace(
    path: str | Path,
    *,
    arrival_column: str | None = None,
    service_column: str | None = None,
    time_unit: str | None = None,
    expand_parallel: bool = False,
    tell: Tell = _warn,
) -> Trace:
    """Read a trace from a file.

    Parameters
    ----------
    path : str or Path
        A file with one job per line: CSV with the columns of `Trace.write_csv`; the Standard
        Workload Format 2.2; the Azure Functions trace of 2021; or any CSV, by the names of its
        columns. May be compressed with gzip.
    arrival_column : str, optional
        Column of a CSV file with the arrival times: numbers, or timestamps in ISO 8601.
    service_column : str, optional
        Column with the service times.
    time_unit : str, optional
        Unit of both: ns, us, ms, s, min or h. For timestamps, of the service times.
    expand_parallel : bool, optional
        Make a job that ran on p processors p jobs, named by their position; otherwise it is one
        job for one core.
    tell : callable, optional
        Takes one line of text for each kind of job that was left out or changed; a warning when
        omitted.

    Returns
    -------
    Trace
        Empty for an empty file. Numbers are kept as times; where a file has timestamps, or calls
        that began before its time 0, time begins with the first arrival.

    Raises
    ------
    InvalidInput
        At the first thing that is wrong, with file, line, column and value.
    """
    file, text = str(path), read_text(as_path("path", path))
    layout = Layout(arrival_column, service_column, time_unit)
    if layout.time_unit is not None:
        known = isinstance(time_unit, str) and time_unit in UNITS
        require(known, "time_unit", time_unit, f"one of {', '.join(UNITS)}")
    if not text.strip():
        return Trace.from_arrays([], [])
    if not (_is_swf(text) or Path(file.removesuffix(".gz")).suffix.lower() == ".swf"):
        return _read_csv(CsvFile(file, text), layout, tell)
    for name, value in layout.given.items():
        allowed = f"left out: {file} is in the Standard Workload Format"
        raise InvalidInput(f"{name} must be {allowed}, got {value!r}")
    return _read_swf(file, text, expand_parallel=expand_parallel, tell=tell)


# --- CSV --------------------------------------------------------------------------------------


class CsvFile:
    """A CSV file with a header.

    Parameters
    ----------
    file : str
        Its name.
    text : str
        What is in it, not empty. The separator is the one of ``, ; tab |`` that its first line has
        most of.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        first = text.lstrip().partition("\n")[0]
        separator = max(SEPARATORS, key=first.count)
        source = io.StringIO(text, newline="")
        self._rows = csv.reader(source, delimiter=separator, skipinitialspace=True, strict=True)
        self.header = [name.strip() for name in next(self._filled())]

    def columns(self, *names: str) -> list[Column]:
        """Read columns, once; every row must have as many cells as the header."""
        width = len(self.header)
        lines: list[int] = []
        texts: list[list[str]] = [[] for _ in names]
        wanted = list(zip(texts, map(self.header.index, names), strict=True))
        for row in self._filled():
            if len(row) != width:
                allowed = f"have {width} cells, as the header has"
                refuse_line(self.file, self._rows.line_num, allowed, len(row))
            lines.append(self._rows.line_num)
            for cells, place in wanted:
                cells.append(row[place])
        named = zip(names, texts, strict=True)
        return [Column(self.file, name, cells, lines) for name, cells in named]

    def _filled(self) -> Iterator[list[str]]:
        """Go through the rows that are not blank."""
        try:
            yield from (row for row in self._rows if row and row != [""])
        except csv.Error as error:
            refuse_line(self.file, self._rows.line_num, "be CSV", str(error))


def _read_csv(source: CsvFile, layout: Layout, tell: Tell) -> Trace:
    names = set(source.header)
    if not layout.given:
        if names.issuperset(COLUMNS[1:]):
            return _read_own(source)
        if names.issuperset(AZURE_COLUMNS):
            return _read_azure(source, tell)
    return _read_named(source, layout)


def _read_own(source: CsvFile) -> Trace:
    chosen = [name for name in COLUMNS if name in source.header]
    *names, arrivals, services = source.columns(*chosen)
    ids = names[0].distinct_integers() if names else None
    arrivals_us, services_us = arrivals.times("us"), services.times("us")
    for column in (arrivals, services):
        column.integers()  # a fraction of a microsecond is refused, not rounded
    return Trace.from_arrays(arrivals_us, services_us, ids)


def _read_named(source: CsvFile, layout: Layout) -> Trace:
    there = f"one of the columns of {source.file} ({_listed(source.header)})"
    there += NOT_UTF8 if REPLACED in "".join(source.header) else ""
    for name in ("arrival_column", "service_column"):
        value = getattr(layout, name)
        require(source.header.count(value) == 1, name, value, there)
    unit = layout.time_unit
    require(unit is not None, "time_unit", unit, f"one of {', '.join(UNITS)}")
    arrivals, services = source.columns(str(layout.arrival_column), str(layout.service_column))
    durations = services.times(str(unit))
    if arrivals.is_timestamps():
        return Trace.from_arrays(_from_first(arrivals.timestamps()), durations)
    return Trace.from_arrays(arrivals.times(str(unit)), durations)


def _listed(names: list[str], most: int = 20) -> str:
    """Return names in one line, and not too many."""
    listed = ", ".join(" ".join(name.split()) for name in names[:most])
    return listed if len(names) <= most else f"{listed}, and {len(names) - most} more"


def _read_azure(source: CsvFile, tell: Tell) -> Trace:
    ends, durations = source.columns(*AZURE_COLUMNS[2:])
    services = durations.times("s")
    arrivals = ends.times("s") - services
    early = np.count_nonzero(arrivals < 0)
    if early:
        told = f"{early} of {len(arrivals)} calls began before time 0"
        tell(f"{source.file}: {told}; time begins with the first of them")
        arrivals = _from_first(arrivals)
    return Trace.from_arrays(arrivals, services)


def _from_first(arrivals: Times) -> Times:
    return np.asarray(arrivals - arrivals.min())


# --- Standard Workload Format -----------------------------------------------------------------


def _is_swf(text: str) -> bool:
    """Return whether the first line is a comment or 18 fields between blanks."""
    first = text.lstrip().partition("\n")[0]
    fields = first.split()
    return first.startswith(";") or ("," not in first and len(fields) == SWF_NUM_FIELDS)


def _read_swf(file: str, text: str, *, expand_parallel: bool, tell: Tell) -> Trace:
    columns = _swf_columns(file, text)
    arrivals = columns["submit time"].times("s", or_unknown=True)
    services = columns["run time"].times("s", or_unknown=True)
    processors = _swf_processors(columns)
    kept = _swf_kept(columns, arrivals, services, lambda line: tell(f"{file}: {line}"))
    names = columns["job number"].select(kept).distinct_integers()
    arrivals, services, processors = arrivals[kept], services[kept], processors[kept]
    if expand_parallel:
        few = float(processors.sum(dtype=np.float64)) <= MOST_JOBS
        require(few, "expand_parallel", True, f"left out for more than {MOST_JOBS} jobs in all")
        return Trace.from_arrays(arrivals.repeat(processors), services.repeat(processors))
    several = np.count_nonzero(processors > 1)
    if several:
        told = f"{several} of {len(kept)} jobs ran on several processors"
        tell(f"{file}: {told}; each is kept as one job for one core")
    return Trace.from_arrays(arrivals, services, names)


def _swf_columns(file: str, text: str) -> dict[str, Column]:
    lines: list[int] = []
    texts: dict[str, list[str]] = {name: [] for name in SWF_FIELDS}
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";"):
            continue
        if len(fields) != SWF_NUM_FIELDS:
            refuse_line(file, number, f"have {SWF_NUM_FIELDS} fields", len(fields))
        lines.append(number)
        for name, place in SWF_FIELDS.items():
            texts[name].append(fields[place])
    return {name: Column(file, name, cells, lines) for name, cells in texts.items()}


def _swf_processors(columns: dict[str, Column]) -> Times:
    """Return the processors each job got or, if that is not known, asked for; at least one."""
    got = columns["allocated processors"].integers(or_unknown=True)
    asked = columns["requested processors"].integers(or_unknown=True)
    return np.maximum(1, np.where(got > 0, got, asked))


def _swf_kept(columns: dict[str, Column], arrivals: Times, services: Times, tell: Tell) -> Times:
    """Return the rows that are whole jobs with known times."""
    status = columns["status"].integers(or_unknown=True)
    got = columns["allocated processors"].integers(or_unknown=True)
    parts = np.isin(status, SWF_PARTS)
    unknown = ((arrivals == UNKNOWN) | (services == UNKNOWN)) & ~parts
    kept = ~(parts | unknown)
    never_ran = kept & (status == SWF_CANCELLED) & (services == 0) & (got <= 0)
    _tell_parts(columns["job number"], parts, tell)
    jobs = len(parts) - np.count_nonzero(parts)
    if unknown.any():
        told = f"{unknown.sum()} of {jobs} jobs are left out"
        tell(f"{told}: their submit or run time is unknown (-1)")
    if never_ran.any():
        told = f"{never_ran.sum()} of {jobs} jobs were cancelled before they ran"
        tell(f"{told}; they are kept, with a service time of 0")
    return np.flatnonzero(kept)


def _tell_parts(numbers: Column, parts: NDArray[np.bool_], tell: Tell) -> None:
    """Tell of lines that are left out because they are parts of jobs."""
    if not parts.any():
        return
    names = np.array(numbers.texts)
    summed_up = int(np.isin(names[parts], names[~parts]).sum())
    reasons = {"other lines sum up": summed_up, "no line sums up": parts.sum() - summed_up}
    for reason, count in reasons.items():
        if count:
            tell(f"{count} of {len(parts)} lines are left out: parts of jobs that {reason}")
