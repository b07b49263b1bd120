"""What the live page shows: every number in words, tables and drawings is the library's."""

import re
from itertools import chain
from operator import itemgetter

import numpy as np
import pytest

from mfc_lb import ArrivalProcess
from mfc_lb.figures.style import look
from tests.book.browser import NARROW, WIDE, chromium, needs_chromium
from tests.book.explore_page import (
    FILLINGS,
    PERCENT,
    POLICIES,
    Truth,
    assert_says,
    by_rule,
    color_of,
    exactly,
    marker_of,
    plain,
    read,
    rgb,
    rule_in_words,
)
from tests.book.live_page import open_page, write_page

pytestmark = needs_chromium

# An address of the page, and a screen's width.
SETTINGS = [
    ("policy=random&dt=2.5&high=1.2&low=0.25&seed=4&epoch=97", WIDE),
    ("policy=softmin&beta=0.7&dt=0.5&high=1.1&low=0.3&seed=2&epoch=437", NARROW),
    ("policy=jsq&dt=10&high=0.95&low=0.4&seed=5&epoch=23", WIDE),
    ("policy=learned&dt=6.5&high=1.05&low=0.35&seed=3&epoch=33", WIDE),
    ("policy=learned&dt=3&demand=high&epoch=166", WIDE),
    ("policy=jsq&dt=0.7&high=0.3&low=0.1&demand=low&epoch=356", WIDE),
]
WINDOW = 100  # units of time in the drawing of the fractions
TIMELINES = ("fractions", "fractions-random", "epoch-drops", "total-drops")


# --- the page ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened(book, tmp_path_factory):
    path = write_page(book, tmp_path_factory.mktemp("live"))
    with chromium() as browser:
        yield lambda fragment: open_page(browser, path, fragment)


@pytest.fixture(scope="module", params=SETTINGS, ids=itemgetter(0))
def both(request, opened, book):
    """Return what the page shows of some settings, and the truth."""
    fragment, width = request.param
    page, heard = opened(fragment)
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function("width => innerWidth === width", arg=width)
    shown = read(page)
    page.close()
    assert heard == []
    return shown, Truth(fragment, book.root / "data" / "policies")


# --- in words ---------------------------------------------------------------------------------


def test_the_summary_says_what_is_lost(both):
    shown, truth = both
    assert_says(shown["texts"]["summary"], truth.summary_numbers())


def test_the_summary_names_the_rule_and_the_demand(both):
    shown, truth = both
    said = shown["texts"]["summary"]
    assert rule_in_words(shown, truth) in said
    level = ["high", "low"][truth.levels[truth.epoch]]
    assert re.findall(r"\b(high|low)\b", said) == [level]


def test_a_change_has_its_sign(both):
    shown, truth = both
    changes = [row["cells"][2] for row in shown["tables"]["totals"]]
    signs = re.findall(r"[+−±](?=[\d.]+\s%)", " ".join([*changes, shown["texts"]["summary"]]))
    assert len(signs) == len(POLICIES) - 1 + (truth.policy != "random")


def test_the_note_says_what_the_learned_policy_was_trained_for(both):
    shown, truth = both
    own = ArrivalProcess().rates
    here = truth.trained_for == truth.dt and truth.arrivals.rates == own
    expected = [truth.trained_for, *(() if here else own)]
    assert_says(shown["texts"]["learned"], exactly(*expected))


def test_values_beside_the_controls_are_the_settings(both):
    shown, truth = both
    values = {name.removeprefix("explore-"): float(text) for name, text in shown["values"].items()}
    assert values == {name: truth.settings[name] for name in values}
    assert {"dt", "beta", "high", "low", "epoch"} <= set(values)


def test_each_figure_describes_itself_in_numbers(both):
    shown, truth = both
    said = {name: panel.description for name, panel in shown["panels"].items()}
    own, run = truth.label_numbers(truth.policy), truth.chosen
    drops = [plain(truth.runs[name].drops[truth.epoch]) for name in (truth.policy, "random")]
    epoch, rates = exactly(truth.epoch), map(plain, run.arrival_rates[truth.epoch])
    assert_says(said["rates"], [*exactly(0, 5), *own, *epoch, *rates])
    assert_says(said["epoch-drops"], [*own, *epoch, *drops])
    totals = ([*truth.label_numbers(name), plain(truth.runs[name].total)] for name in POLICIES)
    assert_says(said["total-drops"], [*chain.from_iterable(totals)])


def test_the_bands_describe_themselves_in_numbers(both):
    shown, truth = both
    for panel, name in bands(shown, truth):
        window = truth.times[shown_epochs(panel, truth)[[0, -1]] + [0, 1]]
        nu = truth.runs[name].starts[truth.epoch]
        expected = [
            *exactly(0, 5),
            *truth.label_numbers(name),
            *exactly(*window, truth.epoch * truth.dt),
            *((100 * share, PERCENT) for share in nu[[0, -1]]),
        ]
        assert_says(panel.description, expected)


def test_descriptions_name_the_rule(both):
    shown, truth = both
    name = rule_in_words(shown, truth)
    panels = [panel for key, panel in shown["panels"].items() if key != "fractions-random"]
    assert all(name in panel.description for panel in panels)
    assert "random" in shown["panels"]["fractions-random"].description


# --- in tables --------------------------------------------------------------------------------


def totals_by_rule(shown):
    """Return the rows of the table of drops; a rule's row has its marker's colour."""
    return by_rule({rgb(row["shapes"][0].fill): row for row in shown["tables"]["totals"]})


def test_the_table_of_drops_is_that_of_the_library(both):
    shown, truth = both
    arrived, reference = truth.dt * truth.rates.sum(), truth.runs["random"].total
    rows = totals_by_rule(shown)
    assert set(rows) == set(POLICIES)
    for name, row in rows.items():
        lost = truth.runs[name].total
        versus = [] if name == "random" else [(100 * (lost / reference - 1), PERCENT)]
        columns = [[plain(lost)], versus, [(100 * lost / arrived, PERCENT)]]
        says = [truth.label_numbers(name), *columns]
        for cell, expected in zip(row["cells"], says, strict=True):
            assert_says(cell, expected)


def test_the_table_of_drops_stresses_the_chosen_rule(both):
    shown, truth = both
    rows = totals_by_rule(shown)
    assert [name for name, row in rows.items() if row["chosen"]] == [truth.policy]
    assert rows[truth.policy]["cells"][0] == rule_in_words(shown, truth)


def test_the_table_of_the_epoch_is_that_of_the_library(both):
    shown, truth = both
    nu, rates = truth.chosen.starts[truth.epoch], truth.chosen.arrival_rates[truth.epoch]
    rows = shown["tables"]["epoch-table"]
    expected = [exactly(*row) for row in zip(range(6), nu, rates, strict=True)]
    for row, values in zip(rows, expected, strict=True):
        assert_says(" ".join(row["cells"]), values)
    assert shown["texts"]["shown-policy"] == rule_in_words(shown, truth)


# --- drawn over time --------------------------------------------------------------------------


def bands(shown, truth):
    """Return the two drawings of bands and the names of their rules."""
    panels = shown["panels"]
    return [(panels["fractions"], truth.policy), (panels["fractions-random"], "random")]


def drawn_times(panel):
    """Return the times at which the bands have corners."""
    band = panel.data(panel.kind("band")[0].points)
    return band[: len(band) // 2, 0]


def shown_epochs(panel, truth):
    first, end = np.round(drawn_times(panel)[[0, -1]] / truth.dt).astype(int)
    return np.arange(first, end)


def test_the_bands_show_a_window_of_whole_epochs(both):
    shown, truth = both
    for panel, _ in bands(shown, truth):
        epochs, last = shown_epochs(panel, truth), len(truth.levels) - 1
        ends = truth.times[epochs[[0, -1]] + [0, 1]]
        assert panel.is_near(0, drawn_times(panel)[[0, -1]], ends)
        assert truth.epoch in epochs
        assert abs(np.ptp(ends) - WINDOW) <= truth.dt or epochs[-1] == last


def test_each_band_is_as_high_as_its_fraction_at_each_time(both):
    shown, truth = both
    for panel, name in bands(shown, truth):
        epochs = shown_epochs(panel, truth)
        parts, rest = divmod(len(drawn_times(panel)) - 1, len(epochs))
        assert rest == 0
        assert truth.dt / parts <= 1  # finer than a mean service time
        heights = np.cumsum(truth.within(name, epochs, parts), axis=1).T
        times = truth.dt * (epochs[0] + np.arange(len(epochs) * parts + 1) / parts)
        assert_bands(panel, times, heights)


def assert_bands(panel, times, heights):
    """Check the outline of each band: its upper edge, and its lower one back."""
    found = {rgb(band.fill): band.points for band in panel.kind("band")}
    lower = np.zeros_like(times)
    for color, upper in zip(FILLINGS, heights, strict=True):
        there, back = np.column_stack([times, upper]), np.column_stack([times, lower])
        assert panel.is_at(found.pop(color), np.concatenate([there, back[::-1]]))
        lower = upper
    assert found == {}


def test_the_legend_names_the_bands_colours(both):
    legend = [(int(text), rgb(color)) for text, color in both[0]["legend"]]
    assert legend == list(enumerate(FILLINGS))


def test_news_are_marked_at_each_beginning_of_an_epoch_if_they_can_be_told_apart(both):
    shown, truth = both
    for panel, _ in bands(shown, truth):
        lines = np.array([line.points for line in panel.kind("news")])
        inner = shown_epochs(panel, truth)[1:] * truth.dt
        apart = truth.dt / panel.pixel[0]
        assert len(lines) == 0 if apart < 4 else len(lines) > 0 or apart < 10
        if len(lines) > 0:
            assert panel.is_at(lines, [[(time, 0), (time, 1)] for time in inner])


def test_the_strip_is_dark_while_demand_is_high(both):
    shown, truth = both
    for panel, _ in bands(shown, truth):
        strip = panel.kind("demand")
        assert max(part.box[3] for part in strip) <= panel.frame[0, 1]
        sides = np.array([panel.rectangle(part)[[0, 2]] for part in strip])
        dark = np.array([sum(rgb(part.fill)) / 3 < 160 for part in strip])
        epochs = shown_epochs(panel, truth)
        ends = truth.dt * np.array([epochs[0], epochs[-1] + 1])
        assert panel.is_near(0, [sides.min(), sides.max()], ends)
        for inside in (0.02, 0.98):
            times = truth.dt * (epochs + inside)
            covers = (sides[:, :1] < times) & (times < sides[:, 1:])
            assert (covers.sum(axis=0) == 1).all()
            assert (dark[covers.argmax(axis=0)] == (truth.levels[epochs] == 0)).all()


@pytest.mark.parametrize("name", TIMELINES)
def test_the_pointer_stands_at_the_beginning_of_the_epoch(both, name):
    shown, truth = both
    panel, time = shown["panels"][name], truth.epoch * truth.dt
    (line,), (head,) = panel.kind("pointer"), panel.kind("pointer-head")
    assert panel.is_near(0, panel.data(line.points)[:, 0], time)
    assert np.allclose(np.sort(line.points[:, 1]), panel.frame[:, 1])
    assert panel.is_near(0, panel.data(head.points)[0, 0], time)


def test_drops_of_each_epoch_are_drawn_as_steps(both):
    shown, truth = both
    panel = shown["panels"]["epoch-drops"]
    lines = by_rule(panel.lines())
    assert set(lines) == {truth.policy, "random"}
    times = np.repeat(truth.times, 2)[1:-1]
    for name, (line,) in lines.items():
        heights = np.repeat(truth.runs[name].drops, 2)
        assert panel.is_at(line.points, np.column_stack([times, heights]))


def test_drops_so_far_are_drawn_up_to_the_end(both):
    shown, truth = both
    panel = shown["panels"]["total-drops"]
    lines = by_rule(panel.lines())
    assert set(lines) == set(POLICIES)
    for name, (line,) in lines.items():
        lost = np.concatenate([[0], truth.runs[name].drops.cumsum()])
        assert panel.is_at(line.points, np.column_stack([truth.times, lost]))
    markers = {rgb(marker.fill): marker.place for marker in panel.kind("marker")}
    ends = {name: (truth.times[-1], truth.runs[name].total) for name in POLICIES}
    assert all(panel.is_at(place, ends.pop(name)) for name, place in by_rule(markers).items())
    assert ends == {}


# --- drawn over the fillings ------------------------------------------------------------------


def test_bars_are_the_fractions_of_the_queues(both):
    shown, truth = both
    panel = shown["panels"]["rates"]
    bars = np.array([panel.rectangle(bar) for bar in panel.kind("bar")])
    nu = truth.chosen.starts[truth.epoch]
    assert panel.is_near(0, bars[:, ::2].mean(axis=1), np.arange(6))
    assert np.ptp(bars[:, ::2], axis=1).max() < 1
    assert panel.is_near(1, bars[:, 1::2], np.column_stack([np.zeros(6), nu]))


def test_arrival_rates_are_drawn_by_filling(both):
    shown, truth = both
    panel = shown["panels"]["rates"]
    lines = by_rule(panel.lines())
    assert set(lines) == {truth.policy, "random"}
    for name, found in lines.items():
        points = np.column_stack([np.arange(6), truth.runs[name].arrival_rates[truth.epoch]])
        markers = [m.place for m in panel.kind("marker") if rgb(m.fill) == color_of(name)]
        assert all(panel.is_at(line.points, points) for line in found)
        assert panel.is_at(markers, np.tile(points, (len(found), 1)))


def test_the_reference_is_the_service_rate(both):
    shown, truth = both
    panel = shown["panels"]["rates"]
    (line,) = panel.kind("reference")
    (rate,) = truth.parameters.service_rates
    assert panel.is_near(1, panel.data(line.points)[:, 1], rate)


# --- how it is drawn --------------------------------------------------------------------------


def test_everything_is_drawn_within_the_axes(both):
    shown, _ = both
    for panel in shown["panels"].values():
        low, high = panel.frame[0] - 0.1, panel.frame[1] + 0.1
        kinds = ("band", "news", "reference", "pointer")
        drawn = [shape.points for kind in kinds for shape in panel.kind(kind)]
        drawn += [line.points for line in chain(*panel.lines().values())]
        drawn += [np.array([marker.place]) for marker in panel.kind("marker")]
        drawn += [np.reshape(bar.box, (2, 2)) for bar in panel.kind("bar")]
        points = np.concatenate(drawn)
        assert ((low <= points) & (points <= high)).all()


def test_nothing_is_drawn_without_ink(both):
    shown, _ = both
    for panel in shown["panels"].values():
        lines = [line for kind in ("news", "reference", "pointer") for line in panel.kind(kind)]
        areas = [*panel.kind("bar"), *panel.kind("demand"), *panel.kind("pointer-head")]
        inks = {line.stroke for line in lines} | {area.fill for area in areas}
        assert "none" not in inks


@pytest.mark.parametrize("name", ["rates", "epoch-drops", "total-drops"])
def test_the_chosen_rule_is_drawn_strongest(both, name):
    shown, truth = both
    lines = by_rule(shown["panels"][name].lines())
    strength = {rule: found[-1].opacity * found[-1].weight for rule, found in lines.items()}
    own = strength.pop(truth.policy)
    assert own > max(strength.values(), default=0)


def test_markers_are_those_of_the_table_and_of_the_book(both):
    shown, _ = both
    table = {name: row["shapes"][0].outline for name, row in totals_by_rule(shown).items()}
    assert {name: marker_of(outline) for name, outline in table.items()} == {
        name: look(policy).marker for name, policy in POLICIES.items()
    }
    for panel in shown["panels"].values():
        drawn = by_rule({rgb(marker.fill): marker.outline for marker in panel.kind("marker")})
        assert drawn.items() <= table.items()


# --- after a change ---------------------------------------------------------------------------


def test_moved_controls_show_what_their_address_shows(opened):
    page, heard = opened("policy=jsq&dt=3&seed=9&epoch=30")
    for name, value in (("dt", "6.5"), ("beta", "2"), ("high", "1.3"), ("low", "0.2")):
        page.locator(f"[name={name}]").fill(value)
    page.locator("[name=seed]").fill("8")
    page.locator("[value=softmin]").check()
    page.locator("[name=epoch]").fill("41")
    moved = read(page)
    fresh, other = opened("policy=softmin&dt=6.5&beta=2&high=1.3&low=0.2&seed=8&epoch=41")
    assert moved == read(fresh)
    page.close()
    fresh.close()
    assert heard == other == []
