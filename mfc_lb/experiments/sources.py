"""Digests of what an experiment's numbers depend on: code, without its words, and policies."""

import ast
import inspect
import io
import tokenize
from pathlib import Path
from typing import Any

from mfc_lb.experiments.experiment import Experiment
from mfc_lb.experiments.folders import LIBRARY
from mfc_lb.files import sha256

#: What numbers depend on, besides the experiment's own module and the sources that it names.
_SHARED_SOURCES = ("model", "systems", "experiments/experiment.py", "experiments/cases.py")


def code_digest(experiment: Experiment[Any]) -> str:
    """Return the digest of the sources that an experiment's numbers depend on."""
    files = [Path(inspect.getfile(experiment.cells))]
    for source in (*_SHARED_SOURCES, *experiment.sources):
        path = LIBRARY / source
        files += sorted(path.glob("*.py")) if path.is_dir() else [path]
    lines = (f"{path.name} {sha256(_source(path))}" for path in files)
    return sha256("\n".join(lines).encode())


def library_digest() -> str:
    """Return the digest of all sources on which any result depends."""
    folders = ("model", "systems", "learning", "cluster", "experiments")
    files = (path for folder in folders for path in sorted((LIBRARY / folder).rglob("*.py")))
    lines = (f"{path.relative_to(LIBRARY).as_posix()} {sha256(_source(path))}" for path in files)
    return sha256("\n".join(lines).encode())


def _source(path: Path) -> bytes:
    return without_words(path.read_text("utf-8")).encode()


def without_words(source: str) -> str:
    r"""Return Python source without comments, docstrings, trailing blanks and empty lines.

    Words do not change numbers, so stored results stay current when only words change.

    Examples
    --------
    >>> print(without_words("def f(x):  # why\n    'What.'\n\n    return x"))
    def f(x):
        return x
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for first, last in _docstrings(ast.parse(source)):
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _docstrings(tree: ast.Module) -> list[tuple[int, int]]:
    """Return the first and last line of every docstring."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    owners = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    firsts = [owner.body[0] for owner in owners if ast.get_docstring(owner, clean=False)]
    return [(first.lineno, first.end_lineno or first.lineno) for first in firsts]
