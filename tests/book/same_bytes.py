"""Two folders compared file by file and byte by byte."""

from collections.abc import Collection
from pathlib import Path

# Shown of each file around the first byte that differs.
BEFORE, BEHIND = 40, 60


def first_difference(first: Path, second: Path, except_for: Collection[str] = ()) -> str | None:
    """Return where two folders differ first, or None if they hold the same files.

    Files of the names in `except_for` are left out, wherever they are.
    """
    names = _files(first, except_for), _files(second, except_for)
    for name in sorted(names[0] ^ names[1]):
        return f"{name} is only in {first if name in names[0] else second}"
    differing = [
        name
        for name in sorted(names[0])
        if (first / name).read_bytes() != (second / name).read_bytes()
    ]
    if not differing:
        return None
    here = _where((first / differing[0]).read_bytes(), (second / differing[0]).read_bytes())
    return f"{len(differing)} of {len(names[0])} files differ, the first is {differing[0]}: {here}"


def _files(folder: Path, except_for: Collection[str]) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in except_for)
    return {path.relative_to(folder).as_posix() for path in found}


def _where(first: bytes, second: bytes) -> str:
    common = min(len(first), len(second))
    place = next((at for at in range(common) if first[at] != second[at]), common)
    parts = (content[max(0, place - BEFORE) : place + BEHIND] for content in (first, second))
    line = first.count(b"\n", 0, place) + 1
    return f"byte {place} (line {line}): {' became '.join(map(repr, parts))}"
