"""Figures of the cases that a notebook computes where it shows them."""

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from mfc_lb.experiments.cases import JSQ, RND, SOFTMIN
from mfc_lb.figures.style import (
    DELAY_LABEL,
    DROPS_LABEL,
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
    from matplotlib.figure import Figure

# How agents choose is no policy, so it has colours of its own.
_ROUTINGS: dict[str, dict[str, Any]] = {
    "per_epoch": {"color": "#333333", "linewidth": 1.6},
    "per_packet": {"color": "#56B4E9", "linewidth": 1.6},
}


@styled
def live_beside_stored(live: "pd.DataFrame", stored: "pd.DataFrame") -> "Figure":
    """Show a case that was just simulated beside the stored drops of the nearest size.

    Parameters
    ----------
    live : DataFrame
        In the columns of the experiment ``comparison``, with one finite system at one delay.
    stored : DataFrame
        Of the experiment ``comparison``.

    Returns
    -------
    Figure
        Stored drops against the delay as lines with 95 % bands, at the number of queues nearest to
        the live one; the live case as large hollow markers with 95 % bars.
    """
    case = live[(live.reference == "none") & (live.system == "finite")]
    lines = stored[(stored.reference == "none") & (stored.routing == case.routing.iloc[0])]
    num_queues = case.num_queues.iloc[0]
    nearest = min(lines.num_queues.unique(), key=lambda size: abs(math.log(size / num_queues)))
    lines = lines[lines.num_queues == nearest]
    figure, axes = new_figure(3.5)
    # Side by side, so that markers do not hide each other.
    for policy, offset in ((RND, -0.1), (JSQ, 0.0), (SOFTMIN, 0.1)):
        _draw_case(axes[0, 0], lines[lines.policy == policy], case[case.policy == policy], offset)
    axes[0, 0].set(xlabel=DELAY_LABEL, ylabel=DROPS_LABEL, ylim=(0, None))
    axes[0, 0].set_title(
        f"lines: stored, M = {nearest:g}; markers: just simulated, M = {num_queues:g}"
    )
    legend_above(figure, [policy_handle(policy) for policy in (RND, JSQ, SOFTMIN)])
    return figure


def _draw_case(axes: Any, line: "pd.DataFrame", case: "pd.DataFrame", offset: float) -> None:
    policy = str(line.policy.iloc[0])
    color = look(policy).color
    band = {"color": color, "alpha": 0.2, "linewidth": 0}
    axes.fill_between(line.delta_t, line.interval_low, line.interval_high, **band)
    axes.plot(line.delta_t, line.estimate, color=color)
    hollow = {"markerfacecolor": "white", "markersize": 7, "markeredgewidth": 1.5}
    draw_bars(axes, case.delta_t + offset, case, policy, **hollow)


@styled
def paths_to_limit(table: "pd.DataFrame") -> "Figure":
    """Show the mean filling over time in growing finite systems and in the mean field.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live_cases.paths_to_limit`.

    Returns
    -------
    Figure
        One line for each system, darker for larger ones; the mean field is dashed.
    """
    figure, axes = new_figure(3.2)
    sizes = sorted(size for size in table.num_queues.unique() if math.isfinite(size))
    shades = mpl.colormaps["YlGnBu"](np.linspace(0.4, 0.95, len(sizes)))
    limit: dict[str, Any] = {"color": "black", "linestyle": "--"}
    looks = [{"color": shade, "linewidth": 1.1} for shade in shades] + [limit]
    for size, style in zip([*sizes, math.inf], looks, strict=True):
        line = table[table.num_queues == size]
        axes[0, 0].plot(line.time, line.mean_filling, **style)
    axes[0, 0].set(xlabel=TIME_LABEL, ylabel="mean number of packets", ylim=(0, None))
    axes[0, 0].margins(x=0.01)
    names = [*(f"M = {size:g}" for size in sizes), "mean field"]
    legend_above(
        figure, [line_handle(name, **style) for name, style in zip(names, looks, strict=True)]
    )
    return figure


@styled
def queue_rates(table: "pd.DataFrame", service_rate: float = 1.0) -> "Figure":
    """Show how unequal the queues' arrival rates are in an epoch of random routing.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.finite_agents.queue_rates`.
    service_rate : float, optional
        Service rate α of the queues.

    Returns
    -------
    Figure
        One panel for each ratio N/M: the rates of the queues, sorted, per epoch and per packet.
    """
    ratios = sorted(table.agents_per_queue.unique())
    figure, axes = new_figure(2.9, 1, len(ratios), sharey=True)
    for panel, ratio in zip(axes[0], ratios, strict=True):
        for routing, style in _ROUTINGS.items():
            law = table[(table.agents_per_queue == ratio) & (table.routing == routing)]
            ends = np.append(0.0, law.probability.cumsum())
            panel.stairs(law.rate, ends, baseline=None, **style)
        panel.axhline(service_rate, color=GREY, linestyle=":", linewidth=1.1)
        panel.set(xlim=(0, 1), ylim=(0, 4 * service_rate), title=f"N/M = {ratio:g}")
        panel.set_xticks((0, 0.5, 1), ("0", "½", "1"))
    axes[0, 0].set_ylabel("arrival rate of a queue")
    figure.supxlabel("queues, sorted by their rate (fraction of all)", fontsize="medium")
    handles = [line_handle(name.replace("_", " "), **style) for name, style in _ROUTINGS.items()]
    legend_above(figure, [*handles, line_handle("service rate", linestyle=":")])
    return figure
