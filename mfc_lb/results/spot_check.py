"""Whether other code still gives a stored result: a random share of its cells, computed again.

A manifest has a digest of what each cell left behind. If code changed that should move no number, a
few cells say whether it did, in minutes instead of hours; the manifest then says which were tried.
"""

import math
from collections.abc import Sequence

import numpy as np

from mfc_lb.errors import check_int, require
from mfc_lb.results.circumstances import circumstances
from mfc_lb.results.runner import compute
from mfc_lb.results.storage import (
    State,
    StoredResult,
    cell_digests,
    inputs,
    read_json,
    write_json,
)

#: Of the cells, this share is computed again, and at least so many.
SHARE, FEWEST = 0.05, 3


def chosen(keys: Sequence[str], seed: int) -> list[str]:
    """Return the keys of a random share of the cells."""
    check_int("seed", seed, 0)
    number = min(len(keys), max(FEWEST, math.ceil(SHARE * len(keys))))
    picked = np.random.default_rng(seed).choice(sorted(keys), number, replace=False)
    return sorted(str(key) for key in picked)


def spot_check(stored: StoredResult, seed: int, processes: int = -1) -> list[str]:
    """Compute a random share of a stored result's cells again and compare them to the byte.

    If all are the same, the manifest says so from now on, and the result is current.

    Parameters
    ----------
    stored : StoredResult
        The result.
    seed : int
        Chooses the cells.
    processes : int, optional
        Number of processes; by default one per core.

    Returns
    -------
    list of str
        The keys of the cells that came out otherwise.

    Raises
    ------
    InvalidInput
        If the result is not stored, damaged or of other parameters, or its manifest has no digest
        of a cell.
    """
    kept = (State.CURRENT, State.OTHER_CODE)
    require(stored.state in kept, stored.name, str(stored.state), "stored and whole")
    manifest, code = read_json(stored.manifest), inputs(stored.experiment, stored.size)["code"]
    cells = {cell.key: cell for cell in stored.cells()}
    picked = chosen(list(cells), seed)
    before = {key: manifest.get("cells", {}).get(key) for key in picked}
    for key, digest in before.items():
        require(digest is not None, f"{stored.name}: the digest of cell {key}", digest, "stored")
    fresh = compute([cells[key] for key in picked], processes)
    now = cell_digests(stored.experiment, fresh)
    differing = [key for key in picked if now[key] != before[key]]
    if not differing:
        found = {"code": code, "seed": seed, "cells": picked, "computed": circumstances(processes)}
        write_json(stored.manifest, manifest | {"checked": found})
    return differing
