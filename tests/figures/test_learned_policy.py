"""The figures of what a policy does: the tables' numbers at the right places."""

import numpy as np
import pandas as pd
import pytest

from mfc_lb.figures import learned_policy as figures
from mfc_lb.figures.style import look
from tests.figures.drawn import (
    assert_laid_out,
    curve,
    legend_colors,
    levels,
    lines,
    rectangles,
    steps,
)

LEVELS = (0.9, 0.6)
POLICIES = ("JSQ(3)", "RND", "softmin", "MF")


def decisions(num_states: int = 3) -> pd.DataFrame:
    """Return chances that differ from level to level and are not symmetric."""
    first, others = np.indices((num_states,) * 2).reshape(2, -1)
    chances = 1.0 / (1.0 + np.exp(first - 0.4 * others))
    fillings = {"first": first, "others": others}
    tables = [
        pd.DataFrame({"level_rate": rate} | fillings | {"probability": rate * chances})
        for rate in LEVELS
    ]
    return pd.concat(tables, ignore_index=True)


def rates() -> pd.DataFrame:
    rows = [
        {"level_rate": rate, "policy": name, "filling": z, "fraction": share, "arrival_rate": to}
        for rate in LEVELS
        for number, name in enumerate(POLICIES)
        for z, share, to in ((0, rate / 3, rate + number), (1, rate / 2, rate / (2 + number)))
    ]
    return pd.DataFrame(rows)


def scores() -> pd.DataFrame:
    rows = [
        {"time": 5.0 * t, "arrival_rate": rate, "filling": z, "score": -z * rate - 0.1 * t * z}
        for t, rate in enumerate((0.9, 0.6, 0.9, 0.6))
        for z in (0, 1, 2)
    ]
    return pd.DataFrame(rows)


DRAWN = {
    "decision_maps": lambda: figures.decision_maps(decisions()),
    "rates_by_level": lambda: figures.rates_by_level(rates()),
    "scores_along_path": lambda: figures.scores_along_path(scores()),
}


@pytest.mark.parametrize("name", DRAWN)
def test_panels_are_labelled_and_texts_have_their_room(name):
    assert_laid_out(DRAWN[name]())


def test_a_map_shows_every_probability_in_percent():
    figure = figures.decision_maps(decisions())
    panels = figure.axes[: len(LEVELS)]
    assert [panel.get_title(loc="left") for panel in panels] == ["λ = 0.9", "λ = 0.6"]
    for panel, rate in zip(panels, LEVELS, strict=True):
        (image,) = panel.images
        assert (image.origin, image.get_clim()) == ("lower", (0, 100))
        numbers = {text.get_position(): text.get_text() for text in panel.texts}
        for first, others in np.ndindex(3, 3):
            percent = 100.0 * rate / (1.0 + np.exp(first - 0.4 * others))
            assert image.get_array()[first, others] == pytest.approx(percent)
            assert numbers[others, first] == f"{percent:.0f}"


def test_large_maps_have_no_numbers():
    assert list(figures.decision_maps(decisions(9)).axes[0].texts) == []


def test_rates_are_lines_over_the_bars_of_the_queues_at_each_level():
    for panel, rate in zip(figures.rates_by_level(rates()).axes, LEVELS, strict=True):
        assert len(lines(panel)) == len(POLICIES)
        for number, name in enumerate(POLICIES):
            expected = [[0, rate + number], [1, rate / (2 + number)]]
            assert curve(panel, look(name).color) == pytest.approx(np.array(expected))
        bars = rectangles(panel)
        assert bars[:, :2].mean(axis=1) == pytest.approx([0, 1])
        assert bars[:, 2:] == pytest.approx(np.array([[0, rate / 3], [0, rate / 2]]))


def test_scores_are_steps_over_shaded_epochs_of_high_demand():
    figure = figures.scores_along_path(scores())
    (panel,) = figure.axes
    one, two = steps(panel)
    assert one[0] == pytest.approx([-0.9, -0.7, -1.1, -0.9])
    assert two[0] == pytest.approx([-1.8, -1.4, -2.2, -1.8])
    assert one[1].tolist() == two[1].tolist() == [0.0, 5.0, 10.0, 15.0, 20.0]
    assert rectangles(panel)[:, :2].tolist() == [[0.0, 5.0], [10.0, 15.0]]
    assert panel.get_xlim() == (0.0, 20.0)
    assert levels(panel) == [0.0]
    drawn = [patch.get_edgecolor() for patch in panel.patches if hasattr(patch, "get_data")]
    named = list(legend_colors(figure).values())
    assert [panel.lines[0].get_color(), *drawn] == [pytest.approx(color) for color in named]
