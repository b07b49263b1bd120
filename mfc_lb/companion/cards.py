"""The card of a figure: what it shows, where from, how to make it again, and how to cite it."""

import json
import platform
from collections.abc import Iterable
from functools import cache
from typing import Any

import mfc_lb
from mfc_lb.companion.citations import AUTHOR, LICENCE
from mfc_lb.companion.execution import PARAMETERS_FILE, Run
from mfc_lb.companion.figure_files import FIGURE_FORMATS
from mfc_lb.companion.figures import BookFigure
from mfc_lb.companion.location import LIBRARY, Book
from mfc_lb.companion.records import FIGURES_FOLDER, read_figures
from mfc_lb.files import sha256

#: Of data that a notebook computes itself, and of a result that is computed again at any time.
LIVE = "computed by the notebook when the page is built; the build's run report says how long"
RECOMPUTED = "computed by the code of this build, and again whenever that code changes"

# What a figure's look depends on, beside what its numbers do.
_DRAWING = ("matplotlib", "pandas", "pillow")


def make_cards(book: Book, figures: Iterable[BookFigure], run: Run) -> list[dict[str, Any]]:
    """Return the cards of the figures that a run published.

    Parameters
    ----------
    book : Book
        The book.
    figures : iterable of BookFigure
        The book's figures; those of other notebooks are left out.
    run : Run
        The finished run.

    Returns
    -------
    list of dict
        Each card is what ``figures/<identifier>.json`` holds. No card depends on when or where the
        run was made; a time is the one that is stored with the data.
    """
    return [
        _card(book, figure, run)
        for figure in figures
        if figure.notebook.name == run.name and figure.identifier in run.figures
    ]


def _card(book: Book, figure: BookFigure, run: Run) -> dict[str, Any]:
    given = json.loads((run.folder / PARAMETERS_FILE).read_text("utf-8"))
    defaults = {parameter.name: parameter.default for parameter in figure.notebook.parameters}
    parameters = defaults | given
    size = figure.notebook.size(given)
    result = _stored(read_figures(run.folder).get(figure.identifier, {}).get("result"), size)
    return {
        "identifier": figure.identifier,
        "number": figure.number,
        "title": figure.label.title,
        "caption": figure.label.caption,
        "alt": figure.label.alt,
        "page": figure.address,
        "author": AUTHOR,
        "licence": LICENCE,
        "files": {suffix: _file(run, figure.identifier, suffix) for suffix in FIGURE_FORMATS},
        "size": size,
        "seed": result["seed"] if result else parameters.get("seed"),
        "parameters": parameters,
        "changed": sorted(figure.changes(parameters)),
        "data": result or {"computed": LIVE},
        "notebook": {
            "name": figure.notebook.name,
            "title": figure.notebook.title,
            "sha256": sha256(figure.notebook.path.read_bytes()),
        },
        "code": _code(book),
        "command": figure.command(parameters),
        "citation": figure.cite(parameters),
    }


def _stored(name: str | None, size: str) -> dict[str, Any] | None:
    """Return what is known of the stored result that a figure shows.

    The paper size is stored once, and its manifest says when and how. The quick size is computed
    again by many builds; a page must not show when, since two builds give the same pages.
    """
    if name is None:
        return None
    # The experiments compute; notebooks that only record values do without them.
    from mfc_lb.experiments import EXPERIMENTS, find
    from mfc_lb.results.folders import results_folder
    from mfc_lb.results.storage import StoredResult, inputs, read_json

    if name not in EXPERIMENTS:
        return _recorded(name)
    experiment = find(name)
    if size != "paper":
        return inputs(experiment, size) | {"computed": RECOMPUTED}
    manifest: dict[str, Any] = read_json(StoredResult(results_folder(), experiment, size).manifest)
    return manifest


def _recorded(name: str) -> dict[str, Any]:
    """Return what is known of a recorded live run, which no build makes again."""
    from mfc_lb.experiments.live_records import card

    told = card(name)
    about = {field: told[field] for field in ("command", "computed", "sha256")}
    setting = told["setting"]
    return {"recorded": name, "parameters": setting, "seed": setting["seed"], **about}


def _file(run: Run, identifier: str, suffix: str) -> dict[str, Any]:
    name = f"{FIGURES_FOLDER}/{identifier}.{suffix}"
    content = (run.folder / name).read_bytes()
    return {"address": name, "bytes": len(content), "sha256": sha256(content)}


@cache
def _code(book: Book) -> dict[str, Any]:
    """Return the version of all that computes: the library, Python and the packages."""
    from mfc_lb.results.circumstances import PACKAGES, commit, package_versions

    sources = sorted(LIBRARY.rglob("*.py"))
    lines = (
        f"{path.relative_to(LIBRARY).as_posix()} {sha256(path.read_bytes())}" for path in sources
    )
    return {
        "version": mfc_lb.__version__,
        "commit": commit(book.root),
        "sha256": sha256("\n".join(lines).encode()),
        "python": platform.python_version(),
        "packages": package_versions((*PACKAGES, *_DRAWING)),
    }
