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
        If the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
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
