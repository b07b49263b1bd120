"""The live page for every reader: by keyboard, by ear, on a phone, on paper, in forced colours."""

import pytest

from tests.book.browser import NARROW, WIDE, needs_chromium

pytestmark = needs_chromium


def test_the_keyboard_moves_every_slider_by_a_step(opened):
    page = opened()
    for slider in page.get_by_role("slider").all():
        before = float(slider.input_value())
        slider.focus()
        page.keyboard.press("ArrowRight")
        step = float(slider.get_attribute("step"))
        assert float(slider.input_value()) == pytest.approx(before + step)
        output = page.locator(f"output[for={slider.get_attribute('id')}]")
        assert output.inner_text() == slider.input_value()


def test_every_figure_says_in_words_what_it_shows(opened):
    page = opened("dt=10&policy=jsq&demand=high&epoch=3")
    texts = [svg.get_attribute("aria-label") for svg in page.get_by_role("img").all()]
    assert len(texts) == page.locator("figure svg").count() == 5
    run = page.evaluate("mfcLb.shown().runs.jsq")
    assert f"{100 * run['distributions'][3][0]:.1f}\u00a0% are empty" in texts[0]
    assert f"{run['arrivalRates'][3][5]:.4f}." in texts[2]
    assert "nan" not in " ".join(texts).lower()


def test_a_screen_reader_is_told_the_summary(opened):
    page = opened()
    page.get_by_label("Delay Δt").fill("9")
    summary = page.locator("#explore-summary").inner_text()
    assert summary.startswith("With news every Δt = 9, JSQ(2) loses ")
    page.wait_for_function(
        "text => document.querySelector('[role=status]').textContent === text", arg=summary
    )


def test_nothing_to_lose_is_no_error(opened):
    page = opened("high=0&low=0")
    assert "NaN" not in page.locator("#explore").inner_text()
    assert page.locator("#explore-totals .chosen td").all_inner_texts() == [
        "0.0000",
        "±0\u00a0%",
        "–",
    ]


def test_figures_are_drawn_anew_for_a_narrow_screen(opened):
    page = opened()
    page.set_viewport_size({"width": NARROW, "height": 900})
    widths = "[...document.querySelectorAll('figure svg')].map(svg => svg.viewBox.baseVal.width)"
    page.wait_for_function(f"{widths}.every(width => width < {NARROW})")


# Names of axes and numbers at ticks that overlap, or are cut by the figure's edge.
TEXTS = """() => [...document.querySelectorAll("figure svg")].flatMap(svg => {
  const edge = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")];
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top
    || b.bottom <= a.top;
  const cut = ([, box]) => box.left < edge.left || box.right > edge.right;
  const over = ([, box], at) => boxes.slice(0, at).some(([, other]) => !apart(box, other));
  return boxes.filter((box, at) => cut(box) || over(box, at)).map(([text]) => text);
})"""


@pytest.mark.parametrize("rates", ["high=0.15&low=0", "high=0.2&low=0", "high=0&low=0", ""])
def test_the_numbers_at_an_axis_and_its_name_can_be_read(opened, rates):
    page = opened(f"dt=0.6&{rates}")
    for width in (WIDE, NARROW, 320):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            "innerWidth > document.querySelector('figure svg').viewBox.baseVal.width"
        )
        assert page.evaluate(TEXTS) == [], width


def test_the_pointer_leaves_the_numbers_below_it_free(opened):
    page = opened("epoch=0")
    pointer = page.locator("#explore-fractions .pointer-head").bounding_box()
    numbers = page.locator("#explore-fractions text").all()
    tops = [text.bounding_box()["y"] for text in numbers]
    below = [top for top in tops if top > pointer["y"]]
    assert min(below) >= pointer["y"] + pointer["height"] - 1


def test_colours_that_mean_something_stay_in_forced_colours(opened):
    page = opened()
    page.emulate_media(forced_colors="active")
    colours = """[...document.querySelectorAll(".explore-legend i")].map(
      swatch => getComputedStyle(swatch).backgroundColor)"""
    assert len(set(page.evaluate(colours))) == 6


def test_a_page_that_is_not_laid_out_is_no_error(opened):
    page = opened()
    page.evaluate("document.body.style.display = 'none'")
    page.wait_for_function("document.querySelector('figure svg').viewBox.baseVal.width === 200")
    page.evaluate("document.body.style.display = 'block'")
    page.wait_for_function("document.querySelector('figure svg').viewBox.baseVal.width > 200")


def test_print_shows_values_and_figures_without_controls(opened):
    page = opened()
    page.emulate_media(media="print")
    assert [item for item in page.locator("button, [type=range]").all() if item.is_visible()] == []
    assert page.locator("output[for=explore-dt]").is_visible()
    assert page.locator("figure svg").first.is_visible()


def test_without_javascript_the_page_says_what_it_would_show(browser, live_page):
    context = browser.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(live_page.as_uri())
    assert page.locator("noscript p").is_visible()
    assert [item for item in page.locator("form, button").all() if item.is_visible()] == []
    context.close()
