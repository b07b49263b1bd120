"""Figures of jobs that a balancer sends to workers: loads over time, and what old news cost."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from mfc_lb.figures.style import (
    legend_above,
    look,
    new_figure,
    plain_log,
    plain_number,
    styled,
)
from mfc_lb.figures.traces import UNITS, plural_unit, time_unit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

LOAD_LABEL = "jobs per core"
REFRESH_LABEL = "refresh interval (s)"
#: Titles of panels with moments of the load that have its unit; they are not negative.
MOMENT_TITLES = {
    "load_mean": "mean load",
    "load_standard_deviation": "standard deviation of the load",
}
# Of those without a unit.
_SHAPE_TITLES = {
    "load_skewness": "skewness of the load",
    "load_excess_kurtosis": "excess kurtosis of the load",
}

_MEASURES = {
    "response_time": "mean response\ntime (s)",
    "response_time_p99": "99 % respond\nwithin (s)",
    "drops": "drops\nper worker",
}
# Round robin and least loaded often coincide: then both are seen.
_WIDTHS = {"round-robin": 3.2}
# Balancers of one kind have one colour, and these lines.
_LINES = ("-", "--", ":", "-.")
# Values that differ by more than this factor are shown on a logarithmic axis.
_WIDE = 8
# So much of a decade lies between the smallest interval and 0, which a logarithm has no place for.
_TO_ZERO = 0.3
# Labels are at least so far apart, in heights of their letters.
_BETWEEN_LABELS = 0.25


@styled
def load_curves(
    table: "pd.DataFrame", measures: Sequence[str] = ("load_mean", "load_standard_deviation")
) -> "Figure":
    """Show two moments of the workers' loads over time, by default mean and standard deviation.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trace_study``; only its averages over windows of time are shown.
    measures : sequence of str, optional
        Two of ``load_mean``, ``load_standard_deviation``, ``load_skewness`` and
        ``load_excess_kurtosis``.

    Returns
    -------
    Figure
        One row for each trace, one column for each moment, with a line and its 95 % band for each
        balancer.
    """
    curves = table[(table.reference == "none") & np.isfinite(table.window_end)]
    traces = list(curves.trace.unique())
    figure, axes = new_figure(1.0 + 1.45 * len(traces), len(traces), 2, sharex=True, sharey="col")
    lines = {
        name: style | {"marker": "", "linewidth": _WIDTHS.get(name, 1.4)}
        for name, style in line_styles(curves.balancer.unique()).items()
    }
    unit = time_unit(curves.window_end.max() * UNITS["s"] / 5)
    for row, trace in zip(axes, traces, strict=True):
        for panel, measure in zip(row, measures, strict=True):
            here = curves[(curves.trace == trace) & (curves.measure == measure)]
            _draw_curves(panel, here, lines, UNITS["s"] / UNITS[unit])
        alone = LOAD_LABEL if measures[0] in MOMENT_TITLES else ""
        row[0].set_ylabel(_row_label(trace) if len(traces) > 1 else alone)
    for panel, measure in zip(axes[0], measures, strict=True):
        named = f"\n({LOAD_LABEL})" if len(traces) > 1 and measure in MOMENT_TITLES else ""
        panel.set_title((MOMENT_TITLES | _SHAPE_TITLES)[measure] + named)
        if measure in MOMENT_TITLES:
            panel.set_ylim(0, None)
        else:
            _show_zero(panel, curves[curves.measure == measure])
    figure.align_ylabels(axes[:, 0])
    figure.supxlabel(f"time since the first arrival ({plural_unit(unit)})", fontsize="medium")
    _legend(figure, lines)
    return figure


@styled
def refresh_curves(table: "pd.DataFrame", measures: Sequence[str] | None = None) -> "Figure":
    """Show response times and drops against the refresh interval.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trace_delay``, or of ``mfc-lb cluster compare``.
    measures : sequence of str, optional
        Which of ``response_time``, ``response_time_p99`` and ``drops``; by default those that the
        table has.

    Returns
    -------
    Figure
        One row for each measure, one column for each trace: a line with 95 % bars for each
        balancer. Response times that differ much are on a logarithmic axis.
    """
    plain = table[table.reference == "none"]
    present = set(plain.measure)
    rows = [name for name in (measures or _MEASURES) if name in present]
    traces = list(plain.trace.unique())
    figure, axes = new_figure(
        1.1 + 1.6 * len(rows), len(rows), len(traces), sharex="col", sharey="row"
    )
    lines = line_styles(plain.balancer.unique())
    for row, measure in zip(axes, rows, strict=True):
        here = plain[plain.measure == measure]
        for panel, trace in zip(row, traces, strict=True):
            _draw_refresh(panel, here[here.trace == trace], lines)
        _finish_values(row, here)
        row[0].set_ylabel(_MEASURES[measure])
    figure.align_ylabels(axes[:, 0])
    for column, trace in zip(axes.T, traces, strict=True):
        shown = [panel for panel in column if panel.get_visible()]
        shown[0].set_title(_in_words(trace))
        shown[-1].tick_params(labelbottom=True)
    figure.supxlabel(REFRESH_LABEL, fontsize="medium")
    _legend(figure, lines)
    # Only a figure that is laid out knows how wide its labels are.
    figure.draw_without_rendering()
    for panel in figure.axes:
        _thin_out(panel.get_xticklabels())
    return figure


def line_styles(balancers: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return what the lines of balancers look like: colour, marker and dashes.

    Parameters
    ----------
    balancers : iterable of str
        Such as ``least-loaded`` or ``jsq:2``; those of one kind share colour and marker.

    Returns
    -------
    dict of str to dict
        Properties of a line, by balancer.
    """
    seen: dict[str, int] = {}
    styles = {}
    for balancer in map(str, balancers):
        kind = balancer.partition(":")[0]
        seen[kind] = seen.get(kind, -1) + 1
        style = look(kind)
        dashes = _LINES[seen[kind] % len(_LINES)]
        styles[balancer] = {"color": style.color, "marker": style.marker, "linestyle": dashes}
    return styles


def _draw_curves(
    axes: "Axes", table: "pd.DataFrame", lines: Mapping[str, Any], units_per_second: float
) -> None:
    for balancer, curve in table.groupby("balancer", sort=False):
        style = lines[str(balancer)]
        middle = (curve.window_start + curve.window_end) / 2 * units_per_second
        band = curve.interval_low, curve.interval_high
        axes.fill_between(middle, *band, color=style["color"], alpha=0.2, linewidth=0)
        axes.plot(middle, curve.estimate, **style)
    ends = table.window_start.min(), table.window_end.max()
    axes.set_xlim(*(end * units_per_second for end in ends))


def _show_zero(axes: "Axes", table: "pd.DataFrame") -> None:
    """Let the axis of a moment that may be negative include 0."""
    low, high = min(0.0, table.interval_low.min()), max(0.0, table.interval_high.max())
    room = 0.05 * (high - low)
    axes.set_ylim(low - room, high + room)


def _draw_refresh(axes: "Axes", table: "pd.DataFrame", lines: Mapping[str, Any]) -> None:
    if table.empty:
        axes.set_visible(False)
        return
    places = _places(sorted(table.refresh_interval.unique()))
    for balancer, curve in table.groupby("balancer", sort=False):
        bars = [curve.estimate - curve.interval_low, curve.interval_high - curve.estimate]
        x = [places[interval] for interval in curve.refresh_interval]
        axes.errorbar(x, curve.estimate, yerr=bars, elinewidth=1.1, **lines[str(balancer)])
    labels = [plain_number(interval) for interval in places]
    axes.set_xticks(list(places.values()), labels)


def _thin_out(labels: "Sequence[Text]") -> None:
    """Hide labels that would touch others: the last and the first stay, then powers of ten."""
    powers_first = sorted(labels[1:], key=lambda label: label.get_text().strip("0.") != "1")
    kept: list[tuple[float, float]] = []
    for label in dict.fromkeys([*labels[-1:], *labels[:1], *powers_first]):
        extent = label.get_window_extent()
        gap = _BETWEEN_LABELS * extent.height
        left, right = extent.x0 - gap, extent.x1 + gap
        free = all(right < low or high < left for low, high in kept)
        label.set_visible(free)
        if free:
            kept.append((extent.x0, extent.x1))


def _places(intervals: Sequence[float]) -> dict[float, float]:
    """Return where intervals lie: by their logarithm, and 0 a little before the smallest."""
    positive = [interval for interval in intervals if interval > 0]
    places = {interval: math.log10(interval) for interval in positive}
    first = min(places.values(), default=0.0)
    gap = max(_TO_ZERO, (max(places.values(), default=0.0) - first) / 6)
    return {interval: places.get(interval, first - gap) for interval in intervals}


def _finish_values(row: Sequence["Axes"], table: "pd.DataFrame") -> None:
    low, high = table.estimate.min(), table.estimate.max()
    shared = next(panel for panel in row if panel.get_visible())
    if table.measure.iloc[0] != "drops" and low > 0 and high > _WIDE * low:
        for panel in row:
            panel.set_yscale("log")
        shared.autoscale_view()
        plain_log(shared.yaxis)
    else:
        shared.set_ylim(0, None)


def _in_words(trace: str) -> str:
    """Return the title of a trace: the study's names are arrivals, then service."""
    arrivals, _, service = trace.partition("_")
    studied = arrivals in ("constant", "ramp") and service in ("constant", "trimodal")
    return f"{arrivals} / {service}" if studied else trace


def _row_label(trace: str) -> str:
    arrivals, slash, service = _in_words(trace).partition(" / ")
    return f"{arrivals} arrivals,\n{service} service" if slash else trace


def _legend(figure: "Figure", lines: Mapping[str, Any]) -> None:
    handles = [Line2D([], [], label=name, **style) for name, style in lines.items()]
    legend_above(figure, handles)
