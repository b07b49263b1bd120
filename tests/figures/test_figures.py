"""Every figure: labelled, in one look, the same bytes twice, and without pyplot."""

import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from mfc_lb import SystemParameters, figures, join_shortest_queue, random_choice, softmin
from mfc_lb.experiments import illustrations, load
from mfc_lb.experiments.analysis import crossings, without_learned
from mfc_lb.experiments.cases import POLICIES
from mfc_lb.figures.style import (
    WIDTH,
    look,
    new_figure,
    plain_log,
    plain_number,
    side_by_side,
)
from tests.figures.drawn import legend_colors


def rates_table():
    p = SystemParameters()
    rules = {
        "JSQ(2)": join_shortest_queue(p),
        "RND": random_choice(p),
        "softmin(1)": softmin(p, 1.0),
    }
    return illustrations.rates_by_filling(rules, np.full(6, 1 / 6), 0.9)


DRAWN = {
    "herd": lambda: figures.herd(load("trajectories")),
    "distance_to_mean_field": lambda: figures.distance_to_mean_field(load("convergence")),
    "drops_bias": lambda: figures.drops_bias(load("convergence")),
    "agents_limit": lambda: figures.agents_limit(load("convergence")),
    "drops_by_delay": lambda: figures.drops_by_delay(without_learned(load("comparison")), 100),
    "drops_by_size": lambda: figures.drops_by_size(load("comparison")),
    "policy_differences": lambda: figures.policy_differences(load("comparison"), 20, "per_epoch"),
    "crossing_by_size": lambda: figures.crossing_by_size(crossings(load("comparison"))),
    "best_softmin": lambda: figures.best_softmin(load("comparison")),
    "drops_by_population": lambda: figures.drops_by_population(load("populations")),
    "population_gap": lambda: figures.population_gap(load("populations"), 20),
    "learned_by_size": lambda: figures.learned_by_size(load("comparison"), "per_epoch"),
    "distance_by_size": lambda: figures.distance_by_size(load("comparison"), (1.0, 10.0)),
    "drops_by_delay_and_size": lambda: figures.drops_by_delay_and_size(load("comparison")),
    "learned_differences": lambda: figures.learned_differences(load("comparison")),
    "learned_population_gap": lambda: figures.learned_population_gap(load("populations")),
    "load_curves": lambda: figures.load_curves(load("trace_study")),
    "refresh_curves": lambda: figures.refresh_curves(
        load("trace_delay").query("trace == 'modulated'")
    ),
    "choice_differences": lambda: figures.choice_differences(load("modelling_choices")),
    "chebyshev_decay": lambda: figures.chebyshev_decay(illustrations.chebyshev_errors([1.0, 5.0])),
    "arrival_rates_by_filling": lambda: figures.arrival_rates_by_filling(rates_table()),
    "loss_check": lambda: figures.loss_check(illustrations.random_routing_losses(num_epochs=50)),
}

TESTS = sorted(Path(__file__).parent.glob("test_*.py"))


@pytest.fixture(scope="module", params=DRAWN)
def figure(request) -> Figure:
    drawn = DRAWN[request.param]()
    drawn.draw_without_rendering()
    return drawn


def rendered(figure: Figure, suffix: str) -> bytes:
    file = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "test"}):
        figure.savefig(file, format=suffix, metadata={"Date": None} if suffix == "svg" else None)
    return file.getvalue()


def test_axes_are_labelled(figure):
    """Each panel says what is on its axes, or the figure or the panel at its edge does."""
    ends = [panel.get_subplotspec() for panel in figure.axes]
    columns = {
        end.colspan.start
        for panel, end in zip(figure.axes, ends, strict=True)
        if panel.get_xlabel() or figure.get_supxlabel()
    }
    assert columns == {end.colspan.start for end in ends}
    assert figure.get_supylabel() or any(panel.get_ylabel() for panel in figure.axes)


def test_texts_fit_and_are_large_enough(figure):
    width, height = figure.canvas.get_width_height()
    for text in figure.findobj(mpl.text.Text):
        if text.get_text() and text.get_visible():
            assert text.get_fontsize() >= 8
    texts = [figure._supxlabel, figure._supylabel, *figure.legends]
    texts += [label for panel in figure.axes for label in (panel.title, panel._left_title)]
    texts += [axis.label for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    for text in filter(None, texts):
        box = text.get_window_extent()
        assert box.width == 0 or (box.x0 >= -1 and box.x1 <= width + 1), text
        assert box.height == 0 or (box.y0 >= -1 and box.y1 <= height + 1), text


def test_legend_lies_outside_the_panels(figure):
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert not any(box.overlaps(panel.bbox) for panel in figure.axes)
    assert not any(panel.get_legend() for panel in figure.axes)


def test_face_is_opaque_white_and_width_fits_a_telephone(figure):
    assert figure.get_facecolor() == to_rgba("white")
    assert figure.get_figwidth() == WIDTH


def test_every_panel_shows_something(figure):
    assert all(panel.has_data() for panel in figure.axes)


def test_policies_are_drawn_in_the_colours_that_the_legend_gives_them(figure):
    if not figure.legends:
        return
    for name, color in legend_colors(figure).items():
        if name in POLICIES:
            assert color == look(name).color
            assert color in {line.get_color() for panel in figure.axes for line in panel.lines}


@pytest.mark.parametrize("name", ["herd", "drops_bias", "drops_by_delay", "choice_differences"])
def test_the_same_bytes_twice(name):
    first, second = DRAWN[name](), DRAWN[name]()
    assert rendered(first, "svg") == rendered(first, "svg") == rendered(second, "svg")
    assert rendered(first, "png") == rendered(second, "png")


def test_look_does_not_depend_on_the_readers_settings():
    plain = rendered(DRAWN["drops_by_delay"](), "png")
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.facecolor": "black"}):
        assert rendered(DRAWN["drops_by_delay"](), "png") == plain


def test_pyplot_is_not_touched():
    program = (
        "import sys; from mfc_lb import figures; from mfc_lb.experiments import illustrations\n"
        "figures.loss_check(illustrations.random_routing_losses(num_epochs=5))\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"


def test_policies_have_one_colour_and_marker_each():
    looks = [look(name) for name in ("RND", "JSQ(2)", "softmin", "SED(2)", "MF")]
    assert len({style.color for style in looks}) == len({style.marker for style in looks}) == 5
    assert look("JSQ(2)") == look("JSQ(3)")
    assert look("softmin(1)") == look("softmin")
    figure = DRAWN["drops_by_delay"]()
    lines = {line.get_color() for line in figure.axes[0].lines}
    assert lines == {look(name).color for name in ("RND", "JSQ(2)", "softmin")}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("distance_to_mean_field", "N = M², per epoch, 20 to 50 runs"),
        ("drops_bias", "N = M², per epoch, 20 to 50 runs"),
        ("agents_limit", "M = 20, per epoch, 20 runs"),
        ("drops_by_delay", "M = 100, N = M², per packet, 10 runs"),
        ("policy_differences", "M = 20, N = M², per epoch, 10 runs"),
        ("drops_by_size", "N = M², per packet, 10 runs"),
        ("crossing_by_size", "N = M², 10 runs"),
        ("drops_by_population", "M = 20, 10 runs"),
        ("population_gap", "M = 20, 10 runs"),
        ("choice_differences", "10 to 20 runs"),
    ],
)
def test_a_figure_says_which_systems_it_shows(name, words):
    figure = DRAWN[name]()
    texts = [figure.get_supxlabel()]
    texts += [panel.get_title(loc="left") + panel.get_xlabel() for panel in figure.axes]
    assert any(words in text for text in texts)


def test_markers_stand_side_by_side_around_their_place():
    assert [side_by_side(number, 2) for number in range(2)] == [-0.5, 0.5]
    figure = DRAWN["distance_to_mean_field"]()
    drawn = [np.asarray(bars[0].get_xdata(), float) for bars in figure.axes[0].containers]
    middle = np.exp(np.mean([np.log(places) for places in drawn if places.size], axis=0))
    sizes = load("convergence").query("limit == 'queues'").num_queues.unique()
    assert middle == pytest.approx(sorted(sizes))


def test_all_exported_figures_are_tested():
    drawing = {name for name in figures.__all__ if name not in ("look", "new_figure", "styled")}
    assert set(DRAWN) <= drawing
    source = "".join(path.read_text() for path in TESTS)
    assert [name for name in drawing if not re.search(rf"figures\.{name}\b|{name}\(", source)] == []


def test_plain_numbers():
    numbers = [0.001, 0.5, 1, 20, 1000, 10_000, 99_000, 100_000, 1e-12]
    texts = ["0.001", "0.5", "1", "20", "1000", "10 000", "99 000", "10⁵", "10⁻¹²"]
    assert [plain_number(number) for number in numbers] == texts


@pytest.mark.parametrize(
    ("limits", "labels"), [((1, 50), ["1", "2", "5", "10", "20", "50"]), ((1, 1000), ["1", "10"])]
)
def test_log_axes_are_labelled_plainly(limits, labels):
    figure, axes = new_figure(2.0)
    axes[0, 0].set_xscale("log")
    axes[0, 0].set_xlim(*limits)
    plain_log(axes[0, 0].xaxis)
    figure.draw_without_rendering()
    shown = [label.get_text() for label in axes[0, 0].get_xticklabels()]
    assert set(labels) <= set(shown)
    assert not any("10^" in text or "$" in text for text in shown)
