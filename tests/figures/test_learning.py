"""The figures of learning, of the certificate and of what a policy does."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from mfc_lb.figures import learned_policy
from mfc_lb.figures import learning as figures
from mfc_lb.figures.style import WIDTH, look

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
        columns |= {"environment_steps": steps, "seconds": np.array(steps) / 1000}
        tables.append(pd.DataFrame({**columns, **estimates(drops)}))
    return pd.concat(tables, ignore_index=True)


def gaps() -> pd.DataFrame:
    tables = [
        pd.DataFrame({"policy": name, "delta_t": [1.0, 5.0], **estimates([gap, gap])})
        for name, gap in POLICIES.items()
    ]
    return pd.concat(tables, ignore_index=True)


def decisions(num_states: int = 3) -> pd.DataFrame:
    first, others = np.indices((num_states,) * 2).reshape(2, -1)
    chances = 1.0 / (1.0 + np.exp(first - others))
    levels = [
        pd.DataFrame({"level_rate": rate} | {"first": first, "others": others})
        for rate in (0.9, 0.6)
    ]
    return pd.concat([level.assign(probability=chances) for level in levels], ignore_index=True)


def rates() -> pd.DataFrame:
    rows = [
        {"level_rate": rate, "policy": name, "filling": z, "fraction": 0.5, "arrival_rate": rate}
        for rate in (0.9, 0.6)
        for name in ("JSQ(3)", "RND", "softmin", "MF")
        for z in (0, 1)
    ]
    return pd.DataFrame(rows)


def scores() -> pd.DataFrame:
    rows = [
        {"time": 5.0 * t, "arrival_rate": rate, "filling": z, "score": -z * rate}
        for t, rate in enumerate((0.9, 0.6, 0.9))
        for z in (0, 1, 2)
    ]
    return pd.DataFrame(rows)


DRAWN = {
    "learning_curves": lambda: figures.learning_curves(curves()),
    "optimality_gaps": lambda: figures.optimality_gaps(gaps()),
    "worth_of_knowledge": lambda: figures.worth_of_knowledge(gaps()),
    "decision_maps": lambda: learned_policy.decision_maps(decisions()),
    "rates_by_level": lambda: learned_policy.rates_by_level(rates()),
    "scores_along_path": lambda: learned_policy.scores_along_path(scores()),
}


@pytest.fixture(params=DRAWN)
def figure(request) -> Figure:
    drawn = DRAWN[request.param]()
    drawn.draw_without_rendering()
    return drawn


def test_panels_are_labelled_and_show_something(figure):
    assert figure.get_facecolor() == to_rgba("white")
    assert figure.get_figwidth() == WIDTH
    assert all(panel.has_data() for panel in figure.axes)
    assert figure.axes[0].get_ylabel()
    assert any(panel.get_xlabel() for panel in figure.axes)


def test_texts_lie_inside_and_the_legend_outside_the_panels(figure):
    width, height = figure.canvas.get_width_height()
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            box = axis.label.get_window_extent()
            assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert min(box.x0, width - box.x1) >= -1
        assert not any(box.overlaps(panel.bbox) for panel in figure.axes)


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


def test_a_map_shows_every_probability_in_percent():
    figure = learned_policy.decision_maps(decisions())
    panel = figure.axes[0]
    assert [panel.get_title(loc="left") for panel in figure.axes[:2]] == ["λ = 0.9", "λ = 0.6"]
    numbers = {text.get_position(): text.get_text() for text in panel.texts}
    assert numbers[1, 0] == "73"  # the first queue is empty, the other holds one packet
    assert numbers[0, 1] == "27"
    assert panel.images[0].get_array()[0, 2] == pytest.approx(100 / (1 + np.exp(-2)))


def test_large_maps_have_no_numbers():
    assert list(learned_policy.decision_maps(decisions(9)).axes[0].texts) == []


def test_rates_are_shown_at_each_level_in_the_policies_colours():
    figure = learned_policy.rates_by_level(rates())
    colors = {look(name).color for name in ("JSQ(2)", "RND", "softmin", "MF")}
    for panel, rate in zip(figure.axes, (0.9, 0.6), strict=True):
        assert {line.get_color() for line in panel.lines} == colors
        assert all(list(line.get_ydata()) == [rate, rate] for line in panel.lines)


def test_scores_are_steps_over_shaded_epochs_of_high_demand():
    (panel,) = learned_policy.scores_along_path(scores()).axes
    steps = [patch for patch in panel.patches if hasattr(patch, "get_data")]
    assert [list(step.get_data().values) for step in steps] == [
        [-0.9, -0.6, -0.9],
        [-1.8, -1.2, -1.8],
    ]
    shaded = [patch.get_x() for patch in panel.patches if not hasattr(patch, "get_data")]
    assert shaded == [0.0, 10.0]
    assert panel.get_xlim() == (0.0, 15.0)
