"""What a notebook hands to the book: values for the prose, and figures that can be cited.

Both functions work in any kernel. Only under the companion, which names a folder in the
environment variable ``MFC_LB_RUN_DIR``, do they also leave files.
"""

import json
import math
import os
import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

RUN_FOLDER_VARIABLE = "MFC_LB_RUN_DIR"
VALUES_FILE = "values.json"
FIGURES_FOLDER = "figures"

#: What is written of each figure; a page links to all of them.
FIGURE_FORMATS = ("png", "svg", "pdf", "csv")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")

# Nothing that changes from run to run goes into a figure's file.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def record_value(name: str, value: float | str, text: str | None = None) -> None:
    """Keep a number (or a word) of this run for the prose, where {value} shows it.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores; used once in a notebook.
    value : float, int or str
        The plain value; NumPy scalars are converted.
    text : str, optional
        How the prose shows it, such as ``"28.4 ± 0.1"``; by default four significant digits.

    Raises
    ------
    InvalidInput
        If the value is not finite or of another type, or the name is not allowed or taken.

    Examples
    --------
    >>> record_value("loss_high_load", 0.11342029)
    """
    require(bool(_NAME.fullmatch(name)), "name of a value", name, "like 'drops_at_delta_5'")
    require(text is None or bool(text.strip()), f"text of {name}", text, "not empty")
    plain = _plain(name, value)
    folder = run_folder()
    if folder is None:
        return
    values = read_values(folder)
    if name in values:
        raise InvalidInput(f"the value {name!r} is recorded twice in this notebook")
    values[name] = {"value": plain, "text": text or default_text(plain)}
    write_json(folder / VALUES_FILE, values)


def publish_figure(figure: "Figure", identifier: str, data: "DataFrame") -> None:
    """Display a figure, and leave it with its data for readers to cite and download.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure; it is shown on opaque white, so that it can be read in dark mode, too.
    identifier : str
        Lower-case letters, digits and hyphens, used once in the book. The cell that calls this
        is labelled ``fig-<identifier>``; the files are ``figures/<identifier>.{png,svg,pdf,csv}``.
    data : DataFrame
        What the figure shows, as a tidy table.

    Raises
    ------
    InvalidInput
        If the identifier is not allowed or taken, or the table is empty.
    """
    require(bool(_IDENTIFIER.fullmatch(identifier)), "identifier", identifier, "like 'drop-rates'")
    require(len(data) > 0, f"data of figure {identifier!r}", data.shape, "a table with rows")
    image = _rendered(figure, "png")
    folder = run_folder()
    if folder is not None:
        files = {"png": image, "svg": _rendered(figure, "svg"), "pdf": _rendered(figure, "pdf")}
        _save(folder / FIGURES_FOLDER / identifier, files | {"csv": _table(data)})
    _display(figure, image)


def run_folder() -> Path | None:
    """Return the folder that the companion gave to this run, if it runs under the companion."""
    named = os.environ.get(RUN_FOLDER_VARIABLE)
    if not named:
        return None
    require(Path(named).is_dir(), RUN_FOLDER_VARIABLE, named, "an existing folder")
    return Path(named)


def read_values(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the values recorded in a run's folder: ``{name: {"value": …, "text": …}}``."""
    path = folder / VALUES_FILE
    values: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return values


def write_json(path: Path, content: object) -> None:
    """Write a JSON file with sorted keys and without NaN; it appears whole or not at all."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_whole(path, (text + "\n").encode())


def default_text(value: float | str) -> str:
    """Return how prose shows a value for which nothing else was said."""
    return format(value, ".4g") if isinstance(value, float) else str(value)


def _plain(name: str, value: object) -> float | str:
    # A NumPy scalar or a 0-d array knows its plain Python value.
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    allowed = isinstance(plain, (int, float, str)) and not isinstance(plain, bool)
    finite = not isinstance(plain, float) or math.isfinite(plain)
    require(allowed and finite, name, value, "a finite float, an int or a str")
    assert isinstance(plain, (int, float, str))
    return plain


def _rendered(figure: "Figure", suffix: str) -> bytes:
    import matplotlib as mpl

    file = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "mfc_lb", "svg.fonttype": "path", "pdf.fonttype": 42}):
        figure.savefig(file, format=suffix, dpi=200, facecolor="white", metadata=_METADATA[suffix])
    return file.getvalue()


def _table(data: "DataFrame") -> bytes:
    named = any(name is not None for name in data.index.names)
    tidy = data.reset_index() if named else data
    return str(tidy.to_csv(index=False, lineterminator="\n")).encode()


def _save(stem: Path, files: dict[str, bytes]) -> None:
    if stem.with_suffix(".csv").exists():
        raise InvalidInput(f"the figure {stem.name!r} is published twice in this notebook")
    stem.parent.mkdir(exist_ok=True)
    for suffix, content in files.items():
        stem.with_suffix(f".{suffix}").write_bytes(content)


def _display(figure: "Figure", image: bytes) -> None:
    """Show a figure as one PNG, whatever backend is active, and only once."""
    from IPython.display import Image, display
    from matplotlib import pyplot as plt

    display(Image(data=image))
    plt.close(figure)
