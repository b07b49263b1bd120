"""The figures of learning and of the certificate: the tables' numbers at the right places."""

import numpy as np
import pandas as pd
import pytest

from mfc_lb.figures import learning as figures
from mfc_lb.figures.style import GREY, look
from tests.figures import drawn
from tests.figures.drawn import assert_heights, assert_laid_out, bands, bars, legend_colors, levels

POLICIES = {
    "JSQ(2)": 12.0,
    "RND": 44.0,
    "softmin": 2.2,
    "constant scores": 0.6,
    "scores per level": 0.2,
    "network without λ": 0.5,
    "MF": 0.0,
    "clairvoyant": -0.001,
}


def estimates(values) -> dict[str, np.ndarray]:
    values = np.asarray(values, dtype=float)
    return {"estimate": values, "interval_low": values - 0.1, "interval_high": values + 0.2}


def curves() -> pd.DataFrame:
    runs = [
        ("JSQ(2)", "none", -1, [0], [31.0]),
        ("RND", "none", -1, [0], [40.0]),
        ("softmin", "none", -1, [0], [28.6]),
        ("pathwise", "score", 0, [0, 10_000, 20_000], [28.6, 28.2, 28.0]),
        ("PPO", "score", 0, [0, 40_000, 80_000], [40.0, 36.0, 30.0]),
        ("PPO", "score", 1, [0, 40_000, 80_000], [40.0, 35.0, 31.0]),
        ("PPO", "table", 0, [0, 40_000, 80_000], [40.0, 39.0, 38.0]),
    ]
    tables = []
    for method, kind, seed, steps, drops in runs:
        columns = {"method": method, "kind": kind, "training_seed": seed}
        columns |= {"environment_steps": steps, "seconds": np.array(steps) / 400}
        tables.append(pd.DataFrame({**columns, **estimates(drops)}))
    return pd.concat(tables, ignore_index=True)


def gaps() -> pd.DataFrame:
    tables = [
        pd.DataFrame({"policy": name, "delta_t": [1.0, 5.0], **estimates([gap, gap])})
        for name, gap in POLICIES.items()
    ]
    return pd.concat(tables, ignore_index=True)


DRAWN = {
    "learning_curves": lambda: figures.learning_curves(curves()),
    "optimality_gaps": lambda: figures.optimality_gaps(gaps()),
    "worth_of_knowledge": lambda: figures.worth_of_knowledge(gaps()),
}


@pytest.mark.parametrize("name", DRAWN)
def test_panels_are_labelled_and_texts_have_their_room(name):
    assert_laid_out(DRAWN[name]())


def test_every_training_run_is_a_line_and_every_baseline_a_dashed_one():
    panel = figures.learning_curves(curves()).axes[0]
    solid = [line for line in panel.lines if line.get_linestyle() == "-"]
    dashed = [line for line in panel.lines if line.get_linestyle() == "--"]
    assert [list(line.get_ydata()) for line in solid] == [
        [28.2, 28.0],
        [36.0, 30.0],
        [35.0, 31.0],
        [39.0, 38.0],
    ]
    assert list(solid[0].get_xdata()) == [10.0, 20.0]
    assert {(line.get_color(), line.get_ydata()[0]) for line in dashed} == {
        (look("JSQ").color, 31.0),
        (look("RND").color, 40.0),
        (look("softmin").color, 28.6),
    }


def test_bands_are_the_intervals_over_steps_in_thousands_or_over_seconds():
    for panel, scale in zip(figures.learning_curves(curves()).axes, (1e3, 400.0) * 2, strict=True):
        (band,) = bands(panel, look("MF").color)
        expected = [[10_000 / scale, 28.1, 28.4], [20_000 / scale, 27.9, 28.2]]
        assert band == pytest.approx(np.array(expected))
        assert len(bands(panel)) == 4
        drawn_lines = [line for line in panel.lines if line.get_linestyle() == "-"]
        assert [line.get_xdata()[0] for line in drawn_lines[1:]] == [40_000 / scale] * 3


def test_the_close_up_shows_the_lowest_drops_and_the_best_baseline():
    low, high = figures.learning_curves(curves()).axes[2].get_ylim()
    assert low < 27.9
    assert 28.6 < high < 30.0


def test_curves_may_be_shown_against_steps_alone():
    figure = figures.learning_curves(curves(), ["environment_steps"])
    assert len(figure.axes) == 2
    assert figure.axes[1].get_xlabel() == "environment steps (thousands)"


def test_gaps_of_all_policies_are_shown_zero_and_below_included():
    top, bottom = figures.optimality_gaps(gaps()).axes
    shown = {line.get_color(): line.get_ydata()[0] for line, *_ in top.containers}
    assert shown[look("MF").color] == 0.0
    assert shown[look("RND").color] == 44.0
    assert len(top.containers) == 7
    low, high = top.get_ylim()
    assert low < -0.1
    assert high > 44.2
    assert [list(line.get_ydata()) for line, *_ in bottom.containers] == [[-0.001, -0.001]]


def test_ticks_of_the_gaps_are_numbers_of_percent_with_zero():
    top = figures.optimality_gaps(gaps()).axes[0]
    labels = [label.get_text() for label in top.get_yticklabels()]
    assert labels == ["−0.1", "−0.01", "−0.001", "0", "0.001", "0.01", "0.1", "1", "10"]


def test_knowledge_is_compared_with_softmin_and_without_the_other_baselines():
    panel = figures.worth_of_knowledge(gaps()).axes[0]
    shown = [line.get_ydata()[0] for line, *_ in panel.containers]
    assert sorted(shown) == [0.2, 0.5, 0.6, 2.2]


def different_gaps() -> pd.DataFrame:
    return drawn.estimates({"policy": POLICIES, "delta_t": (1.0, 5.0, 8.0)})


def assert_gaps_shown(figure, policies) -> None:
    """Assert that each policy has its colour, its heights and, side by side, its delays."""
    panel, table, colors = figure.axes[0], different_gaps(), legend_colors(figure)
    assert set(colors) == set(policies)
    for policy in policies:
        (marks,) = bars(panel, colors[policy])
        assert_heights(marks, table[table.policy == policy])
    drawn.assert_side_by_side(bars(panel), (1.0, 5.0, 8.0), within=0.5)


def test_gaps_and_their_intervals_stand_at_their_delays():
    figure = figures.optimality_gaps(different_gaps())
    assert_gaps_shown(figure, set(POLICIES) - {"clairvoyant"})
    (marks,) = bars(figure.axes[1], GREY)
    assert marks[:, 0].tolist() == [1.0, 5.0, 8.0]
    assert_heights(marks, different_gaps().query("policy == 'clairvoyant'"))
    assert levels(figure.axes[1]) == [0.0]


def test_worth_of_knowledge_stands_at_its_delays():
    figure = figures.worth_of_knowledge(different_gaps())
    known = ("softmin", "constant scores", "network without λ", "scores per level")
    assert_gaps_shown(figure, known)
    assert levels(figure.axes[0], look("MF").color, "--") == [0.0]
