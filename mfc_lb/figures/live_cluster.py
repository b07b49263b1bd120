"""Figures of live runs: their loads over the simulated ones, and the loss of a worker."""

from typing import TYPE_CHECKING, Any

from mfc_lb.figures.cluster import LOAD_LABEL, MOMENT_TITLES
from mfc_lb.figures.style import GREY, legend_above, line_handle, look, new_figure, styled
from mfc_lb.figures.traces import UNITS, plural_unit, time_unit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of what no balancer is: a live run, and a worker that is killed.
_LIVE: dict[str, Any] = {"color": "#882255", "linewidth": 1.2}
# Wide and pale, so that a live run that coincides is seen on it.
_SIMULATED: dict[str, Any] = {"linewidth": 3.4, "alpha": 0.55}


@styled
def live_over_simulated(table: "pd.DataFrame") -> "Figure":
    """Show the loads over time of a live run over those of the simulator.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live_comparison.curves`.

    Returns
    -------
    Figure
        On the left the mean over the workers, on the right the standard deviation: the live run
        over the simulation with its seed, and a band from the lowest to the highest simulation if
        there are several.
    """
    figure, axes = new_figure(2.9, 1, 2, sharex=True)
    color = look(table.balancer.iloc[0]).color
    unit = time_unit(table.window_end.max() * UNITS["s"] / 5)
    scale = UNITS["s"] / UNITS[unit]
    for panel, (measure, title) in zip(axes[0], MOMENT_TITLES.items(), strict=True):
        here = table[table.measure == measure]
        _draw_simulated(panel, here[here.source == "simulated"], color, scale)
        live = here[here.source == "live"]
        panel.plot(_middle(live, scale), live.estimate, **_LIVE)
        panel.set_title(title)
        panel.set_xlim(0, table.window_end.max() * scale)
        panel.set_ylim(0, None)
    axes[0, 0].set_ylabel(LOAD_LABEL)
    figure.supxlabel(f"time since the first arrival ({plural_unit(unit)})", fontsize="medium")
    simulated = line_handle(f"simulated, {table.balancer.iloc[0]}", color, **_SIMULATED)
    legend_above(figure, [simulated, line_handle("live", **_LIVE)])
    return figure


@styled
def loss_of_worker(table: "pd.DataFrame") -> "Figure":
    """Show the load of a worker that is killed, and that of the others.

    Parameters
    ----------
    table : DataFrame
        Of `mfc_lb.experiments.live_comparison.loads_around_loss`.

    Returns
    -------
    Figure
        Jobs per core over time: of that worker, and the mean of the others. The time during which
        the worker was lost is shaded.
    """
    figure, axes = new_figure(2.9)
    panel = axes[0, 0]
    unit = time_unit(table.time.max() * UNITS["s"] / 5)
    scale = UNITS["s"] / UNITS[unit]
    others: dict[str, Any] = {"color": GREY, "linewidth": 1.2, "linestyle": "--"}
    panel.step(table.time * scale, table.others, where="post", **others)
    panel.step(table.time * scale, table.killed, where="post", **_LIVE)
    panel.fill_between(
        table.time * scale,
        *(0, 1),
        where=table.away,
        step="post",
        transform=panel.get_xaxis_transform(),
        color="#dddddd",
        zorder=0,
    )
    panel.set_xlim(0, table.time.max() * scale)
    panel.set_ylim(0, None)
    panel.set(xlabel=f"time since the first arrival ({plural_unit(unit)})", ylabel=LOAD_LABEL)
    named = {"worker that is killed": _LIVE, "mean of the others": others}
    legend_above(figure, [line_handle(name, **style) for name, style in named.items()])
    return figure


def _draw_simulated(axes: "Axes", table: "pd.DataFrame", color: str, scale: float) -> None:
    middle = _middle(table, scale)
    axes.fill_between(middle, table.lowest, table.highest, color=color, alpha=0.2, linewidth=0)
    axes.plot(middle, table.estimate, color=color, **_SIMULATED)


def _middle(table: "pd.DataFrame", scale: float) -> Any:
    return (table.window_start + table.window_end) / 2 * scale
