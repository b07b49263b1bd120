"""Where the book's files are."""

from dataclasses import dataclass
from pathlib import Path

import mfc_lb
from mfc_lb.companion.repository import Repository
from mfc_lb.errors import InvalidInput
from mfc_lb.files import user_cache

LIBRARY = Path(mfc_lb.__file__).resolve().parent


@dataclass(frozen=True)
class Book:
    """A folder laid out as this repository is: ``_config.yml``, ``_toc.yml``, ``book/``, ``data/``.

    Parameters
    ----------
    root : Path
        The repository's top folder; the notebooks' working directory.
    repository : Repository, optional
        Where readers can have it; without it, no page links there.
    """

    root: Path
    repository: Repository | None = None

    @property
    def sources(self) -> Path:
        """Folder of notebooks and pages."""
        return self.root / "book"

    @property
    def expected(self) -> Path:
        """Folder of the values that each notebook has to reproduce."""
        return self.sources / "expected"

    @property
    def config(self) -> Path:
        """Jupyter Book's settings."""
        return self.root / "_config.yml"

    @property
    def toc(self) -> Path:
        """The table of contents."""
        return self.root / "_toc.yml"

    @property
    def build(self) -> Path:
        """Folder for everything that can be made again."""
        return self.root / "_build"

    @property
    def runs(self) -> Path:
        """Folder of finished runs."""
        return self.build / "runs"

    def runs_for(self, output: Path) -> Path:
        """Return where runs for an output are kept: the user's cache if that is elsewhere.

        What is written elsewhere leaves the repository as it is, which may be read-only.
        """
        inside = output.absolute().is_relative_to(self.root.absolute())
        return self.runs if inside else user_cache() / "runs"


def find_book(start: Path | None = None) -> Book:
    """Return the book of the checkout that holds this library, or else one around `start`.

    Parameters
    ----------
    start : Path, optional
        Where to look upwards from if the library was installed without its checkout; by default
        the working directory.

    Raises
    ------
    InvalidInput
        If there is no book in either place.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (LIBRARY.parent, here, *here.parents):
        if (folder / "_toc.yml").is_file() and (folder / "book").is_dir():
            return Book(folder)
    raise InvalidInput(
        f"no book found: the library is not in a checkout of the repository, and neither {here} "
        "nor a folder above it has _toc.yml and book/"
    )
