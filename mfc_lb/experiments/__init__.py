"""The book's experiments: one module for each question, and the table that answers it.

``load(name, size)`` gives a table; ``mfc-lb results`` computes them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mfc_lb.errors import require
from mfc_lb.results.experiment import Experiment
from mfc_lb.results.folders import (
    committed_results_folder,
    computed_results_folder,
    results_folder,
)
from mfc_lb.results.runner import run
from mfc_lb.results.storage import State, StoredResult

if TYPE_CHECKING:
    import pandas as pd

#: In the order of the book; each is a module of this name, imported when it is asked for.
EXPERIMENTS = (
    "trajectories",
    "convergence",
    "comparison",
    "populations",
    "modelling_choices",
    "training",
    "certificate",
    "trace_study",
    "trace_delay",
)


def find(name: str) -> Experiment[Any]:
    """Return the experiment of that name, or refuse it."""
    require(name in EXPERIMENTS, "experiment", name, "one of " + ", ".join(EXPERIMENTS))
    found: Experiment[Any] = import_module(f"{__name__}.{name}").EXPERIMENT
    return found


def load(name: str, size: str = "quick", *, processes: int = -1) -> "pd.DataFrame":
    """Return an experiment's table, computed only if what is stored does not answer.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    size : str, optional
        "quick" or "paper".
    processes : int, optional
        Number of processes if there is something to compute; by default one per core.

    Returns
    -------
    DataFrame
        A tidy table; `Experiment.columns` says what each column is.

    Raises
    ------
    InvalidInput
        If the name or the size is unknown, the "paper" size is not stored, or a learned policy
        that the table depends on is not.

    Notes
    -----
    A stored table is used if its checksum, parameters and seed are right and, at the "quick" size,
    the code that it depends on is unchanged. Else the "quick" size is computed, and kept in
    ``$MFC_LB_RESULTS`` or the user's cache, never in the checkout; the "paper" size, which takes
    minutes, is computed only on request, and `mfc-lb results reproduce` judges what other code made
    of it. A table of the "paper" size that is not in ``$MFC_LB_RESULTS`` is the one that comes with
    the checkout.
    """
    experiment = find(name)
    stored = StoredResult(results_folder(), experiment, size)
    experiment.size(size)
    if size == "paper" and stored.state is State.MISSING:
        stored = StoredResult(committed_results_folder(), experiment, size)
    usable = {State.CURRENT, State.OTHER_CODE} if size == "paper" else {State.CURRENT}
    if stored.state not in usable:
        allowed = f"stored (compute it with mfc-lb results run {name} --size paper)"
        require(size != "paper", stored.name, str(stored.state), allowed)
        stored = run(experiment, size, computed_results_folder(), processes=processes)
    return stored.read()


__all__ = ["EXPERIMENTS", "Experiment", "find", "load", "run"]
