"""Figures of the herd: fractions, fillings and rates at the right places and times."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mfc_lb import figures
from mfc_lb.figures.trajectories import filling_colors
from tests.figures.drawn import (
    estimates,
    legend_colors,
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
