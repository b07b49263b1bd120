"""The live page, in a browser: its numbers are the library's, and its controls do what they say."""

import json

import numpy as np
import pytest
import scipy.linalg

from mfc_lb import (
    ArrivalProcess,
    ConstantPolicy,
    MeanFieldSystem,
    SystemParameters,
    join_shortest_queue,
    load_policy,
    random_choice,
    softmin,
)
from mfc_lb.systems.queue import extended_rate_matrix
from tests.book.browser import needs_chromium
from tests.book.explore_page import PAPER

pytestmark = needs_chromium

SETTINGS = [
    {"dt": 0.5},
    {"dt": 1.0, "seed": 2, "beta": 5.0},
    {"dt": 2.5, "high": 1.5, "low": 0.0},
    {"dt": 6.7, "seed": 9999},
    {"dt": 8.0, "demand": "low", "beta": 0.0},
    {"dt": 9.5, "high": 1.2, "low": 1.2, "beta": 1.5},
    {"dt": 10.0, "demand": "high"},
    {"high": 0.0, "low": 0.0},
]
FRAGMENT = "policy=learned&dt=3&beta=0.5&high=0.9&low=0.6&demand=drawn&seed=7&epoch=12"


# --- the library's numbers --------------------------------------------------------------------


def policy_of(name, parameters, beta):
    """Return the library's policy for a name of the page."""
    if name == "learned":
        # Of two equally near delays, the longer one.
        nearest = min(range(1, 11), key=lambda delay: (abs(delay - parameters.delta_t), -delay))
        return load_policy(f"data/policies/mf-dt{nearest}")
    rules = {"random": random_choice, "jsq": join_shortest_queue}
    rule = softmin(parameters, beta) if name == "softmin" else rules[name](parameters)
    return ConstantPolicy(rule)


def library_run(settings, name):
    """Simulate with the library; a bare method is not asked what it was trained for."""
    arrivals = ArrivalProcess(rates=(settings["high"], settings["low"]))
    parameters = SystemParameters(delta_t=settings["dt"], arrivals=arrivals)
    levels = {
        "drawn": arrivals.sample_levels(
            parameters.num_epochs(500), np.random.default_rng(settings["seed"])
        ),
        "high": np.zeros(parameters.num_epochs(500), dtype=int),
        "low": np.ones(parameters.num_epochs(500), dtype=int),
    }[settings["demand"]]
    policy = policy_of(name, parameters, settings["beta"])
    run = MeanFieldSystem(parameters).simulate(policy.__call__, levels)
    starts, rates = run.distributions[:-1], np.array(arrivals.rates)[levels]
    return {
        "levels": levels,
        "distributions": run.distributions,
        "arrivalRates": policy(starts, levels).arrival_rates(starts, rates),
        "drops": run.drops,
    }


def assert_as_in_the_library(state, name):
    expected = library_run(state["settings"], name)
    assert state["levels"] == expected["levels"].tolist()
    for what in ("distributions", "arrivalRates", "drops"):
        shown = np.array(state["runs"][name][what])
        assert shown.shape == expected[what].shape
        assert abs(shown - expected[what]).max() < 1e-10, (what, name)


@pytest.mark.parametrize("changes", SETTINGS, ids=json.dumps)
def test_every_policy_is_followed_as_in_the_library(opened, monkeypatch, book, changes):
    monkeypatch.chdir(book.root)
    state = opened().evaluate("settings => mfcLb.compute(settings)", PAPER | changes)
    assert set(state["runs"]) == {"random", "softmin", "jsq", "learned"}
    for name in state["runs"]:
        assert_as_in_the_library(state, name)


def test_the_controls_give_the_numbers_shown(opened, monkeypatch, book):
    monkeypatch.chdir(book.root)
    page = opened()
    page.get_by_label("Delay Δt").fill("7.3")
    page.get_by_label("Arrival rate in high demand").fill("1.1")
    page.get_by_label("Arrival rate in low demand").fill("0.25")
    page.get_by_label("Sharpness β").fill("0.9")
    page.get_by_label("Seed of the drawn path").fill("42")
    page.get_by_label("Epoch shown").fill("67")
    for label, name in (("learned", "learned"), ("softmin(β)", "softmin"), ("JSQ(2)", "jsq")):
        page.get_by_label(label, exact=True).check()
        state = page.evaluate("mfcLb.shown()")
        changed = {"dt": 7.3, "high": 1.1, "low": 0.25, "beta": 0.9, "seed": 42, "epoch": 67}
        assert state["settings"] == changed | {"policy": name, "demand": "drawn"}
        assert_as_in_the_library(state, name)
        total = library_run(state["settings"], name)["drops"].sum()
        assert page.locator("#explore-totals .chosen td").first.inner_text() == f"{total:.2f}"


COLUMNS = """([rate, duration]) => {
  const start = filling => [0, 1, 2, 3, 4, 5, 6].map(entry => Number(entry === filling));
  return [0, 1, 2, 3, 4, 5].map(filling => mfcLb.advance(start(filling), rate, duration));
}"""


@pytest.mark.parametrize("duration", [0.05, 1.0, 10.0])
def test_a_queue_moves_by_the_exponential_of_its_rate_matrix(opened, duration):
    page = opened()
    for rate in (0.0, 1e-9, 0.6, 1.0, 3.0):
        columns = page.evaluate(COLUMNS, [rate, duration])
        exact = scipy.linalg.expm(extended_rate_matrix(rate, 1.0, 5) * duration)
        assert abs(np.array(columns).T - exact[:, :6]).max() < 1e-12


def test_looking_inside_an_epoch_ends_where_the_epoch_ends(opened):
    page = opened("dt=10&policy=jsq")
    ends = page.evaluate(
        """() => { const { runs } = mfcLb.shown(), { distributions, arrivalRates } = runs.jsq;
        return [mfcLb.epoch(distributions[4], arrivalRates[4], 10, 20).at(-1).nu,
                distributions[5]]; }"""
    )
    assert abs(np.subtract(*ends)).max() < 1e-12


def test_a_seed_means_what_it_means_in_numpy(opened):
    page = opened()
    for seed in (0, 1, 9999, 2**32 - 1):
        drawn = page.evaluate(
            "seed => { const draw = mfcLb.uniformDraws(seed); return [1, 2, 3].map(draw); }", seed
        )
        assert drawn == np.random.default_rng(seed).random(3).tolist()


def test_epochs_are_counted_as_in_the_library(opened):
    delays = [tenths / 10 for tenths in range(5, 101)]
    counted = opened().evaluate("delays => delays.map(mfcLb.numEpochs)", delays)
    assert counted == [SystemParameters(delta_t=delay).num_epochs(500) for delay in delays]


# --- the same in Python -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "fragment",
    [
        "policy=random&demand=low",
        "policy=softmin&beta=0.7&dt=0.5&epoch=999",
        "policy=jsq&demand=high&dt=10",
        "policy=learned&dt=6.5&seed=3",
        "policy=learned&dt=2&high=1.05&low=0.35",
    ],
)
def test_the_script_prints_what_the_page_says(opened, monkeypatch, capsys, book, fragment):
    monkeypatch.chdir(book.root)
    page = opened(fragment)
    script = page.locator("#explore-python").text_content()
    exec(compile(script, "explore", "exec"), {})
    assert capsys.readouterr().out.rstrip("\n") == page.locator("#explore-output").text_content()


# --- controls and address ---------------------------------------------------------------------


def test_an_address_restores_a_setting(opened):
    page = opened(FRAGMENT)
    page.get_by_label("always high").check()
    address = page.url
    assert "demand=high" in address
    shared = opened(address.partition("#")[2])
    both = [one.evaluate("mfcLb.shown()") for one in (page, shared)]
    assert both[0] == both[1]
    assert both[0]["settings"]["epoch"] == 12


def test_a_changed_address_is_followed(opened):
    page = opened()
    page.evaluate("location.hash = 'dt=10&policy=random'")
    page.wait_for_function("mfcLb.shown().settings.dt === 10")
    assert page.get_by_label("random", exact=True).is_checked()


def test_reset_brings_back_the_defaults(opened):
    fresh, page = opened(), opened(FRAGMENT)
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate("mfcLb.shown()") == fresh.evaluate("mfcLb.shown()")
    assert "#" not in page.url


@pytest.mark.parametrize(
    ("fragment", "refused"),
    [
        ("dt=99", "so the default is shown: dt."),
        ("dt=", "so the default is shown: dt."),
        ("policy=best", "so the default is shown: policy."),
        ("seed=-1", "so the default is shown: seed."),
        ("seed=1.5", "so the default is shown: seed."),
        ("epoch=100", "so the default is shown: epoch."),
        ("speed=3", "Not a setting of this page: speed."),
        ("high=0.5&low=0.7", "both are 0.5."),
        ("low=1&high=.5", "both are 0.5."),
        ("beta=nan&dt=5", "so the default is shown: beta."),
        ("dt=99&speed=3", "shown: dt. Not a setting of this page: speed."),
    ],
)
def test_an_address_that_is_not_allowed_is_refused_by_name(opened, fragment, refused):
    page = opened(fragment)
    assert page.get_by_role("alert").inner_text().endswith(refused)


def test_what_was_refused_is_not_said_any_more_once_a_control_moves(opened):
    page = opened("dt=99")
    assert page.get_by_role("alert").count() == 1
    page.get_by_label("Delay Δt").fill("7")
    assert page.get_by_role("alert").count() == 0


def test_an_address_without_a_name_refuses_nothing(opened):
    assert opened("=").get_by_role("alert").count() == 0


def test_a_link_to_a_heading_keeps_the_settings_in_the_address(opened):
    page = opened("policy=learned&dt=7")
    page.evaluate("location.hash = 'what-is-exact'")
    page.wait_for_function("location.hash.includes('dt=7')")
    page.reload()
    settings = page.evaluate("mfcLb.shown().settings")
    assert (settings["policy"], settings["dt"]) == ("learned", 7)


def test_an_address_that_leads_to_a_heading_changes_nothing(opened):
    page = opened("what-is-exact")
    assert page.get_by_role("alert").count() == 0
    assert page.evaluate("mfcLb.shown().settings.dt") == PAPER["dt"]


@pytest.mark.parametrize(("moved", "value"), [("low", "1.3"), ("high", "0.2")])
def test_high_demand_stays_above_low_demand(opened, moved, value):
    page = opened()
    page.locator(f"[name={moved}]").fill(value)
    settings = page.evaluate("mfcLb.shown().settings")
    assert settings["high"] == settings["low"] == float(value)


def test_a_longer_delay_keeps_the_epoch_on_the_path(opened):
    page = opened("dt=0.5&epoch=999")
    page.get_by_label("Delay Δt").fill("10")
    assert page.evaluate("mfcLb.shown().settings.epoch") == 49


@pytest.mark.parametrize("typed", ["", "123456", "1.5", "-5", "e"])
def test_a_seed_that_cannot_be_gives_way_to_the_last_one_and_the_page_says_so(opened, typed):
    page = opened("seed=7")
    seed = page.get_by_label("Seed of the drawn path")
    seed.clear()
    seed.press_sequentially(typed)
    seed.blur()
    assert page.evaluate("mfcLb.shown().settings.seed") == int(seed.input_value()) < 2000
    said = "A seed is a whole number from 0 to 9999; it stays "
    assert page.get_by_role("alert").inner_text() == f"{said}{seed.input_value()}."


@pytest.mark.parametrize(("typed", "number"), [("007", "7"), ("1e3", "1000")])
def test_a_seed_has_one_way_to_be_written(opened, typed, number):
    page = opened()
    seed = page.get_by_label("Seed of the drawn path")
    seed.fill(typed)
    seed.blur()
    assert seed.input_value() == number
    assert f"seed={number}&" in page.url
    assert opened(f"seed={typed}").locator("#explore-seed").input_value() == number


def test_what_the_learned_policy_was_trained_for_is_said(opened):
    page = opened("dt=4")
    note = page.locator("#explore-learned")
    assert note.inner_text().endswith("trained for Δt = 4 and these arrival rates.")
    page.get_by_label("Delay Δt").fill("4.5")
    assert "trained for Δt = 5 (the nearest delay" in note.inner_text()
    assert "outside its training" in note.inner_text()
    page.get_by_label("Delay Δt").fill("4")
    page.get_by_label("Arrival rate in low demand").fill("0.5")
    assert "It sees only whether demand is high or low" in note.inner_text()


@pytest.mark.parametrize("index", range(3))
def test_each_thing_to_try_is_shown_by_its_button(opened, index):
    page = opened()
    button = page.locator("button[data-setting]").nth(index)
    wanted = dict(pair.split("=") for pair in button.get_attribute("data-setting").split("&"))
    button.click()
    settings = {name: str(value) for name, value in page.evaluate("mfcLb.shown().settings").items()}
    assert wanted.items() <= settings.items()
    assert page.get_by_role("alert").count() == 0
