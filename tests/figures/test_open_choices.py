"""The figure of what is left open."""

import pandas as pd
import pytest

from mfc_lb.figures.open_choices import open_choices


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
