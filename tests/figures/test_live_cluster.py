"""Figures of live runs: the table's numbers at the right places."""

import pandas as pd
import pytest

from mfc_lb.figures.live_cluster import live_over_simulated, loss_of_worker
from mfc_lb.figures.style import look
from tests.figures.drawn import bands, points

MEASURES = ("load_mean", "load_standard_deviation")


def curves(end=60.0):
    rows = [
        (source, measure, end * k / 4, end * (k + 1) / 4, k + shift + more, k - more, k + 1 + more)
        for source, shift in (("simulated", 0.25), ("live", 0.75))
        for measure, more in zip(MEASURES, (0.0, 8.0), strict=True)
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
    for panel, more in zip(figure.axes, (0.0, 8.0), strict=True):
        simulated, live = panel.lines
        assert simulated.get_color() == look("round-robin").color != live.get_color()
        assert simulated.get_linewidth() > 2 * live.get_linewidth()
        middles = [7.5, 22.5, 37.5, 52.5]
        heights = zip(middles, (more + k for k in range(4)), strict=True)
        assert points(simulated).tolist() == [[x, y + 0.25] for x, y in heights]
        heights = zip(middles, (more + k for k in range(4)), strict=True)
        assert points(live).tolist() == [[x, y + 0.75] for x, y in heights]
        (band,) = bands(panel)
        ends = [[x, k - more, k + 1 + more] for k, x in enumerate(middles)]
        assert band.tolist() == ends


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
    assert points(others).tolist() == [[0, 1], [2, 2], [3, 3], [5, 1]]
    assert points(killed).tolist() == [[0, 1], [2, 0], [3, 0], [5, 1]]
    assert others.get_drawstyle() == killed.get_drawstyle() == "steps-post"
    shaded = [path.get_extents().bounds for path in panel.collections[0].get_paths()]
    assert shaded == ([(2.0, 0.0, 1.0, 1.0)] if lost else [])
