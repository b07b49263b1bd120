"""Figures of the theory: the table's numbers at the right places."""

import pandas as pd
import pytest

from mfc_lb import figures
from mfc_lb.figures.style import GREY, look
from tests.figures.drawn import curve, legend_colors, lines, points, rectangles


def test_errors_are_points_and_their_bounds_steps_from_their_degree_on():
    table = pd.DataFrame(
        {
            "delta_t": [1.0, 1.0, 1.0, 5.0, 5.0],
            "degree": [1, 2, 4, 2, 3],
            "error": [1e-2, 1e-3, 1e-5, 2e-2, 3e-3],
            "bound": [1e-1, 1e-2, 1e-4, 1.0, 0.2],
        }
    )
    figure = figures.chebyshev_decay(table)
    (panel,) = figure.axes
    shades = [line.get_color() for line in lines(panel)][::2]
    for (_, rows), shade in zip(table.groupby("delta_t"), shades, strict=True):
        errors, bounds = lines(panel, shade)
        assert points(errors).tolist() == rows[["degree", "error"]].to_numpy().tolist()
        assert points(bounds).tolist() == rows[["degree", "bound"]].to_numpy().tolist()
        assert (errors.get_linestyle(), errors.get_marker()) == ("None", "o")
        assert bounds.get_drawstyle() == "steps-post"
    assert list(legend_colors(figure).values())[:2] == shades
    assert panel.get_yscale() == "log"


def test_rates_are_lines_over_the_bars_of_the_queues():
    table = pd.DataFrame(
        {
            "policy": ["RND"] * 3 + ["JSQ(2)"] * 3,
            "filling": [0, 1, 2] * 2,
            "fraction": [0.5, 0.3, 0.2] * 2,
            "arrival_rate": [0.9, 0.91, 0.92, 1.7, 0.4, 0.1],
        }
    )
    (panel,) = figures.arrival_rates_by_filling(table).axes
    assert curve(panel, look("RND").color).tolist() == [[0, 0.9], [1, 0.91], [2, 0.92]]
    assert curve(panel, look("JSQ(2)").color).tolist() == [[0, 1.7], [1, 0.4], [2, 0.1]]
    bars = rectangles(panel)
    assert bars[:, :2].mean(axis=1) == pytest.approx([0, 1, 2])
    assert bars[:, 2:].tolist() == [[0, 0.5], [0, 0.3], [0, 0.2]]


def test_the_formula_is_a_line_and_the_mean_field_points():
    table = pd.DataFrame(
        {"arrival_rate": [0.3, 0.6], "formula": [0.01, 0.05], "mean_field": [0.02, 0.07]}
    )
    (panel,) = figures.loss_check(table).axes
    assert curve(panel, GREY, "-").tolist() == [[0.3, 0.01], [0.6, 0.05]]
    assert curve(panel, look("RND").color, "None").tolist() == [[0.3, 0.02], [0.6, 0.07]]
