"""Figures of systems with few agents: the table's numbers at the right places."""

import math

import numpy as np
import pandas as pd
import pytest

from mfc_lb import figures
from mfc_lb.figures.style import GREY, look
from tests.figures.drawn import assert_band, estimates, levels

POLICIES = ("JSQ(2)", "RND", "softmin")
ROUTINGS = ("per_epoch", "per_packet")
DELAYS = (1.0, 10.0)


def populations() -> pd.DataFrame:
    cases = {"num_queues": (20, 100), "delta_t": DELAYS, "policy": POLICIES}
    cases |= {"reference": ("none", "RND")}
    finite = estimates({"routing": ROUTINGS, "agents_per_queue": (0.1, 1.0, 10.0)} | cases)
    limit = estimates({"routing": ["none"], "agents_per_queue": [math.inf]} | cases, 5.0, 6.0)
    table = pd.concat([finite, limit], ignore_index=True)
    return table.assign(num_runs=7, num_agents=table.agents_per_queue * table.num_queues)


@pytest.mark.parametrize(("asked", "num_queues"), [(None, 100), (20, 20)])
@pytest.mark.parametrize(
    ("draw", "reference", "zero"),
    [(figures.drops_by_population, "none", []), (figures.population_gap, "RND", [0.0])],
)
def test_lines_over_the_agents_per_queue_end_at_their_limits(
    draw, reference, zero, asked, num_queues
):
    table, axes = populations(), iter(draw(populations(), asked).axes)
    for delta_t in DELAYS:
        for routing in ROUTINGS:
            panel = next(axes)
            for policy in POLICIES:
                case = {"policy": policy, "reference": reference, "delta_t": delta_t}
                case["num_queues"] = num_queues
                here = table[np.logical_and.reduce([table[name] == case[name] for name in case])]
                color = look(policy).color
                assert_band(panel, color, here[here.routing == routing], "agents_per_queue")
                assert levels(panel, color) == here[here.routing == "none"].estimate.tolist()
            assert levels(panel, GREY) == zero
            assert panel.get_xscale() == "log"
            assert panel.get_yscale() == ("linear" if zero else "log")
