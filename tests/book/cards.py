"""What is wrong with the cards of a built book."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from PIL import Image
from pypdf import PdfReader

from mfc_lb.cli import main
from mfc_lb.companion import Book, find_figure

DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
NUMBER = r'id="fig-{}".*?<span class="caption-number">Fig\. (\S+) </span>'


def card_faults(pages: Path, book: Book) -> Iterator[str]:
    """Yield a line for each thing that a card says and that is not so."""
    cards = [json.loads(path.read_text("utf-8")) for path in sorted(pages.glob("figures/*.json"))]
    for card in cards:
        for check in (file_faults, number_faults, metadata_faults, command_faults, shown_faults):
            for fault in check(card, pages, book):
                yield f"{card['identifier']}: {fault}"


def file_faults(card: Any, pages: Path, _: Book) -> Iterator[str]:
    if card["files"].keys() != {"csv", "pdf", "png", "svg"}:
        yield f"has the files {list(card['files'])}"
    for file in card["files"].values():
        content = (pages / file["address"]).read_bytes()
        if len(content) != file["bytes"] or hashlib.sha256(content).hexdigest() != file["sha256"]:
            yield f"{file['address']} is not the file of the card"


def number_faults(card: Any, pages: Path, _: Book) -> Iterator[str]:
    shown = re.search(NUMBER.format(card["identifier"]), page_of(card, pages), re.DOTALL)
    if shown is None or shown[1] != card["number"]:
        yield f"is numbered {card['number']}, but the page says {shown and shown[1]}"


def metadata_faults(card: Any, pages: Path, _: Book) -> Iterator[str]:
    stem = pages / "figures" / card["identifier"]
    with Image.open(stem.with_suffix(".png")) as image:
        png = image.text["Title"], image.text["Identifier"]
    svg = ET.parse(stem.with_suffix(".svg"))
    found = (svg.find(f".//{{{DUBLIN_CORE}}}{name}") for name in ("title", "identifier"))
    pdf = PdfReader(stem.with_suffix(".pdf")).metadata
    said = {
        "png": png,
        "svg": tuple(node.text for node in found),
        "pdf": (pdf.title, re.match(r"identifier: (\S+),", pdf["/Keywords"])[1]),
    }
    for suffix, about in said.items():
        if about != (card["title"], card["identifier"]):
            yield f"the {suffix} says that it is {about}"


def command_faults(card: Any, _: Path, book: Book) -> Iterator[str]:
    """Parse the command as the program does, but do not run it."""
    program, *words = shlex.split(card["command"])
    if program != "mfc-lb" or words[:2] != ["figure", "make"]:
        yield f"is made again by {card['command']!r}"
    make = main.commands["figure"].commands["make"]
    given = make.make_context("make", words[2:], resilient_parsing=False).params
    figure = find_figure(given["identifier"], book)
    changed = dict(word.split("=") for word in given["assignments"])
    defaults = {parameter.name: parameter.default for parameter in figure.notebook.parameters}
    if defaults | figure.notebook.convert(changed) != card["parameters"]:
        yield "its command gives other parameters than the card"
    if figure.cite(figure.notebook.convert(changed)) != card["citation"]:
        yield "is not cited as the command line says"


def shown_faults(card: Any, pages: Path, _: Book) -> Iterator[str]:
    """Look for what a reader needs on the page, apart from markup."""
    html = page_of(card, pages)
    if f'id="card-{card["identifier"]}"' not in html:
        yield "has no card on its page"
        return
    start = html.index(f'id="card-{card["identifier"]}"')
    below = html[start : html.index("</details>", start)]
    links = [file["address"] for file in card["files"].values()]
    links.append(f"figures/{card['identifier']}.json")
    yield from (f"its card has no link to {link}" for link in links if f'"{link}"' not in below)
    text = plain(below)
    facts = [card["command"], *card["citation"].values(), card["code"]["commit"]]
    facts += [file["sha256"] for file in card["files"].values()]
    yield from (f"its card lacks {fact!r}" for fact in facts if squeezed(fact) not in text)


def page_of(card: Any, pages: Path) -> str:
    return (pages / card["page"].partition("#")[0]).read_text("utf-8")


def plain(html: str) -> str:
    return squeezed(unescape(re.sub(r"<[^>]+>", "", html)))


def squeezed(text: str) -> str:
    return "".join(text.split())
