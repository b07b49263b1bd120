"""Opens pages as a reader does, and says what is wrong with them."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright
from playwright.sync_api import TimeoutError as StillWaiting

from mfc_lb.companion.pdf import BROWSERS
from tests.book.accessibility import violations

CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
#: In CI a browser has to be there: its tests fail without one.
needs_chromium = pytest.mark.skipif(
    not CHROMIUM and not os.environ.get("CI"), reason="no Chromium is installed"
)

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
NARROW, TABLET, WIDE = 375, 768, 1280
HEAVIEST = 1_500_000  # bytes that a page loads, itself included

# What the page's own scripts and the reader's eyes would find, as data.
LOOK = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  for (const image of document.images) image.loading = "eager";  // as if read to its end
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
  const content = document.querySelector("main") || document.body;
  const texts = [content, ...content.querySelectorAll("*")].filter(
    node => !node.closest("pre, code, script, style, mjx-container"));
  return {
    tex: [...document.querySelectorAll("mjx-merror, [data-mjx-error]")].map(
      node => node.getAttribute("data-mjx-error") || node.textContent),
    raw: [...document.querySelectorAll(".math")].filter(
      node => !node.querySelector("mjx-container")).map(node => node.textContent),
    images: [...content.querySelectorAll("img")].map(
      image => ({source: image.getAttribute("src"), alt: image.getAttribute("alt") || "",
                 shown: image.naturalWidth > 0})),
    text: texts.flatMap(node => [...node.childNodes]).filter(
      node => node.nodeType === Node.TEXT_NODE).map(node => node.textContent).join(" "),
    links: [...document.querySelectorAll("a[href]")].map(link => link.href),
  };
}"""

# Boxes that scroll sideways and do not show it: reading.js lets them fade at the edge.
UNMARKED = """() => [...document.querySelectorAll("main *")].filter(box =>
  ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
  && box.scrollWidth > box.clientWidth + 2 && getComputedStyle(box).maskImage === "none"
  && box.checkVisibility()  // what is folded is marked when it is unfolded
).map(box => box.outerHTML.slice(0, 80))"""

# What the Tab key reaches although it is beside the screen, as in a menu that only looks closed.
BESIDE = """() => {
  const scrolls = box => box && box !== document.documentElement
    && (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible"
      || scrolls(box.parentElement));
  const isBeside = ({left, right, width}) => width > 0 && (left >= innerWidth || right <= 0);
  return [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")].filter(
    part => part.checkVisibility({visibilityProperty: true})
      && isBeside(part.getBoundingClientRect()) && !scrolls(part.parentElement)
  ).map(part => part.outerHTML.slice(0, 80));
}"""

# The theme's script waits for 300 milliseconds after a change of the screen.
SETTLED = """async () => {
  await document.fonts.ready;
  await new Promise(done => setTimeout(done, 350));
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}"""

PATIENCE_MS = 2000

HASH = re.compile(r"[0-9a-f]{16,}")
ROLE = re.compile(r"\{[a-z:-]+\}`|:[a-z]+:`|\?\?+|\$[^$ ]+\$")


@contextmanager
def chromium() -> Iterator[BrowserContext]:
    """Start a fresh Chromium."""
    with sync_playwright() as playwright:
        assert CHROMIUM, "no Chromium is installed"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        try:
            yield browser.new_context(viewport={"width": 1280, "height": 900})
        finally:
            browser.close()


def faults(browser: BrowserContext, path: Path) -> list[str]:
    """Open a built page from its file and return what is wrong with it."""
    page = browser.new_page()
    heard: list[str] = []
    loaded: set[str] = set()
    listen(page, heard)
    page.on("request", lambda request: loaded.add(urldefrag(request.url).url))
    page.goto(path.as_uri())
    seen = page.evaluate(LOOK)
    heard += looks(seen)
    heard += broken_links(seen["links"])
    for width in (WIDE, TABLET, NARROW):
        resize(page, width)
        found = [*too_wide(page, width), *(violations(page) if width != TABLET else ())]
        heard += [f"on a screen of {width} pixels: {fault}" for fault in found]
    if (weight := sum(map(num_bytes, loaded))) > HEAVIEST:
        heard.append(f"loads {weight} bytes, more than {HEAVIEST}")
    page.close()
    return [f"{path.name}: {fault}" for fault in heard]


def resize(page: Page, width: int) -> None:
    """Give the screen another width, and the page's own scripts and menus the time to follow."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate(SETTLED)


def too_wide(page: Page, width: int) -> Iterator[str]:
    found = page.evaluate("document.documentElement.scrollWidth")
    if found > width:
        yield f"is {found} pixels wide"
    for box in unmarked_boxes(page):
        yield f"scrolls sideways without showing it: {box}"
    for part in page.evaluate(BESIDE):
        yield f"is reached beside the screen: {part}"


def unmarked_boxes(page: Page) -> list[str]:
    """Return wide boxes that are not marked, though the page's script had time to."""
    with suppress(StillWaiting):
        page.wait_for_function(f"({UNMARKED})().length === 0", timeout=PATIENCE_MS)
    return page.evaluate(UNMARKED)


def num_bytes(address: str) -> int:
    parts = urlparse(address)
    if parts.scheme != "file":
        return 0
    path = Path(unquote(parts.path))
    return path.stat().st_size if path.is_file() else 0


def listen(page: Page, heard: list[str]) -> None:
    def on_console(message):
        if message.type in {"error", "warning"}:
            heard.append(f"console {message.type}: {message.text}")

    def on_request(request):
        if urlparse(request.url).scheme not in {"file", "data", "blob"}:
            heard.append(f"asks another host for {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: heard.append(f"script error: {error}"))
    page.on("request", on_request)
    page.on("requestfailed", lambda request: heard.append(f"cannot load {request.url}"))


def looks(seen: dict) -> Iterator[str]:
    for error in seen["tex"]:
        yield f"TeX error: {error}"
    for formula in seen["raw"]:
        yield f"formula not typeset: {formula}"
    for image in seen["images"]:
        if not image["shown"]:
            yield f"image not shown: {image['source']}"
        if len(image["alt"].split()) < 3 or HASH.search(image["alt"]):
            yield f"image {image['source']} has no alternative text, but {image['alt']!r}"
    for leftover in ROLE.findall(seen["text"]):
        yield f"markup or an unresolved reference is left in the text: {leftover}"


def broken_links(links: list[str]) -> Iterator[str]:
    for link in dict.fromkeys(links):
        address, fragment = urldefrag(link)
        if urlparse(address).scheme != "file":
            continue
        target = Path(unquote(urlparse(address).path))
        if not target.is_file():
            yield f"a link leads nowhere: {target.name}"
        elif fragment and f'id="{unquote(fragment)}"' not in target.read_text("utf-8"):
            yield f"a link leads to no place in {target.name}: #{fragment}"
