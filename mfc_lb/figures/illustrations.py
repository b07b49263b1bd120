"""Figures that illustrate the theory."""

from typing import TYPE_CHECKING

from mfc_lb.figures.style import (
    GREY,
    delay_title,
    legend_above,
    line_handle,
    look,
    new_figure,
    plain_log,
    policy_handle,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_SHADES = ("#9ecae1", "#4292c6", "#08519c", "#08306b")


@styled
def chebyshev_decay(table: "pd.DataFrame") -> "Figure":
    """Show how the propagator's error falls with the degree of its Chebyshev series.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.illustrations.chebyshev_errors`.

    Returns
    -------
    Figure
        Points: the largest error of a probability, or of the drops divided by max(1, r_max Δt);
        steps: what the bound guarantees.
    """
    figure, axes = new_figure(3.4)
    panel = axes[0, 0]
    panel.set_yscale("log")
    handles = []
    for color, (delta_t, group) in zip(_SHADES, table.groupby("delta_t"), strict=False):
        panel.plot(group.degree, group.error, "o", color=color, markersize=3)
        panel.step(group.degree, group.bound, where="post", color=color, linewidth=1.0)
        handles.append(
            line_handle(delay_title(float(str(delta_t))), color, marker="o", markersize=3)
        )
    panel.set(xlabel="degree of the Chebyshev series", ylabel="largest error of an epoch")
    panel.autoscale_view()
    plain_log(panel.yaxis)
    legend_above(figure, [*handles, line_handle("bound", GREY, linewidth=1.0)])
    return figure


@styled
def arrival_rates_by_filling(table: "pd.DataFrame") -> "Figure":
    """Show the arrival rate of a queue by its filling.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.illustrations.rates_by_filling`.

    Returns
    -------
    Figure
        One line for each policy; bars show the fractions of the queues.
    """
    figure, axes = new_figure(3.4)
    panel = axes[0, 0]
    fractions = table.drop_duplicates("filling")
    panel.bar(fractions.filling, fractions.fraction, color="#dddddd", width=0.7)
    for policy, group in table.groupby("policy", sort=False):
        style = look(str(policy))
        panel.plot(group.filling, group.arrival_rate, color=style.color, marker=style.marker)
    panel.set(
        xlabel="packets in a queue",
        ylabel="arrival rate of a queue\n(packets per mean service time)",
    )
    panel.set_ylim(bottom=0)
    handles = [policy_handle(str(policy)) for policy in table.policy.unique()]
    legend_above(figure, [*handles, line_handle("fraction of queues", "#dddddd", linewidth=6)])
    return figure


@styled
def loss_check(table: "pd.DataFrame") -> "Figure":
    """Show that random routing loses what an M/M/1/B queue loses.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.illustrations.random_routing_losses`.

    Returns
    -------
    Figure
        The formula as a line, the mean field as points.
    """
    figure, axes = new_figure(3.2)
    panel, style = axes[0, 0], look("RND")
    panel.plot(table.arrival_rate, table.formula, color=GREY)
    panel.plot(table.arrival_rate, table.mean_field, style.marker, color=style.color)
    panel.set(
        xlabel="arrival rate λ (packets per mean service time)",
        ylabel="drops per queue\nand mean service time",
        ylim=(0, None),
    )
    points = line_handle("mean field, RND", style.color, marker=style.marker, linestyle="none")
    legend_above(figure, [line_handle("M/M/1/B formula"), points])
    return figure
