"""Figures of the herd: fractions, fillings and rates at the right places and times."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mfc_lb import figures
from mfc_lb.figures.style import GREY
from mfc_lb.figures.trajectories import filling_colors
from tests.figures.drawn import (
    assert_curve,
    assert_heights,
    bars,
    curve,
    estimates,
    legend_colors,
    levels,
    lines,
    points,
)

FILLINGS = (0, 1, 2)
COLORS = dict(zip(FILLINGS, filling_colors(FILLINGS), strict=True))
DELAYS = (2.0, 6.0)
POLICIES = ("JSQ(2)", "RND")


@cache
def trajectories() -> pd.DataFrame:
    """Return two epochs of six, or six of two; a report is a time of both epochs."""
    rows = [
        estimates(
            {
                "measure": ("fraction", "mean_filling", "arrival_rate"),
                "system": ("mean_field", "finite"),
                "policy": POLICIES,
                "delta_t": [delta_t],
                "epoch": [epoch],
                "filling": FILLINGS,
                "time": epoch * delta_t + np.linspace(0.0, delta_t, 3),
            },
            low,
            low + 1.0,
        )
        for low, (delta_t, epoch) in enumerate([(2.0, 0), (2.0, 1), (6.0, 0), (6.0, 1)], 2)
    ]
    table = pd.concat(rows, ignore_index=True)
    rates = 0.6 + 0.3 * table.epoch + 0.01 * table.delta_t
    queues = np.where(table.system == "finite", 30, np.inf)
    return table.assign(num_queues=queues, mean_arrival_rate=rates)


def chosen(measure: str, **values: object) -> pd.DataFrame:
    table = trajectories()
    kept = [table.measure == measure]
    return table[np.logical_and.reduce(kept + [table[name] == key for name, key in values.items()])]


def fractions() -> pd.DataFrame:
    """Return the fractions of the queues: at each time they sum to 1, and time goes on once."""
    table = chosen("fraction")
    table = table[(table.epoch == 0) | (table.time > table.delta_t)]
    sums = table.groupby(["system", "policy", "delta_t", "time"]).estimate.transform("sum")
    ends = ["estimate", "interval_low", "interval_high"]
    return table.assign(**table[ends].div(sums, axis=0))


def heights(layer) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper edge of a layer of a stack at the times of its corners."""
    corners = layer.get_paths()[0].vertices
    times = np.unique(corners[:, 0])
    at = [corners[corners[:, 0] == time, 1] for time in times]
    return np.array([y.min() for y in at]), np.array([y.max() for y in at])


def test_the_herd_is_stacked_from_the_empty_queues_up():
    table = fractions()
    figure = figures.herd(table)
    panels = zip(figure.axes, ("JSQ(2)", "JSQ(2)", "RND"), (2.0, 6.0, 6.0), strict=True)
    for panel, policy, delta_t in panels:
        here = table.query(f"system == 'mean_field' and policy == {policy!r}")
        here = here[here.delta_t == delta_t]
        below = np.zeros(here.time.nunique())
        for filling, layer in zip(FILLINGS, panel.collections[:3], strict=True):
            lower, upper = heights(layer)
            assert lower == pytest.approx(below)
            below = below + here[here.filling == filling].estimate.to_numpy()
            assert upper == pytest.approx(below)
            assert tuple(layer.get_facecolor()[0]) == pytest.approx(COLORS[filling])
            assert np.unique(layer.get_paths()[0].vertices[:, 0]) == pytest.approx(
                here.time.unique()
            )
    shown = legend_colors(figure)
    assert shown == {str(z): pytest.approx(color) for z, color in COLORS.items()}


def test_white_lines_are_the_times_of_the_news_under_the_long_delay():
    longer = [fractions().assign(time=lambda t, end=end: t.time + end) for end in (0.0, 12.0)]
    without, with_news, random = figures.herd(pd.concat(longer)).axes
    assert [len(panel.collections) for panel in (without, random)] == [3, 3]
    news = with_news.collections[-1].get_segments()
    assert [segment.tolist() for segment in news] == [[[x, 0], [x, 1]] for x in (6, 12, 18)]


def test_fuller_queues_are_darker():
    brightness = [sum(color[:3]) for color in filling_colors([0, 1, 2, 5])]
    assert all(light > dark for light, dark in pairwise(brightness))


def assert_epochs(panel, rows: pd.DataFrame) -> None:
    """Assert that a panel shows a line for each filling and epoch."""
    for filling, color in COLORS.items():
        drawn = lines(panel, color)
        assert len(drawn) == 2
        for epoch, line in enumerate(drawn):
            here = rows[(rows.filling == filling) & (rows.epoch == epoch)]
            assert_curve(points(line), here, "time")


def test_reported_queues_are_followed_from_news_to_news():
    figure = figures.reported_queues(trajectories().query("system == 'mean_field'"))
    for panel, policy in zip(figure.axes, POLICIES, strict=True):
        shown = chosen("mean_filling", system="mean_field", policy=policy, delta_t=6.0)
        assert_epochs(panel, shown)
    assert legend_colors(figure) == {str(z): color for z, color in COLORS.items()}


def test_rates_hold_until_the_next_news():
    table = trajectories()
    begins = table.time == table.epoch * table.delta_t
    (panel,) = figures.herd_arrival_rates(table[begins]).axes
    rates = chosen("arrival_rate", system="mean_field", policy="JSQ(2)", delta_t=6.0)
    rates = rates[rates.time == 6.0 * rates.epoch]
    for filling, color in COLORS.items():
        for epoch, line in zip((0, 1), lines(panel, color), strict=True):
            (rate,) = rates[(rates.filling == filling) & (rates.epoch == epoch)].estimate
            assert points(line).tolist() == [[6 * epoch, rate], [6 * epoch + 6, rate]]
    means = [points(line) for line in lines(panel, GREY, "--")]
    assert [mean[:, 1] for mean in means] == [pytest.approx(rate) for rate in (0.66, 0.96)]
    assert [set(mean[:, 0]) for mean in means] == [{0.0, 6.0}, {6.0, 12.0}]
    assert levels(panel, GREY, ":") == [1.0]


def test_points_of_a_finite_system_lie_over_the_lines_of_the_mean_field():
    (panel,) = figures.queue_length_distribution(fractions(), 6.0, "JSQ(2)").axes
    for filling, color in COLORS.items():
        here = fractions().query(f"delta_t == 6 and policy == 'JSQ(2)' and filling == {filling}")
        assert_curve(curve(panel, color), here[here.system == "mean_field"], "time")
        finite = here[here.system == "finite"]
        (marks,) = bars(panel, color)
        assert marks[:, 0].tolist() == finite.time.tolist()
        assert_heights(marks, finite)
