"""Figures of how policies are learned, how good they are, and what their knowledge is worth."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mfc_lb.experiments.cases import JSQ, MF, RND, SOFTMIN
from mfc_lb.experiments.certificate import BLIND_TO_LEVEL, CLAIRVOYANT, CONSTANT, PER_LEVEL
from mfc_lb.experiments.training import NONE, PATHWISE, PPO
from mfc_lb.figures.style import (
    DELAY_LABEL,
    DROPS_LABEL,
    GREY,
    Look,
    legend_above,
    line_handle,
    look,
    new_figure,
    plain_log,
    plain_number,
    side_by_side,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ways of training are no policies, except that pathwise gradients give the policy MF.
_CURVES: dict[tuple[str, str], tuple[str, str]] = {
    (PATHWISE, "score"): ("pathwise gradients", look(MF).color),
    (PPO, "score"): ("PPO, scores", "black"),
    (PPO, "table"): ("PPO, table", "#56B4E9"),
}
_CURVE_AXES = {
    "environment_steps": "environment steps (thousands)",
    "seconds": "time on one core (s)",
}
_BASELINE: dict[str, Any] = {"linestyle": "--", "linewidth": 1.1}

# The policies that know less than MF, from no knowledge to more.
_LESS: dict[str, Look] = {
    CONSTANT: Look("#999999", "v"),
    BLIND_TO_LEVEL: Look("black", "X"),
    PER_LEVEL: Look("#56B4E9", "D"),
}
_LOOKS: dict[str, Look] = {name: look(name) for name in (JSQ, RND, SOFTMIN)} | _LESS
_LOOKS[MF] = look(MF)

# Gaps below this many percent are drawn on a linear scale, so that zero can be shown.
_SMALLEST_GAP = 0.001


@styled
def learning_curves(table: "pd.DataFrame", against: Sequence[str] = tuple(_CURVE_AXES)) -> "Figure":
    """Show how the drops of a policy fall while it is trained.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``training``, or of `mfc_lb.experiments.learning_cases.train_on`.
    against : sequence of str, optional
        Columns for the horizontal axes, ``environment_steps`` or ``seconds``.

    Returns
    -------
    Figure
        One column of panels for each axis, all drops above and a close-up of the lowest below. A
        line with its 95 % band for each training run, dashed lines for the policies that need no
        training.
    """
    figure, axes = new_figure(4.8, 2, len(against), sharex="col", sharey="row")
    runs = table[(table.kind != NONE) & (table.environment_steps > 0)]
    baselines = table[table.kind == NONE].set_index("method").estimate
    for column, name in zip(axes.T, against, strict=True):
        for panel in column:
            _draw_curves(panel, runs, name)
            for policy, drops in baselines.items():
                panel.axhline(drops, color=look(str(policy)).color, **_BASELINE)
        column[1].set_xlabel(_CURVE_AXES[name])
        plain_log(column[1].xaxis, most=6)
    axes[1, 0].set_ylim(*_close_up(runs, baselines))
    for panel, title in zip(axes[:, 0], ("", ", close-up"), strict=True):
        panel.set_ylabel(DROPS_LABEL + title)
    drawn = runs.groupby(["method", "kind"]).groups
    shown = [entry for key, entry in _CURVES.items() if key in drawn]
    handles = [line_handle(label, color) for label, color in shown]
    handles += [
        line_handle(str(name), look(str(name)).color, **_BASELINE) for name in baselines.index
    ]
    legend_above(figure, handles)
    return figure


def _draw_curves(panel: "Axes", runs: "pd.DataFrame", against: str) -> None:
    panel.set_xscale("log")
    places = runs[against] / (1000.0 if against == "environment_steps" else 1.0)
    for (method, kind, _), run in runs.groupby(["method", "kind", "training_seed"], sort=False):
        color, place = _CURVES[str(method), str(kind)][1], places[run.index]
        band: dict[str, Any] = {"color": color, "alpha": 0.2, "linewidth": 0}
        panel.fill_between(place, run.interval_low, run.interval_high, **band)
        panel.plot(place, run.estimate, color=color, marker=".", markersize=3, linewidth=1.1)


def _close_up(runs: "pd.DataFrame", baselines: "pd.Series[float]") -> tuple[float, float]:
    """Return limits that show the lowest drops, and how far the best baseline is from them."""
    lowest, best = runs.interval_low.min(), baselines.min()
    margin = max(0.2 * abs(best - lowest), 1e-3 * best)
    return min(lowest, best) - margin, max(lowest, best) + margin


@styled
def optimality_gaps(gaps: "pd.DataFrame") -> "Figure":
    """Show how much more each policy drops than a search found that knows the future.

    Parameters
    ----------
    gaps : DataFrame
        Of `mfc_lb.experiments.gaps.optimality_gaps`.

    Returns
    -------
    Figure
        Above, gaps in percent with 95 % bars, on a logarithmic axis that is linear around zero;
        below, by how much the two starts of the optimisation disagree.
    """
    figure, (top, bottom) = new_figure(5.4, 2, sharex=True, height_ratios=(3, 1))
    _draw_policies(top[0], gaps, _LOOKS)
    shown = gaps[gaps.policy != CLAIRVOYANT]
    _symmetric_log(top[0], shown.interval_low.min(), shown.interval_high.max())
    top[0].set_ylabel("drops above\nthe clairvoyant's (%)")
    _draw_bars(bottom[0], gaps[gaps.policy == CLAIRVOYANT], 0.0, Look(GREY, "o"))
    bottom[0].axhline(0.0, color=GREY, linewidth=0.7)
    bottom[0].set(xlabel=DELAY_LABEL, ylabel="disagreement\nof starts (%)")
    bottom[0].set_xticks(sorted(gaps.delta_t.unique()))
    _policy_legend(figure, _LOOKS)
    return figure


@styled
def worth_of_knowledge(gaps: "pd.DataFrame") -> "Figure":
    """Show how much more is dropped by policies that know less than the learned one.

    Parameters
    ----------
    gaps : DataFrame
        Of `mfc_lb.experiments.gaps.knowledge_gaps`.

    Returns
    -------
    Figure
        Paired differences from MF in percent of its drops, with 95 % bars.
    """
    figure, axes = new_figure(3.6)
    shown = {SOFTMIN: look(SOFTMIN)} | _LESS
    _draw_policies(axes[0, 0], gaps, shown)
    axes[0, 0].axhline(0.0, color=look(MF).color, **_BASELINE)
    axes[0, 0].set(xlabel=DELAY_LABEL, ylabel="drops above those of MF (%)")
    axes[0, 0].set_xticks(sorted(gaps.delta_t.unique()))
    _policy_legend(figure, shown)
    return figure


def _draw_policies(panel: "Axes", rows: "pd.DataFrame", looks: Mapping[str, Look]) -> None:
    for number, (policy, style) in enumerate(looks.items()):
        shift = 0.05 * side_by_side(number, len(looks))
        _draw_bars(panel, rows[rows.policy == policy], shift, style)


def _draw_bars(panel: "Axes", rows: "pd.DataFrame", offset: float, style: Look) -> None:
    bars = [rows.estimate - rows.interval_low, rows.interval_high - rows.estimate]
    line: dict[str, Any] = {
        "color": style.color,
        "marker": style.marker,
        "linewidth": 0.9,
        "elinewidth": 1.1,
    }
    panel.errorbar(rows.delta_t + offset, rows.estimate, yerr=bars, **line)


def _symmetric_log(panel: "Axes", low: float, high: float) -> None:
    panel.set_yscale("symlog", linthresh=_SMALLEST_GAP, linscale=0.5)
    panel.set_ylim(min(2.0 * low, -_SMALLEST_GAP), 2.0 * high)
    powers = [10.0**power for power in range(-3, 5)]
    ticks = [-power for power in reversed(powers)] + [0.0, *powers]
    inside = [tick for tick in ticks if min(low, 0.0) <= tick <= 2.0 * high]
    panel.set_yticks(inside, [plain_number(tick).replace("-", "−") for tick in inside])
    panel.set_yticks([], minor=True)


def _policy_legend(figure: "Figure", looks: Mapping[str, Look]) -> None:
    legend_above(
        figure,
        [line_handle(name, style.color, marker=style.marker) for name, style in looks.items()],
    )
