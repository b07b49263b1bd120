"""One look for all figures: a colour and a marker for each policy, opaque white, small pages first.

Figures are made for a column of 5.2 inches, so that they stay readable on a telephone. They are
`matplotlib.figure.Figure` objects of their own; nothing here touches pyplot or its state.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

Anything = ParamSpec("Anything")

#: Width of every figure, in inches.
WIDTH = 5.2

#: Grey of reference lines and of what is not a policy.
GREY = "#555555"

#: What the axes say.
DELAY_LABEL = "synchronisation delay Δt (mean service times)"
DROPS_LABEL = "drops per queue"
QUEUES_LABEL = "number of queues M"
AGENTS_LABEL = "number of agents N"
RATIO_LABEL = "agents per queue N/M"
TIME_LABEL = "time (mean service times)"

_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#333333",
    "axes.grid": True,
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "savefig.facecolor": "white",
    "xtick.labelsize": 9.0,
    "xtick.major.width": 0.7,
    "xtick.minor.width": 0.5,
    "ytick.labelsize": 9.0,
    "ytick.major.width": 0.7,
    "ytick.minor.width": 0.5,
}


@dataclass(frozen=True)
class Look:
    """Colour and marker of a policy or balancer."""

    color: str
    marker: str


# Okabe and Ito's palette, which people with any colour vision can tell apart.
_LOOKS = {
    "RND": Look("#0072B2", "o"),
    "JSQ": Look("#D55E00", "s"),
    "softmin": Look("#009E73", "^"),
    "SED": Look("#E69F00", "D"),
    "MF": Look("#CC79A7", "P"),
}
# Balancers by their names; those that are a policy of the model look like it.
_LOOKS |= {
    "random": _LOOKS["RND"],
    "jsq": _LOOKS["JSQ"],
    "mean-field": _LOOKS["MF"],
    "round-robin": Look("#56B4E9", "v"),
    "least-loaded": Look("#000000", "X"),
}


def look(policy: str) -> Look:
    """Return the look of a policy or balancer, the same in every figure.

    ``JSQ(2)`` looks like any JSQ, and ``jsq:3`` like any jsq.
    """
    return _LOOKS[policy.partition("(")[0].partition(":")[0]]


def styled(draw: Callable[Anything, Figure]) -> Callable[Anything, Figure]:
    """Make a function draw in this style, whatever style is set around it.

    The figure is laid out here, once: a layout that changes a little each time that a figure is
    drawn would make its files differ.
    """

    @wraps(draw)
    def draw_in_style(*args: Anything.args, **kwargs: Anything.kwargs) -> Figure:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_STYLE)
            figure = draw(*args, **kwargs)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            return figure

    return draw_in_style


def new_figure(
    height: float, rows: int = 1, columns: int = 1, **sharing: Any
) -> tuple[Figure, Any]:
    """Return a figure of the usual width and its axes, as an array of shape (rows, columns)."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **sharing)
    for panel in figure.axes:
        # How many ticks there are depends on this whenever the figure is drawn, in any style.
        panel.tick_params(labelsize=_STYLE["xtick.labelsize"])
    return figure, axes


def legend_above(figure: Figure, handles: Sequence[Any], title: str | None = None) -> None:
    """Put a legend above the panels, where no data are; wide entries go into two rows."""
    width = sum(4 + len(handle.get_label()) for handle in handles)
    columns = len(handles) if width <= 60 else math.ceil(len(handles) / 2)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, title=title)


def policy_handle(policy: str, label: str | None = None) -> Line2D:
    """Return a legend's entry for a policy."""
    style = look(policy)
    return Line2D([], [], color=style.color, marker=style.marker, label=label or policy)


def line_handle(label: str, color: str = GREY, **style: Any) -> Line2D:
    """Return a legend's entry for a line."""
    return Line2D([], [], color=color, label=label, **style)


def draw_band(axes: Axes, x: Any, table: Any, policy: str, **line: Any) -> None:
    """Draw estimates as a line with markers and their 95 % intervals as a band."""
    style = look(policy)
    axes.fill_between(
        x, table.interval_low, table.interval_high, color=style.color, alpha=0.2, linewidth=0
    )
    axes.plot(x, table.estimate, color=style.color, marker=style.marker, **line)


def draw_bars(axes: Axes, x: Any, table: Any, policy: str, **style: Any) -> None:
    """Draw estimates as markers with their 95 % intervals as bars."""
    bars = [table.estimate - table.interval_low, table.interval_high - table.estimate]
    chosen = {"color": look(policy).color, "marker": look(policy).marker} | style
    axes.errorbar(x, table.estimate, yerr=bars, linestyle="none", elinewidth=1.1, **chosen)


def side_by_side(number: int, total: int) -> float:
    """Return by how many steps a marker is moved, so that it hides none of those at its place.

    A caption says it: "Markers stand side by side around their place, so that none hides another."

    Examples
    --------
    >>> [side_by_side(number, 3) for number in range(3)]
    [-1.0, 0.0, 1.0]
    """
    return number - (total - 1) / 2


def plain_log(axis: Any, most: int = 9) -> None:
    """Label a logarithmic axis with at most so many plain numbers, once its limits are settled."""
    low, high = axis.get_view_interval()
    # Within two decades, the powers of ten alone would be one or two labels.
    labelled = (1.0, 2.0, 5.0) if high < 150 * low else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=labelled, numticks=most))
    axis.set_minor_locator(LogLocator(base=10, subs=tuple(range(2, 10)), numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    axis.set_minor_formatter(NullFormatter())


def plain_number(value: float) -> str:
    """Return a number as people write it.

    Examples
    --------
    >>> plain_number(0.01), plain_number(100.0), plain_number(1e6), plain_number(2e-9)
    ('0.01', '100', '10⁶', '2·10⁻⁹')
    """
    if value <= 0 or 1e-3 <= value <= 9999:
        return f"{value:g}"
    if value <= 99_999 and value > 1:
        return f"{value:,.0f}".replace(",", " ")
    factor, exponent = f"{value:.3e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if float(factor) == 1 else f"{float(factor):g}·{power}"


def delay_title(delta_t: float) -> str:
    """Return the title of a panel for one delay."""
    return f"Δt = {delta_t:g}"


def reference_slope(
    axes: Axes, x: NDArray[Any], through: tuple[float, float], exponent: float
) -> None:
    """Draw the power law with an exponent through a point."""
    at, value = through
    axes.plot(x, value * (x / at) ** exponent, color=GREY, linestyle=":", linewidth=1.1)
