"""The figure of what is left open: how much each choice changes the drops."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter

from mfc_lb.figures.style import GREY, delay_title, legend_above, new_figure, plain_number, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_LABELS = {
    "distinct": "two distinct queues",
    "per_packet": "per packet, not per epoch",
    "start": "other starting level",
    "shares": "action read as shares",
    "most_likely": "likelier choice for certain",
}
# Delays are no policies, so they have colours of their own.
_DELAYS = (("#88CCEE", "o"), ("#44AA99", "s"), ("#332288", "^"), ("#AA4499", "D"))
_APART = 0.2
#: Below this, in percent, the axis is linear.
_LINEAR = 0.1


@styled
def open_choices(table: "pd.DataFrame") -> "Figure":
    """Show how much each choice changes the drops, for a few delays.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.open_choices.overview`.

    Returns
    -------
    Figure
        One line for each choice and policy: relative changes in percent with 95 % intervals, on an
        axis that is logarithmic in both directions and linear around zero.
    """
    lines = list(dict.fromkeys(zip(table.choice, table.policy, strict=True)))
    delays = sorted(table.delta_t.unique())
    figure, axes = new_figure(1.2 + 0.42 * len(lines))
    panel = axes[0, 0]
    panel.axvline(0.0, color=GREY, linewidth=0.9)
    handles = []
    for place, delta_t in enumerate(delays):
        color, marker = _DELAYS[place % len(_DELAYS)]
        here = table[table.delta_t == delta_t].set_index(["choice", "policy"]).loc[lines]
        percent = 100 * here[["estimate", "interval_low", "interval_high"]]
        bars = [percent.estimate - percent.interval_low, percent.interval_high - percent.estimate]
        y = np.arange(len(lines)) + _APART * (place - (len(delays) - 1) / 2)
        style = {"color": color, "marker": marker, "label": delay_title(delta_t)}
        handles.append(panel.errorbar(percent.estimate, y, xerr=bars, linestyle="none", **style))
    panel.set_xscale("symlog", linthresh=_LINEAR)
    panel.set_yticks(range(len(lines)), [f"{_LABELS[choice]}, {name}" for choice, name in lines])
    panel.invert_yaxis()
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    panel.set_xlabel("change of the drops (%)")
    legend_above(figure, handles)
    return figure
