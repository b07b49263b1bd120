"""What a notebook hands to the book: values for the prose, measurements, figures to be cited.

All functions work in any kernel. Only under the companion, which names a folder in the
environment variable ``MFC_LB_RUN_DIR``, do they also leave files.
"""

import json
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb.companion.figure_files import render, table
from mfc_lb.companion.value_texts import factors, text_faults
from mfc_lb.errors import InvalidInput, require
from mfc_lb.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

RUN_FOLDER_VARIABLE = "MFC_LB_RUN_DIR"
VALUES_FILE = "values.json"
MEASUREMENTS_FILE = "measurements.json"
FIGURES_FOLDER = "figures"
#: Of each figure of a run, its title and, once it is published, the stored result that it shows.
FIGURES_FILE = "figures.json"

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


def record_value(
    name: str,
    value: float | str,
    text: str | None = None,
    standard_error: float | None = None,
) -> None:
    """Keep a number (or a word) of this run for the prose, where {value} shows it.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores; used once in a notebook.
    value : float, int or str
        The plain value; NumPy scalars are converted.
    text : str, optional
        How the prose shows it, such as ``"28.4 ± 0.1"``; by default four significant digits.
        Its first number is the value, the value times 100 (in percent) or, without a percent
        sign, times 1000 (in thousandths); see `mfc_lb.companion.value_texts`.
    standard_error : float, >= 0, optional
        Of an estimate: another seed would give a value that differs by about this much.

    Raises
    ------
    InvalidInput
        If the value or its standard error is not finite or of another type, the text shows
        another number, or the name is not allowed or taken.

    Examples
    --------
    >>> record_value("loss_high_load", 0.11342029)
    """
    require(bool(_NAME.fullmatch(name)), "name of a value", name, "like 'drops_at_delta_5'")
    require(text is None or bool(text.strip()), f"text of {name}", text, "not empty")
    plain = _plain(name, value)
    entry: dict[str, Any] = {"value": plain, "text": text or default_text(plain)}
    _require_true_text(name, **entry)
    if standard_error is not None:
        entry["standard_error"] = _plain_error(name, standard_error)
    folder = run_folder()
    if folder is None:
        return
    values = read_values(folder)
    if name in values:
        raise InvalidInput(f"the value {name!r} is recorded twice in this notebook")
    write_json(folder / VALUES_FILE, values | {name: entry})


def record_measurement(name: str, value: float, unit: str) -> None:
    """Keep what this run measured of itself, such as a time, for the run report.

    Two runs do not agree on it, so no page shows it: a page made twice would differ.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores; used once in a notebook.
    value : float or int
        What was measured; NumPy scalars are converted.
    unit : str
        Its unit, such as ``"s"``.

    Raises
    ------
    InvalidInput
        If the value is not a finite number, there is no unit, or the name is not allowed or taken.

    Examples
    --------
    >>> record_measurement("training", 12.5, "s")
    """
    require(bool(_NAME.fullmatch(name)), "name of a measurement", name, "like 'training_time'")
    require(bool(unit.strip()), f"unit of {name}", unit, "not empty")
    plain = _plain(name, value)
    require(not isinstance(plain, str), name, value, "a finite float or an int")
    folder = run_folder()
    if folder is None:
        return
    measurements = read_measurements(folder)
    if name in measurements:
        raise InvalidInput(f"the measurement {name!r} is recorded twice in this notebook")
    measurements[name] = {"value": plain, "unit": unit}
    write_json(folder / MEASUREMENTS_FILE, measurements)


def publish_figure(
    figure: "Figure", identifier: str, data: "DataFrame", result: str | None = None
) -> None:
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
    result : str, optional
        The stored result or the recorded live run that the data come from, such as "comparison"
        or "killed"; without it, they were computed in the notebook's own run.

    Raises
    ------
    InvalidInput
        If the identifier is not allowed or taken, the table is empty or there is no such result.
    """
    require(bool(_IDENTIFIER.fullmatch(identifier)), "identifier", identifier, "like 'drop-rates'")
    require(len(data) > 0, f"data of figure {identifier!r}", data.shape, "a table with rows")
    _require_result(result)
    folder = run_folder()
    about = read_figures(folder) if folder else {}
    title = about.setdefault(identifier, {}).setdefault("title", identifier)
    image = render(figure, "png", identifier, title)
    if folder is not None:
        others = {kind: render(figure, kind, identifier, title) for kind in ("svg", "pdf")}
        files = {"png": image, **others, "csv": table(data)}
        _save(folder / FIGURES_FOLDER / identifier, files)
        about[identifier]["result"] = result
        write_json(folder / FIGURES_FILE, about)
    _display(figure, image)


def run_folder() -> Path | None:
    """Return the folder that the companion gave to this run, if it runs under the companion."""
    named = os.environ.get(RUN_FOLDER_VARIABLE)
    if not named:
        return None
    require(Path(named).is_dir(), RUN_FOLDER_VARIABLE, named, "an existing folder")
    return Path(named)


def read_values(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the values recorded in a run's folder: ``{name: {"value": …, "text": …}}``.

    An estimate also has its "standard_error".
    """
    return _read_json(folder / VALUES_FILE)


def read_measurements(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the measurements of a run's folder: ``{name: {"value": …, "unit": …}}``."""
    return _read_json(folder / MEASUREMENTS_FILE)


def read_figures(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a run's folder says of its figures: ``{identifier: {"title": …, "result": …}}``.

    A figure that was not published has no "result"; one without a stored result has None.
    """
    return _read_json(folder / FIGURES_FILE)


def write_json(path: Path, content: object) -> None:
    """Write a JSON file, see `to_json`; it appears whole or not at all."""
    write_whole(path, to_json(content))


def to_json(content: object) -> bytes:
    """Return the content of a JSON file: with sorted keys and without NaN."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def default_text(value: float | str) -> str:
    """Return how prose shows a value for which nothing else was said."""
    return format(value, ".4g") if isinstance(value, float) else str(value)


def _read_json(path: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = (
        json.loads(path.read_text("utf-8")) if path.exists() else {}
    )
    return content


def _require_result(result: str | None) -> None:
    # Imported here since they compute, and need what not every notebook needs.
    if result is not None:
        from mfc_lb.experiments import EXPERIMENTS

        if result not in EXPERIMENTS:
            from mfc_lb.experiments.live_records import RECORDED

            known = ", ".join([*EXPERIMENTS, *RECORDED])
            require(result in RECORDED, "result", result, f"one of {known}")


def _plain(name: str, value: object) -> float | str:
    # A NumPy scalar or a 0-d array knows its plain Python value.
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    allowed = isinstance(plain, (int, float, str)) and not isinstance(plain, bool)
    finite = not isinstance(plain, float) or math.isfinite(plain)
    require(allowed and finite, name, value, "a finite float, an int or a str")
    assert isinstance(plain, (int, float, str))
    return plain


def _plain_error(name: str, error: float) -> float:
    plain = _plain(f"standard error of {name}", error)
    at_least_zero = not isinstance(plain, str) and plain >= 0
    require(at_least_zero, f"standard error of {name}", error, "a number >= 0")
    assert not isinstance(plain, str)
    return plain


def _require_true_text(name: str, value: float | str, text: str) -> None:
    faults = [list(text_faults(value, text, factor)) for factor in factors(text)]
    if all(faults):
        raise InvalidInput(f"{name}: {faults[0][0]}")


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
