"""The figures of the small experiments that notebooks run themselves."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters
from mfc_lb import join_shortest_queue as jsq
from mfc_lb import random_choice as rnd
from mfc_lb.experiments import live as experiments
from mfc_lb.experiments.comparison import ComparisonSize
from mfc_lb.experiments.finite_agents import queue_rates as rate_law
from mfc_lb.figures import live as figures
from mfc_lb.model import matching_score_rule, softmin

P = SystemParameters(delta_t=5.0)
RULES = {"JSQ(2)": jsq(P), "RND": rnd(P)}


def stale_news() -> Figure:
    return figures.stale_news(experiments.stale_news(P, RULES, arrival_rate=0.9, num_times=3))


def delay_sweep() -> Figure:
    size = {"num_agents": 100, "num_queues": 10, "num_runs": 2, "seed": 1}
    return figures.delay_sweep(experiments.delay_sweep(P, (5.0, 10.0), **size))


def one_run() -> Figure:
    system = FiniteSystem(P, num_agents=100, num_queues=10)
    policies = {name: ConstantPolicy(rule) for name, rule in RULES.items()}
    return figures.one_run(experiments.one_run(system, policies, np.array([0, 1, 0]), seed=1))


def score_match() -> Figure:
    nu, rule = np.full(6, 1 / 6), softmin(P, 0.5)
    scores = matching_score_rule(rule.arrival_rates(nu, 1.0), nu, 2)
    return figures.score_match(experiments.score_match(rule, scores, nu))


def comparison(delta_ts: tuple[float, ...], nums_queues: tuple[int, ...]):
    size = ComparisonSize(
        delta_ts, nums_queues, num_runs=2, num_mean_field_runs=3, num_beta_paths=2
    )
    return experiments.compute("comparison", size)


def live_beside_stored() -> Figure:
    live = comparison((3.0,), (20,))
    live = live[live.routing != "per_packet"]
    return figures.live_beside_stored(live, comparison((5.0, 10.0), (10, 100)))


def paths_to_limit() -> Figure:
    p = SystemParameters(delta_t=5.0)
    return figures.paths_to_limit(
        experiments.paths_to_limit(p, jsq(p), (5, 20), horizon=20.0, seed=1)
    )


def queue_rates() -> Figure:
    return figures.queue_rates(rate_law(0.9, 10, (1, 10)))


DRAWING = [
    stale_news,
    delay_sweep,
    one_run,
    score_match,
    live_beside_stored,
    paths_to_limit,
    queue_rates,
]


@pytest.mark.parametrize("draw", DRAWING)
def test_axes_are_labelled_and_lines_drawn(draw) -> None:
    figure = draw()
    figure.draw_without_rendering()
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert all(axes.has_data() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)


def test_the_nearest_stored_size_is_shown() -> None:
    assert "M = 10;" in live_beside_stored().axes[0].get_title(loc="left")
