"""The book's notebooks: which there are, and what each declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfc_lb.companion.declarations import read_parameters, read_title
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.location import Book, find_book
from mfc_lb.companion.parameters import (
    ANY_TEXT,
    Parameter,
    Value,
    convert_parameters,
    did_you_mean,
)
from mfc_lb.errors import InvalidInput


@dataclass(frozen=True)
class Notebook:
    """One notebook of the book, as its author left it.

    Parameters
    ----------
    name : str
        File name without ``.ipynb``.
    path : Path
        Where it is.
    title : str
        Its first heading.
    parameters : tuple of Parameter
        What a reader may change.
    """

    name: str
    path: Path
    title: str
    parameters: tuple[Parameter, ...]

    def convert(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Check and convert values for its parameters (see `convert_parameters`).

        A text that may be anything and names a file of the working directory becomes the file's
        whole path, since the notebook runs in the repository's top folder.
        """
        free = {parameter.name for parameter in self.parameters if parameter.allowed == ANY_TEXT}
        converted = convert_parameters(self.parameters, given, self.name)
        return {
            name: self._from_here(value) if name in free else value
            for name, value in converted.items()
        }

    def _from_here(self, text: Value) -> Value:
        path, top = Path(str(text)), self.path.parents[1]
        is_here = path.suffix and path.is_file() and Path.cwd() != top
        return str(path.absolute()) if is_here else text

    def deviates(self, parameters: Mapping[str, Value]) -> bool:
        """Say whether these parameters, apart from the size, differ from the defaults."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return any(name != "size" and defaults[name] != parameters[name] for name in parameters)

    def size(self, parameters: Mapping[str, Value]) -> str:
        """Return the size that a run with these parameters shows."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return str(parameters.get("size", defaults.get("size", "quick")))


def list_notebooks(book: Book | None = None) -> list[Notebook]:
    """Return all notebooks of the book, sorted by name.

    Parameters
    ----------
    book : Book, optional
        The book; by default the one of this checkout.

    Raises
    ------
    InvalidInput
        If there is no book.
    CompanionError
        If a notebook cannot be read or has no proper parameters cell.
    """
    folder = (book or find_book()).sources
    return [read_notebook(path) for path in sorted(folder.glob("*.ipynb"))]


def find_notebook(name: str, book: Book | None = None) -> Notebook:
    """Return the notebook of this name.

    Raises
    ------
    InvalidInput
        If there is none; the message names the nearest ones.
    CompanionError
        If it cannot be read or has no proper parameters cell.
    """
    folder = (book or find_book()).sources
    paths = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    if name not in paths:
        raise InvalidInput(f"there is no notebook {name!r}{did_you_mean(name, paths)}")
    return read_notebook(paths[name])


def read_notebook(path: Path) -> Notebook:
    """Return what the notebook in this file declares."""
    content = load(path)
    kernel = content.metadata.get("kernelspec", {})
    if (kernel.get("name"), kernel.get("language")) != ("python3", "python"):
        found = f"{kernel.get('name')!r} ({kernel.get('language')!r})"
        raise CompanionError(f"{path.stem}: its kernel must be 'python3' ('python'), not {found}")
    title = read_title(_prose(content))
    if title is None:
        raise CompanionError(f"{path.stem}: no heading '# …' gives its title")
    return Notebook(path.stem, path, title, read_parameters(content, path.stem))


def read_prose(page: Path) -> str:
    """Return the Markdown of a page, or of all Markdown cells of a notebook."""
    return _prose(load(page)) if page.suffix == ".ipynb" else page.read_text("utf-8")


def load(path: Path) -> Any:
    """Return a notebook's content, or say in one line why it cannot be read."""
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise CompanionError(f"{path.stem}: not a readable notebook: {reason}") from None


def _prose(content: Any) -> str:
    return "\n\n".join(cell.source for cell in content.cells if cell.cell_type == "markdown")
