"""The executed book and single executed pages, from sources to HTML."""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from joblib import Parallel, delayed
from tqdm import tqdm

from mfc_lb.companion.cache import Job
from mfc_lb.companion.checks import check_labels, report
from mfc_lb.companion.execution import Run, run
from mfc_lb.companion.expected import check_files, read_expected
from mfc_lb.companion.folders import beside, replacing
from mfc_lb.companion.html import build_html
from mfc_lb.companion.location import Book, find_book
from mfc_lb.companion.notebooks import Notebook, find_notebook, load, read_notebook, read_prose
from mfc_lb.companion.parameters import did_you_mean
from mfc_lb.companion.pdf import add_pdf, find_browser
from mfc_lb.companion.run_report import Stopwatch, book_report, write_book_report
from mfc_lb.companion.settings import read_config, read_toc
from mfc_lb.companion.staging import stage_book, stage_page
from mfc_lb.companion.typed_numbers import check_typed_numbers

_VALUE_IN_PROSE = re.compile(r"\{value\}`([^`]+)`")


def build_book(
    size: str = "paper",
    output: Path | None = None,
    book: Book | None = None,
    cache: Path | None = None,
    pdf: bool = False,
) -> Path:
    """Run all notebooks of the book and build its HTML; all of it, or nothing.

    Parameters
    ----------
    size : {"paper", "quick"}
        Which results are shown.
    output : Path, optional
        Folder of the finished pages; by default ``_build/html``. The run report lies beside it.
    book : Book, optional
        The book; by default the one of this checkout.
    cache : Path, optional
        Folder of finished runs, which are used again as long as nothing that they depend on has
        changed; by default that of `Book.runs_for`.
    pdf : bool
        Whether the pages come with a PDF of the whole book, ``book.pdf``, and links to it.

    Returns
    -------
    Path
        The finished pages' folder; they start at its ``index.html``.

    Raises
    ------
    InvalidInput
        If the size, the output folder, the settings or the table of contents are not allowed, or
        a PDF is wanted and Chromium is not installed.
    CompanionError
        If a run fails, a figure or value is missing or off, or Sphinx has any warning.
    """
    stopwatch = Stopwatch()
    book = book or find_book()
    if pdf:
        find_browser()
    notebooks = check_book(book)
    output = output or book.build / "html"
    caches = (cache, None) if cache else (book.runs_for(output), book.runs)
    given = [notebook.convert({"size": size}) for notebook in notebooks]
    jobs = [Job(*pair, book, *caches) for pair in zip(notebooks, given, strict=True)]
    with replacing(output) as folder, TemporaryDirectory() as scratch:
        kept = [job.kept() for job in jobs]
        runs = _complete(jobs, kept)
        stage_book(book, runs, Path(scratch))
        _move_pages(build_html(Path(scratch), "the book"), folder)
        if pdf:
            add_pdf(folder, book)
    write_book_report(book_report(output, book.build), size, stopwatch, runs, kept)
    return output


def build_page(
    name: str, parameters: Mapping[str, object], output: Path, book: Book | None = None
) -> Path:
    """Run one notebook with the given parameters and build a page from it.

    Parameters
    ----------
    name : str
        The notebook's name.
    parameters : mapping from str to object
        Values by name; strings are read as the declared type.
    output : Path
        A new or empty folder, or one that an earlier run left. It gets ``<name>.ipynb``
        (executed), ``<name>.html``, ``values.json`` and the figures' files.
    book : Book, optional
        The book; by default the one of this checkout.

    Returns
    -------
    Path
        The HTML page.

    Raises
    ------
    InvalidInput
        Before anything runs: if the notebook, a parameter, its value or the folder is not allowed.
    CompanionError
        If the run fails or Sphinx has any warning. Nothing is kept.
    """
    book = book or find_book()
    notebook = find_notebook(name, book)
    size = notebook.size(notebook.convert(parameters))
    with replacing(output) as folder, TemporaryDirectory() as scratch:
        finished = run(name, parameters, Path(scratch) / "run", book)
        sources = Path(scratch) / "sources"
        stage_page(book, finished, size, sources)
        _move_pages(build_html(sources, name), folder)
        shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    return output / f"{name}.html"


def check_book(book: Book | None = None) -> list[Notebook]:
    """Check all that can be checked of the book without running it.

    Returns
    -------
    list of Notebook
        The notebooks in the table of contents, in reading order.

    Raises
    ------
    InvalidInput
        If the settings or the table of contents are wrong.
    CompanionError
        If a notebook's parameters, its figures' labels or its expected values are, or a result is
        typed by hand.
    """
    book = book or find_book()
    read_config(book)
    _, pages = read_toc(book)
    notebooks = [read_notebook(page) for page in pages if page.suffix == ".ipynb"]
    _check_labels(notebooks)
    check_files((notebook.name for notebook in notebooks), book)
    _check_values_in_prose(pages, {notebook.name for notebook in notebooks}, book)
    check_typed_numbers(pages, book)
    return notebooks


def _check_labels(notebooks: Iterable[Notebook]) -> None:
    owners: dict[str, str] = {}
    for notebook in notebooks:
        for identifier in check_labels(notebook, load(notebook.path)):
            owner = owners.setdefault(identifier, notebook.name)
            if owner != notebook.name:
                report(notebook.name, [f"the figure {identifier!r} is labelled in {owner}, too"])


def _check_values_in_prose(pages: Iterable[Path], names: Iterable[str], book: Book) -> None:
    known = {
        f"{name}/{value}"
        for name in names
        for entries in read_expected(name, book).values()
        for value in entries
    }
    for page in pages:
        shown = set(_VALUE_IN_PROSE.findall(read_prose(page)))
        faults = [f"no value {name!r}{did_you_mean(name, known)}" for name in shown - known]
        report(page.stem, sorted(faults))


def _complete(jobs: Sequence[Job], kept: Sequence[Run | None]) -> list[Run]:
    """Return a run of each notebook: the kept one, or else a fresh one."""
    fresh = _run_side_by_side([job for job, run in zip(jobs, kept, strict=True) if run is None])
    return [run or next(fresh) for run in kept]


def _run_side_by_side(jobs: Sequence[Job]) -> Iterator[Run]:
    """Run notebooks in processes, one for each core; the first failure ends all."""
    if not jobs:
        return
    with beside(jobs[0].cache) as scratch:
        calls = (delayed(Job.run)(job, scratch) for job in jobs)
        finished = Parallel(n_jobs=-1, return_as="generator")(calls)
        yield from tqdm(finished, total=len(jobs), desc="notebooks", delay=2, disable=None)


def _move_pages(pages: Path, folder: Path) -> None:
    """Move finished pages, without Sphinx's note on how it was configured."""
    (pages / ".buildinfo").unlink(missing_ok=True)
    shutil.copytree(pages, folder, dirs_exist_ok=True)
