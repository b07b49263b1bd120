"""Digests follow what code means: not where it is, what it is called or what is said of it."""

import sys
import types
from pathlib import Path

import pytest

from mfc_lb.experiments import EXPERIMENTS, find
from mfc_lb.experiments.trajectories import EXPERIMENT
from mfc_lb.results import sources
from mfc_lb.results.sources import code_digest, library_digest, roots, used_definitions

STUDY = """
from ours import model
from ours.numbers import STEPS, Walk
def cells(size: Walk) -> int:
    from ours.late import shown as name
    return model.rate(STEPS) + Walk().go(name)
"""
MODEL = """
import numpy as np
def rate(x):
    return np.exp(_half(x))
def _half(x):
    return x[1:] / 2 if x > 1 else rate(2 * late(x))
def late(x):
    return x.late('late') + quick(x) + slow(x)
try:
    from ours.late.fast import quick
except ImportError:
    quick = 3
def slow(x):
    from ours.late.slow import slow
    return slow(x)
def unused(x):
    return x
"""
NUMBERS = """
STEPS = 3
class Walk:
    def go(self, name):
        return f"{name}{LENGTH}{SEEN}{late()}{ZERO}"
ZERO = 0
LENGTH = 7
SEEN = []
SEEN.append(1)
try:
    import fast
except ImportError:
    def late():
        return 5
"""
LATE = "from .deep import shown"
DEEP = "def shown(): return 1"
FAST = "def quick(x): return 2"
SLOW = "def slow(x): return 5"
FILES = {"study": STUDY, "model": MODEL, "numbers": NUMBERS, "late/__init__": "lazy = 1"}
FILES |= {"late/deep": DEEP, "late/fast": FAST, "late/slow": SLOW}


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return the digest of the study's cells in a package of those files."""
    package = tmp_path / "ours"
    monkeypatch.setattr(sources, "LIBRARY", package)
    monkeypatch.setattr(sources, "_PACKAGE", "ours")

    def call(start: str = "cells", **changed: str) -> str:
        for name, text in (FILES | changed).items():
            path = package / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (package / "late" / "__init__.pyi").write_text(LATE, "utf-8")
        (package / "__init__.py").touch()
        code = types.CodeType.replace((lambda: 0).__code__, co_filename=str(package / "study.py"))
        root = types.FunctionType(code, {})
        root.__qualname__ = start
        return sources._Digests().of_root(root)

    return call


def test_words_and_layout_do_not_count(digest):
    wordy = MODEL.replace("(x):", "(x: float) -> float:  # why\n    'What.'\n")
    wordy = '"""M."""\r\n\r\n' + wordy.replace(
        "np.exp(_half(x))", "np.exp(\n        _half(x)\n    )"
    )
    assert digest(model=wordy) == digest()


@pytest.mark.parametrize(
    "change",
    [
        {"model": MODEL.replace("/ 2", "/ 3")},
        {"model": MODEL.replace("np.exp", "np.expm1")},
        {"model": MODEL.replace("numpy", "numba")},
        {"numbers": NUMBERS.replace("STEPS = 3", "STEPS = 4")},
        {"numbers": NUMBERS.replace("STEPS = 3", "STEPS = 3.0")},
        {"numbers": NUMBERS.replace("ZERO = 0", "ZERO = 0.0")},
        {"numbers": NUMBERS.replace("ZERO = 0", "ZERO = None")},
        {"numbers": NUMBERS.replace("LENGTH = 7", "LENGTH = 8")},
        {"numbers": NUMBERS + "LENGTH += 1\n"},
        {"numbers": NUMBERS.replace("append(1)", "append(2)")},
        {"numbers": NUMBERS + "SEEN[0] = 3\n"},
        {"model": MODEL.replace("[1:]", "[:1]")},
        {"model": MODEL.replace("[1:]", "[::1]")},
        {"model": MODEL.replace(".late(", ".soon(")},
        {"model": MODEL.replace("'late'", "'soon'")},
        {"late/fast": FAST.replace("2", "3")},
        {"model": MODEL.replace("quick = 3", "quick = 4")},
        {"late/slow": SLOW.replace("5", "6")},
        {"numbers": NUMBERS.replace("return 5", "return 6")},
        {"late/deep": DEEP.replace("1", "2")},
        {"study": STUDY.replace("+", "-")},
    ],
)
def test_whatever_is_used_counts(digest, change):
    assert digest(**change) != digest()


def test_what_is_not_used_does_not_count(digest):
    changed = {"model": MODEL.replace("return x\n", "return 2 * x\n"), "late/__init__": "lazy = 2"}
    assert digest(**changed) == digest()


def test_code_may_be_moved_and_renamed(digest):
    half = MODEL[MODEL.index("def _half") : MODEL.index("def unused")].replace("_half", "halved")
    new = MODEL.replace(MODEL[MODEL.index("def _half") : MODEL.index("def unused")], "")
    moved = {
        "study": STUDY.replace("import model", "import rates").replace("model.rate", "rates.rate"),
        "rates": "from ours.parts import halved as h\n" + new.replace("_half(", "h("),
        "parts": "from ours.rates import rate\n" + half,
    }
    assert digest(**moved) == digest()
    moved["parts"] = moved["parts"].replace("2 * late", "3 * late")
    assert digest(**moved) != digest()


def test_a_function_without_a_name_stands_for_its_module(digest):
    known = digest("<lambda>")
    assert digest("<lambda>", study=STUDY + "more = 1\n") != known
    assert digest(study=STUDY + "more = 1\n") == digest()


def executed(cell) -> set[tuple[Path, str]]:
    """Return the file and outermost name of all of the library that runs within a cell."""
    found = set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(sources.LIBRARY):
            found.add((path, frame.f_code.co_qualname.split(".")[0]))

    sys.setprofile(note)
    try:
        cell.compute()
    finally:
        sys.setprofile(None)
    imports = sources.LIBRARY / "learning" / "registration.py"  # it watches what is imported
    return {(path, name) for path, name in found if name[0] != "<" and path != imports}


# Between them they use the model, the systems, learning and the cluster.
@pytest.mark.parametrize("name", ["comparison", "certificate", "trace_delay"])
def test_all_that_a_cell_runs_is_in_the_digest(name):
    """Imports say what may be used; this says what is."""
    experiment = find(name)
    cell = experiment.cells(experiment.size("quick"), experiment.seed)[0]
    ran = executed(cell)
    assert len(ran) > 20
    assert sorted(ran - used_definitions(experiment)) == []


def test_the_digest_of_an_experiment_covers_its_sizes_and_rows():
    assert {root.__name__ for root in roots(EXPERIMENT)} == {"_cells", "_rows", "TrajectoriesSize"}
    used = {path.name for path, _ in used_definitions(EXPERIMENT)}
    assert {"parameters.py", "finite.py", "cases.py", "trajectories.py"} <= used
    assert "populations.py" not in used
    assert len({code_digest(find(name)) for name in EXPERIMENTS}) == len(EXPERIMENTS)


def test_the_library_has_one_digest(monkeypatch, tmp_path):
    known = library_digest()
    assert library_digest() == known
    monkeypatch.setattr(sources, "LIBRARY", tmp_path)
    assert library_digest() != known
