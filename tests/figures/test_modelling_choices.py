"""The figure of the model's choices: its lines are the table's numbers, in percent."""

import numpy as np
import pytest

from mfc_lb import figures
from mfc_lb.figures.style import GREY
from tests.figures.drawn import bands, estimates, levels, lines, points

DELAYS = (1.0, 10.0)
POLICIES = ("JSQ(2)", "RND")
CHOICES = (
    ("distinct_queues", "infinite_agents"),
    ("distinct_queues", "finite"),
    ("per_packet", "finite"),
)


def test_differences_are_lines_in_percent():
    table = estimates(
        {"case": CHOICES, "num_queues": (10, 20, 50), "delta_t": DELAYS, "policy": POLICIES},
        low=-0.3,
        high=0.3,
    ).assign(num_runs=7)
    names = {"estimate": "relative", "interval_low": "relative_low"}
    table = table.rename(columns=names | {"interval_high": "relative_high"})
    table[["choice", "system"]] = table.case.tolist()
    axes = iter(figures.choice_differences(table).axes)
    for delta_t in DELAYS:
        for policy in POLICIES:
            panel = next(axes)
            here = table[(table.delta_t == delta_t) & (table.policy == policy)]
            drawn = zip(CHOICES, lines(panel), bands(panel), strict=True)
            for case, line, band in drawn:
                shown = here[here.case == case]
                percent = 100.0 * shown[["relative", "relative_low", "relative_high"]].to_numpy()
                assert points(line) == pytest.approx(np.c_[[10, 20, 50], percent[:, 0]])
                assert band == pytest.approx(np.c_[[10, 20, 50], percent[:, 1:]])
            assert len({line.get_color() for line in lines(panel)}) == 3
            assert levels(panel, GREY, "-") == [0.0]
            assert sorted(levels(panel, GREY, ":")) == [-1.0, 1.0]  # less than 1 % lies between
            assert panel.get_xscale() == "log"
