"""Figures of clusters: the table's numbers at the right places, for any table."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from mfc_lb.experiments import load
from mfc_lb.figures import load_curves, refresh_curves
from mfc_lb.figures.cluster import line_styles
from mfc_lb.figures.style import look
from tests.figures.drawn import assert_band, assert_heights, bars, curve, estimates


def curves_table(end, traces=("my.csv",), balancers=("jsq:3",)):
    edges = np.linspace(0.0, end, 11)
    rows = [
        (trace, balancer, measure, start, stop, start, start, start, "none")
        for trace in traces
        for balancer in balancers
        for measure in ("load_mean", "load_standard_deviation")
        for start, stop in pairwise(edges)
    ]
    names = ["trace", "balancer", "measure", "window_start", "window_end"]
    names += ["estimate", "interval_low", "interval_high", "reference"]
    return pd.DataFrame(rows, columns=names)


def refresh_table(values, measures=("response_time",), balancers=("random",)):
    rows = [
        ("my.csv", balancer, measure, interval, value, value, value, "none")
        for measure in measures
        for balancer in balancers
        for interval, value in values.items()
    ]
    names = ["trace", "balancer", "measure", "refresh_interval"]
    names += ["estimate", "interval_low", "interval_high", "reference"]
    return pd.DataFrame(rows, columns=names)


def test_each_trace_has_a_row_mean_left_and_deviation_right():
    table = load("trace_study")
    figure = load_curves(table)
    assert len(figure.axes) == 8
    assert figure.axes[0].get_title(loc="left").startswith("mean load")
    assert "deviation" in figure.axes[1].get_title(loc="left")
    panel = figure.axes[5]
    curve = table[
        (table.trace == "ramp_constant")
        & (table.balancer == "least-loaded")
        & (table.measure == "load_standard_deviation")
        & np.isfinite(table.window_end)
    ]
    (line,) = [line for line in panel.lines if line.get_color() == look("least-loaded").color]
    assert line.get_ydata() == pytest.approx(curve.estimate.to_numpy())
    assert line.get_xdata()[0] == pytest.approx(curve.window_end.iloc[0] / 2)


def test_curves_and_bands_stand_in_the_middle_of_their_windows():
    cases = {"reference": ("none", "random"), "trace": ("one.csv", "two.csv")}
    cases |= {"balancer": ("random", "jsq:2"), "measure": ("load_mean", "load_standard_deviation")}
    cases |= {"window_start": (0.0, 400.0, 1000.0)}
    table = estimates(cases)
    table["window_end"] = table.window_start.map({0.0: 400.0, 400.0: 1000.0, 1000.0: 1800.0})
    table["minutes"] = table.window_start.map({0.0: 200 / 60, 400.0: 700 / 60, 1000.0: 1400 / 60})
    whole = table.assign(window_end=np.inf)
    axes = iter(load_curves(pd.concat([whole, table])).axes)
    for trace in cases["trace"]:
        for measure in cases["measure"]:
            panel = next(axes)
            for balancer in cases["balancer"]:
                here = table[(table.reference == "none") & (table.trace == trace)]
                here = here[(here.measure == measure) & (here.balancer == balancer)]
                assert_band(panel, look(balancer).color, here, "minutes")
            assert panel.get_xlim() == pytest.approx((0.0, 30.0))


def test_other_moments_may_be_negative():
    table = load("trace_study")
    moments = ("load_skewness", "load_excess_kurtosis")
    axes = load_curves(table, moments).axes
    curves = table[np.isfinite(table.window_end) & (table.reference == "none")]
    for place, (trace, measure) in enumerate(product(curves.trace.unique(), moments)):
        here = curves[(curves.trace == trace) & (curves.measure == measure)]
        for balancer in ("random", "round-robin"):
            curve = here[here.balancer == balancer].assign(middle=lambda t: t.window_end - 1)
            assert_band(axes[place], look(balancer).color, curve, "middle")
        low, high = axes[place].get_ylim()
        assert low < here.interval_low.min()
        assert max(0.0, here.interval_high.max()) < high
    assert axes[1].get_title(loc="left") == "excess kurtosis of the load"


@pytest.mark.parametrize(
    ("end", "unit"), [(1e-6, "µs"), (60.0, "s"), (7200.0, "min"), (3e7, "days")]
)
def test_time_has_a_fitting_unit(end, unit):
    figure = load_curves(curves_table(end))
    assert figure.get_supxlabel() == f"time since the first arrival ({unit})"
    assert figure.axes[0].get_xlim()[1] < 1000


def test_refresh_intervals_are_labelled_and_zero_comes_first():
    figure = refresh_curves(refresh_table({0.0: 1.0, 0.1: 1.5, 1.0: 2.0, 10.0: 3.0}))
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_xticklabels()] == ["0", "0.1", "1", "10"]
    places = panel.get_xticks()
    assert (np.diff(places) > 0).all()
    assert panel.get_yscale() == "linear"
    assert panel.get_ylim()[0] == 0


def test_bars_stand_at_the_logarithm_of_their_interval():
    cases = {"reference": ("none", "random"), "measure": ("response_time_p99", "drops")}
    cases |= {"trace": ("one.csv", "two.csv"), "balancer": ("random", "jsq:2", "jsq:3")}
    table = estimates(cases | {"refresh_interval": (0.0, 0.1, 1.0, 100.0)})
    axes = iter(refresh_curves(table).axes)
    styles = line_styles(cases["balancer"])
    for measure in cases["measure"]:
        for trace in cases["trace"]:
            panel = next(axes)
            for marks, balancer in zip(bars(panel), cases["balancer"], strict=True):
                here = table[(table.reference == "none") & (table.measure == measure)]
                here = here[(here.trace == trace) & (here.balancer == balancer)]
                assert_heights(marks, here)
                assert marks[1:, 0].tolist() == [-1.0, 0.0, 2.0]
                assert -2.0 < marks[0, 0] < -1.2
                style = styles[balancer]
                line = curve(panel, style["color"], style["linestyle"])
                assert line.tolist() == marks[:, :2].tolist()


@pytest.mark.parametrize(
    "intervals",
    [(0.0,), (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)],
)
def test_labels_of_intervals_do_not_touch(intervals):
    table = refresh_table(dict.fromkeys(intervals, 1.0))
    columns = pd.concat([table.assign(trace=name) for name in "abc"])
    figure = refresh_curves(columns)
    figure.draw_without_rendering()
    for panel in figure.axes:
        assert len(panel.get_xticks()) == len(intervals)
        shown = panel.get_xticklabels()  # those that are visible
        names = [label.get_text() for label in shown]
        assert (names[0], names[-1]) == ("0", f"{intervals[-1]:g}")
        assert "1" in names or 1.0 not in intervals
        extents = [label.get_window_extent() for label in shown]
        assert all(left.x1 + 2 < right.x0 for left, right in pairwise(extents))


def test_response_times_that_differ_much_are_on_a_logarithmic_axis_but_drops_never():
    values = {0.0: 1.0, 1.0: 50.0}
    figure = refresh_curves(refresh_table(values, ("response_time", "drops")))
    assert [panel.get_yscale() for panel in figure.axes] == ["log", "linear"]


@pytest.mark.parametrize("values", [{0.0: 1.0}, {2.0: 1.0}, {0.0: np.nan, 1.0: np.nan}])
def test_small_tables_are_drawn(values):
    refresh_curves(
        refresh_table(values, ("response_time", "response_time_p99"))
    ).draw_without_rendering()


def test_a_measure_that_a_trace_lacks_leaves_no_panel():
    figure = refresh_curves(load("trace_delay"))
    shown = [panel.get_visible() for panel in figure.axes]
    assert shown == [True, True, True, True, False, False]


def test_balancers_of_one_kind_differ_by_their_lines():
    styles = line_styles(["jsq:2", "jsq:3", "random", "mean-field:a"])
    assert styles["jsq:2"]["color"] == styles["jsq:3"]["color"] == look("JSQ(2)").color
    assert styles["jsq:2"]["linestyle"] != styles["jsq:3"]["linestyle"]
    assert styles["random"]["color"] == look("RND").color
    assert styles["mean-field:a"]["color"] == look("MF").color


def test_every_balancer_has_a_colour_of_its_own():
    names = ["random", "round-robin", "least-loaded", "jsq", "mean-field", "softmin", "SED"]
    assert len({look(name).color for name in names}) == len(names)
    assert len({look(name).marker for name in names}) == len(names)
