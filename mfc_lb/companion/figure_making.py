"""One figure, made by a run of its notebook."""

from collections.abc import Mapping
from pathlib import Path

from mfc_lb.companion.cache import Job
from mfc_lb.companion.cards import make_cards
from mfc_lb.companion.execution import Run
from mfc_lb.companion.figures import BookFigure, find_figure
from mfc_lb.companion.folders import beside
from mfc_lb.companion.location import Book, find_book
from mfc_lb.companion.records import FIGURES_FOLDER, to_json
from mfc_lb.errors import InvalidInput
from mfc_lb.files import write_whole


def make_figure(
    identifier: str,
    suffix: str,
    parameters: Mapping[str, object],
    output: Path,
    book: Book | None = None,
) -> None:
    """Write one file of a figure, from a run of its notebook with the given parameters.

    Parameters
    ----------
    identifier : str
        The figure's identifier.
    suffix : {"svg", "pdf", "png", "csv", "json"}
        The format; "json" is the figure's card.
    parameters : mapping from str to object
        Values by name; strings are read as the declared type.
    output : Path
        The file; one that exists is replaced.
    book : Book, optional
        The book; by default the one of this checkout.

    Raises
    ------
    InvalidInput
        Before anything runs: if the figure, a parameter or its value is not allowed, or the file
        cannot be written.
    CompanionError
        If the run fails; nothing is written.
    """
    book = book or find_book()
    figure = find_figure(identifier, book)
    run_parameters = figure.run_parameters(parameters)
    _require_writable(output, suffix)
    run = _run(Job(figure.notebook, run_parameters, book, book.runs_for(output), book.runs))
    write_whole(output, _content(figure, suffix, run, book))


def _require_writable(output: Path, suffix: str) -> None:
    if output.suffix.lower() != f".{suffix}":
        raise InvalidInput(
            f"output must be a file whose name ends in .{suffix}, got {str(output)!r}"
        )
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise InvalidInput(f"output must be a file in an existing folder, got {str(output)!r}")


def _run(job: Job) -> Run:
    kept = job.kept()
    if kept is not None:
        return kept
    with beside(job.cache) as scratch:
        return job.run(scratch)


def _content(figure: BookFigure, suffix: str, run: Run, book: Book) -> bytes:
    if suffix == "json":
        (card,) = make_cards(book, [figure], run)
        return to_json(card)
    return (run.folder / FIGURES_FOLDER / f"{figure.identifier}.{suffix}").read_bytes()
