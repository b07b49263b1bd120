"""Figures of the baseline comparison."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mfc_lb.experiments.cases import LARGEST_BETA, SOFTMIN
from mfc_lb.figures.style import (
    DELAY_LABEL,
    DROPS_LABEL,
    GREY,
    QUEUES_LABEL,
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
from mfc_lb.figures.wording import routing_text, runs_text, square_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_LIMIT: Any = {"linestyle": "--", "linewidth": 1.1}


@styled
def drops_by_delay(table: "pd.DataFrame", num_queues: int, routing: str = "per_packet") -> "Figure":
    """Show the drops of each policy against the delay.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.
    num_queues : int
        Number of queues of the finite system, one of the table's.
    routing : str, optional
        Routing of the finite system.

    Returns
    -------
    Figure
        Lines with 95 % bands for the finite system, dashed lines for the mean field.
    """
    figure = _by_delay(table[table.reference == "none"], num_queues, routing)
    figure.axes[0].set(ylabel=DROPS_LABEL, ylim=(0, None))
    return figure


@styled
def policy_differences(
    table: "pd.DataFrame", num_queues: int, routing: str = "per_packet"
) -> "Figure":
    """Show how many more packets JSQ(2) and softmin drop than random routing, against the delay.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.
    num_queues : int
        Number of queues of the finite system, one of the table's.
    routing : str, optional
        Routing of the finite system.

    Returns
    -------
    Figure
        Differences paired on arrival paths with their 95 % bands; dashed lines for the mean field.
    """
    figure = _by_delay(table[table.reference == "RND"], num_queues, routing)
    figure.axes[0].axhline(0.0, color=GREY, linewidth=1.0)
    figure.axes[0].set_ylabel("difference from RND in drops per queue")
    return figure


def _by_delay(values: "pd.DataFrame", num_queues: int, routing: str) -> "Figure":
    figure, axes = new_figure(3.6)
    finite = values[(values.num_queues == num_queues) & (values.routing == routing)]
    limit = values[np.isinf(values.num_queues)]
    policies = finite.policy.unique()
    for policy in policies:
        chosen = finite[finite.policy == policy]
        draw_band(axes[0, 0], chosen.delta_t, chosen, policy)
        line = limit[limit.policy == policy]
        axes[0, 0].plot(line.delta_t, line.estimate, color=look(policy).color, **_LIMIT)
    axes[0, 0].set_xlabel(DELAY_LABEL)
    axes[0, 0].set_xticks(sorted(finite.delta_t.unique()))
    axes[0, 0].set_title(f"M = {num_queues:g}, {square_text(finite, routing)}")
    _legend(figure, policies)
    return figure


@styled
def drops_by_size(
    table: "pd.DataFrame",
    routing: str = "per_packet",
    delta_ts: Sequence[float] = (1.0, 5.0, 10.0),
) -> "Figure":
    """Show the drops of each policy against the system's size.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.
    routing : str, optional
        Routing of the finite systems.
    delta_ts : sequence of float, optional
        Delays, those of the table's.

    Returns
    -------
    Figure
        One panel for each delay; dashed lines for the mean field. Points with 95 % bars for the
        finite systems: the mean field plus the paired difference from it, so that the luck of the
        runs' arrival paths, which all systems share, does not show.
    """
    figure, axes = new_figure(0.9 + 1.6 * len(delta_ts), len(delta_ts), sharex=True)
    differences = table[(table.routing == routing) & (table.reference == "mean_field")]
    limits = table[(table.system == "mean_field") & (table.reference == "none")]
    policies = limits.policy.unique()
    for panel, delta_t in zip(axes[:, 0], delta_ts, strict=True):
        for number, policy in enumerate(policies):
            here = differences[(differences.policy == policy) & (differences.delta_t == delta_t)]
            (limit,) = limits.estimate[(limits.policy == policy) & (limits.delta_t == delta_t)]
            ends = ["estimate", "interval_low", "interval_high"]
            shift = 0.008 * differences.num_queues.max() * side_by_side(number, len(policies))
            draw_bars(panel, here.num_queues + shift, here[ends] + limit, policy)
            panel.axhline(limit, color=look(policy).color, **_LIMIT)
        panel.set_title(delay_title(delta_t))
        panel.set_xticks(sorted(differences.num_queues.unique()))
    figure.supylabel(DROPS_LABEL, fontsize="medium")
    axes[-1, 0].set_xlabel(f"{QUEUES_LABEL} ({square_text(differences, routing)})")
    _legend(figure, policies)
    return figure


@styled
def crossing_by_size(crossings: "pd.DataFrame") -> "Figure":
    """Show from which delay on JSQ(2) drops more than random routing.

    Parameters
    ----------
    crossings : DataFrame
        What `mfc_lb.experiments.analysis.crossings` returns.

    Returns
    -------
    Figure
        Points with 95 % bars for the finite systems; the mean field's is a dashed line.
    """
    figure, axes = new_figure(3.0)
    panel = axes[0, 0]
    finite = crossings[np.isfinite(crossings.num_queues)]
    routings = finite.groupby("routing")
    for number, (routing, group) in enumerate(routings):
        shift = 0.012 * finite.num_queues.max() * side_by_side(number, len(routings))
        bars = [group.delta_t - group.interval_low, group.interval_high - group.delta_t]
        face = GREY if routing == "per_packet" else "white"
        panel.errorbar(
            group.num_queues + shift,
            group.delta_t,
            yerr=bars,
            fmt="o",
            color=GREY,
            markerfacecolor=face,
            label=routing_text(routing),
        )
    (limit,) = crossings.delta_t[np.isinf(crossings.num_queues)]
    panel.axhline(limit, color=GREY, label="mean field", **_LIMIT)
    panel.set_xticks(sorted(finite.num_queues.unique()))
    panel.set(
        xlabel=f"{QUEUES_LABEL} (N = M², {runs_text(finite)})",
        ylabel="delay Δt at which\nJSQ(2) and RND drop alike",
    )
    legend_above(figure, panel.get_legend_handles_labels()[0])
    return figure


@styled
def best_softmin(table: "pd.DataFrame") -> "Figure":
    """Show the best softmin's β against the delay.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``comparison``.

    Returns
    -------
    Figure
        With a logarithmic axis of β; empty markers where nothing beats JSQ(2), which is β = ∞.
    """
    figure, axes = new_figure(2.8)
    panel = axes[0, 0]
    betas = table[table.policy == SOFTMIN].groupby("delta_t").beta.first()
    style = look(SOFTMIN)
    panel.set_yscale("log")
    panel.plot(betas.index, betas, color=style.color, marker=style.marker)
    bounded = betas[betas >= LARGEST_BETA]
    panel.plot(bounded.index, bounded, style.marker, color=style.color, markerfacecolor="white")
    for delta_t in bounded.index[-1:]:
        panel.annotate("  JSQ(2) is best", (delta_t, LARGEST_BETA), va="center")
    panel.autoscale_view()
    plain_log(panel.yaxis)
    panel.set(xlabel=DELAY_LABEL, ylabel="best β of softmin")
    panel.set_xticks(list(betas.index))
    return figure


def _legend(figure: "Figure", policies: Iterable[str]) -> None:
    handles = [policy_handle(policy) for policy in policies]
    legend_above(figure, [*handles, line_handle("mean field", **_LIMIT)])
