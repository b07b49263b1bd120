"""Figures of systems whose agents are not many more than their queues."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mfc_lb.figures.style import (
    DROPS_LABEL,
    GREY,
    RATIO_LABEL,
    delay_title,
    draw_band,
    legend_above,
    line_handle,
    look,
    new_figure,
    plain_log,
    policy_handle,
    styled,
)
from mfc_lb.figures.wording import routing_text, runs_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_ROUTINGS = ("per_epoch", "per_packet")


@styled
def drops_by_population(table: "pd.DataFrame", num_queues: int | None = None) -> "Figure":
    """Show the drops of each policy against the number of agents per queue.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``populations``.
    num_queues : int, optional
        Number of queues, one of the table's; by default the largest.

    Returns
    -------
    Figure
        One row for each delay, one column for each routing, logarithmic axes: lines with 95 %
        bands, and dashed lines for infinitely many agents.
    """
    figure = _panels(table[table.reference == "none"], num_queues)
    for panel in figure.axes:
        panel.set_yscale("log")
        panel.autoscale_view()
        plain_log(panel.yaxis)
    figure.supylabel(DROPS_LABEL, fontsize="medium")
    return figure


@styled
def population_gap(table: "pd.DataFrame", num_queues: int | None = None) -> "Figure":
    """Show how much more each policy drops than random routing, against the agents per queue.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``populations``.
    num_queues : int, optional
        Number of queues, one of the table's; by default the largest.

    Returns
    -------
    Figure
        Paired differences from random routing with 95 % bands, in panels as in
        `drops_by_population`; dashed lines for infinitely many agents.
    """
    figure = _panels(table[table.reference == "RND"], num_queues)
    for panel in figure.axes:
        panel.axhline(0.0, color=GREY, linewidth=1.0)
    figure.supylabel("difference from RND in drops per queue", fontsize="medium")
    return figure


def _panels(values: "pd.DataFrame", num_queues: int | None) -> "Figure":
    here = values[values.num_queues == (num_queues or values.num_queues.max())]
    delays = sorted(here.delta_t.unique())
    height = 0.9 + 1.7 * len(delays)
    figure, axes = new_figure(height, len(delays), len(_ROUTINGS), sharex=True, sharey="row")
    for row, delta_t in zip(axes, delays, strict=True):
        for panel, routing in zip(row, _ROUTINGS, strict=True):
            _draw(panel, here[here.delta_t == delta_t], routing)
            panel.set_title(f"{delay_title(delta_t)}, {routing_text(routing)}")
            panel.set_xscale("log")
            panel.autoscale_view()
            plain_log(panel.xaxis)
    systems = f"M = {here.num_queues.iloc[0]:g}, {runs_text(here)}"
    figure.supxlabel(f"{RATIO_LABEL} ({systems})", fontsize="medium")
    handles = [policy_handle(str(policy)) for policy in here.policy.unique()]
    legend_above(figure, [*handles, line_handle("N = ∞", linestyle="--")])
    return figure


def _draw(axes: Any, values: "pd.DataFrame", routing: str) -> None:
    for policy, group in values.groupby("policy", sort=False):
        finite = group[group.routing == routing]
        draw_band(axes, finite.agents_per_queue, finite, str(policy))
        (limit,) = group.estimate[np.isinf(group.num_agents)]
        axes.axhline(limit, color=look(str(policy)).color, linestyle="--", linewidth=1.0)
