"""Finished runs, kept under the fingerprint of everything that they depend on."""

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import distributions
from pathlib import Path

from mfc_lb.companion.execution import Run, execute
from mfc_lb.companion.expected import check_values
from mfc_lb.companion.folders import swap
from mfc_lb.companion.location import LIBRARY, Book
from mfc_lb.companion.notebooks import Notebook
from mfc_lb.companion.parameters import Value

KEY_FILE = "fingerprint"
RESULTS_VARIABLE = "MFC_LB_RESULTS"


@dataclass(frozen=True)
class Job:
    """A run of a notebook, which may have been kept.

    Parameters
    ----------
    notebook : Notebook
        What to run.
    parameters : mapping from str to Value
        Converted parameters.
    book : Book
        The book that it belongs to.
    cache : Path
        Folder of kept runs, one for each notebook and set of parameters.
    others : Path, optional
        Another one, whose runs are used but which nothing is added to.
    """

    notebook: Notebook
    parameters: Mapping[str, Value]
    book: Book
    cache: Path
    others: Path | None = None

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.cache / self._name

    @property
    def _name(self) -> str:
        given = _digest([json.dumps(dict(self.parameters), sort_keys=True).encode()])
        return f"{self.notebook.name}-{given[:12]}"

    @cached_property
    def key(self) -> str:
        """The fingerprint of what the run depends on, as of the first look."""
        return fingerprint(self.notebook, self.parameters, self.book)

    def kept(self) -> Run | None:
        """Return the kept run if nothing that it depends on has changed.

        Its values are compared again, since what is expected of them may have changed.
        """
        key = self.key  # the first look, even if nothing is kept
        for cache in filter(None, (self.cache, self.others)):
            folder = cache / self._name
            kept = folder / KEY_FILE
            if kept.is_file() and kept.read_text("utf-8") == key:
                check_values(self.notebook, self.parameters, folder, self.book)
                return Run(self.notebook.name, folder)
        return None

    def run(self, scratch: Path) -> Run:
        """Run the notebook in a folder beside the cache, and keep the run unless it fails."""
        key = self.key  # before the run, whatever changes meanwhile
        fresh = scratch / self.folder.name
        fresh.mkdir()
        execute(self.notebook, self.parameters, fresh, self.book)
        check_values(self.notebook, self.parameters, fresh, self.book)
        (fresh / KEY_FILE).write_text(key, "utf-8")
        self.cache.mkdir(exist_ok=True)
        swap(fresh, self.folder)
        return Run(self.notebook.name, self.folder)


def fingerprint(notebook: Notebook, parameters: Mapping[str, Value], book: Book) -> str:
    """Return a digest of all that a run depends on.

    That is the notebook, its parameters, the library's files, the stored data, the lock file, the
    Python version and the version of every installed package.
    """
    results = os.environ.get(RESULTS_VARIABLE)
    folders = [LIBRARY, book.root / "data", *([Path(results)] if results else [])]
    parts = [
        json.dumps(dict(parameters), sort_keys=True),
        f"{platform.python_implementation()} {platform.python_version()} {platform.machine()}",
        *sorted(f"{dist.name} {dist.version}" for dist in distributions()),
    ]
    files = [notebook.path, book.root / "requirements.lock"]
    contents = [path.read_bytes() if path.is_file() else b"" for path in files]
    for folder in folders:
        contents += _names_and_contents(folder)
    return _digest([*(part.encode() for part in parts), *contents])


def _names_and_contents(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix().encode()
            yield path.read_bytes()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        # The length keeps ("ab", "c") apart from ("a", "bc").
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.hexdigest()
