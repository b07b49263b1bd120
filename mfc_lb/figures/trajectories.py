"""Figures of the herd: how full the queues are over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.patches import Patch

from mfc_lb.experiments.cases import JSQ, RND
from mfc_lb.figures.style import (
    GREY,
    TIME_LABEL,
    legend_above,
    line_handle,
    new_figure,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def herd(table: "pd.DataFrame") -> "Figure":
    """Show how full the queues are over time, with fresh news, with old news and at random.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trajectories``.

    Returns
    -------
    Figure
        Three panels, in the mean field: JSQ(2) at the shortest and the longest delay, and random
        routing. White lines mark the times at which news of the queues arrives.
    """
    fractions = _select(table, "fraction", system="mean_field")
    short, long = fractions.delta_t.min(), fractions.delta_t.max()
    figure, axes = new_figure(4.6, 3, sharex=True, sharey=True)
    for panel, policy, delta_t in zip(
        axes[:, 0], (JSQ, JSQ, RND), (short, long, long), strict=True
    ):
        chosen = fractions[(fractions.policy == policy) & (fractions.delta_t == delta_t)]
        _stack(panel, chosen)
        if policy == JSQ and delta_t == long:
            news = np.arange(delta_t, chosen.time.max(), delta_t)
            panel.vlines(news, 0, 1, color="white", linewidth=0.9, linestyle=(0, (3, 2)))
        panel.set_title(_policy_title(policy, delta_t))
    axes[1, 0].set_ylabel("fraction of queues")
    axes[-1, 0].set_xlabel(TIME_LABEL)
    fillings = sorted(fractions.filling.unique())
    patches = [
        Patch(color=color, label=str(filling))
        for filling, color in zip(fillings, filling_colors(fillings), strict=True)
    ]
    legend_above(figure, patches, title="packets in a queue")
    return figure


def _policy_title(policy: str, delta_t: float) -> str:
    return policy if policy == RND else f"{policy}, news every Δt = {delta_t:g}"


def _stack(axes: "Axes", fractions: "pd.DataFrame") -> None:
    wide = fractions.pivot_table(index="time", columns="filling", values="estimate")
    colors = filling_colors(sorted(fractions.filling.unique()))
    axes.stackplot(wide.index, wide.to_numpy().T, colors=colors, linewidth=0)
    axes.set(xlim=(wide.index.min(), wide.index.max()), ylim=(0, 1))
    axes.grid(visible=False)


@styled
def reported_queues(table: "pd.DataFrame") -> "Figure":
    """Show what becomes of the queues between two reports, by what was reported of them.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trajectories``.

    Returns
    -------
    Figure
        Mean filling of the queues that held z packets when the epoch began, in the mean field at
        the longest delay: under JSQ(2) and under random routing.
    """
    fillings = _select(table, "mean_filling", delta_t=table.delta_t.max())
    figure, axes = new_figure(4.4, 2, sharex=True, sharey=True)
    for panel, policy in zip(axes[:, 0], (JSQ, RND), strict=True):
        _draw_epochs(panel, fillings[fillings.policy == policy])
        panel.set_title(f"{policy}, news every Δt = {table.delta_t.max():g}")
    figure.supylabel("mean number of packets", fontsize="medium")
    axes[-1, 0].set_xlabel(TIME_LABEL)
    _filling_legend(figure, fillings, "packets in a queue at the last news")
    return figure


@styled
def herd_arrival_rates(table: "pd.DataFrame") -> "Figure":
    """Show the arrival rates into the queues, by what was reported of them.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trajectories``.

    Returns
    -------
    Figure
        Rate λ(z) in each epoch of the mean field under JSQ(2) at the longest delay, with the rate λ
        of random routing, which is the same for all, and the service rate.
    """
    delta_t = table.delta_t.max()
    rates = _select(table, "arrival_rate", system="mean_field", policy=JSQ, delta_t=delta_t)
    # Each rate holds until the epoch ends.
    held = _concatenate(rates, rates.assign(time=rates.time + delta_t))
    figure, axes = new_figure(3.3)
    panel = axes[0, 0]
    for _, epoch in held.groupby("epoch"):
        panel.plot(epoch.time, epoch.mean_arrival_rate, "--", color=GREY, linewidth=1.0)
    _draw_epochs(panel, held)
    panel.axhline(1.0, color=GREY, linewidth=1.0, linestyle=":")
    for height, text in ((1.0, "service\nrate"), (rates.mean_arrival_rate.iloc[-1], "λ")):
        panel.annotate(text, (1.01, height), xycoords=("axes fraction", "data"), va="center")
    panel.set(xlabel=TIME_LABEL, ylabel="packets per mean service time", ylim=(0, None))
    panel.set_title(f"{JSQ}, news every Δt = {delta_t:g}: arrival rate of a queue")
    _filling_legend(figure, rates, "packets in a queue at the last news")
    return figure


def _draw_epochs(axes: "Axes", values: "pd.DataFrame") -> None:
    """Draw one line for each reported filling, broken at each report."""
    fillings = sorted(values.filling.unique())
    for filling, color in zip(fillings, filling_colors(fillings), strict=True):
        for _, epoch in values[values.filling == filling].groupby("epoch"):
            axes.plot(epoch.time, epoch.estimate, color=color, linewidth=1.8)


def _filling_legend(figure: "Figure", values: "pd.DataFrame", title: str, **style: Any) -> None:
    fillings = sorted(values.filling.unique())
    handles = [
        line_handle(str(filling), color, **({"linewidth": 2.5} | style))
        for filling, color in zip(fillings, filling_colors(fillings), strict=True)
    ]
    legend_above(figure, handles, title)


@styled
def queue_length_distribution(
    table: "pd.DataFrame", delta_t: float = 10.0, policy: str = JSQ
) -> "Figure":
    """Show the mean field and a finite system together.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trajectories``.
    delta_t : float, optional
        Delay, one of the table's.
    policy : str, optional
        Policy, one of the table's.

    Returns
    -------
    Figure
        Fractions of the queues that hold z packets over time: lines for the mean field, points and
        95 % bars for the runs' mean in the finite system.
    """
    fractions = _select(table, "fraction", delta_t=delta_t, policy=policy)
    fillings = sorted(fractions.filling.unique())
    figure, axes = new_figure(3.4)
    for filling, color in zip(fillings, filling_colors(fillings), strict=True):
        chosen = fractions[fractions.filling == filling]
        limit, finite = (chosen[chosen.system == name] for name in ("mean_field", "finite"))
        axes[0, 0].plot(limit.time, limit.estimate, color=color)
        bars = [finite.estimate - finite.interval_low, finite.interval_high - finite.estimate]
        axes[0, 0].errorbar(
            finite.time,
            finite.estimate,
            yerr=bars,
            color=color,
            fmt="o",
            markersize=2.5,
            linewidth=0.9,
        )
    axes[0, 0].set(xlabel=TIME_LABEL, ylabel="fraction of queues", ylim=(0, None))
    num_queues = fractions.num_queues[np.isfinite(fractions.num_queues)].iloc[0]
    axes[0, 0].set_title(
        f"{_policy_title(policy, delta_t)}\nlines: mean field; points: M = {num_queues:.0f}, N = M²"
    )
    _filling_legend(figure, fractions, "packets in a queue", linewidth=1.4, marker="o")
    return figure


def filling_colors(fillings: Sequence[int]) -> list[Any]:
    """Return a colour for each filling, from light (empty) to dark (full).

    Parameters
    ----------
    fillings : sequence of int
        Numbers of packets in a queue, up to the buffer's size.

    Returns
    -------
    list
        Colours of matplotlib's.
    """
    colormap = mpl.colormaps["YlGnBu"]
    return [colormap(0.36 + 0.64 * filling / max(fillings)) for filling in fillings]


def _concatenate(*tables: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    return pd.concat(tables)


def _select(table: "pd.DataFrame", measure: str, **values: Any) -> "pd.DataFrame":
    chosen = table[table.measure == measure]
    for column, value in values.items():
        chosen = chosen[chosen[column] == value]
    return chosen
