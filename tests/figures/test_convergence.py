"""Figures of convergence: estimates, limits and slopes at the right places."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from mfc_lb import figures
from mfc_lb.figures.style import GREY, look
from tests.figures.drawn import (
    assert_heights,
    bars,
    curve,
    estimates,
    levels,
    lines,
)

POLICIES = ("RND", "JSQ(2)", "softmin")
SIZES = (10, 20, 50, 100)
DELAYS = (1.0, 10.0)
COLORS = {policy: look(policy).color for policy in POLICIES}
ENDS = ["estimate", "interval_low", "interval_high"]


@cache
def convergence() -> pd.DataFrame:
    cases = {"delta_t": DELAYS, "policy": POLICIES}
    measures = {"measure": ("distance", "bias", "rms", "drops")}
    queues = estimates({"limit": ["queues"], "num_queues": SIZES} | measures | cases)
    queues = queues.assign(num_agents=queues.num_queues**2)
    many = {"limit": ["agents"], "num_agents": (*SIZES, math.inf)} | measures | cases
    agents = estimates(many).assign(num_queues=30)
    # Infinitely many agents differ from themselves by nothing, so no table has that row.
    agents = agents[np.isfinite(agents.num_agents) | (agents.measure != "bias")]
    table = pd.concat([queues, agents], ignore_index=True).assign(num_runs=7, routing="per_epoch")
    # Some differences are negative: turned round, their intervals keep their order.
    negative = (table.measure == "bias") & (table.num_agents.isin((10, 20, 100, 400)))
    turned = table.loc[negative, ["estimate", "interval_high", "interval_low"]]
    table.loc[negative, ENDS] = -turned.to_numpy()
    return table


def rows(**values: object) -> pd.DataFrame:
    table = convergence()
    return table[np.logical_and.reduce([table[name] == value for name, value in values.items()])]


def assert_shown(panel, growing: str, **values: object) -> None:
    """Assert that a panel shows these rows: filled where positive, hollow and turned round else."""
    shifts = []
    for policy, color in COLORS.items():
        here = rows(policy=policy, **values)
        here = here[np.isfinite(here[growing])]
        filled = [marks for marks in bars(panel, color, color) if len(marks)]
        hollow = [marks for marks in bars(panel, color, "white") if len(marks)]
        positive, negative = here[here.estimate > 0], here[here.estimate < 0]
        turned = -negative[["estimate", "interval_high", "interval_low"]]
        turned.columns = ENDS
        for marks, expected in ((filled, positive[ENDS]), (hollow, turned)):
            assert len(marks) == (len(expected) > 0)
            for row in marks:
                assert_heights(row, expected)
        places = pd.concat([positive, negative])[growing].to_numpy()
        shifts.append(np.log(np.concatenate([*filled, *hollow])[:, 0] / places))
    # Side by side around their place, on a logarithmic axis.
    assert np.sum(shifts, axis=0) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(shifts).max() < 0.2
    assert len({round(float(row[0]), 6) for row in np.array(shifts)}) == len(COLORS)


def assert_slope(panel, growing: str, exponent: float, **values: object) -> None:
    """Assert that the dotted line is a power law through the largest estimate in the middle."""
    line = curve(panel, GREY, ":")
    assert line[:, 0].tolist() == list(SIZES)
    assert np.diff(np.log(line[:, 1])) == pytest.approx(exponent * np.diff(np.log(SIZES)))
    middle = rows(**{growing: 50}, **values).estimate
    assert line[2, 1] == pytest.approx(max(middle.max(), -middle.min()))


def test_distances_fall_beside_the_slope_of_a_half():
    figure = figures.distance_to_mean_field(convergence())
    for panel, delta_t in zip(figure.axes, DELAYS, strict=True):
        shown = {"limit": "queues", "measure": "distance", "delta_t": delta_t}
        assert_shown(panel, "num_queues", **shown)
        assert_slope(panel, "num_queues", -0.5, **shown)
        assert panel.get_xscale() == panel.get_yscale() == "log"


def test_the_mean_difference_is_left_and_its_root_mean_square_right():
    axes = iter(figures.drops_bias(convergence()).axes)
    for delta_t in DELAYS:
        for measure, exponent in (("bias", -1.0), ("rms", -0.5)):
            panel, shown = next(axes), {"limit": "queues", "measure": measure, "delta_t": delta_t}
            assert_shown(panel, "num_queues", **shown)
            assert_slope(panel, "num_queues", exponent, **shown)


def test_drops_and_distance_end_at_infinitely_many_agents():
    axes = iter(figures.agents_limit(convergence()).axes)
    for delta_t in DELAYS:
        bias, distance = (
            {"limit": "agents", "delta_t": delta_t, "measure": measure}
            for measure in ("bias", "distance")
        )
        left, right = next(axes), next(axes)
        assert_shown(left, "num_agents", **bias)
        assert_slope(left, "num_agents", -1.0, **bias)
        assert_shown(right, "num_agents", **distance)
        assert lines(right, GREY, ":") == []
        for policy, color in COLORS.items():
            limit = rows(policy=policy, num_agents=math.inf, **distance).estimate.tolist()
            assert levels(right, color) == limit
            assert levels(left) == []
        assert (left.get_yscale(), right.get_yscale()) == ("log", "linear")
