"""Figures of what a learned policy does."""

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from mfc_lb.figures.style import (
    TIME_LABEL,
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

# Blue is the first queue, orange the others, white an even choice: with any colour vision.
_COLORS = "PuOr"
# In cells narrower than those of so many fillings, numbers would not fit.
_MOST_NUMBERED = 7


@styled
def decision_maps(table: "pd.DataFrame") -> "Figure":
    """Show with what probability an agent chooses its first sampled queue.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.learning_cases.decisions`.

    Returns
    -------
    Figure
        One map for each arrival level: fillings of the first queue upwards, of the others to the
        right; the probability, in percent, as a colour and, if there is room, as a number.
    """
    rates = list(dict.fromkeys(table.level_rate))
    figure, axes = new_figure(3.1, 1, len(rates), sharey=True)
    images = []
    for panel, rate in zip(axes[0], rates, strict=True):
        chosen = table[table.level_rate == rate]
        percent = 100.0 * chosen.pivot_table(index="first", columns="others", values="probability")
        images.append(_draw_map(panel, percent.to_numpy()))
        panel.set(title=f"λ = {rate:g}", xlabel="packets in the other")
    axes[0, 0].set_ylabel("packets in the first queue")
    bar = figure.colorbar(images[0], ax=list(axes[0]), shrink=0.8, ticks=(0, 25, 50, 75, 100))
    bar.set_label("first queue chosen (%)")
    return figure


def _draw_map(panel: "Axes", percent: "np.ndarray[Any, Any]") -> Any:
    image = panel.imshow(percent, cmap=_COLORS, vmin=0, vmax=100, origin="lower")
    panel.grid(visible=False)
    step = 1 + len(percent) // (_MOST_NUMBERED + 1)
    panel.set_xticks(range(0, len(percent), step))
    panel.set_yticks(range(0, len(percent), step))
    if len(percent) <= _MOST_NUMBERED:
        for (first, others), value in np.ndenumerate(percent):
            color = "white" if abs(value - 50) > 35 else "black"
            center: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.0}
            panel.text(others, first, f"{value:.0f}", color=color, **center)
    return image


@styled
def rates_by_level(table: "pd.DataFrame") -> "Figure":
    """Show the arrival rate of a queue by its filling, at each arrival level.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.learning_cases.rates_by_level`.

    Returns
    -------
    Figure
        One panel for each level, one line for each policy; bars show the fractions of the queues.
    """
    levels = list(dict.fromkeys(table.level_rate))
    figure, axes = new_figure(3.3, 1, len(levels), sharey=True)
    for panel, rate in zip(axes[0], levels, strict=True):
        here = table[table.level_rate == rate]
        fractions = here.drop_duplicates("filling")
        panel.bar(fractions.filling, fractions.fraction, color="#dddddd", width=0.7)
        for policy, line in here.groupby("policy", sort=False):
            style = look(str(policy))
            panel.plot(line.filling, line.arrival_rate, color=style.color, marker=style.marker)
        panel.set(title=f"λ = {rate:g}", xlabel="packets in a queue", ylim=(0, None))
    axes[0, 0].set_ylabel("arrival rate λ(z) of a queue")
    handles = [policy_handle(str(policy)) for policy in dict.fromkeys(table.policy)]
    legend_above(figure, [*handles, line_handle("share of queues", "#dddddd", linewidth=6)])
    return figure


@styled
def scores_along_path(table: "pd.DataFrame") -> "Figure":
    """Show how a policy's scores move with the system.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.learning_cases.scores_along_path`.

    Returns
    -------
    Figure
        One line of steps for each filling but zero; epochs of the highest arrival rate are shaded.
    """
    figure, axes = new_figure(3.4)
    panel = axes[0, 0]
    scores = table.pivot_table(index="time", columns="filling", values="score")
    # A step needs its end.
    times = np.append(scores.index, 2 * scores.index[-1] - scores.index[-2])
    rates = table[table.filling == 0].arrival_rate.to_numpy()
    for epoch in np.flatnonzero(rates == rates.max()):
        panel.axvspan(times[epoch], times[epoch + 1], color="#e8e8e8", linewidth=0, zorder=0)
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, scores.shape[1]))
    for shade, (filling, line) in zip(shades, scores.items(), strict=True):
        if filling != 0:
            panel.stairs(line, times, baseline=None, color=shade, linewidth=1.4)
    panel.axhline(0.0, color=shades[0], linewidth=1.4)
    panel.set(xlabel=TIME_LABEL, ylabel="score g(z) − g(0)")
    panel.margins(x=0)
    handles = [line_handle(str(z), shade) for z, shade in zip(scores, shades, strict=True)]
    legend_above(figure, handles, title="packets in the queue")
    return figure
