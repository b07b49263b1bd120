"""What the book's pages can do beyond Jupyter Book: values from runs, cards of figures.

Loaded by ``book/_ext/mfc_lb_book.py``.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from mfc_lb.companion.card_pages import (
    CardDetails,
    FigureCard,
    FigureGallery,
    add_cards,
    close_details,
    open_details,
)
from mfc_lb.companion.context import Context, read_context
from mfc_lb.companion.parameters import did_you_mean
from mfc_lb.companion.provenance_pages import PaperMap, Provenance

logger = logging.getLogger(__name__)


class ValueRole(SphinxRole):
    """``{value}`notebook/name```: a value that this notebook recorded in its run."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the value as text; warn, which fails the build, if there is no such value."""
        values = _context(self.env).values
        if self.text not in values:
            advice = did_you_mean(self.text, values)
            logger.warning("no value %r%s", self.text, advice, location=self.get_location())
        text = values.get(self.text, self.text)
        return [nodes.inline(self.rawtext, text, classes=["value"])], []


def name_missing_page(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """On a page built alone, turn a reference to another page into words."""
    del app
    context = _context(env)
    if not context.single_page:
        return None
    words = _words(node["reftype"], node["reftarget"], context)
    return content if node.get("refexplicit") or words is None else nodes.inline("", words)


class UnlinkMissingPages(SphinxPostTransform):
    """On a page built alone, turn Markdown links to other pages into their text."""

    default_priority = 8  # before MyST's own resolver, which would warn

    def run(self, **kwargs: Any) -> None:
        """Replace the links in this document."""
        context = _context(self.env)
        if not context.single_page:
            return
        for node in list(self.document.findall(addnodes.pending_xref)):
            page = str(node["reftarget"]).removesuffix(".md").removesuffix(".ipynb")
            if node["reftype"] == "myst" and page in context.titles.keys() - self.env.all_docs:
                shown = node.astext() or context.titles[page]
                node.replace_self(nodes.inline("", shown))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it with Sphinx."""
    app.add_role("value", ValueRole())
    app.add_post_transform(UnlinkMissingPages)
    app.add_node(CardDetails, html=(open_details, close_details))
    app.add_directive("figure-card", FigureCard)
    app.add_directive("figure-gallery", FigureGallery)
    app.add_directive("provenance", Provenance)
    app.add_directive("paper-map", PaperMap)
    app.connect("doctree-read", add_cards)
    app.connect("missing-reference", name_missing_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _context(env: BuildEnvironment) -> Context:
    return read_context(Path(env.srcdir))


def _words(kind: str, target: str, context: Context) -> str | None:
    """Say what a reference points to, where its own text would be a mere label."""
    if kind == "doc":
        return context.titles.get(target.lstrip("/"), target)
    things = {"eq": "an equation", "numref": "a figure", "ref": "a section"}
    return f"{things[kind]} of the book" if kind in things else None
