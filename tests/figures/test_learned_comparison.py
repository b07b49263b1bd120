"""Figures of the learned policy in finite systems: the table's numbers at the right places."""

import math
from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from mfc_lb import figures
from mfc_lb.figures.style import look
from tests.figures.drawn import (
    assert_band,
    assert_curve,
    assert_heights,
    assert_side_by_side,
    bands,
    bars,
    curve,
    estimates,
    legend_colors,
    levels,
    lines,
    points,
)

BASELINES = ("JSQ(2)", "RND", "softmin")
POLICIES = (*BASELINES, "MF")
ROUTINGS = ("per_epoch", "per_packet")
DELAYS = (1.0, 5.0, 10.0)
SIZES = (10.0, 20.0, 50.0)
ENDS = ["estimate", "interval_low", "interval_high"]


@cache
def comparison() -> pd.DataFrame:
    references = ("none", "mean_field", *BASELINES)
    cases = {"delta_t": DELAYS, "policy": POLICIES, "reference": references}
    finite = estimates({"system": ["finite"], "routing": ROUTINGS, "num_queues": SIZES} | cases)
    limit = {"system": ["mean_field"], "routing": ["none"], "num_queues": [math.inf]}
    table = pd.concat([finite, estimates(limit | cases, 5.0, 6.0)], ignore_index=True)
    return table[table.policy != table.reference].assign(num_runs=7)


@cache
def populations() -> pd.DataFrame:
    cases = {"num_queues": (20, 100), "delta_t": DELAYS, "policy": POLICIES}
    cases |= {"reference": ("none", *BASELINES)}
    finite = estimates({"routing": ROUTINGS, "agents_per_queue": (0.1, 1.0, 10.0)} | cases)
    limit = estimates({"routing": ["none"], "agents_per_queue": [math.inf]} | cases, 5.0, 6.0)
    return pd.concat([finite, limit], ignore_index=True).assign(num_runs=7)


def rows(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    return table[np.logical_and.reduce([table[name] == value for name, value in values.items()])]


def test_learned_drops_are_the_mean_field_and_the_difference_from_it():
    figure = figures.learned_by_size(comparison(), "per_epoch")
    assert len(figure.axes) == len(DELAYS)
    for panel, delta_t in zip(figure.axes, DELAYS, strict=True):
        here = rows(comparison(), policy="MF", delta_t=delta_t)
        limit = rows(here, system="mean_field", reference="none").estimate.item()
        assert levels(panel, look("MF").color) == [limit]
        away = rows(here, routing="per_epoch", reference="mean_field")
        (marks,) = bars(panel)
        assert marks[:, 0].tolist() == list(SIZES)
        assert_heights(marks, away[ENDS] + limit)
        assert panel.get_xscale() == "log"


@pytest.mark.parametrize("policy", ["MF", "RND"])
def test_distances_are_lines_with_bars_for_each_delay(policy):
    figure = figures.distance_by_size(comparison(), DELAYS, policy)
    shades = mpl.colormaps["RdPu"]([0.4, 0.7, 1.0])
    for panel, routing in zip(figure.axes, ROUTINGS, strict=True):
        for shade, delta_t in zip(shades, DELAYS, strict=True):
            here = {"policy": policy, "reference": "mean_field", "delta_t": delta_t}
            shown = rows(comparison(), routing=routing, **here)
            (marks,) = bars(panel, shade)
            assert_heights(marks, shown)
            (line,) = lines(panel, shade, "-")
            assert points(line).tolist() == marks[:, :2].tolist()
        on_log_axis = [np.log(marks) for marks in bars(panel)]
        assert_side_by_side(on_log_axis, np.log(SIZES), within=0.2)
        assert levels(panel) == [0.0]
    named = [mpl.colors.to_rgba(color) for color in legend_colors(figure).values()]
    assert named == [pytest.approx(shade) for shade in shades]


def test_each_size_has_a_panel_with_drops_over_the_delay():
    figure = figures.drops_by_delay_and_size(comparison(), "per_epoch")
    for panel, size in zip(figure.axes, SIZES, strict=True):
        for policy in POLICIES:
            color, here = look(policy).color, rows(comparison(), policy=policy, reference="none")
            assert_band(panel, color, rows(here, routing="per_epoch", num_queues=size), "delta_t")
            assert_curve(curve(panel, color, "--"), rows(here, system="mean_field"), "delta_t")


def test_differences_are_shown_for_the_smallest_and_the_largest_system():
    axes = iter(figures.learned_differences(comparison()).axes)
    for reference in BASELINES:
        pairs, color = rows(comparison(), policy="MF", reference=reference), look(reference).color
        for routing in ROUTINGS:
            panel = next(axes)
            hollow, filled = lines(panel, color, "-")
            assert (hollow.get_markerfacecolor(), filled.get_markerfacecolor()) == ("white", color)
            ends = zip((10.0, 50.0), (hollow, filled), bands(panel, color), strict=True)
            for size, line, band in ends:
                shown = rows(pairs, routing=routing, num_queues=size)
                assert_curve(points(line), shown, "delta_t")
                expected = shown[["delta_t", "interval_low", "interval_high"]].to_numpy()
                assert band == pytest.approx(expected)
            assert_curve(curve(panel, color, "--"), rows(pairs, system="mean_field"), "delta_t")
            assert levels(panel) == [0.0]


@pytest.mark.parametrize(("asked", "num_queues"), [(None, 100), (20, 20)])
def test_gaps_over_the_agents_per_queue_end_at_their_limits(asked, num_queues):
    axes = iter(figures.learned_population_gap(populations(), asked).axes)
    for delta_t in DELAYS:
        for routing in ROUTINGS:
            panel = next(axes)
            for reference in ("RND", "softmin"):
                pair = {"policy": "MF", "reference": reference, "delta_t": delta_t}
                here = rows(populations(), num_queues=num_queues, **pair)
                color = look(reference).color
                assert_band(panel, color, rows(here, routing=routing), "agents_per_queue")
                assert levels(panel, color) == rows(here, routing="none").estimate.tolist()
            assert levels(panel)[-1] == 0.0
            assert len(levels(panel)) == 3
            assert panel.get_xscale() == "log"
