"""One notebook, run through papermill: all of it or nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mfc_lb.companion.checks import check_run
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.expected import check_values
from mfc_lb.companion.folders import replacing
from mfc_lb.companion.kernel import LOG_FILE, kernel_manager_class
from mfc_lb.companion.labels import read_labels
from mfc_lb.companion.location import Book, find_book
from mfc_lb.companion.notebooks import Notebook, find_notebook, load
from mfc_lb.companion.parameters import Value
from mfc_lb.companion.records import FIGURES_FILE, FIGURES_FOLDER, read_values, write_json
from mfc_lb.companion.run_report import Stopwatch, write_run_report
from mfc_lb.errors import InvalidInput

PARAMETERS_FILE = "parameters.json"

_INJECTED = "injected-parameters"  # papermill's tag
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Run:
    """A finished run of one notebook.

    Parameters
    ----------
    name : str
        The notebook's name.
    folder : Path
        Holds ``<name>.ipynb`` (executed), ``parameters.json``, ``values.json`` if any value was
        recorded, ``figures/``, ``figures.json``, and ``run-report.json``, the only one that differs
        from run to run.
    """

    name: str
    folder: Path

    @property
    def path(self) -> Path:
        """The executed notebook."""
        return self.folder / f"{self.name}.ipynb"

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        """The recorded values: ``{name: {"value": …, "text": …}}``."""
        return read_values(self.folder)

    @property
    def figures(self) -> tuple[str, ...]:
        """Identifiers of the published figures, sorted."""
        return tuple(sorted(path.stem for path in (self.folder / FIGURES_FOLDER).glob("*.csv")))


def run(name: str, parameters: Mapping[str, object], output: Path, book: Book | None = None) -> Run:
    """Run a notebook of the book with the given parameters and keep the result in `output`.

    Parameters
    ----------
    name : str
        The notebook's name.
    parameters : mapping from str to object
        Values by name; strings are read as the declared type.
    output : Path
        A new or empty folder, or one that an earlier run left.
    book : Book, optional
        The book; by default the one of this checkout.

    Returns
    -------
    Run
        What the run left.

    Raises
    ------
    InvalidInput
        Before anything runs: if the notebook, a parameter, its value or the folder is not allowed.
    CompanionError
        If a cell fails or writes to stderr, or a figure or value is missing. Nothing is kept.
    """
    book = book or find_book()
    notebook = find_notebook(name, book)
    converted = notebook.convert(parameters)
    with replacing(output) as folder:
        execute(notebook, converted, folder, book)
        check_values(notebook, converted, folder, book)
    return Run(name, output)


def execute(notebook: Notebook, parameters: Mapping[str, Value], folder: Path, book: Book) -> Run:
    """Run a notebook into an empty folder; check that it is complete, but not its values."""
    labels = read_labels(load(notebook.path))
    titles = {label.identifier: {"title": label.title} for label in labels}
    write_json(folder / FIGURES_FILE, titles)
    stopwatch = Stopwatch()
    executed = _execute(notebook, parameters, folder, book)
    write_run_report(folder, notebook.name, stopwatch, parameters)
    write_json(folder / PARAMETERS_FILE, dict(parameters))
    check_run(notebook, executed, folder)
    _write(_reproducible(executed, parameters), folder / f"{notebook.name}.ipynb")
    return Run(notebook.name, folder)


def _execute(notebook: Notebook, parameters: Mapping[str, Value], folder: Path, book: Book) -> Any:
    """Return the executed content; nothing is written, so no partial notebook can be left."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import execute_notebook
    from papermill.exceptions import PapermillExecutionError

    _build_font_cache()
    with TemporaryDirectory() as scratch:
        try:
            return execute_notebook(
                load(notebook.path),
                None,
                dict(parameters),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                kernel_manager_class=kernel_manager_class(folder, Path(scratch)),
                resources={"metadata": {"path": str(book.root)}},
            )
        except PapermillExecutionError as error:
            # A value that was chosen for this run, and that the library refuses: no fault of ours.
            if error.ename == InvalidInput.__name__ and notebook.deviates(parameters):
                raise InvalidInput(f"{notebook.name}: {error.evalue}") from None
            raise _failed(notebook.name, error) from None
        except (DeadKernelError, CellTimeoutError, RuntimeError) as error:
            reason = str(error).partition("\n")[0]
            last_words = (Path(scratch) / LOG_FILE).read_text("utf-8", errors="replace")
            message = f"{notebook.name}: the kernel did not finish: {reason}"
            raise CompanionError(message, last_words) from error
        finally:
            _close_event_loop()


def _build_font_cache() -> None:
    """Let matplotlib list the fonts now: in a notebook, it would say so on stderr."""
    import matplotlib.font_manager as _  # noqa: F401


def _close_event_loop() -> None:
    """Close the loop that papermill's client opened for this thread, and does not close itself."""
    from jupyter_core.utils import ensure_event_loop

    loop = ensure_event_loop()
    if not loop.is_running():
        loop.close()


def _failed(name: str, error: Any) -> CompanionError:
    reason = " ".join(f"{error.ename}: {error.evalue}".split())[:300]
    traceback = _COLOURS.sub("", "\n".join(error.traceback))
    return CompanionError(f"{name}: cell [{error.exec_count}] failed: {reason}", traceback)


def _reproducible(content: Any, parameters: Mapping[str, Value]) -> Any:
    """Drop what differs from run to run, and nothing else; ``book/rerun.md`` lists it for readers.

    That is papermill's and the kernel's time stamps, the paths of this machine in papermill's
    metadata, the state of widgets, and the random identifier of the cell that papermill adds.
    """
    content.metadata["papermill"] = {"parameters": dict(parameters)}
    content.metadata.pop("widgets", None)
    for cell in content.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if _INJECTED in cell.metadata.get("tags", []):
            cell["id"] = _INJECTED
    return content


def _write(content: Any, path: Path) -> None:
    import nbformat

    nbformat.write(content, path)
