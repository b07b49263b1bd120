"""Whether everybody can read a page: axe-core's rules for WCAG 2.2, levels A and AA."""

from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What depends on colours alone is all that dark mode can change.
COLOURS = ["color-contrast", "link-in-text-block"]

SETTLED = """async () => {
  await document.fonts.ready;
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
}"""

# The drawn glyphs of formulas are hidden from assistive technology, which gets the MathML beside
# them. They have the text's colour, so that its contrast is theirs: the only part left out.
RUN = """async rules => {
  const options = {runOnly: rules, resultTypes: ["violations"], preload: false};
  const found = await axe.run({exclude: ["mjx-math"]}, options);
  return found.violations.flatMap(rule => rule.nodes.map(node =>
    `${rule.id} at ${node.target.join(" ")}: ${node.failureSummary.split("\\n").pop().trim()}`));
}"""


def violations(page: Page, widths: tuple[int, ...]) -> Iterator[str]:
    """Check an open page, light and dark, on each width of screen; leaves it as it was, light."""
    page.add_script_tag(path=AXE)
    for mode, rules in (("dark", COLOURS), ("light", LEVELS)):
        page.emulate_media(color_scheme=mode)
        for width in widths:
            resize(page, width)
            for fault in page.evaluate(RUN, rules):
                yield f"{mode}, {width} pixels: {fault}"


def resize(page: Page, width: int) -> None:
    """Give the screen another width, and the page's own handlers the time to follow."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate(SETTLED)
