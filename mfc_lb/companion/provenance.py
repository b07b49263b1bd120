"""What ran, when, on what, how long, from which commit and with which lock, for the book's pages.

All of it comes from what is stored: manifests of results, cards of policies and of recorded runs,
the commit, the lock, and the runs of this build, without the times of these.
"""

import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import mfc_lb
from mfc_lb.companion.execution import PARAMETERS_FILE, Run
from mfc_lb.companion.expected import KINDS, read_expected
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import read_notebook
from mfc_lb.companion.records import read_figures
from mfc_lb.files import sha256

#: Folders below the front page, with what the tables link to.
RESULTS_FOLDER, POLICIES_FOLDER, RECORDINGS_FOLDER = "results", "policies", "recordings"

UNKNOWN = "unknown"

_LOCK = "requirements.lock"
_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>\S+)$", re.MULTILINE)


def publish_provenance(book: Book, runs: Iterable[Run], folder: Path) -> dict[str, Any]:
    """Copy what readers can download, and return what the pages tell of it.

    Parameters
    ----------
    book : Book
        The book.
    runs : iterable of Run
        The finished runs of its notebooks.
    folder : Path
        What becomes the top of the finished pages.

    Returns
    -------
    dict
        ``build``, ``results``, ``policies``, ``recordings`` and ``notebooks``; what is not known is
        "unknown" or None, and what the book does not have is not there. Two builds of one commit
        with the same packages give the same.
    """
    data = book.root / "data"
    return {
        "build": build_facts(book),
        "results": list(_results(data / "results", folder / RESULTS_FOLDER)),
        "policies": list(_policies(data / "policies", folder / POLICIES_FOLDER)),
        "recordings": list(_recordings(data / "live_cluster", folder / RECORDINGS_FOLDER)),
        "notebooks": [_notebook(book, run) for run in runs],
    }


def build_facts(book: Book) -> dict[str, Any]:
    """Return commit, lock, Python and packages of a build.

    Returns
    -------
    dict
        ``version``, ``commit``, ``commit_date``, ``lock_sha256``, ``python``, ``packages`` (how
        many of the lock's are installed as pinned, how many there are, and those that differ).
    """
    from mfc_lb.results.circumstances import commit, commit_date

    lock = book.root / _LOCK
    content = lock.read_bytes() if lock.is_file() else b""
    return {
        "version": mfc_lb.__version__,
        "commit": commit(book.root),
        "commit_date": commit_date(book.root),
        "lock_sha256": sha256(content) if content else UNKNOWN,
        "python": platform.python_version(),
        "packages": _packages(content.decode()),
    }


def _packages(lock: str) -> dict[str, Any]:
    pinned = {pin["name"]: pin["version"] for pin in _PIN.finditer(lock)}
    found = {name: _installed(name) for name in pinned}
    # A local label, such as that of a build for one kind of processor, is no part of the pin.
    others = {
        name: {"pinned": pinned[name], "installed": found[name]}
        for name in pinned
        if (found[name] or "").partition("+")[0] != pinned[name]
    }
    return {"pinned": len(pinned), "as_pinned": len(pinned) - len(others), "others": others}


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _results(stored: Path, target: Path) -> Iterator[dict[str, Any]]:
    """Yield what is known of each stored result of the paper's size.

    Those of the quick size are computed again for each build.
    """
    from mfc_lb.experiments import EXPERIMENTS, find
    from mfc_lb.results.storage import State, StoredResult, read_json

    for experiment in map(find, EXPERIMENTS) if stored.is_dir() else ():
        result = StoredResult(stored, experiment, "paper")
        about = {"name": experiment.name, "question": experiment.question, "size": "paper"}
        about["state"] = str(result.state)
        if result.state not in (State.MISSING, State.DAMAGED):
            manifest = read_json(result.manifest)
            kept = ("seed", "rows", "wall_time_seconds", "sha256")
            about |= {field: manifest[field] for field in kept}
            about["computed"] = manifest.get("computed")
            about["address"] = _copied(result.table, target)
            about["manifest"] = _copied(result.manifest, target)
        yield about


def _policies(stored: Path, target: Path) -> Iterator[dict[str, Any]]:
    from mfc_lb.results.storage import read_json

    cards = {path: read_json(path) for path in stored.glob("*.json")}
    for path in sorted(cards, key=lambda path: cards[path]["parameters"]["delta_t"]):
        card = cards[path]
        results = card["results"]
        yield {
            "name": path.stem,
            "delta_t": card["parameters"]["delta_t"],
            "kind": card["kind"],
            "method": card["training"]["method"],
            "seed": card["training"]["seed"],
            "chosen": results["chosen"],
            "drops": results["candidates"][results["chosen"]],
            "seconds": results["seconds"],
            "computed": card.get("computed"),
            "version": card["version"],
            "sha256": card["sha256"],
            "address": _copied(path.with_suffix(".safetensors"), target),
            "card": _copied(path, target),
        }


def _recordings(stored: Path, target: Path) -> Iterator[dict[str, Any]]:
    from mfc_lb.results.storage import read_json

    for path in sorted(stored.glob("*.json")):
        card = read_json(path)
        kept = ("command", "setting", "jobs", "events", "computed", "sha256")
        about = {"name": path.stem, **{field: card.get(field) for field in kept}}
        yield about | {
            "address": _copied(path.with_suffix(".log"), target),
            "card": _copied(path, target),
        }


def _copied(path: Path, target: Path) -> str:
    """Copy a file to where readers can download it; return its address."""
    target.mkdir(exist_ok=True)
    shutil.copyfile(path, target / path.name)
    return f"{target.name}/{path.name}"


def _notebook(book: Book, run: Run) -> dict[str, Any]:
    from mfc_lb.results.storage import read_json

    notebook = read_notebook(book.sources / run.path.name)
    given = read_json(run.folder / PARAMETERS_FILE)
    parameters = {parameter.name: parameter.default for parameter in notebook.parameters} | given
    size = notebook.size(given)
    shown = (about.get("result") for about in read_figures(run.folder).values())
    return {
        "name": run.name,
        "title": notebook.title,
        "size": size,
        "parameters": {name: value for name, value in parameters.items() if name != "size"},
        "figures": len(run.figures),
        "results": sorted({result for result in shown if result}),
        "values": _kinds(read_expected(run.name, book).get(size, {})),
    }


def _kinds(expected: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many values are checked, by the kind of difference that is allowed."""
    kinds = [entry["kind"] for entry in expected.values()]
    return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}
