"""What a run must have left: every cell's result, every figure, every value."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import Notebook
from mfc_lb.companion.parameters import Value
from mfc_lb.companion.records import FIGURE_FORMATS, FIGURES_FOLDER, read_values

LABEL_PREFIX = "fig-"


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
    cells = [cell for cell in content.cells if _figure_metadata(cell) is not None]
    faults = [fault for cell in cells for fault in _label_faults(cell)]
    identifiers = [_identifier(cell) for cell in cells]
    faults += [f"the figure {name!r} is labelled twice" for name in _repeated(identifiers)]
    report(notebook.name, faults)
    return tuple(identifiers)


def check_values(
    notebook: Notebook, parameters: Mapping[str, Value], folder: Path, book: Book
) -> None:
    """Compare recorded values with ``book/expected/<notebook>.json``.

    The names must be the expected ones in every run; the numbers, in a run with the default
    parameters.

    Raises
    ------
    CompanionError
        With one line for each value that is missing, not expected, or off.
    """
    recorded = {name: entry["value"] for name, entry in read_values(folder).items()}
    size = notebook.size(parameters)
    expected = read_expected(notebook.name, book).get(size, {})
    file = f"book/expected/{notebook.name}.json"
    faults = [f"the value {name!r} was not recorded" for name in expected.keys() - recorded.keys()]
    faults += [
        f"the value {name!r} = {recorded[name]!r} has no entry in {file} for size {size!r}"
        for name in recorded.keys() - expected.keys()
    ]
    if not notebook.deviates(parameters):
        common = sorted(expected.keys() & recorded.keys())
        faults += [
            f"the value {name!r} is {recorded[name]!r}, expected {_shown(expected[name])}"
            for name in common
            if not _agrees(recorded[name], expected[name])
        ]
    report(notebook.name, sorted(faults))


def read_expected(name: str, book: Book) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the expected values of a notebook: ``{size: {value's name: entry}}``.

    Raises
    ------
    CompanionError
        If the file is not of the form ``{"quick": {"drops": {"value": 1.0, "tolerance": 0.1,
        "why": "…"}}, "paper": {…}}``; words and integers without a tolerance must be equal.
    """
    path = book.expected / f"{name}.json"
    if not path.exists():
        return {}
    try:
        expected: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CompanionError(f"{name}: {path.name} is not JSON: {error}") from None
    if not (_is_object(expected) and all(_is_object(part) for part in expected.values())):
        raise CompanionError(f"{name}: {path.name} must hold {{size: {{value's name: entry}}}}")
    entries = {
        f"{size}/{value}": entry
        for size, values in expected.items()
        for value, entry in values.items()
    }
    malformed = [where for where, entry in entries.items() if not _formed(entry)]
    report(name, [f"{where} in {path.name} {_FORM}" for where in malformed])
    return expected


def report(name: str, faults: Iterable[str]) -> None:
    """Raise one error that names all faults of a notebook, if it has any."""
    lines = [f"{name}: {fault}" for fault in faults]
    if lines:
        raise CompanionError("\n".join(lines))


_FORM = "must have a 'value', a 'tolerance' >= 0 if that is a float, and a 'why'"


def _is_object(content: object) -> bool:
    return isinstance(content, dict)


def _formed(entry: Any) -> bool:
    if not _is_object(entry):
        return False
    value, tolerance = entry.get("value"), entry.get("tolerance", 0)
    measured = isinstance(value, float)
    known = isinstance(value, (int, float, str)) and isinstance(tolerance, (int, float))
    explained = bool(str(entry.get("why", "")).strip())
    return known and explained and tolerance >= 0 and (not measured or "tolerance" in entry)


def _agrees(recorded: float | str, entry: Mapping[str, Any]) -> bool:
    value = entry["value"]
    if isinstance(value, str) or isinstance(recorded, str):
        return bool(recorded == value)
    return bool(abs(recorded - value) <= entry.get("tolerance", 0))


def _shown(entry: Mapping[str, Any]) -> str:
    tolerance = f" ± {entry['tolerance']!r}" if "tolerance" in entry else ""
    return f"{entry['value']!r}{tolerance}"


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
    if _figure_metadata(cell) is None:
        if images:
            yield f"{where} shows a figure, but its metadata gives no label and caption"
    elif images != 1:
        yield f"{where} is to show the figure {_identifier(cell)!r}, but shows {images} images"
    elif not _published(_identifier(cell), folder):
        yield f"{where} shows a figure, but does not publish {_identifier(cell)!r}"


def _unlabelled(codes: Iterable[Any], folder: Path) -> list[str]:
    """Return faults for figures that were published outside a cell with their label."""
    labelled = {_identifier(cell) for cell in codes if _figure_metadata(cell) is not None}
    published = {path.stem for path in (folder / FIGURES_FOLDER).glob("*")}
    return [
        f"the figure {name!r} was published, but no cell is labelled {LABEL_PREFIX + name!r}"
        for name in sorted(published - labelled)
    ]


def _published(identifier: str, folder: Path) -> bool:
    stem = folder / FIGURES_FOLDER / identifier
    return all(stem.with_suffix(f".{suffix}").is_file() for suffix in FIGURE_FORMATS)


def _figure_metadata(cell: Any) -> dict[str, Any] | None:
    figure: dict[str, Any] | None = cell.metadata.get("mystnb", {}).get("figure")
    return figure


def _identifier(cell: Any) -> str:
    return str((_figure_metadata(cell) or {}).get("name", "")).removeprefix(LABEL_PREFIX)


def _label_faults(cell: Any) -> Iterator[str]:
    figure, image = _figure_metadata(cell) or {}, cell.metadata["mystnb"].get("image", {})
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
