"""Figures of the herd: how full the queues are over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.patches import Patch

from mfc_lb.experiments.cases import JSQ, RND
from mfc_lb.figures.style import (
    TIME_LABEL,
    legend_above,
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


def _select(table: "pd.DataFrame", measure: str, **values: Any) -> "pd.DataFrame":
    chosen = table[table.measure == measure]
    for column, value in values.items():
        chosen = chosen[chosen[column] == value]
    return chosen
