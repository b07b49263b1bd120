"""Figures of work traces: when jobs arrive, and how long they need a core."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mfc_lb.figures.style import GREY, new_figure, plain_log, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = NDArray[np.float64]

#: Microseconds in a unit of time.
UNITS = {
    "µs": 1,
    "ms": 10**3,
    "s": 10**6,
    "min": 60 * 10**6,
    "hour": 3600 * 10**6,
    "day": 24 * 3600 * 10**6,
}
# A bar of the arrival rate stands for at least so many jobs, on average.
_JOBS_PER_BAR, _MOST_BARS = 20, 60
_MOST_STEPS = 1000
# Service times that differ by more than this factor are shown on a logarithmic axis.
_WIDE = 100


@styled
def work_trace(table: "pd.DataFrame") -> "Figure":
    """Show a trace: its arrival rate over time, and its service times.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.cluster.Trace.to_frame`.

    Returns
    -------
    Figure
        Above, the arrivals per unit of time since the first arrival; below, the fraction of the
        jobs that need a core for at most so long. Both are without a curve for an empty trace.
    """
    figure, axes = new_figure(4.4, 2)
    _draw_arrivals(axes[0, 0], table.arrival_time_us.to_numpy())
    _draw_services(axes[1, 0], table.service_time_us.to_numpy())
    return figure


def _draw_arrivals(axes: "Axes", arrivals: NDArray[np.int64]) -> None:
    axes.set_title(f"when the jobs arrive ({len(arrivals):,} in all)".replace(",", " "))
    duration = int(arrivals[-1] - arrivals[0]) if len(arrivals) else 0
    unit = time_unit(duration / 5)
    if duration:
        rates, edges = _arrival_rates(arrivals - arrivals[0], unit)
        axes.stairs(rates, edges, fill=True, color="#cccccc")
        axes.stairs(rates, edges, color=GREY, linewidth=1.1)
        axes.set_xlim(0, edges[-1])
    else:
        told = "all arrive at one instant" if len(arrivals) else "no jobs"
        axes.text(0.5, 0.5, told, transform=axes.transAxes, ha="center", va="center")
        axes.set(xticks=[], yticks=[])
    axes.set(xlabel=f"time since the first arrival ({plural_unit(unit)})", ylim=(0, None))
    axes.set_ylabel(f"jobs per {unit}")


def _arrival_rates(since: NDArray[np.int64], unit: str) -> tuple[Numbers, Numbers]:
    """Return arrivals per unit of time in intervals of a round length, and their ends."""
    # The last job stands for the time until another would have come.
    end = int(since[-1]) * len(since) / (len(since) - 1)
    bars = min(_MOST_BARS, max(1, len(since) // _JOBS_PER_BAR))
    width = max(1, round(_round_up(end / bars / UNITS[unit]) * UNITS[unit]))
    edges = np.arange(0, end, width, dtype=np.float64)
    if len(edges) > 1 and end - edges[-1] < width / 2:
        edges = edges[:-1]
    edges = np.append(edges, end)
    counts, _ = np.histogram(since, edges)
    return counts / np.diff(edges) * UNITS[unit], edges / UNITS[unit]


def _draw_services(axes: "Axes", services: NDArray[np.int64]) -> None:
    longest, positive = int(services.max(initial=0)), services[services > 0]
    wide = len(positive) > 0 and longest > _WIDE * positive.min()
    unit = time_unit(float(np.median(positive)) if wide else longest)
    end = 1.15 * longest / UNITS[unit] or 1.0
    if len(services):
        steps = _distribution(services / UNITS[unit], end)
        axes.step(*steps, where="post", color=GREY, linewidth=1.6)
    if wide:
        axes.set(xscale="log", xlim=(positive.min() / UNITS[unit], end))
        plain_log(axes.xaxis)
    else:
        axes.set_xlim(0, end)
    axes.set_title("how long the jobs need a core")
    axes.set(xlabel=f"service time ({plural_unit(unit)})", ylim=(0, 1.04))
    axes.set_ylabel("fraction of jobs\nthat need no longer")


def _distribution(values: Numbers, end: float) -> tuple[Numbers, Numbers]:
    """Return the steps of the distribution function up to `end`, thinned if there are many."""
    times, counts = np.unique(values, return_counts=True)
    fractions = np.cumsum(counts) / len(values)
    if len(times) > _MOST_STEPS:
        kept = np.unique(np.linspace(0, len(times) - 1, _MOST_STEPS).astype(int))
        times, fractions = times[kept], fractions[kept]
    return np.r_[times[0], times, end], np.r_[0.0, fractions, 1.0]


def time_unit(microseconds: float) -> str:
    """Return the largest unit that fits into a time."""
    fitting = [name for name, length in UNITS.items() if length <= microseconds]
    return fitting[-1] if fitting else "µs"


def plural_unit(unit: str) -> str:
    """Return a unit of time as an axis names it."""
    return f"{unit}s" if unit in ("hour", "day") else unit


def _round_up(number: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ..."""
    power = 10.0 ** math.floor(math.log10(number))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= number * (1 - 1e-9))
