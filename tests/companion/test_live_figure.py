"""What the live page gets from the library."""

import base64
import json
from pathlib import Path

import pytest

from mfc_lb import SystemParameters
from mfc_lb.companion import Book
from mfc_lb.companion.live_figure import live_data, write_live_figure
from mfc_lb.figures import look

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def data():
    return live_data(Book(ROOT))


def test_every_trained_policy_is_there_bit_by_bit(data):
    stored = {path.stem: path.read_bytes() for path in ROOT.glob("data/policies/*.safetensors")}
    assert {p["name"]: base64.b64decode(p["file"]) for p in data["policies"]} == stored


def test_policies_are_in_the_order_of_their_delays(data):
    assert [policy["deltaT"] for policy in data["policies"]] == list(range(1, 11))


def test_colours_and_markers_are_those_of_the_figures(data):
    assert data["looks"]["jsq"] == {"color": look("JSQ").color, "marker": look("JSQ").marker}
    assert len(set(data["fillings"])) == SystemParameters().num_states


def test_the_script_is_the_same_each_time_and_holds_the_data(data, tmp_path):
    for folder in ("one", "two"):
        write_live_figure(Book(ROOT), tmp_path / folder)
    one, two = (
        (tmp_path / name / "explore" / "data.js").read_text("utf-8") for name in ("one", "two")
    )
    assert one == two
    content = one.removeprefix("window.mfcLbData = ").removesuffix(";\n")
    assert json.loads(content) == json.loads(json.dumps(data))


def test_a_book_without_the_page_gets_nothing(tmp_path):
    (tmp_path / "book").mkdir()
    write_live_figure(Book(tmp_path), tmp_path / "staged")
    assert not (tmp_path / "staged").exists()
