"""Figures of the small experiments in `mfc_lb.experiments.live`."""

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from mfc_lb.figures.style import (
    DELAY_LABEL,
    GREY,
    TIME_LABEL,
    draw_bars,
    legend_above,
    line_handle,
    look,
    new_figure,
    policy_handle,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def stale_news(table: "pd.DataFrame") -> "Figure":
    """Show what becomes of the queues until the next news, by what was reported of them.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live.stale_news`.

    Returns
    -------
    Figure
        One panel for each policy, one line for each reported filling.
    """
    policies = list(dict.fromkeys(table.policy))
    figure, axes = new_figure(3.2, 1, len(policies), sharey=True)
    fillings = sorted(table.reported.unique())
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, len(fillings)))
    for panel, policy in zip(axes[0], policies, strict=True):
        chosen = table[table.policy == policy].pivot_table(
            index="time", columns="reported", values="mean_filling"
        )
        for color, (_, means) in zip(shades, chosen.items(), strict=True):
            panel.plot(chosen.index, means, color=color)
        panel.set_title(policy)
        panel.margins(x=0)
    axes[0, 0].set_ylabel("mean number of packets")
    figure.supxlabel("time since the report (mean service times)", fontsize="medium")
    handles = [line_handle(str(z), color) for z, color in zip(fillings, shades, strict=True)]
    legend_above(figure, handles, title="packets reported")
    return figure


@styled
def delay_sweep(table: "pd.DataFrame") -> "Figure":
    """Show simulated drops against the delay.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live.delay_sweep`.

    Returns
    -------
    Figure
        One line for each policy, with 95 % intervals.
    """
    figure, axes = new_figure(3.2)
    panel = axes[0, 0]
    for policy, points in table.groupby("policy", sort=False):
        draw_bars(panel, points.delta_t, points, str(policy), capsize=2.5)
        panel.plot(points.delta_t, points.estimate, color=look(str(policy)).color)
    panel.set(xlabel=DELAY_LABEL, ylabel="packets lost per server", ylim=(0, None))
    legend_above(figure, [policy_handle(policy) for policy in table.policy.unique()])
    return figure


@styled
def one_run(table: "pd.DataFrame") -> "Figure":
    """Show one simulated run over time.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live.one_run`.

    Returns
    -------
    Figure
        Mean filling above, drops since the start below; epochs with the highest rate are shaded.
    """
    figure, axes = new_figure(4.2, 2, sharex=True)
    policies = list(dict.fromkeys(table.policy))
    for panel, column in zip(axes[:, 0], ("mean_filling", "drops"), strict=True):
        _shade_high_rates(panel, table[table.policy == policies[0]])
        for policy in policies:
            run = table[table.policy == policy]
            panel.plot(run.time, run[column], color=look(policy).color)
        panel.margins(x=0)
        panel.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("packets per queue")
    axes[1, 0].set(ylabel="drops per queue\nsince the start", xlabel=TIME_LABEL)
    legend_above(figure, [line_handle(policy, look(policy).color) for policy in policies])
    return figure


def _shade_high_rates(axes: "Axes", path: "pd.DataFrame") -> None:
    times, rates = path.time.to_numpy(), path.arrival_rate.to_numpy()
    high = rates[:-1] == rates.max()
    for start, end in zip(times[:-1][high], times[1:][high], strict=True):
        axes.axvspan(start, end, color="#e8e8e8", linewidth=0, zorder=0)


@styled
def score_match(table: "pd.DataFrame") -> "Figure":
    """Show that a score rule has the rates of another decision rule.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live.score_match`.

    Returns
    -------
    Figure
        The rates of both on the left, the scores on the right.
    """
    figure, axes = new_figure(2.8, 1, 2)
    rates, scores = axes[0]
    wanted = {"marker": "o", "markersize": 9, "fillstyle": "none", "linestyle": "none"}
    found = {"marker": "x", "linestyle": "none"}
    rates.plot(table.filling, table.wanted_rate, color=GREY, **wanted)
    rates.plot(table.filling, table.rate, color=look("MF").color, **found)
    rates.set(xlabel="filling z", ylabel="rate λ(z)/λ", ylim=(0, 1.15 * table.wanted_rate.max()))
    scores.bar(table.filling, table.score, width=0.6, color=look("MF").color)
    scores.axhline(0.0, color="black", linewidth=0.7)
    scores.set(xlabel="filling z", ylabel="score g(z)")
    circles = line_handle("random rule", GREY, **wanted)
    legend_above(figure, [circles, line_handle("score rule", look("MF").color, **found)])
    return figure
