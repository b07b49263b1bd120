"""The figures of the cases that notebooks compute themselves."""

import pytest
from matplotlib.figure import Figure

from mfc_lb import SystemParameters
from mfc_lb import join_shortest_queue as jsq
from mfc_lb.experiments.comparison import ComparisonSize
from mfc_lb.experiments.finite_agents import queue_rates as rate_law
from mfc_lb.experiments.live_cases import compute
from mfc_lb.experiments.live_cases import paths_to_limit as follow
from mfc_lb.figures import live_cases as figures


def comparison(delta_ts: tuple[float, ...], nums_queues: tuple[int, ...]):
    size = ComparisonSize(
        delta_ts, nums_queues, num_runs=2, num_mean_field_runs=3, num_beta_paths=2
    )
    return compute("comparison", size)


def live_beside_stored() -> Figure:
    live = comparison((3.0,), (20,))
    live = live[live.routing != "per_packet"]
    return figures.live_beside_stored(live, comparison((5.0, 10.0), (10, 100)))


def paths_to_limit() -> Figure:
    p = SystemParameters(delta_t=5.0)
    return figures.paths_to_limit(follow(p, jsq(p), (5, 20), horizon=20.0, seed=1))


def queue_rates() -> Figure:
    return figures.queue_rates(rate_law(0.9, 10, (1, 10)))


@pytest.mark.parametrize("draw", [live_beside_stored, paths_to_limit, queue_rates])
def test_axes_are_labelled_and_lines_drawn(draw) -> None:
    figure = draw()
    figure.draw_without_rendering()
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert all(axes.has_data() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)


def test_the_nearest_stored_size_is_shown() -> None:
    assert "M = 10;" in live_beside_stored().axes[0].get_title(loc="left")
