"""How pages show the cards: one under each figure, and all of them in a gallery."""

from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from mfc_lb.companion.context import Context, read_context
from mfc_lb.companion.figure_files import FIGURE_FORMATS
from mfc_lb.companion.labels import LABEL_PREFIX, Label
from mfc_lb.companion.page_parts import (
    Facts,
    assignments,
    circumstances,
    inline,
    link,
    listed,
    versions,
)
from mfc_lb.companion.parameters import did_you_mean
from mfc_lb.companion.records import FIGURES_FOLDER
from mfc_lb.companion.thumbnails import HEIGHT, THUMBNAILS_FOLDER, WIDTH

logger = logging.getLogger(__name__)


class CardDetails(nodes.comment):
    """The part of a card that is shown on demand.

    As a comment it is no matter of the search, which would find each package on each page.
    """


def open_details(writer: HTML5Translator, node: CardDetails) -> None:
    """Begin a card's details in HTML."""
    del node
    writer.body.append("<details><summary>Cite, make again, origin</summary>")


def close_details(writer: HTML5Translator, node: CardDetails) -> None:
    """End a card's details in HTML."""
    del node
    writer.body.append("</details>")


class FigureCard(SphinxDirective):
    """``{figure-card} identifier``: the card of a figure, on a page that does not show it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the card; warn, which fails the build, if there is no such figure."""
        identifier, cards = self.arguments[0], _context(self.env).cards_by_identifier
        if identifier not in cards:
            advice = did_you_mean(identifier, cards)
            logger.warning("no figure %r%s", identifier, advice, location=self.get_location())
            return []
        return [_card(cards[identifier])]


class FigureGallery(SphinxDirective):
    """``{figure-gallery}``: all figures of the book, chapter by chapter."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each notebook that has figures."""
        cards = _context(self.env).cards
        return [
            self._chapter(name, list(shown))
            for name, shown in groupby(cards, key=lambda card: card["notebook"]["name"])
        ]

    def _chapter(self, name: str, cards: list[Facts]) -> nodes.section:
        title = cards[0]["notebook"]["title"]
        heading = nodes.title("", "", link(title, f"{name}.html"))
        items = nodes.bullet_list(classes=["figure-gallery"])
        items += [self._item(card) for card in cards]
        return nodes.section("", heading, items, ids=[f"figures-{name}"], names=[])

    def _item(self, card: Facts) -> nodes.list_item:
        text = nodes.paragraph()
        text += nodes.strong("", f"Fig. {card['number']}")
        text += nodes.Text(" ")
        text += inline(self, Label("", card["caption"], "").opening)
        links = listed([nodes.literal("", card["identifier"]), *_places(card)])
        links["classes"].append("figure-gallery-links")
        picture = nodes.raw("", _thumbnail(card), format="html")
        return nodes.list_item("", picture, text, links)


def add_cards(app: Sphinx, doctree: nodes.document) -> None:
    """Put its card below each published figure, and below the cell that shows it."""
    assert app.env is not None
    cards = _context(app.env).cards_by_identifier
    for figure in list(doctree.findall(nodes.figure)):
        for name in figure["names"]:
            card = cards.get(name.removeprefix(LABEL_PREFIX))
            if card is not None:
                shown = _outermost(figure)
                shown.parent.insert(shown.parent.index(shown) + 1, _card(card))


def _context(env: BuildEnvironment) -> Context:
    return read_context(Path(env.srcdir))


def _outermost(figure: nodes.Element) -> nodes.Element:
    """Return the notebook's cell that a figure is the output of, or else the figure."""
    while isinstance(figure.parent, nodes.container):
        figure = figure.parent
    return figure


def _card(card: Facts) -> nodes.container:
    line = listed([nodes.literal("", card["identifier"]), *_downloads(card)])
    line["classes"].append("figure-card-line")
    block = nodes.container(classes=["figure-card"], ids=[f"card-{card['identifier']}"])
    details = CardDetails()
    details += _block("Cite", card["citation"]["text"], "text")
    details += _block("BibTeX", card["citation"]["bibtex"], "bibtex")
    details += _block("Make it again", card["command"], "bash")
    details += _facts(card)
    block += [line, details]
    return block


def _block(heading: str, text: str, language: str) -> list[nodes.Node]:
    """Return text under a heading; Sphinx's extension puts a copy button on it."""
    block = nodes.literal_block(text, text, language=language)
    return [nodes.paragraph("", heading, classes=["figure-card-heading"]), block]


def _downloads(card: Facts) -> Iterator[nodes.Node]:
    for suffix in sorted(FIGURE_FORMATS):
        yield link(suffix.upper(), card["files"][suffix]["address"])
    yield link("card (JSON)", f"{FIGURES_FOLDER}/{card['identifier']}.json")


def _places(card: Facts) -> Iterator[nodes.Node]:
    yield link("on its page", card["page"])
    yield link("card", card["page"].replace(f"#{LABEL_PREFIX}", "#card-"))


def _thumbnail(card: Facts) -> str:
    source = f"{THUMBNAILS_FOLDER}/{card['identifier']}.webp"
    size = f'width="{WIDTH}" height="{HEIGHT}" loading="lazy"'
    image = f'<img src="{source}" alt="{escape(card["alt"])}" {size}>'
    return f'<a href="{card["page"]}">{image}</a>'


def _facts(card: Facts) -> nodes.definition_list:
    facts = nodes.definition_list(classes=["figure-card-facts"])
    for name, lines in _told(card):
        told = nodes.definition("", *(nodes.paragraph("", line) for line in lines))
        facts += nodes.definition_list_item("", nodes.term("", name), told)
    return facts


def _told(card: Facts) -> Iterator[tuple[str, list[str]]]:
    """Yield names of facts and lines that tell them."""
    code, data = card["code"], card["data"]
    yield "Figure", [f"Fig. {card['number']} of the book, on {card['page']}"]
    yield "Size and seed", [f"{card['size']}, seed {card['seed']}"]
    yield "Parameters", [assignments(card["parameters"], card["changed"])]
    yield "Data", list(_origin(data))
    yield "Notebook", [f"{card['notebook']['name']}.ipynb, SHA-256 {card['notebook']['sha256']}"]
    yield "Code", [f"mfc_lb {code['version']}, commit {code['commit']}, SHA-256 {code['sha256']}"]
    yield "Packages", [versions(code)]
    yield "Files", [_file(file) for file in card["files"].values()]
    yield "Licence", [f"{card['licence']}, {card['author']}"]


def _origin(data: Facts) -> Iterator[str]:
    """Yield what is known of how a figure's data were computed."""
    computed = data.get("computed")
    if "experiment" in data:
        yield f"result {data['experiment']} ({data['size']}), seed {data['seed']}"
    if "recorded" in data:
        yield f"recorded live run {data['recorded']}, made by {data['command']}"
    yield from [computed] if isinstance(computed, str) else circumstances(computed)
    if "wall_time_seconds" in data:
        yield f"{data['wall_time_seconds']:,.0f} seconds of computing, summed over its parts"
    if "parameters" in data:
        yield assignments(data["parameters"])


def _file(file: Facts) -> str:
    return f"{file['address']}, {file['bytes']:,} bytes, SHA-256 {file['sha256']}"
