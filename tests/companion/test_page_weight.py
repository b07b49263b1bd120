"""Pages load less and look the same."""

from pathlib import Path

import numpy as np
import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from mfc_lb.companion.page_weight import lighten

ICONS = """.fa{x:y}@font-face{src:url(../webfonts/a.woff2) format("woff2"),url(../webfonts/a.ttf)}
.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}.fa-ghost:before{content:"\\f6e2"}"""


@pytest.fixture
def pages(tmp_path):
    """Return a folder with a page, the theme's icons and a picture."""
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
    (vendor,) = theme.glob("static/vendor/fontawesome/*")
    folder = tmp_path / "_static" / "vendor" / "fontawesome" / "6"
    for part in ("css", "webfonts", "js"):
        (folder / part).mkdir(parents=True)
    (folder / "css" / "all.min.css").write_text(ICONS, "utf-8")
    (folder / "webfonts" / "a.ttf").write_bytes((vendor / "webfonts/fa-solid-900.ttf").read_bytes())
    (tmp_path / "_images").mkdir()
    colours = np.random.default_rng(1).integers(0, 256, (20, 30, 4), dtype=np.uint8)
    Image.fromarray(colours).save(tmp_path / "_images" / "p.png")
    (tmp_path / "page.html").write_text(
        '<script src="_static/vendor/fontawesome/6/js/all.min.js"></script>'
        '<i class="fas fa-bars"></i><img src="_images/p.png" />',
        "utf-8",
    )
    return tmp_path


def test_icons_that_are_used_stay(pages):
    lighten(pages)
    (folder,) = pages.glob("_static/vendor/fontawesome/*")
    style = (folder / "css" / "all.min.css").read_text("utf-8")
    assert "fa-bars" in style
    assert "fa-ghost" not in style
    with TTFont(folder / "webfonts" / "a.ttf") as font:
        assert set(font.getBestCmap()) == {0xF0C9}
    assert "<script" not in (pages / "page.html").read_text("utf-8")


@pytest.mark.parametrize("bell", ["\uf0f3", r"\f0f3"])
def test_an_icon_in_a_style_stays_however_it_is_written(pages, bell):
    (pages / "_static" / "theme.css").write_text(f'.admonition{{--icon:"{bell}"}}', "utf-8")
    lighten(pages)
    (folder,) = pages.glob("_static/vendor/fontawesome/*")
    with TTFont(folder / "webfonts" / "a.ttf") as font:
        assert set(font.getBestCmap()) == {0xF0C9, 0xF0F3}


def test_pictures_keep_every_pixel(pages):
    with Image.open(pages / "_images" / "p.png") as image:
        before = np.asarray(image.convert("RGBA"))
    lighten(pages)
    assert 'src="_images/p.webp"' in (pages / "page.html").read_text("utf-8")
    with Image.open(pages / "_images" / "p.webp") as image:
        after = np.asarray(image.convert("RGBA"))
    opaque = before[..., 3] > 0  # what cannot be seen may change
    assert (before == after)[opaque].all()
    assert (before[..., 3] == after[..., 3]).all()
