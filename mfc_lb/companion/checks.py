"""What a run must have left: every cell's result and every figure; see `expected` for values."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.figure_files import FIGURE_FORMATS
from mfc_lb.companion.labels import LABEL_PREFIX, figure_metadata, identifier_of
from mfc_lb.companion.notebooks import Notebook
from mfc_lb.companion.records import FIGURES_FOLDER


def check_run(notebook: Notebook, executed: Any, folder: Path) -> None:
    """Check that every cell ran, in silence on stderr, and that every figure is there.

    Raises
    ------
    CompanionError
        With one line for each fault.
    """
    codes = [cell for cell in executed.cells if cell.cell_type == "code" and cell.source.strip()]
    faults = [fault for cell in codes for fault in _cell_faults(cell, folder)]
    faults += _unlabelled(codes, folder)
    report(notebook.name, faults)


def check_labels(notebook: Notebook, content: Any) -> tuple[str, ...]:
    """Check the labels, captions and alternative texts of a notebook's figures before it runs.

    Returns
    -------
    tuple of str
        The figures' identifiers.
    """
    cells = [cell for cell in content.cells if figure_metadata(cell) is not None]
    faults = [fault for cell in cells for fault in _label_faults(cell)]
    identifiers = [identifier_of(cell) for cell in cells]
    faults += [f"the figure {name!r} is labelled twice" for name in _repeated(identifiers)]
    report(notebook.name, faults)
    return tuple(identifiers)


def report(name: str, faults: Iterable[str]) -> None:
    """Raise one error that names all faults of a notebook, if it has any."""
    lines = [f"{name}: {fault}" for fault in faults]
    if lines:
        raise CompanionError("\n".join(lines))


def _cell_faults(cell: Any, folder: Path) -> Iterator[str]:
    where = f"cell [{cell.execution_count}]"
    if cell.execution_count is None:
        yield f"the run stopped before the cell `{cell.source.strip().splitlines()[0]}`"
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            yield f"{where} wrote to stderr: {' '.join(output.text.split())[:300]}"
        if any("jupyter.widget" in kind for kind in output.get("data", {})):
            yield f"{where} shows a widget, which a page leaves blank"
    yield from _figure_faults(cell, where, folder)


def _figure_faults(cell: Any, where: str, folder: Path) -> Iterator[str]:
    images = sum("image/png" in output.get("data", {}) for output in cell.outputs)
    if figure_metadata(cell) is None:
        if images:
            yield f"{where} shows a figure, but its metadata gives no label and caption"
    elif images != 1:
        yield f"{where} is to show the figure {identifier_of(cell)!r}, but shows {images} images"
    elif not _published(identifier_of(cell), folder):
        yield f"{where} shows a figure, but does not publish {identifier_of(cell)!r}"


def _unlabelled(codes: Iterable[Any], folder: Path) -> list[str]:
    """Return faults for figures that were published outside a cell with their label."""
    labelled = {identifier_of(cell) for cell in codes if figure_metadata(cell) is not None}
    published = {path.stem for path in (folder / FIGURES_FOLDER).glob("*")}
    return [
        f"the figure {name!r} was published, but no cell is labelled {LABEL_PREFIX + name!r}"
        for name in sorted(published - labelled)
    ]


def _published(identifier: str, folder: Path) -> bool:
    stem = folder / FIGURES_FOLDER / identifier
    return all(stem.with_suffix(f".{suffix}").is_file() for suffix in FIGURE_FORMATS)


def _label_faults(cell: Any) -> Iterator[str]:
    figure, image = figure_metadata(cell) or {}, cell.metadata["mystnb"].get("image", {})
    name = str(figure.get("name", ""))
    where = f"the figure {name!r}"
    if not name.startswith(LABEL_PREFIX) or name == LABEL_PREFIX:
        yield f"{where} must have a name like '{LABEL_PREFIX}drop-rates'"
    if not str(figure.get("caption", "")).strip():
        yield f"{where} has no caption"
    if len(str(image.get("alt", "")).split()) < 3:
        yield f"{where} has no alternative text ('alt') that says what it shows"


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
