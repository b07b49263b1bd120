"""Figures of convergence: finite systems against their limits."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mfc_lb.figures.style import (
    AGENTS_LABEL,
    QUEUES_LABEL,
    delay_title,
    draw_bars,
    legend_above,
    line_handle,
    look,
    new_figure,
    plain_log,
    policy_handle,
    reference_slope,
    side_by_side,
    styled,
)
from mfc_lb.figures.wording import runs_text, square_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@styled
def distance_to_mean_field(table: "pd.DataFrame") -> "Figure":
    """Show how far the queues' distribution is from the mean field's, against M, with N = M².

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``convergence``.

    Returns
    -------
    Figure
        One panel for each delay, logarithmic axes, and the slope M^(-1/2).
    """
    chosen = table[(table.limit == "queues") & (table.measure == "distance")]
    delays = sorted(chosen.delta_t.unique())
    figure, axes = new_figure(0.9 + 1.6 * len(delays), len(delays), sharex=True, sharey=True)
    for panel, delta_t in zip(axes[:, 0], delays, strict=True):
        _draw(panel, chosen[chosen.delta_t == delta_t], "num_queues", -0.5)
        panel.set_title(delay_title(delta_t))
    figure.supylabel("mean L1 distance of H to ν", fontsize="medium")
    axes[-1, 0].set_xlabel(f"{QUEUES_LABEL} ({_systems(chosen)})")
    _finish(figure, chosen.policy.unique(), _slope("−1/2"))
    return figure


@styled
def drops_bias(table: "pd.DataFrame") -> "Figure":
    """Show how far a finite system's drops are from the mean field's, against M, with N = M².

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``convergence``.

    Returns
    -------
    Figure
        One row for each delay. Left, the mean of the difference and the slope 1/M (empty markers:
        fewer drops than in the limit); right, its root mean square and the slope M^(-1/2).
    """
    chosen = table[table.limit == "queues"]
    delays = sorted(chosen.delta_t.unique())
    height = 0.9 + 1.6 * len(delays)
    figure, axes = new_figure(height, len(delays), 2, sharex=True, sharey="col")
    for row, delta_t in zip(axes, delays, strict=True):
        for panel, (measure, exponent) in zip(row, (("bias", -1.0), ("rms", -0.5)), strict=True):
            values = chosen[(chosen.delta_t == delta_t) & (chosen.measure == measure)]
            _draw(panel, values, "num_queues", exponent)
        row[0].set_title(f"{delay_title(delta_t)}: mean")
        row[1].set_title("root mean square")
    figure.supylabel("difference in drops per queue", fontsize="medium")
    figure.supxlabel(f"{QUEUES_LABEL} ({_systems(chosen)})", fontsize="medium")
    _finish(figure, chosen.policy.unique(), _slope("−1 and −1/2"))
    return figure


@styled
def agents_limit(table: "pd.DataFrame") -> "Figure":
    """Show what more agents do at a fixed number of queues.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``convergence``.

    Returns
    -------
    Figure
        One row for each delay. Left, the difference in drops from infinitely many agents and the
        slope 1/N (empty markers: fewer drops); right, the distance to the mean field, which ends at
        the dashed lines, those of infinitely many agents.
    """
    chosen = table[table.limit == "agents"]
    delays = sorted(chosen.delta_t.unique())
    height = 0.9 + 1.6 * len(delays)
    figure, axes = new_figure(height, len(delays), 2, sharex=True, sharey="col")
    for row, delta_t in zip(axes, delays, strict=True):
        here = chosen[chosen.delta_t == delta_t]
        _draw(row[0], here[here.measure == "bias"], "num_agents", -1.0)
        _draw(row[1], here[here.measure == "distance"], "num_agents")
        row[1].set_yscale("linear")
        row[0].set_title(f"{delay_title(delta_t)}: drops")
        row[1].set_title("L1 distance to mean field")
    axes[len(delays) // 2, 0].set_ylabel("difference in drops per queue")
    systems = f"M = {chosen.num_queues.iloc[0]:g}, per epoch, {runs_text(chosen)}"
    figure.supxlabel(f"{AGENTS_LABEL} ({systems})", fontsize="medium")
    limit = line_handle("N = ∞", linestyle="--")
    _finish(figure, chosen.policy.unique(), _slope("−1"), limit)
    return figure


def _systems(chosen: "pd.DataFrame") -> str:
    return square_text(chosen, chosen.routing.iloc[0])


def _draw(
    axes: "Axes", values: "pd.DataFrame", growing: str, exponent: float | None = None
) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log", nonpositive="clip")
    groups = values.groupby("policy", sort=False)
    for number, (policy, group) in enumerate(groups):
        finite = group[np.isfinite(group[growing])]
        shift = 1.08 ** side_by_side(number, len(groups))
        _draw_size(axes, finite.assign(x=finite[growing] * shift), str(policy))
        for limit in group.estimate[np.isinf(group[growing])]:
            axes.axhline(limit, color=look(str(policy)).color, linestyle="--", linewidth=1.0)
    if exponent is not None:
        x = np.sort(values[growing].unique())
        middle = values[values[growing] == x[len(x) // 2]]
        reference_slope(axes, x, (x[len(x) // 2], middle.estimate.abs().max()), exponent)


def _slope(exponent: str) -> "Line2D":
    return line_handle(f"slope {exponent}", linestyle=":")


def _finish(figure: "Figure", policies: Iterable[str], *others: Any) -> None:
    for panel in figure.axes:
        panel.autoscale_view()
        plain_log(panel.xaxis, most=5)
        if panel.get_yscale() == "log":
            plain_log(panel.yaxis)
    handles = [policy_handle(policy) for policy in policies]
    for handle in handles:
        handle.set_linestyle("none")
    legend_above(figure, [*handles, *others])


def _draw_size(axes: "Axes", group: "pd.DataFrame", policy: str) -> None:
    """Draw the sizes of estimates; those of negative ones with empty markers."""
    positive, negative = group[group.estimate >= 0], group[group.estimate < 0]
    draw_bars(axes, positive.x, positive, policy)
    flipped = negative.assign(
        estimate=-negative.estimate,
        interval_low=-negative.interval_high,
        interval_high=-negative.interval_low,
    )
    draw_bars(axes, flipped.x, flipped, policy, markerfacecolor="white")
