"""The checks of pages see the faults that they are for (more in ``tests/companion``)."""

import pytest
from PIL import Image

from tests.book.browser import HEAVIEST, chromium, faults, needs_chromium

pytestmark = needs_chromium

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>A page</h1>{}</main></body></html>"""
SOUND = "<p>Some text, and <a href='page.html'>a link</a>.</p>"
FAULTS = {
    "color-contrast": "<p style='color: #aaa'>Pale text.</p>",
    "scrolls sideways without showing it": (
        "<pre style='overflow: auto' tabindex='0'>" + "A long line. " * 50 + "</pre>"
    ),
    "scrollable-region-focusable": (
        "<pre style='overflow: auto; mask-image: linear-gradient(#000, #000)'>"
        + "A long line. " * 50
        + "</pre>"
    ),
    "is reached beside the screen": (
        "<div style='position: fixed; left: 110%'><a href='page.html'>Hidden</a></div>"
    ),
    f"more than {HEAVIEST}": "<img src='heavy.bmp' alt='a very large picture'>",
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(tmp_path):
    Image.new("RGB", (10, 60_000)).save(tmp_path / "heavy.bmp")
    return tmp_path / "page.html"


def test_a_sound_page_has_no_fault(browser, page):
    page.write_text(PAGE.format(SOUND), "utf-8")
    assert faults(browser, page) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_each_kind_of_fault_is_seen(browser, page, fault):
    page.write_text(PAGE.format(SOUND + FAULTS[fault]), "utf-8")
    assert any(fault in found for found in faults(browser, page))
