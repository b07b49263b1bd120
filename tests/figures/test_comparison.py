"""Figures of the baseline comparison: the table's numbers at the right places."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from mfc_lb import (
    ConstantPolicy,
    MeanFieldSystem,
    SystemParameters,
    figures,
    join_shortest_queue,
    softmin,
)
from mfc_lb.experiments.cases import LARGEST_BETA
from mfc_lb.figures.style import look
from tests.figures.drawn import (
    assert_band,
    assert_curve,
    assert_heights,
    assert_side_by_side,
    bars,
    curve,
    estimates,
    levels,
    lines,
    points,
)

POLICIES = ("RND", "JSQ(2)", "softmin")
DELAYS = (1.0, 5.0, 10.0)
SIZES = (10.0, 20.0, 50.0)
COLORS = {policy: look(policy).color for policy in POLICIES}


@cache
def comparison() -> pd.DataFrame:
    cases = {"delta_t": DELAYS, "policy": POLICIES, "reference": ("none", "RND", "mean_field")}
    finite = estimates(
        {"system": ["finite"], "routing": ("per_epoch", "per_packet"), "num_queues": SIZES} | cases
    )
    limit = {"system": ["mean_field"], "routing": ["none"], "num_queues": [math.inf]}
    limits = estimates(limit | cases, 5.0, 6.0)
    return pd.concat([finite, limits], ignore_index=True).assign(num_runs=7, beta=1.0)


def rows(**values: object) -> pd.DataFrame:
    table = comparison()
    return table[np.logical_and.reduce([table[name] == value for name, value in values.items()])]


@pytest.mark.parametrize(
    ("draw", "reference"),
    [(figures.drops_by_delay, "none"), (figures.policy_differences, "RND")],
)
def test_lines_over_the_delay_are_those_of_one_size_and_routing(draw, reference):
    (panel,) = draw(comparison(), 20, "per_epoch").axes
    for policy, color in COLORS.items():
        shown = rows(routing="per_epoch", num_queues=20, policy=policy, reference=reference)
        assert_band(panel, color, shown, "delta_t")
        limit = rows(system="mean_field", policy=policy, reference=reference)
        assert_curve(curve(panel, color, "--"), limit, "delta_t")


def test_differences_are_drawn_around_zero():
    assert levels(figures.policy_differences(comparison(), 20).axes[0]) == [0.0]


def test_drops_by_size_are_the_mean_field_and_the_difference_from_it():
    figure = figures.drops_by_size(comparison(), "per_epoch", (1.0, 10.0))
    for panel, delta_t in zip(figure.axes, (1.0, 10.0), strict=True):
        for policy, color in COLORS.items():
            here = {"policy": policy, "delta_t": delta_t}
            limit = rows(system="mean_field", reference="none", **here).estimate.item()
            assert levels(panel, color) == [limit]
            away = rows(routing="per_epoch", reference="mean_field", **here)
            ends = ["estimate", "interval_low", "interval_high"]
            (marks,) = bars(panel, color)
            assert_heights(marks, away[ends] + limit)
        assert_side_by_side(bars(panel), SIZES, within=2.0)
        assert list(panel.get_xticks()) == list(SIZES)


def crossings() -> pd.DataFrame:
    places = estimates({"routing": ("per_epoch", "per_packet"), "num_queues": SIZES}, 6.0, 7.0)
    limit = pd.DataFrame({"routing": ["none"], "num_queues": [math.inf], "estimate": [6.5]})
    table = pd.concat([places, limit], ignore_index=True).assign(num_runs=7)
    return table.rename(columns={"estimate": "delta_t"})


def test_crossings_are_drawn_hollow_per_epoch_and_filled_per_packet():
    table = crossings()
    (panel,) = figures.crossing_by_size(table).axes
    hollow, filled = bars(panel)
    for marks, routing in ((hollow, "per_epoch"), (filled, "per_packet")):
        shown = table[table.routing == routing].rename(columns={"delta_t": "estimate"})
        assert_heights(marks, shown)
    assert [marks.tolist() for marks in bars(panel, face="white")] == [hollow.tolist()]
    assert_side_by_side([hollow, filled], SIZES, within=2.0)
    assert levels(panel) == [6.5]


def test_only_a_beta_at_the_largest_that_was_tried_is_hollow():
    betas = {1.0: 10.0, 2.0: 9.5, 5.0: 0.8}
    rows = [
        (policy, delta_t, math.inf if policy == "JSQ(2)" else beta)
        for policy in ("JSQ(2)", "softmin")
        for delta_t, beta in betas.items()
    ]
    table = pd.DataFrame(rows, columns=["policy", "delta_t", "beta"])
    (panel,) = figures.best_softmin(table).axes
    chosen, unbeaten = lines(panel)
    assert points(chosen).tolist() == [list(pair) for pair in betas.items()]
    assert points(unbeaten).tolist() == [[1.0, 10.0]]
    assert unbeaten.get_markerfacecolor() == "white"
    assert panel.get_yscale() == "log"


@pytest.mark.parametrize("delta_t", [1.0, 10.0])
def test_the_largest_beta_that_is_tried_is_jsq(delta_t):
    """So the figure may call it that: drops agree within a hundredth of a percent."""
    p = SystemParameters(delta_t=delta_t)
    path = np.arange(200) % 2
    best, jsq = (
        MeanFieldSystem(p).simulate(ConstantPolicy(rule), path).drops.sum()
        for rule in (softmin(p, LARGEST_BETA), join_shortest_queue(p))
    )
    assert best == pytest.approx(jsq, rel=1e-4)
