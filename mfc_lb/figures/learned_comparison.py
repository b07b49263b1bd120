"""Figures of the learned policy in finite systems."""

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from mfc_lb.experiments.cases import JSQ, MF, RND, SOFTMIN
from mfc_lb.figures.style import (
    DELAY_LABEL,
    DROPS_LABEL,
    GREY,
    QUEUES_LABEL,
    RATIO_LABEL,
    delay_title,
    draw_band,
    draw_bars,
    legend_above,
    line_handle,
    look,
    new_figure,
    plain_log,
    policy_handle,
    side_by_side,
    styled,
)
from mfc_lb.figures.wording import routing_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUTINGS = ("per_epoch", "per_packet")
_LIMIT: Any = {"linestyle": "--", "linewidth": 1.1}
_SMALLEST: Any = {"markerfacecolor": "white", "linewidth": 0.9}
_SQUARE = f"{QUEUES_LABEL} (N = M²)"


@styled
def learned_by_size(table: "pd.DataFrame", routing: str = "per_packet") -> "Figure":
    """Show that the learned policy's drops approach those of the mean field.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.
    routing : str, optional
        Routing of the finite systems.

    Returns
    -------
    Figure
        One panel for each delay, against the number of queues: the mean field as a dashed line, and
        points with 95 % bars for it plus the paired difference of each finite system from it.
    """
    learned = table[table.policy == MF]
    delays = sorted(learned.delta_t.unique())
    figure, panels = _two_columns(delays, 1.25, sharex=True)
    for panel, delta_t in zip(panels, delays, strict=True):
        here = learned[learned.delta_t == delta_t]
        (limit,) = here.estimate[(here.system == "mean_field") & (here.reference == "none")]
        finite = here[(here.routing == routing) & (here.reference == "mean_field")]
        points = finite[["estimate", "interval_low", "interval_high"]] + limit
        draw_bars(panel, finite.num_queues, points, MF)
        panel.axhline(limit, color=look(MF).color, **_LIMIT)
        panel.set_title(delay_title(delta_t))
        _mark_sizes(panel, finite.num_queues)
    figure.supxlabel(_SQUARE, fontsize="medium")
    figure.supylabel(DROPS_LABEL, fontsize="medium")
    legend_above(figure, [policy_handle(MF), line_handle("mean field", look(MF).color, **_LIMIT)])
    return figure


@styled
def distance_by_size(
    table: "pd.DataFrame", delta_ts: "Sequence[float]", policy: str = MF
) -> "Figure":
    """Show how much more a policy drops in a finite system than in the mean field.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.
    delta_ts : sequence of float
        Delays, of those of the table.
    policy : str, optional
        Name of the policy.

    Returns
    -------
    Figure
        Paired differences with 95 % bars against the number of queues, one panel for each routing,
        darker for longer delays.
    """
    figure, axes = new_figure(3.1, 1, 2, sharey=True)
    shades = mpl.colormaps["RdPu"](np.linspace(0.4, 1.0, len(delta_ts)))
    distances = table[(table.policy == policy) & (table.reference == "mean_field")]
    for panel, routing in zip(axes[0], _ROUTINGS, strict=True):
        finite = distances[distances.routing == routing]
        for number, (delta_t, shade) in enumerate(zip(delta_ts, shades, strict=True)):
            here = finite[finite.delta_t == delta_t]
            shifted = here.num_queues * 1.03 ** side_by_side(number, len(delta_ts))
            draw_bars(panel, shifted, here, policy, color=shade)
            panel.plot(shifted, here.estimate, color=shade, linewidth=1.0)
        panel.axhline(0.0, color=GREY, linewidth=1.0)
        panel.set_title(routing_text(routing))
        _mark_sizes(panel, finite.num_queues)
    axes[0, 0].set_ylabel("drops per queue\nminus the mean field's")
    figure.supxlabel(_SQUARE, fontsize="medium")
    names = map(delay_title, delta_ts)
    legend_above(figure, [line_handle(*named) for named in zip(names, shades, strict=True)])
    return figure


@styled
def drops_by_delay_and_size(table: "pd.DataFrame", routing: str = "per_packet") -> "Figure":
    """Show the drops of each policy against the delay, for each size of the system.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.
    routing : str, optional
        Routing of the finite systems.

    Returns
    -------
    Figure
        One panel for each number of queues: lines with 95 % bands, dashed for the mean field.
    """
    drops = table[table.reference == "none"]
    limit = drops[drops.system == "mean_field"]
    finite = drops[drops.routing == routing]
    sizes = sorted(finite.num_queues.unique())
    figure, panels = _two_columns(sizes, 2.1, sharex=True, sharey=True)
    policies = list(limit.policy.unique())
    for panel, size in zip(panels, sizes, strict=True):
        here = finite[finite.num_queues == size]
        for policy in policies:
            points, line = (rows[rows.policy == policy] for rows in (here, limit))
            draw_band(panel, points.delta_t, points, policy, linewidth=1.0, markersize=3.5)
            panel.plot(line.delta_t, line.estimate, color=look(policy).color, **_LIMIT)
        panel.set(title=f"M = {size:g}", ylim=(0, None), xticks=sorted(here.delta_t.unique()))
    figure.supxlabel(DELAY_LABEL, fontsize="medium")
    figure.supylabel(DROPS_LABEL, fontsize="medium")
    handles = [policy_handle(policy) for policy in policies]
    legend_above(figure, [*handles, line_handle("mean field", **_LIMIT)])
    return figure


@styled
def learned_differences(table: "pd.DataFrame") -> "Figure":
    """Show how much less the learned policy drops than each baseline, against the delay.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.

    Returns
    -------
    Figure
        Differences paired on arrival paths, in the baseline's colour: a row for each baseline, a
        column for each routing. Lines with 95 % bands for the smallest system (hollow) and the
        largest, dashed for the mean field.
    """
    learned = table[table.policy == MF]
    figure, axes = new_figure(5.6, 3, 2, sharex=True, sharey="row")
    sizes = np.array(sorted(learned.num_queues[np.isfinite(learned.num_queues)].unique()))
    for row, reference in zip(axes, (JSQ, RND, SOFTMIN), strict=True):
        pairs = learned[learned.reference == reference]
        for panel, routing in zip(row, _ROUTINGS, strict=True):
            _draw_difference(panel, pairs[pairs.routing.isin((routing, "none"))], reference)
            panel.set_title(f"MF − {reference}, {routing.replace('_', ' ')}")
            panel.set_xticks(sorted(pairs.delta_t.unique()))
    figure.supxlabel(DELAY_LABEL, fontsize="medium")
    figure.supylabel("difference in drops per queue", fontsize="medium")
    smallest = line_handle(f"M = {sizes[0]:g}", marker="o", **_SMALLEST)
    largest = line_handle(f"M = {sizes[-1]:g}", marker="o")
    legend_above(figure, [smallest, largest, line_handle("mean field", **_LIMIT)])
    return figure


def _draw_difference(panel: "Axes", pairs: "pd.DataFrame", reference: str) -> None:
    finite = pairs[np.isfinite(pairs.num_queues)]
    ends: Any = ((finite.num_queues.min(), _SMALLEST), (finite.num_queues.max(), {}))
    for size, style in ends:
        here = finite[finite.num_queues == size]
        draw_band(panel, here.delta_t, here, reference, **style)
    limit = pairs[np.isinf(pairs.num_queues)]
    panel.plot(limit.delta_t, limit.estimate, color=look(reference).color, **_LIMIT)
    panel.axhline(0.0, color=GREY, linewidth=1.0)


@styled
def learned_population_gap(table: "pd.DataFrame", num_queues: int | None = None) -> "Figure":
    """Show how much less the learned policy drops than baselines, against the agents per queue.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``populations``.
    num_queues : int, optional
        Number of queues, one of the table's; by default the largest.

    Returns
    -------
    Figure
        Paired differences with 95 % bands in the baseline's colour, one row for each delay, one
        column for each routing; dashed for infinitely many agents.
    """
    chosen = table[table.num_queues == (num_queues or table.num_queues.max())]
    learned = chosen[(chosen.policy == MF) & chosen.reference.isin((RND, SOFTMIN))]
    delays = sorted(learned.delta_t.unique())
    figure, axes = new_figure(0.9 + 1.7 * len(delays), len(delays), 2, sharex=True, sharey="row")
    for row, delta_t in zip(axes, delays, strict=True):
        for panel, routing in zip(row, _ROUTINGS, strict=True):
            here = learned[(learned.delta_t == delta_t) & learned.routing.isin((routing, "none"))]
            _draw_gaps(panel, here)
            panel.set_title(f"{delay_title(delta_t)}, {routing.replace('_', ' ')}")
    figure.supxlabel(f"{RATIO_LABEL} (M = {chosen.num_queues.iloc[0]:g})", fontsize="medium")
    figure.supylabel("difference in drops per queue", fontsize="medium")
    handles = [policy_handle(name, f"MF − {name}") for name in (RND, SOFTMIN)]
    legend_above(figure, [*handles, line_handle("N = ∞", **_LIMIT)])
    return figure


def _draw_gaps(panel: "Axes", gaps: "pd.DataFrame") -> None:
    for reference, group in gaps.groupby("reference"):
        finite = group[np.isfinite(group.agents_per_queue)]
        draw_band(panel, finite.agents_per_queue, finite, str(reference))
        (limit,) = group.estimate[np.isinf(group.agents_per_queue)]
        panel.axhline(limit, color=look(str(reference)).color, **_LIMIT)
    panel.axhline(0.0, color=GREY, linewidth=1.0)
    panel.set_xscale("log")
    panel.autoscale_view()
    plain_log(panel.xaxis)


def _two_columns(
    panels: "Sequence[float]", height: float, **sharing: Any
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with as many panels as asked for, in two columns."""
    rows = math.ceil(len(panels) / 2)
    figure, axes = new_figure(0.9 + height * rows, rows, 2, **sharing)
    for unused in axes.flat[len(panels) :]:
        unused.remove()
    for above in axes[-2, 1:] if len(panels) % 2 and rows > 1 else ():
        above.tick_params(labelbottom=True)
    return figure, list(axes.flat[: len(panels)])


def _mark_sizes(panel: "Axes", sizes: "Iterable[float]") -> None:
    """Put a tick at each number of queues on a logarithmic axis, and a label where one fits."""
    ticks = sorted(set(sizes))
    labelled = [ticks[-1]]
    for size in reversed(ticks):
        if labelled[-1] > 1.9 * size:
            labelled.append(size)
    panel.set_xscale("log")
    panel.set_xticks(ticks, [f"{size:g}" if size in labelled else "" for size in ticks])
    panel.minorticks_off()
