"""Figures of the small experiments in `mfc_lb.experiments.live`."""

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
    plain_number,
    policy_handle,
    side_by_side,
    styled,
)
from mfc_lb.figures.wording import routing_text, runs_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How agents choose is no policy, so it has colours of its own.
_ROUTINGS: dict[str, dict[str, Any]] = {
    "per_epoch": {"color": "#333333", "linewidth": 1.6},
    "per_packet": {"color": "#56B4E9", "linewidth": 1.6},
}


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
    sizes = f"M = {table.num_queues.iloc[0]:g}, N = {plain_number(table.num_agents.iloc[0])}"
    panel.set_title(f"{sizes}, {routing_text(table.routing.iloc[0])}, {runs_text(table)}")
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


@styled
def live_beside_stored(live: "pd.DataFrame", stored: "pd.DataFrame") -> "Figure":
    """Show a case of one's own beside the stored drops of its size, or else of the mean field.

    Parameters
    ----------
    live : DataFrame
        In the columns of the experiment ``comparison``, with one finite system at one delay.
    stored : DataFrame
        Of the experiment ``comparison``.

    Returns
    -------
    Figure
        Stored drops against the delay as lines with 95 % bands, at the live number of queues if
        that is stored, else of the mean field; the live case as large hollow markers with 95 %
        bars.
    """
    case = live[(live.reference == "none") & (live.system == "finite")]
    num_queues, routing = case.num_queues.iloc[0], case.routing.iloc[0]
    stored = stored[stored.reference == "none"]
    lines = stored[(stored.num_queues == num_queues) & (stored.routing == routing)]
    if lines.empty:
        lines = stored[stored.system == "mean_field"]
    figure, axes = new_figure(3.5)
    policies = (RND, JSQ, SOFTMIN)
    for number, policy in enumerate(policies):
        shift = 0.1 * side_by_side(number, len(policies))
        _draw_case(axes[0, 0], lines[lines.policy == policy], case[case.policy == policy], shift)
    axes[0, 0].set(xlabel=DELAY_LABEL, ylabel=DROPS_LABEL, ylim=(0, None))
    axes[0, 0].set_title(
        f"lines: {_stored_text(lines)};\n"
        f"markers: M = {num_queues:g}, N = M², {routing_text(routing)}, {runs_text(case)}"
    )
    legend_above(figure, [policy_handle(policy) for policy in policies])
    return figure


def _stored_text(rows: "pd.DataFrame") -> str:
    size = rows.num_queues.iloc[0]
    return f"M = {size:g}, {runs_text(rows)}" if math.isfinite(size) else "the mean field"


def _draw_case(axes: Any, line: "pd.DataFrame", case: "pd.DataFrame", shift: float) -> None:
    policy = str(line.policy.iloc[0])
    color = look(policy).color
    band = {"color": color, "alpha": 0.2, "linewidth": 0}
    axes.fill_between(line.delta_t, line.interval_low, line.interval_high, **band)
    axes.plot(line.delta_t, line.estimate, color=color)
    hollow = {"markerfacecolor": "white", "markersize": 7, "markeredgewidth": 1.5}
    draw_bars(axes, case.delta_t + shift, case, policy, **hollow)


@styled
def paths_to_limit(table: "pd.DataFrame") -> "Figure":
    """Show the mean filling over time in growing finite systems and in the mean field.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live.paths_to_limit`.

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
    axes[0, 0].set_ylabel("arrival rate of a queue\n(packets per mean service time)")
    figure.supxlabel("queues, sorted by their rate (fraction of all)", fontsize="medium")
    handles = [line_handle(routing_text(name), **style) for name, style in _ROUTINGS.items()]
    legend_above(figure, [*handles, line_handle("service rate", linestyle=":")])
    return figure
