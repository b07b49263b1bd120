"""What a figure's files say of themselves, read by other programs than wrote them."""

from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure
from pandas import DataFrame
from PIL import Image
from pypdf import PdfReader

from mfc_lb.companion import publish_figure
from mfc_lb.companion.records import FIGURES_FILE, RUN_FOLDER_VARIABLE, read_figures, write_json
from mfc_lb.errors import InvalidInput
from tests.book.cards import DUBLIN_CORE

DATA = DataFrame({"time": [0.0, 1.0]})
TITLE = "Drops of β against $\\Delta t$"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of a run whose notebook labels one figure."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    write_json(tmp_path / FIGURES_FILE, {"drops": {"title": TITLE}})
    return tmp_path


def published(folder, suffix, **options):
    publish_figure(Figure(), "drops", DATA, **options)
    return folder / "figures" / f"drops.{suffix}"


def test_a_png_says_title_author_identifier_and_licence(folder):
    with Image.open(published(folder, "png")) as image:
        texts = image.text
    assert texts["Title"] == TITLE
    assert texts["Author"] == "The mfc_lb developers"
    assert texts["Identifier"] == "drops"
    assert texts["Copyright"].endswith("licence: MIT")


def test_an_svg_says_title_author_identifier_and_licence(folder):
    root = ET.parse(published(folder, "svg")).getroot()
    said = {
        name: "".join(root.find(f".//{{{DUBLIN_CORE}}}{name}").itertext()).strip()
        for name in ("title", "creator", "identifier", "rights")
    }
    assert said["title"] == TITLE
    assert said["creator"] == "The mfc_lb developers"
    assert said["identifier"] == "drops"
    assert said["rights"].endswith("licence: MIT")
    assert root.find("{http://www.w3.org/2000/svg}title").text == TITLE


def test_a_pdf_says_title_author_identifier_and_licence(folder):
    about = PdfReader(published(folder, "pdf")).metadata
    assert (about.title, about.author) == (TITLE, "The mfc_lb developers")
    assert about["/Keywords"] == "identifier: drops, licence: MIT"
    assert about.creation_date is None


def test_a_table_stays_a_plain_table(folder):
    assert published(folder, "csv").read_text("utf-8") == "time\n0.0\n1.0\n"


def test_without_a_label_the_identifier_is_the_title(folder):
    (folder / FIGURES_FILE).unlink()
    assert PdfReader(published(folder, "pdf")).metadata.title == "drops"


def test_the_run_remembers_where_the_data_come_from(folder):
    published(folder, "png", result="comparison")
    assert read_figures(folder) == {"drops": {"title": TITLE, "result": "comparison"}}


def test_an_unknown_result_is_refused_before_a_file_is_written(folder):
    with pytest.raises(InvalidInput, match=r"result must be one of .*, got 'comparisn'"):
        published(folder, "png", result="comparisn")
    assert not (folder / "figures").exists()
