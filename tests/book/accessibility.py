"""Whether everybody can read a page: axe-core's rules for WCAG 2.2, levels A and AA."""

from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What depends on colours alone is all that dark mode can change.
COLOURS = ["color-contrast", "link-in-text-block"]

# Colours halfway from dark to light are not a reader's.
STILL = "*, *::before, *::after { transition: none !important; }"

# The drawn glyphs of formulas are hidden from assistive technology, which gets the MathML beside
# them. They have the text's colour, so that its contrast is theirs: the only part left out.
RUN = """async rules => {
  const options = {runOnly: rules, resultTypes: ["violations"], preload: false};
  const found = await axe.run({exclude: ["mjx-math"]}, options);
  return found.violations.flatMap(rule => rule.nodes.map(node =>
    `${rule.id} at ${node.target.join(" ")}: ${node.failureSummary.split("\\n").pop().trim()}`));
}"""


def violations(page: Page) -> Iterator[str]:
    """Check an open page on the present screen, light and dark; leaves it light."""
    page.add_style_tag(content=STILL)
    page.evaluate(AXE)
    for mode, rules in (("dark", COLOURS), ("light", LEVELS)):
        page.emulate_media(color_scheme=mode)
        for fault in page.evaluate(RUN, rules):
            yield f"{mode}: {fault}"
