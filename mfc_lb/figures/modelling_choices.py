"""The figure of what the model's choices do."""

from typing import TYPE_CHECKING, Any

from mfc_lb.figures.style import (
    GREY,
    QUEUES_LABEL,
    delay_title,
    legend_above,
    new_figure,
    plain_log,
    styled,
)
from mfc_lb.figures.wording import runs_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# What is compared is no policy, so it has colours of its own.
_LINES = {
    ("distinct_queues", "infinite_agents"): ("#CC79A7", "v", "distinct queues, N = ∞"),
    ("distinct_queues", "finite"): ("#7B3F61", "D", "distinct queues, N = M²"),
    ("per_packet", "finite"): ("#E69F00", "P", "per packet, N = M²"),
}


@styled
def choice_differences(table: "pd.DataFrame") -> "Figure":
    """Show how much a choice changes the drops, against the number of queues.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``modelling_choices``.

    Returns
    -------
    Figure
        One row for each delay, one column for each policy: relative differences from sampling with
        replacement, respectively from routing per epoch, with 95 % bands; between the dotted lines
        they are less than 1 %.
    """
    delays, policies = sorted(table.delta_t.unique()), list(table.policy.unique())
    height = 1.1 + 1.7 * len(delays)
    figure, axes = new_figure(height, len(delays), len(policies), sharex=True, sharey="row")
    for row, delta_t in zip(axes, delays, strict=True):
        for panel, policy in zip(row, policies, strict=True):
            _draw(panel, table[(table.delta_t == delta_t) & (table.policy == policy)])
            panel.set_title(f"{delay_title(delta_t)}, {policy}")
    for panel in figure.axes:
        panel.autoscale_view()
        plain_log(panel.xaxis)
    figure.supylabel("difference in drops (%)", fontsize="medium")
    figure.supxlabel(f"{QUEUES_LABEL} ({runs_text(table)})", fontsize="medium")
    legend_above(figure, axes[0, 0].get_legend_handles_labels()[0])
    return figure


def _draw(axes: Any, values: "pd.DataFrame") -> None:
    axes.set_xscale("log")
    for height, style in ((0.0, "-"), (1.0, ":"), (-1.0, ":")):
        axes.axhline(height, color=GREY, linestyle=style, linewidth=0.9)
    for (choice, system), (color, marker, label) in _LINES.items():
        line = values[(values.choice == choice) & (values.system == system)]
        low, high = 100 * line.relative_low, 100 * line.relative_high
        axes.fill_between(line.num_queues, low, high, color=color, alpha=0.2, linewidth=0)
        axes.plot(line.num_queues, 100 * line.relative, color=color, marker=marker, label=label)
