"""A folder with everything that Jupyter Book needs, and nothing else."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mfc_lb.companion.cards import make_cards
from mfc_lb.companion.context import Context, write_context
from mfc_lb.companion.declarations import read_title
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.execution import Run
from mfc_lb.companion.expected import read_expected
from mfc_lb.companion.figures import list_figures
from mfc_lb.companion.folders import copy_contents
from mfc_lb.companion.live_figure import write_live_figure
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import load, read_prose
from mfc_lb.companion.provenance import publish_provenance
from mfc_lb.companion.records import FIGURES_FOLDER, default_text, write_json
from mfc_lb.companion.settings import read_config, read_toc
from mfc_lb.companion.thumbnails import write_thumbnails

#: Sphinx copies what is in here to the top of the finished pages.
EXTRA_FOLDER = "_extra"

_CITATION = re.compile(r"\{cite")
_BIBLIOGRAPHY = "## References\n\n```{bibliography}\n:filter: docname in docnames\n```"


def stage_book(book: Book, runs: Iterable[Run], folder: Path) -> None:
    """Fill an empty folder with the book's sources, its executed notebooks and their results.

    The content of ``book/`` comes to the top, so that pages and figures have short, stable
    addresses: ``comparison.html``, ``figures/drop-rates.svg``.
    """
    toc, pages = read_toc(book)
    runs = tuple(runs)
    _stage(book, runs, toc, folder)
    for page in pages:
        if page.suffix == ".md":
            shutil.copyfile(page, folder / page.name)
    write_live_figure(book, folder / EXTRA_FOLDER)
    cards, titles = _publish(book, runs, folder), _titles(pages)
    write_thumbnails(folder / EXTRA_FOLDER / FIGURES_FOLDER, folder / EXTRA_FOLDER)
    provenance = publish_provenance(book, runs, folder / EXTRA_FOLDER)
    write_context(Context(_texts(runs), cards, titles, provenance), folder)


def stage_page(book: Book, run: Run, size: str, folder: Path) -> None:
    """Fill an empty folder with what one executed notebook needs to become a page on its own.

    Its citations get a list of references below it. Values of other notebooks are the expected
    ones of this size.
    """
    _, pages = read_toc(book)
    _stage(book, (run,), {"format": "jb-book", "root": run.name}, folder)
    _append_bibliography(folder / run.path.name)
    others = _titles(pages)
    texts = {
        f"{name}/{value}": default_text(entry["value"])
        for name in others
        for value, entry in read_expected(name, book).get(size, {}).items()
    }
    cards = _publish(book, (run,), folder)
    context = Context(texts | _texts((run,)), cards, others, single_page=True)
    write_context(context, folder)


def _stage(book: Book, runs: tuple[Run, ...], toc: dict[str, Any], folder: Path) -> None:
    """Copy all but the pages themselves, then the executed notebooks."""
    copy_contents(book.sources, folder, _is_page_or_leftover)
    for run in runs:
        shutil.copyfile(run.path, folder / run.path.name)
    (folder / EXTRA_FOLDER).mkdir(exist_ok=True)
    _write_yaml(read_config(book), folder / book.config.name)
    _write_yaml(toc, folder / book.toc.name)


def _is_page_or_leftover(name: str) -> bool:
    """Say what is not copied: pages, which are staged one by one, and what others left."""
    left_out = {"expected", "_build", "__pycache__", ".ipynb_checkpoints"}
    return name in left_out or name.endswith((".ipynb", ".md"))


def _write_yaml(content: dict[str, Any], path: Path) -> None:
    import yaml

    path.write_text(yaml.safe_dump(_at_top(content), sort_keys=False), "utf-8")


def _at_top(content: Any) -> Any:
    """Rewrite names of files in ``book/`` to where they are staged."""
    if isinstance(content, dict):
        return {key: _at_top(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_at_top(value) for value in content]
    return content.removeprefix("book/") if isinstance(content, str) else content


def _titles(pages: Iterable[Path]) -> dict[str, str]:
    return {page.stem: read_title(read_prose(page)) or page.stem for page in pages}


def _texts(runs: Iterable[Run]) -> dict[str, str]:
    return {
        f"{run.name}/{name}": entry["text"] for run in runs for name, entry in run.values.items()
    }


def _publish(book: Book, runs: tuple[Run, ...], folder: Path) -> tuple[dict[str, Any], ...]:
    """Copy the figures' files, put their cards beside them, and return the cards."""
    _require_distinct(runs)
    figures = list_figures(book)
    target = folder / EXTRA_FOLDER / FIGURES_FOLDER
    for run in runs:
        if run.figures:
            copy_contents(run.folder / FIGURES_FOLDER, target)
    cards = tuple(card for run in runs for card in make_cards(book, figures, run))
    for card in cards:
        write_json(target / f"{card['identifier']}.json", card)
    return cards


def _require_distinct(runs: Iterable[Run]) -> None:
    """Refuse an identifier that two notebooks use."""
    first: dict[str, str] = {}
    for run in runs:
        for identifier in run.figures:
            if identifier in first:
                both = f"{first[identifier]} and {run.name}"
                raise CompanionError(f"the figure {identifier!r} is published by {both}")
            first[identifier] = run.name


def _append_bibliography(path: Path) -> None:
    import nbformat

    content, text = load(path), read_prose(path)
    if _CITATION.search(text) and "{bibliography}" not in text:
        content.cells.append(nbformat.v4.new_markdown_cell(_BIBLIOGRAPHY))
        nbformat.write(content, path)
