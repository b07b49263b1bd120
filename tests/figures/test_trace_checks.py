"""Figures of what must hold on traces: the tables' numbers at the right places."""

import numpy as np
import pandas as pd
import pytest

from mfc_lb.experiments.live_traces import moments_of_three
from mfc_lb.figures import trace_checks
from mfc_lb.figures.style import look
from tests.figures.drawn import assert_heights, assert_side_by_side, bars, estimates, levels, points


def test_differences_from_the_model_are_drawn_side_by_side():
    rows = [
        (balancer, delay, reference, value, value - 1, value + 1)
        for balancer, value in (("random", 0.5), ("jsq:2", -0.5))
        for delay in (1.0, 5.0)
        for reference in ("infinite_agents", "none")
    ]
    names = ["balancer", "refresh_interval", "reference"]
    names += ["estimate", "interval_low", "interval_high"]
    figure = trace_checks.cluster_minus_model(pd.DataFrame(rows, columns=names))
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_xticklabels()] == ["1", "5"]
    points = {line.get_color(): line for line in panel.lines if line.get_marker() in "os"}
    random, jsq = (points[look(name).color] for name in ("random", "jsq:2"))
    assert random.get_ydata().tolist() == [0.5, 0.5]
    assert (random.get_xdata() < jsq.get_xdata()).all()
    assert np.abs(random.get_xdata() - [0, 1]).max() < 0.5


def test_differences_and_their_intervals_stand_around_their_delay():
    cases = {"reference": ("none", "infinite_agents"), "balancer": ("random", "jsq:2")}
    table = estimates(cases | {"refresh_interval": (10.0, 1.0, 5.0)}, -1.0, 1.0)
    (panel,) = trace_checks.cluster_minus_model(table).axes
    shown = table[table.reference == "infinite_agents"]
    for balancer in cases["balancer"]:
        (marks,) = bars(panel, look(balancer).color)
        assert_heights(marks, shown[shown.balancer == balancer])
    assert_side_by_side(bars(panel), [2, 0, 1], within=0.5)
    assert levels(panel) == [0.0]


def test_both_moments_are_drawn_over_the_place_of_the_middle():
    table = moments_of_three(10)
    figure = trace_checks.moments_of_three(table)
    skewness, kurtosis = figure.axes[0].lines
    assert points(skewness) == pytest.approx(table[["middle", "skewness"]].to_numpy())
    assert points(kurtosis) == pytest.approx(np.c_[table.middle, np.full(11, -1.5)])
