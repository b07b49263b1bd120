"""The figure of what is left open."""

import numpy as np
import pandas as pd
import pytest

from mfc_lb.figures.open_choices import open_choices
from tests.figures.drawn import estimates, levels, lines


@pytest.fixture
def table():
    rows = [
        (delta_t, choice, policy, value, value - 0.04, value + 0.04)
        for delta_t, value in ((1.0, -0.05), (10.0, 0.4))
        for choice, policy in (("distinct", "JSQ(2)"), ("shares", "MF"))
    ]
    names = ["delta_t", "choice", "policy", "estimate", "interval_low", "interval_high"]
    return pd.DataFrame(rows, columns=names)


def test_each_delay_has_a_marker_for_each_choice_at_its_percentage(table):
    (panel,) = open_choices(table).axes
    markers = [container.lines[0] for container in panel.containers]
    assert [line.get_xdata().tolist() for line in markers] == [[-5.0, -5.0], [40.0, 40.0]]
    (bars,) = panel.containers[1].lines[2]
    assert bars.get_segments()[0][:, 0] == pytest.approx([36, 44])


def test_choices_are_named_from_the_top(table):
    (panel,) = open_choices(table).axes
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert labels == ["two distinct queues, JSQ(2)", "action read as shares, MF"]
    assert panel.yaxis_inverted()


def test_intervals_in_percent_stand_side_by_side_on_the_line_of_their_choice():
    choices = (("distinct", "JSQ(2)"), ("per_packet", "RND"), ("shares", "MF"))
    table = estimates({"case": choices, "delta_t": (10.0, 1.0, 5.0)}, -0.4, 0.4)
    table[["choice", "policy"]] = table.case.tolist()
    (panel,) = open_choices(table).axes
    places = []
    for delta_t, container in zip((1.0, 5.0, 10.0), panel.containers, strict=True):
        line, _, (drawn,) = container.lines
        segments = np.array(drawn.get_segments())
        for case, place, height, segment in zip(choices, *line.get_data(), segments, strict=True):
            (row,) = table[(table.case == case) & (table.delta_t == delta_t)].itertuples()
            assert place == pytest.approx(100 * row.estimate)
            assert segment[:, 0] == pytest.approx([100 * row.interval_low, 100 * row.interval_high])
            assert segment[:, 1].tolist() == [height, height]
        places.append(line.get_ydata())
    assert np.mean(places, axis=0) == pytest.approx([0, 1, 2])
    assert np.abs(places - np.arange(3)).max() < 0.5
    assert (np.diff(places, axis=0) > 0).all()  # longer delays below, as in the legend
    assert len({round(float(place), 6) for row in places for place in row}) == 9
    assert (panel.get_xscale(), lines(panel)[0].get_linestyle()) == ("symlog", "None")
    assert levels(panel) == []
