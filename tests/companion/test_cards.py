"""What a card says of where its figure's data come from."""

import json
from pathlib import Path

import pytest
import yaml

from mfc_lb.companion import find_figure
from mfc_lb.companion.cards import LIVE, RECOMPUTED, make_cards
from mfc_lb.companion.citations import AUTHOR, LICENCE, WORK, YEAR
from mfc_lb.companion.execution import PARAMETERS_FILE, Run
from mfc_lb.companion.figure_files import FIGURE_FORMATS
from mfc_lb.companion.records import FIGURES_FILE, write_json
from mfc_lb.experiments import find
from tests.companion.cells import ROOT
from tests.companion.demo import demo_book

MANIFEST = {
    "experiment": "comparison",
    "size": "paper",
    "seed": 7,
    "parameters": {"horizon": 500.0},
    "wall_time_seconds": 12.5,
    "computed": {"finished": "2026-01-01T00:00:00+00:00", "machine": "a machine"},
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return demo_book(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def card(small, tmp_path, monkeypatch):
    """Return a function that makes the card of a run that was not made."""
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path / "results"))

    def make(result: str | None, **parameters: object) -> dict:
        (tmp_path / "figures").mkdir()
        for suffix in FIGURE_FORMATS:
            (tmp_path / "figures" / f"decay.{suffix}").write_text(suffix, "utf-8")
        write_json(tmp_path / PARAMETERS_FILE, parameters)
        write_json(tmp_path / FIGURES_FILE, {"decay": {"title": "Decay", "result": result}})
        (made,) = make_cards(
            small, [find_figure("decay", small)], Run("finite_system", Path(tmp_path))
        )
        return made

    return make


def test_a_figure_of_its_own_run_says_that_it_is_computed_then(card):
    made = card(None, size="paper")
    assert made["data"] == {"computed": LIVE}
    assert made["seed"] is None  # this notebook draws nothing


def test_a_figure_of_a_stored_result_says_when_that_was_computed(card, tmp_path):
    write_json(tmp_path / "results" / "comparison-paper.json", MANIFEST)
    made = card("comparison", size="paper")
    assert made["data"] == MANIFEST
    assert (made["seed"], made["size"]) == (7, "paper")


def test_a_quick_result_is_made_with_the_page_so_no_clock_is_shown(card, tmp_path):
    write_json(tmp_path / "results" / "comparison-quick.json", MANIFEST | {"size": "quick"})
    made = card("comparison")
    assert made["data"]["computed"] == RECOMPUTED
    assert "wall_time_seconds" not in made["data"]
    assert made["seed"] == find("comparison").seed
    assert made["data"]["parameters"]["num_runs"] == find("comparison").size("quick").num_runs


@pytest.mark.parametrize("size", ["quick", "paper"])
def test_a_recorded_run_is_not_made_with_the_page(card, size):
    made = card("killed", size=size)
    assert made["data"]["computed"]["finished"].startswith("20")
    assert made["data"]["recorded"] == "killed"
    assert made["data"]["parameters"]["workers"] > 1


def test_all_parameters_are_there_and_those_that_were_changed_are_named(card):
    made = card(None, delta_t=2.5)
    assert made["parameters"] == {"delta_t": 2.5, "num_queues": 100, "size": "quick"}
    assert made["changed"] == ["delta_t"]


def test_versions_are_those_of_what_computes(card):
    code = card(None)["code"]
    assert {"numpy", "scipy", "matplotlib", "numba"} <= code["packages"].keys()
    assert len(code["sha256"]) == 64


def test_author_title_and_licence_are_those_of_the_citation_file():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert [entry["name"] for entry in citation["authors"]] == [AUTHOR]
    assert (citation["title"], citation["license"]) == (WORK, LICENCE)
    assert citation["date-released"].year == YEAR
    assert (ROOT / "LICENSE").read_text("utf-8").startswith(LICENCE)


def test_a_card_is_plain_json(card):
    made = card("comparison")
    assert json.loads(json.dumps(made)) == made
