"""Figures of live runs: the table's numbers at the right places."""

import pandas as pd
import pytest

from mfc_lb.figures.live_cluster import live_over_simulated, loss_of_worker
from mfc_lb.figures.style import look

MEASURES = ("load_mean", "load_standard_deviation")


def curves(end=60.0):
    rows = [
        (source, measure, end * k / 4, end * (k + 1) / 4, k + shift, k, k + 1.0)
        for source, shift in (("simulated", 0.25), ("live", 0.75))
        for measure in MEASURES
        for k in range(4)
    ]
    names = ["source", "measure", "window_start", "window_end", "estimate", "lowest", "highest"]
    return pd.DataFrame(rows, columns=names).assign(balancer="round-robin")


def test_the_live_run_is_drawn_over_the_simulation():
    figure = live_over_simulated(curves())
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "mean load",
        "standard deviation of the load",
    ]
    for panel in figure.axes:
        simulated, live = panel.lines
        assert simulated.get_color() == look("round-robin").color != live.get_color()
        assert simulated.get_linewidth() > 2 * live.get_linewidth()
        assert simulated.get_ydata().tolist() == [0.25, 1.25, 2.25, 3.25]
        assert live.get_ydata().tolist() == [0.75, 1.75, 2.75, 3.75]
        assert live.get_xdata().tolist() == [7.5, 22.5, 37.5, 52.5]
        (band,) = panel.collections
        assert band.get_paths()[0].get_extents().bounds[1::2] == (0.0, 4.0)


def test_long_runs_are_in_minutes():
    figure = live_over_simulated(curves(7200.0))
    assert figure.get_supxlabel().endswith("(min)")
    assert figure.axes[0].lines[0].get_xdata()[0] == pytest.approx(15.0)


@pytest.mark.parametrize("lost", [True, False])
def test_the_time_of_a_loss_is_shaded(lost):
    away = [False, lost, lost, False]
    table = pd.DataFrame(
        {"time": [0.0, 2.0, 3.0, 5.0], "killed": [1.0, 0, 0, 1], "others": [1.0, 2, 3, 1]}
    )
    (panel,) = loss_of_worker(table.assign(away=away)).axes
    others, killed = panel.lines
    assert others.get_ydata().tolist() == [1, 2, 3, 1]
    assert killed.get_ydata().tolist() == [1, 0, 0, 1]
    shaded = [path.get_extents().bounds for path in panel.collections[0].get_paths()]
    assert shaded == ([(2.0, 0.0, 1.0, 1.0)] if lost else [])
