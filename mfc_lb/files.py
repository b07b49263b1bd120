"""Files that appear whole or not at all, and their digests."""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Names a folder that takes the place of the user's cache.
CACHE_VARIABLE = "MFC_LB_CACHE"


def as_path(field: str, path: object) -> Path:
    """Return the path of a file, given as text or as a path object, or refuse it."""
    from mfc_lb.errors import require  # which needs NumPy, for which help should not wait

    named = os.fspath(path) if isinstance(path, os.PathLike) else path
    fits = isinstance(named, str) and Path(named).name not in ("", "..")
    # What no file's name can hold: half a character, and the end of a name.
    fits = fits and not set(map(ord, str(named))) & {0, *range(0xD800, 0xDC80)}
    require(fits, field, path, "the path of a file")
    return Path(str(named))


def user_cache() -> Path:
    """Return the user's folder for what can be made again, one for each copy of this library.

    Returns
    -------
    Path
        ``$MFC_LB_CACHE`` if set, else a folder in the user's cache, or, where that cannot be
        written, in the folder for temporary files.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    copy = sha256(str(Path(__file__).resolve().parent).encode())[:12]
    with suppress(OSError, RuntimeError):  # not writable, or the user has no home
        usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mfc_lb" / copy
        usual.mkdir(parents=True, exist_ok=True)
        if os.access(usual, os.W_OK):
            return usual
    return Path(tempfile.gettempdir()) / f"mfc_lb-{os.getuid()}" / copy


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it; its folder is made if need be.

    Parameters
    ----------
    path : Path
        Where to; what stood there before stays until the new content is complete.
    content : bytes
        All of it.

    Raises
    ------
    OSError
        If the folder cannot be written, or what was written is not what can be read.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        if temporary.read_bytes() != content:
            raise OSError(f"{path.name} is not what was written")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole_json(path: Path, content: object) -> None:
    """Write a JSON file, see `write_whole`; NumPy scalars and arrays become plain numbers."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    write_whole(path, (text + "\n").encode())


def sha256(content: bytes) -> str:
    """Return the SHA-256 digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _plain(value: Any) -> Any:
    return value.tolist()
