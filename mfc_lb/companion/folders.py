"""Folders that appear whole or not at all."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mfc_lb.errors import InvalidInput

#: Marks a folder that may be replaced, since we made it.
MARKER = ".made_by_mfc_lb"


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """Give an empty folder that takes the place of `output` if, and only if, the block succeeds.

    Parameters
    ----------
    output : Path
        A folder that does not exist, or is empty, or was made here before.

    Yields
    ------
    Path
        The empty folder to fill, on the same file system.

    Raises
    ------
    InvalidInput
        If `output` holds anything else or cannot be made.
    """
    output = output.absolute()
    _require_replaceable(output)
    with beside(output) as scratch:
        fresh = scratch / output.name
        fresh.mkdir()
        yield fresh
        (fresh / MARKER).write_text("mfc_lb replaces this folder as a whole.\n", "utf-8")
        swap(fresh, output)


def swap(fresh: Path, output: Path) -> None:
    """Put a finished folder in the place of `output`, from the same file system."""
    old = fresh.with_name(f"{fresh.name}.old")
    if output.exists():
        output.rename(old)
    fresh.rename(output)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def beside(output: Path) -> Iterator[Path]:
    """Give a temporary folder from which a rename to `output` is possible.

    Raises
    ------
    InvalidInput
        If nothing can be written there.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        temporary = TemporaryDirectory(prefix=f".{output.name}-", dir=output.parent)
    except OSError as error:
        raise InvalidInput(f"output cannot be written: {error}") from None
    with temporary as name:
        yield Path(name)


def copy_contents(
    source: Path, target: Path, left_out: Callable[[str], bool] = lambda _: False
) -> None:
    """Copy a folder's content without its modes: a read-only one has to be built upon, too.

    Parameters
    ----------
    source, target : Path
        Folders; the target may be there already.
    left_out : callable
        Says of the name of a file or folder, at any depth, whether it is left out.
    """
    target.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.is_dir() and not left_out(path.name):
            copy_contents(path, target / path.name, left_out)
        elif not left_out(path.name):
            shutil.copyfile(path, target / path.name)


def _require_replaceable(output: Path) -> None:
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise InvalidInput(f"output must be a folder, got {str(output)!r}")
    if output.is_dir() and not (output / MARKER).is_file() and any(output.iterdir()):
        raise InvalidInput(
            f"output must be a new or empty folder, or one that mfc-lb made, got {str(output)!r}"
        )
