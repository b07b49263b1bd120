"""Figures of what must hold on traces: cluster and model agree, three loads have two moments."""

from typing import TYPE_CHECKING

from mfc_lb.figures.style import (
    DELAY_LABEL,
    GREY,
    draw_bars,
    legend_above,
    line_handle,
    new_figure,
    plain_number,
    policy_handle,
    side_by_side,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Distance of the balancers at one delay from each other.
_APART = 0.22
# Colours of moments, which no balancer has.
_MOMENTS = {
    "skewness": ("skewness", "#332288", "-"),
    "excess_kurtosis": ("excess kurtosis", "#882255", "--"),
}


@styled
def cluster_minus_model(table: "pd.DataFrame") -> "Figure":
    """Show how far the cluster's drops are from those of the infinite-agent system.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``trace_delay``; only its differences from the model are shown.

    Returns
    -------
    Figure
        For each balancer that is a policy of the model, the paired difference with its 95 %
        interval, by delay.
    """
    shown = table[table.reference == "infinite_agents"]
    delays = sorted(shown.refresh_interval.unique())
    figure, axes = new_figure(3.0)
    panel = axes[0, 0]
    panel.axhline(0.0, color=GREY, linewidth=1.1, zorder=1)
    balancers = list(shown.balancer.unique())
    for place, balancer in enumerate(balancers):
        here = shown[shown.balancer == balancer]
        offset = _APART * side_by_side(place, len(balancers))
        x = [delays.index(delay) + offset for delay in here.refresh_interval]
        draw_bars(panel, x, here, balancer)
    panel.set_xticks(range(len(delays)), [plain_number(delay) for delay in delays])
    panel.grid(visible=False, axis="x")
    panel.set(xlabel=DELAY_LABEL, ylabel="drops per worker,\ncluster minus model")
    legend_above(figure, [policy_handle(balancer) for balancer in balancers])
    return figure


@styled
def moments_of_three(table: "pd.DataFrame") -> "Figure":
    """Show what skewness and excess kurtosis of three loads depend on.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live_traces.moments_of_three`.

    Returns
    -------
    Figure
        Both moments by the place of the middle load.
    """
    figure, axes = new_figure(2.8)
    panel = axes[0, 0]
    for column, (_, color, dashes) in _MOMENTS.items():
        panel.plot(table.middle, table[column], color=color, linestyle=dashes)
    panel.set_xticks([0.0, 0.5, 1.0], ["at the lowest", "half way", "at the highest"])
    panel.set(xlabel="where the middle load lies", ylabel="moment")
    panel.set_xlim(-0.04, 1.04)
    handles = [line_handle(name, color, linestyle=line) for name, color, line in _MOMENTS.values()]
    legend_above(figure, handles)
    return figure
