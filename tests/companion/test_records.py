"""Values and figures as a notebook hands them over."""

import json
import math
import shutil
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from pandas import DataFrame, Index, read_csv
from PIL import Image

from mfc_lb import InvalidInput
from mfc_lb.companion import publish_figure, record_measurement, record_value
from mfc_lb.companion.figure_files import FIGURE_FORMATS
from mfc_lb.companion.records import RUN_FOLDER_VARIABLE, read_measurements, read_values

DATA = DataFrame({"time": [0.1, 1 / 3], "policy": ["JSQ(2)", "random"]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def figure():
    drawn = Figure(figsize=(3, 2), facecolor="none")
    axes = drawn.subplots()
    axes.plot(DATA["time"], label="$\\lambda$")
    axes.legend()
    axes.fill_between([0, 1], [0, 1], [1, 2], alpha=0.3)
    return drawn


@pytest.mark.parametrize(
    ("value", "plain", "text"),
    [
        (0.1 + 0.2, 0.1 + 0.2, "0.3"),
        (np.float64(1 / 3), 1 / 3, "0.3333"),
        (np.float32(0.5), 0.5, "0.5"),
        (np.array(2.5), 2.5, "2.5"),
        (np.int64(10**9), 10**9, "1000000000"),
        (10**16, 10**16, "10000000000000000"),
        ("JSQ(2)", "JSQ(2)", "JSQ(2)"),
    ],
)
def test_values_are_kept_as_plain_json(folder, value, plain, text):
    record_value("drops", value)
    assert read_values(folder) == {"drops": {"value": plain, "text": text}}
    assert type(read_values(folder)["drops"]["value"]) is type(plain)


def test_prose_may_show_a_value_in_other_words(folder):
    record_value("drops", 28.41, "28.4 ± 0.1")
    record_value("queues", 100)
    assert read_values(folder)["drops"] == {"value": 28.41, "text": "28.4 ± 0.1"}
    assert json.loads((folder / "values.json").read_text("utf-8")) == read_values(folder)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, np.float64("nan"), True, np.True_, None, 1j, [1.0], np.array([1.0])],
)
def test_other_values_are_refused(folder, value):
    with pytest.raises(InvalidInput, match="drops must be a finite float, an int or a str"):
        record_value("drops", value)
    assert read_values(folder) == {}


@pytest.mark.parametrize("name", ["", "Drops", "1st", "a b", "a/b", "a-b"])
def test_names_that_a_page_could_not_show_are_refused(name):
    with pytest.raises(InvalidInput, match="name of a value"):
        record_value(name, 1.0)


def test_two_values_of_one_name_are_refused(folder):
    record_value("drops", 1.0)
    with pytest.raises(InvalidInput, match="'drops' is recorded twice"):
        record_value("drops", 2.0)
    assert read_values(folder)["drops"]["value"] == 1.0


def test_an_estimate_keeps_its_standard_error_as_plain_json(folder):
    record_value("drops", np.float64(28.4), standard_error=np.float64(0.25))
    assert read_values(folder)["drops"] == {"value": 28.4, "text": "28.4", "standard_error": 0.25}
    with pytest.raises(InvalidInput, match="standard error of gap must be a finite float"):
        record_value("gap", 1.0, standard_error=math.nan)


@pytest.mark.parametrize("error", [-0.1, math.inf, "0.1"])
def test_a_standard_error_is_a_number_of_at_least_zero(folder, error):
    with pytest.raises(InvalidInput, match=r"standard error of gap must be a (number|finite)"):
        record_value("gap", 1.0, standard_error=error)
    assert read_values(folder) == {}


@pytest.mark.parametrize("text", ["165 %", "0.17", "165.3", "−17 %", "0.165 (0.2 to 0.3)"])
def test_a_text_that_shows_another_number_is_refused(folder, text):
    with pytest.raises(InvalidInput, match=r"^share: the text '.*' (does not show|has its number)"):
        record_value("share", 0.1648, text)
    assert read_values(folder) == {}


@pytest.mark.parametrize("text", ["16 %", "0.165", "164.8", "0.2 %", "some", "0.16 (0.1 to 0.2)"])
def test_a_text_may_show_percent_or_thousandths(folder, text):
    record_value("share", 0.1648, text)
    assert read_values(folder)["share"]["text"] == text


# --- measurements -----------------------------------------------------------------------------


def test_a_measurement_is_kept_with_its_unit_and_apart_from_the_values(folder):
    record_measurement("training", np.float64(12.5), "s")
    record_measurement("peak", 3, "MiB")
    assert read_measurements(folder) == {
        "training": {"value": 12.5, "unit": "s"},
        "peak": {"value": 3, "unit": "MiB"},
    }
    assert read_values(folder) == {}


@pytest.mark.parametrize(
    ("name", "value", "unit", "fault"),
    [
        ("Training", 1.0, "s", "name of a measurement"),
        ("training", math.nan, "s", "training must be a finite float"),
        ("training", "long", "s", "training must be a finite float or an int"),
        ("training", 1.0, " ", "unit of training must be not empty"),
    ],
)
def test_other_measurements_are_refused(folder, name, value, unit, fault):
    with pytest.raises(InvalidInput, match=fault):
        record_measurement(name, value, unit)
    assert read_measurements(folder) == {}


@pytest.mark.usefixtures("folder")
def test_two_measurements_of_one_name_are_refused():
    record_measurement("training", 1.0, "s")
    with pytest.raises(InvalidInput, match="'training' is recorded twice"):
        record_measurement("training", 2.0, "s")


def test_nothing_is_left_without_a_run_folder(tmp_path, monkeypatch):
    monkeypatch.delenv(RUN_FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        record_value("drops", 1.0)
        record_measurement("training", 1.0, "s")
        publish_figure(figure(), "drops", DATA)
    assert list(tmp_path.iterdir()) == []


def test_a_run_folder_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, "/nowhere")
    with pytest.raises(InvalidInput, match="MFC_LB_RUN_DIR must be an existing folder"):
        record_value("drops", 1.0)


def test_a_figure_is_left_in_every_format_with_its_data(folder):
    publish_figure(figure(), "drop-rates", DATA)
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"drop-rates.{suffix}" for suffix in FIGURE_FORMATS}
    assert read_csv(folder / "figures" / "drop-rates.csv").equals(DATA)


def test_a_figure_is_opaque_and_white(folder):
    publish_figure(figure(), "drops", DATA)
    image = np.asarray(Image.open(folder / "figures" / "drops.png").convert("RGBA"))
    assert (image[..., 3] == 255).all()
    assert (image[0, 0] == 255).all()


def test_a_named_index_is_data_too(folder):
    publish_figure(figure(), "drops", DATA.set_index(Index([1, 2], name="delta_t")))
    assert list(read_csv(folder / "figures" / "drops.csv")) == ["delta_t", "time", "policy"]


def test_the_same_figure_gives_the_same_bytes(folder, monkeypatch):
    publish_figure(figure(), "drops", DATA)
    first = {path: path.read_bytes() for path in (folder / "figures").iterdir()}
    assert len(first) == len(FIGURE_FORMATS)
    shutil.rmtree(folder / "figures")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    publish_figure(figure(), "drops", DATA)
    assert [path for path, content in first.items() if path.read_bytes() != content] == []


@pytest.mark.usefixtures("folder")
def test_two_figures_of_one_identifier_are_refused():
    publish_figure(figure(), "drops", DATA)
    with pytest.raises(InvalidInput, match="'drops' is published twice"):
        publish_figure(figure(), "drops", DATA)


@pytest.mark.parametrize("identifier", ["", "Drops", "a b", "../a", "a.b", "-a", "fig:a"])
def test_identifiers_that_make_no_good_address_are_refused(identifier):
    with pytest.raises(InvalidInput, match="identifier must be"):
        publish_figure(figure(), identifier, DATA)


def test_a_figure_without_data_is_refused():
    with pytest.raises(InvalidInput, match="data of figure 'drops'"):
        publish_figure(figure(), "drops", DATA[:0])


def test_recording_imports_nothing_heavy():
    script = (
        "import sys; from mfc_lb.companion import record_value, publish_figure; "
        "print({'papermill', 'nbformat', 'matplotlib', 'pandas', 'sphinx'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
