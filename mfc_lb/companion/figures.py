"""The book's figures: what their notebooks say of them, and how one is made again."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfc_lb.companion.citations import bibtex, plain_citation
from mfc_lb.companion.labels import LABEL_PREFIX, Label, read_labels
from mfc_lb.companion.location import Book, find_book
from mfc_lb.companion.notebooks import Notebook, load, read_notebook
from mfc_lb.companion.parameters import Value, did_you_mean
from mfc_lb.companion.settings import read_toc
from mfc_lb.errors import InvalidInput


@dataclass(frozen=True)
class BookFigure:
    """A figure of the book, without a run of it.

    Parameters
    ----------
    label : Label
        What its cell says of it.
    number : str
        Its number on the book's pages, such as ``"4.1"``.
    notebook : Notebook
        The notebook that makes it.
    """

    label: Label
    number: str
    notebook: Notebook

    @property
    def identifier(self) -> str:
        """Its name in addresses and citations, which does not change."""
        return self.label.identifier

    @property
    def address(self) -> str:
        """Where it is shown, relative to the book's front page."""
        return f"{self.notebook.name}.html#{LABEL_PREFIX}{self.identifier}"

    def command(self, parameters: Mapping[str, Value]) -> str:
        """Return the command that makes it again from a run with these parameters."""
        words = ["mfc-lb", "figure", "make", self.identifier]
        for name, value in self.changes(parameters).items():
            words += ["-p", f"{name}={value}"]
        return shlex.join(words)

    def cite(self, parameters: Mapping[str, Value]) -> dict[str, str]:
        """Return how to cite it, as ``{"bibtex": …, "text": …}``."""
        named = self.identifier, self.label.title, self.changes(parameters)
        return {"bibtex": bibtex(*named), "text": plain_citation(*named)}

    def run_parameters(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Return the parameters of the run that makes it: the changed ones and the size.

        They are those of the whole book's run where only the size is given, so that it is used.

        Raises
        ------
        InvalidInput
            If a name is unknown or a value not allowed.
        """
        converted = self.notebook.convert(given)
        changed = {name: converted[name] for name in self.changes(converted)}
        return {"size": self.notebook.size(converted)} | changed

    def changes(self, parameters: Mapping[str, Value]) -> dict[str, str]:
        """Return the parameters that differ from the notebook's own, as text by name."""
        own = self.notebook.parameters
        return {
            parameter.name: str(parameters[parameter.name])
            for parameter in own
            if parameters.get(parameter.name, parameter.default) != parameter.default
        }


def list_figures(book: Book | None = None) -> list[BookFigure]:
    """Return the figures of all notebooks in the table of contents, in reading order.

    Parameters
    ----------
    book : Book, optional
        The book; by default the one of this checkout.

    Raises
    ------
    InvalidInput
        If there is no book, or its table of contents is wrong.
    CompanionError
        If a notebook cannot be read.
    """
    toc, pages = read_toc(book or find_book())
    notebooks = [(page, read_notebook(page)) for page in pages if page.suffix == ".ipynb"]
    labels = [(label, found) for page, found in notebooks for label in read_labels(load(page))]
    numbers = _numbers(_chapters(toc), [found.name for _, found in labels])
    pairs = zip(labels, numbers, strict=True)
    return [BookFigure(label, number, found) for (label, found), number in pairs]


def find_figure(identifier: str, book: Book | None = None) -> BookFigure:
    """Return the figure of this identifier.

    Raises
    ------
    InvalidInput
        If there is none; the message names the nearest ones.
    """
    figures = {figure.identifier: figure for figure in list_figures(book)}
    name = identifier.removeprefix(LABEL_PREFIX)
    if name not in figures:
        raise InvalidInput(f"there is no figure {identifier!r}{did_you_mean(name, figures)}")
    return figures[name]


def _chapters(toc: Mapping[str, Any]) -> dict[str, str]:
    """Return the chapters' numbers; they count on from one numbered part to the next."""
    parts = [part for part in toc.get("parts", ()) if part.get("numbered")]
    files = [Path(chapter["file"]).name for part in parts for chapter in part["chapters"]]
    return {Path(name).stem: f"{number}." for number, name in enumerate(files, start=1)}


def _numbers(chapters: Mapping[str, str], pages: Iterable[str]) -> list[str]:
    """Return what Sphinx numbers figures on these pages: all without a chapter count together."""
    last: dict[str, int] = {}
    numbers = []
    for page in pages:
        chapter = chapters.get(page, "")
        last[chapter] = last.get(chapter, 0) + 1
        numbers.append(f"{chapter}{last[chapter]}")
    return numbers
