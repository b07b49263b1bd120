"""The figures of the small experiments that notebooks run themselves."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters
from mfc_lb import join_shortest_queue as jsq
from mfc_lb import random_choice as rnd
from mfc_lb.experiments import live as experiments
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


@pytest.mark.parametrize("draw", [stale_news, delay_sweep, one_run, score_match])
def test_axes_are_labelled_and_lines_drawn(draw) -> None:
    figure = draw()
    figure.draw_without_rendering()
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert all(axes.has_data() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)
