"""How pages show the cards: one under each figure, and all of them in a gallery."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from mfc_lb.companion.context import Context, read_context
from mfc_lb.companion.figure_files import FIGURE_FORMATS
from mfc_lb.companion.labels import LABEL_PREFIX, Label
from mfc_lb.companion.parameters import did_you_mean
from mfc_lb.companion.records import FIGURES_FOLDER
from mfc_lb.companion.thumbnails import HEIGHT, THUMBNAILS_FOLDER, WIDTH

Card = Mapping[str, Any]

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

    def _chapter(self, name: str, cards: list[Card]) -> nodes.section:
        title = cards[0]["notebook"]["title"]
        heading = nodes.title("", "", _link(title, f"{name}.html"))
        items = nodes.bullet_list(classes=["figure-gallery"])
        items += [self._item(card) for card in cards]
        return nodes.section("", heading, items, ids=[f"figures-{name}"], names=[])

    def _item(self, card: Card) -> nodes.list_item:
        text = nodes.paragraph()
        text += nodes.strong("", f"Fig. {card['number']}")
        text += nodes.Text(" ")
        text += self._inline(Label("", card["caption"], "").opening)
        links = nodes.paragraph(classes=["figure-gallery-links"])
        links += _listed([nodes.literal("", card["identifier"]), *_places(card)])
        picture = nodes.raw("", _thumbnail(card), format="html")
        return nodes.list_item("", picture, text, links)

    def _inline(self, markdown: str) -> list[nodes.Node]:
        holder = nodes.container()
        self.state.nested_parse(StringList([markdown]), self.content_offset, holder)
        return [child for paragraph in holder for child in paragraph.children]


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


def _card(card: Card) -> nodes.container:
    line = nodes.paragraph(classes=["figure-card-line"])
    line += _listed([nodes.literal("", card["identifier"]), *_downloads(card)])
    block = nodes.container(classes=["figure-card"], ids=[f"card-{card['identifier']}"])
    details = CardDetails()
    details += _block("Cite", card["citation"]["text"], "text")
    details += _block("BibTeX", card["citation"]["bibtex"], "bibtex")
    details += _block("Make it again", card["command"], "bash")
    details += _facts(card)
    block += [line, details]
    return block


# A line does not break before or after it.
_EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"


def _block(heading: str, text: str, language: str) -> list[nodes.Node]:
    """Return text under a heading; Sphinx's extension puts a copy button on it."""
    block = nodes.literal_block(text, text, language=language)
    return [nodes.paragraph("", heading, classes=["figure-card-heading"]), block]


def _downloads(card: Card) -> Iterator[nodes.Node]:
    for suffix in sorted(FIGURE_FORMATS):
        yield _link(suffix.upper(), card["files"][suffix]["address"])
    yield _link("card (JSON)", f"{FIGURES_FOLDER}/{card['identifier']}.json")


def _places(card: Card) -> Iterator[nodes.Node]:
    yield _link("on its page", card["page"])
    yield _link("card", card["page"].replace(f"#{LABEL_PREFIX}", "#card-"))


def _thumbnail(card: Card) -> str:
    source = f"{THUMBNAILS_FOLDER}/{card['identifier']}.webp"
    size = f'width="{WIDTH}" height="{HEIGHT}" loading="lazy"'
    image = f'<img src="{source}" alt="{escape(card["alt"])}" {size}>'
    return f'<a href="{card["page"]}">{image}</a>'


def _link(text: str, address: str) -> nodes.reference:
    # All pages are at the top, so addresses from the front page hold on each of them.
    return nodes.reference("", text, refuri=address, internal=True)


def _listed(parts: Iterable[nodes.Node]) -> list[nodes.Node]:
    separated = [node for part in parts for node in (nodes.Text(" · "), part)]
    return separated[1:]


def _facts(card: Card) -> nodes.definition_list:
    facts = nodes.definition_list(classes=["figure-card-facts"])
    for name, lines in _told(card):
        told = nodes.definition("", *(nodes.paragraph("", line) for line in lines))
        facts += nodes.definition_list_item("", nodes.term("", name), told)
    return facts


def _told(card: Card) -> Iterator[tuple[str, list[str]]]:
    """Yield names of facts and lines that tell them."""
    code, data = card["code"], card["data"]
    yield "Figure", [f"Fig. {card['number']} of the book, on {card['page']}"]
    yield "Size and seed", [f"{card['size']}, seed {card['seed']}"]
    yield "Parameters", [_assignments(card["parameters"], card["changed"])]
    yield "Data", list(_origin(data))
    yield "Notebook", [f"{card['notebook']['name']}.ipynb, SHA-256 {card['notebook']['sha256']}"]
    yield "Code", [f"mfc_lb {code['version']}, commit {code['commit']}, SHA-256 {code['sha256']}"]
    versions = ", ".join(f"{name} {version}" for name, version in code["packages"].items())
    yield "Packages", [f"Python {code['python']}, {versions}"]
    yield "Files", [_file(file) for file in card["files"].values()]
    yield "Licence", [f"{card['licence']}, {card['author']}"]


def _assignments(parameters: Mapping[str, Any], changed: Iterable[str] = ()) -> str:
    marks = dict.fromkeys(changed, " (changed)")
    return "; ".join(
        f"{name}{_EQUALS}{_words(value)}{marks.get(name, '')}" for name, value in _flat(parameters)
    )


def _flat(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names and values, with names like "system.buffer_size" for what is nested."""
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", part) for inner, part in _flat(value))
        else:
            yield name, value


def _words(value: Any) -> str:
    return f"[{', '.join(map(_words, value))}]" if isinstance(value, list) else str(value)


def _origin(data: Card) -> Iterator[str]:
    """Yield what is known of how a figure's data were computed."""
    computed = data.get("computed", "when, where and with which versions was not recorded")
    if "experiment" in data:
        yield f"result {data['experiment']} ({data['size']}), seed {data['seed']}"
    if "recorded" in data:
        yield f"recorded live run {data['recorded']}, made by {data['command']}"
    if isinstance(computed, str):
        yield computed
    else:
        yield _circumstances(computed)
    if "wall_time_seconds" in data:
        yield f"{data['wall_time_seconds']:,.0f} seconds of computing, summed over its parts"
    if "parameters" in data:
        yield _assignments(data["parameters"])


def _circumstances(computed: Card) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in computed["packages"].items())
    where = f"by {computed['processes']} processes on {computed['machine']}"
    what = f"Python {computed['python']}, {versions}"
    return f"finished {computed['finished']} {where}; commit {computed['commit']}; {what}"


def _file(file: Card) -> str:
    return f"{file['address']}, {file['bytes']:,} bytes, SHA-256 {file['sha256']}"
