"""What the book's pages can do beyond Jupyter Book: values from runs, links to figures' files.

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
from sphinx.util.osutil import relative_uri

from mfc_lb.companion.checks import LABEL_PREFIX
from mfc_lb.companion.context import Context, read_context
from mfc_lb.companion.parameters import did_you_mean
from mfc_lb.companion.records import FIGURE_FORMATS, FIGURES_FOLDER

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


def link_figure_files(app: Sphinx, doctree: nodes.document) -> None:
    """Put links to a published figure's files below its caption."""
    assert app.env is not None
    published = _context(app.env).figures
    for figure in list(doctree.findall(nodes.figure)):
        for name in figure["names"]:
            identifier = name.removeprefix(LABEL_PREFIX)
            if identifier in published:
                figure.append(_links(identifier, app.env.docname))


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
    app.connect("doctree-read", link_figure_files)
    app.connect("missing-reference", name_missing_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _context(env: BuildEnvironment) -> Context:
    return read_context(Path(env.srcdir))


def _links(identifier: str, page: str) -> nodes.legend:
    paragraph = nodes.paragraph(classes=["figure-files"])
    paragraph += nodes.Text("Download: ")
    for suffix in FIGURE_FORMATS:
        target = relative_uri(page, f"{FIGURES_FOLDER}/{identifier}.{suffix}")
        text = "data (CSV)" if suffix == "csv" else suffix.upper()
        paragraph += nodes.reference("", text, refuri=target, internal=True)
        paragraph += nodes.Text(" · " if suffix != FIGURE_FORMATS[-1] else "")
    return nodes.legend("", paragraph)


def _words(kind: str, target: str, context: Context) -> str | None:
    """Say what a reference points to, where its own text would be a mere label."""
    if kind == "doc":
        return context.titles.get(target.lstrip("/"), target)
    things = {"eq": "an equation", "numref": "a figure", "ref": "a section"}
    return f"{things[kind]} of the book" if kind in things else None
