"""Cells for the tests of Dask; its workers import this module."""

import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from mfc_lb.results.experiment import Cell, Experiment

_active: set[int] = set()


@dataclass(frozen=True)
class Size:
    num_cells: int
    num_waiting: int = 0


def root(number: int, folder: str, waits: bool) -> dict[str, Any]:
    """Say that it has begun, wait to be let go, and report on the process that it is in."""
    _active.add(number)
    (Path(folder) / f"{number}-{os.getpid()}").touch()
    while waits and not (Path(folder) / "go").exists():
        time.sleep(0.01)
    time.sleep(0.02)  # for others to come in, if that is possible
    active = len(_active)
    _active.remove(number)
    return {
        "root": float(np.sqrt(number)),
        "process": os.getpid(),
        "active": active,
        "threads": max(pool["num_threads"] for pool in blas()),
        "terminal": sys.stderr.isatty(),
    }


def blas() -> list[dict[str, Any]]:
    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


def die() -> None:
    os._exit(1)


def roots(folder: Path, size: Size, columns: tuple[str, ...] = ("root",)) -> Experiment[Size]:
    """Return an experiment; large numbers are computed first, and the small ones may wait."""
    folder.mkdir(exist_ok=True)
    return Experiment(
        name="roots",
        question="What are roots?",
        seed=7,
        sizes={"quick": size},
        cells=lambda size, _: [
            Cell(f"cell-{number}", partial(root, number, str(folder), number < size.num_waiting))
            for number in range(size.num_cells)
        ],
        rows=lambda _, results: [
            {"key": key, **{column: result[column] for column in columns}}
            for key, result in results.items()
        ],
        columns={"key": "cell", **dict.fromkeys(columns, "what it says")},
    )
