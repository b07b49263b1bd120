"""Where the sources' equations, tables and figures are in this book: ``book/paper_map.yml``.

The file holds parts with entries::

    parts:
    - title: The model
      entries:
      - what: The expected drops of a queue in an epoch
        state: reproduced
        why: It is exact; {value}`mean_field/mass_error` is rounding.
        at: {mean_field: [One exact step]}
        equations: [eq-drops]
        functions: [mfc_lb.MeanFieldSystem.step]

``at`` names pages and headings on them; ``why`` is MyST.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from mfc_lb.companion.checks import report
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.expected import read_expected
from mfc_lb.companion.figures import list_figures
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import read_prose
from mfc_lb.companion.settings import read_toc, read_yaml

PAPER_MAP_FILE = "paper_map.yml"

#: What may have become of something in a source.
STATES = ("reproduced", "extended", "differs", "not reproduced", "added")

_HEADING = re.compile(r"^#+ +(?P<text>.+?) *$", re.MULTILINE)
_VALUE = re.compile(r"\{value\}`(?P<page>\w+)/(?P<name>\w+)`")
_LABEL = re.compile(r"\((eq-[\w-]+)\)")


@dataclass(frozen=True)
class Entry:
    """Something of a source, or of ours, and where it is.

    Parameters
    ----------
    what : str
        What it is, in MyST.
    state : str
        One of `STATES`.
    why : str
        How it was reproduced or extended, or why it differs, in MyST.
    at : mapping
        Headings by page; a page without headings stands for the whole page.
    equations, figures, functions : tuple of str
        Labels, identifiers and full names.
    """

    what: str
    state: str
    why: str
    at: Mapping[str, tuple[str, ...]]
    equations: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """Entries under one title."""

    title: str
    entries: tuple[Entry, ...] = field(default_factory=tuple)


def read_paper_map(path: Path) -> list[Part]:
    """Return the parts of a map.

    Raises
    ------
    InvalidInput, CompanionError
        If the file cannot be read, or is not of the form.
    """
    parts: Any = read_yaml(path).get("parts")
    try:
        return [
            Part(part["title"], tuple(_entry(one) for one in part["entries"])) for part in parts
        ]
    except (TypeError, KeyError) as error:
        raise CompanionError(f"{path.name} is not of the form: {error}") from None


def _entry(given: Mapping[str, Any]) -> Entry:
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    at = {page: tuple(headings or ()) for page, headings in given["at"].items()}
    return Entry(**{**given, **lists, "at": at})


def check_paper_map(book: Book) -> None:
    """Check that all that the map names exists, and that every notebook is in it.

    Raises
    ------
    CompanionError
        With one line for each fault.
    """
    parts = read_paper_map(book.sources / PAPER_MAP_FILE)
    entries = [entry for part in parts for entry in part.entries]
    _, pages = read_toc(book)
    texts = {page.stem: read_prose(page) for page in pages}
    figures = {figure.identifier for figure in list_figures(book)}
    values = {page.stem: _values(page.stem, book) for page in pages}
    equations = {label for text in texts.values() for label in _LABEL.findall(text)}
    faults = [
        f"{entry.what!r}: {fault}"
        for entry in entries
        for fault in (
            *_wrong_state(entry),
            *_wrong_places(entry, texts),
            *(f"no equation {name!r}" for name in entry.equations if name not in equations),
            *(f"no figure {name!r}" for name in entry.figures if name not in figures),
            *(f"no function {name!r}" for name in entry.functions if not _exists(name)),
            *_wrong_values(entry, values),
        )
    ]
    notebooks = {page.stem for page in pages if page.suffix == ".ipynb"}
    missing = notebooks - {page for entry in entries for page in entry.at}
    faults += [f"no entry leads to the notebook {name!r}" for name in sorted(missing)]
    report(PAPER_MAP_FILE, faults)


def headings(text: str) -> list[str]:
    """Return the headings of a page, as they are written."""
    return [found["text"] for found in _HEADING.finditer(text)]


def _values(page: str, book: Book) -> set[str]:
    return {name for entries in read_expected(page, book).values() for name in entries}


def _wrong_state(entry: Entry) -> Iterator[str]:
    if entry.state not in STATES:
        yield f"its state {entry.state!r} is not one of {', '.join(STATES)}"
    if not entry.why.strip():
        yield "it does not say why"


def _wrong_places(entry: Entry, texts: Mapping[str, str]) -> Iterator[str]:
    for page, wanted in entry.at.items():
        if page not in texts:
            yield f"no page {page!r}"
            continue
        there = headings(texts[page])
        yield from (f"no heading {name!r} on {page}" for name in wanted if name not in there)


def _wrong_values(entry: Entry, values: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for found in _VALUE.finditer(entry.what + entry.why):
        if found["name"] not in values.get(found["page"], ()):
            yield f"no value {found['page']}/{found['name']}"


def _exists(name: str) -> bool:
    """Say whether there is a Python object of this full name."""
    module = name
    attributes: list[str] = []
    while module:
        try:
            found = import_module(module)
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            attributes.insert(0, last)
            continue
        for attribute in attributes:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False
