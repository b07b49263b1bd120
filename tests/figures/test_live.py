"""The figures of the small experiments that notebooks run themselves."""

import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters
from mfc_lb import join_shortest_queue as jsq
from mfc_lb import random_choice as rnd
from mfc_lb.experiments import live as experiments
from mfc_lb.experiments.comparison import ComparisonSize
from mfc_lb.experiments.finite_agents import queue_rates as rate_law
from mfc_lb.figures import live as figures
from mfc_lb.figures.style import GREY, look
from mfc_lb.model import matching_score_rule, softmin
from tests.figures.drawn import (
    assert_band,
    assert_curve,
    assert_heights,
    assert_side_by_side,
    bands,
    bars,
    curve,
    estimates,
    levels,
    lines,
    points,
    rectangles,
    steps,
)

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


def live_beside_stored(num_queues: int = 20) -> Figure:
    live = comparison((3.0,), (num_queues,))
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


@pytest.mark.parametrize(
    ("num_queues", "beside"), [(20, "the mean field"), (100, "M = 100, 2 runs")]
)
def test_a_case_says_beside_which_system_it_stands(num_queues: int, beside: str) -> None:
    title = live_beside_stored(num_queues).axes[0].get_title(loc="left")
    assert title == f"lines: {beside};\nmarkers: M = {num_queues}, N = M², per epoch, 2 runs"


def test_a_sweep_says_which_system_it_is() -> None:
    assert delay_sweep().axes[0].get_title(loc="left") == "M = 10, N = 100, per packet, 2 runs"


def test_means_are_followed_from_the_report_on() -> None:
    cases = {"policy": ("RND", "JSQ(2)"), "time": (0.0, 1.0, 3.0), "reported": (0, 1, 2)}
    table = estimates(cases).rename(columns={"estimate": "mean_filling"})
    table = table.assign(arrival_rate=np.arange(18.0), fraction=np.arange(18.0) / 100)
    panels = figures.stale_news(table).axes
    shades = mpl.colormaps["viridis"]([0.0, 0.45, 0.9])
    for panel, policy in zip(panels, cases["policy"], strict=True):
        assert panel.get_title(loc="left") == policy
        for reported, line in zip((0, 1, 2), lines(panel), strict=True):
            here = table[(table.policy == policy) & (table.reported == reported)]
            assert_curve(points(line), here, "time", "mean_filling")
            assert line.get_color() == pytest.approx(shades[reported], abs=0.01)


def test_a_sweep_is_a_line_with_bars() -> None:
    policies, delays = ("JSQ(2)", "RND"), (2.0, 5.0, 6.0)
    table = estimates({"policy": policies, "delta_t": delays})
    sizes = {"num_queues": 10, "num_agents": 100, "routing": "per_packet", "num_runs": 7}
    (panel,) = figures.delay_sweep(table.assign(**sizes)).axes
    for policy in policies:
        here, color = table[table.policy == policy], look(policy).color
        (marks,) = bars(panel, color)
        assert_heights(marks, here)
        assert marks[:, 0].tolist() == list(delays)
        assert_curve(curve(panel, color), here, "delta_t")


def test_a_run_is_drawn_over_shaded_epochs_of_high_demand() -> None:
    table = pd.DataFrame(
        {
            "policy": ["JSQ(2)"] * 4 + ["RND"] * 4,
            "time": [0.0, 3.0, 6.0, 9.0] * 2,
            "arrival_rate": [0.6, 0.9, 0.6, 0.6] * 2,
            "mean_filling": [0.0, 1.1, 1.2, 1.3, 0.0, 2.1, 2.2, 2.3],
            "drops": [0.0, 0.2, 0.3, 0.6, 0.0, 0.3, 0.7, 0.9],
        }
    )
    axes = figures.one_run(table).axes
    for panel, column in zip(axes, ("mean_filling", "drops"), strict=True):
        for policy in ("JSQ(2)", "RND"):
            here = table[table.policy == policy]
            assert_curve(curve(panel, look(policy).color), here, "time", column)
        assert rectangles(panel)[:, :2].tolist() == [[3.0, 6.0]]


def test_wanted_and_found_rates_are_told_apart() -> None:
    columns = {"filling": [0, 1], "wanted_rate": [1.5, 0.4], "rate": [1.6, 0.3]}
    left, right = figures.score_match(pd.DataFrame(columns | {"score": [0.2, -0.7]})).axes
    wanted, found = lines(left)
    assert points(wanted).tolist() == [[0, 1.5], [1, 0.4]]
    assert points(found).tolist() == [[0, 1.6], [1, 0.3]]
    assert (wanted.get_marker(), wanted.get_fillstyle()) == ("o", "none")
    assert (found.get_marker(), found.get_color()) == ("x", look("MF").color)
    boxes = rectangles(right)
    assert boxes[:, :2].mean(axis=1) == pytest.approx([0, 1])
    assert (boxes[:, 2] + boxes[:, 3]).tolist() == [0.2, -0.7]
    assert levels(right) == [0.0]


@pytest.mark.parametrize(("num_queues", "beside"), [(100.0, 100.0), (90.0, math.inf)])
def test_a_case_of_ones_own_stands_beside_its_size_or_the_mean_field(num_queues, beside) -> None:
    names = {"policy": ("RND", "JSQ(2)", "softmin"), "reference": ("none", "RND")}
    names |= {"routing": ("per_epoch", "per_packet"), "system": ["finite"]}
    sizes = {"num_queues": (10.0, 100.0), "delta_t": (1.0, 5.0, 10.0)}
    infinite = {"system": ["mean_field"], "num_queues": [math.inf], "routing": ["none"]}
    stored = pd.concat([estimates(names | sizes), estimates(names | sizes | infinite, 4.0, 5.0)])
    stored = stored.assign(num_runs=7)
    limit = {"system": ["mean_field"], "num_queues": [math.inf], "delta_t": [3.0]}
    one = {"routing": ["per_epoch"], "num_queues": [num_queues], "delta_t": [3.0]}
    live = pd.concat([estimates(names | limit), estimates(names | one, 6.0, 7.0)]).assign(
        num_runs=3
    )
    (panel,) = figures.live_beside_stored(live, stored).axes
    for policy in names["policy"]:
        color = look(policy).color
        here = stored[(stored.policy == policy) & (stored.reference == "none")]
        here = here[(here.routing != "per_packet") & (here.num_queues == beside)]
        assert_band(panel, color, here, "delta_t")
        case = live[(live.policy == policy) & (live.reference == "none")]
        (marks,) = bars(panel, color, "white")
        assert_heights(marks, case[case.system == "finite"])
    assert_side_by_side(bars(panel), [3.0], within=0.5)
    assert len(bands(panel)) == 3


def test_paths_are_darker_for_larger_systems_and_dashed_in_the_limit() -> None:
    sizes = (math.inf, 20.0, 5.0)
    table = estimates({"num_queues": sizes, "time": (0.0, 2.0, 5.0)})
    table = table.rename(columns={"estimate": "mean_filling"})
    (panel,) = figures.paths_to_limit(table).axes
    small, large, limit = lines(panel)
    for line, size in ((small, 5), (large, 20), (limit, math.inf)):
        assert_curve(points(line), table[table.num_queues == size], "time", "mean_filling")
    assert (small.get_linestyle(), large.get_linestyle(), limit.get_linestyle()) == ("-", "-", "--")
    assert sum(small.get_color()[:3]) > sum(large.get_color()[:3])


def test_rates_of_queues_take_their_shares_of_the_axis() -> None:
    laws = {
        (1.0, "per_epoch"): ([0.0, 0.9, 1.8], [0.4, 0.35, 0.25]),
        (1.0, "per_packet"): ([0.45, 0.9, 1.35], [0.3, 0.4, 0.3]),
        (10.0, "per_epoch"): ([0.7, 1.1], [0.5, 0.5]),
        (10.0, "per_packet"): ([0.8, 1.0], [0.6, 0.4]),
    }
    rows = [(*case, *row) for case, law in laws.items() for row in zip(*law, strict=True)]
    names = ["agents_per_queue", "routing", "rate", "probability"]
    figure = figures.queue_rates(pd.DataFrame(rows, columns=names), service_rate=1.25)
    for panel, ratio in zip(figure.axes, (1.0, 10.0), strict=True):
        drawn = zip(("per_epoch", "per_packet"), steps(panel), strict=True)
        for routing, (values, edges) in drawn:
            rates, shares = laws[ratio, routing]
            assert values.tolist() == rates
            assert np.diff(edges) == pytest.approx(shares)
            assert (edges[0], edges[-1]) == (0.0, pytest.approx(1.0))
        assert levels(panel, GREY, ":") == [1.25]
        assert panel.get_xlim() == (0, 1)
