"""Cases that a notebook computes where it shows them, through the experiments' own code."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfc_lb.experiments import find
from mfc_lb.model import ConstantPolicy, DecisionRule, SystemParameters
from mfc_lb.systems import FiniteSystem, MeanFieldSystem


def compute(name: str, size: Any, seed: int | None = None) -> pd.DataFrame:
    """Return an experiment's table at any size, computed here and now.

    Parameters
    ----------
    name : str
        One of `mfc_lb.experiments.EXPERIMENTS`.
    size : a frozen dataclass
        Of the experiment's kind, such as ``ComparisonSize``.
    seed : int, optional
        By default the experiment's own: then runs are those of the stored tables.

    Returns
    -------
    DataFrame
        The same columns as the stored tables have.
    """
    experiment = find(name)
    cells = experiment.cells(size, experiment.seed if seed is None else seed)
    return pd.DataFrame(experiment.rows(size, {cell.key: cell.compute() for cell in cells}))


def paths_to_limit(
    parameters: SystemParameters,
    rule: DecisionRule,
    nums_queues: Sequence[int],
    horizon: float,
    seed: int,
) -> pd.DataFrame:
    """Return the mean filling on one path of arrival levels, in growing systems and the limit.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    rule : DecisionRule
        The rule of every epoch.
    nums_queues : sequence of int
        Numbers M of queues; there are N = M² agents, which choose once per epoch.
    horizon : float
        Simulated time.
    seed : int
        Of the path, and of the runs.

    Returns
    -------
    DataFrame
        Columns ``num_queues`` (inf is the mean field), ``time`` and ``mean_filling``, at the
        beginning of each epoch and at the end.
    """
    p, policy = parameters, ConstantPolicy(rule)
    levels = p.arrivals.sample_levels(p.num_epochs(horizon), np.random.default_rng(seed))
    runs = {float("inf"): MeanFieldSystem(p).simulate(policy, levels)}
    for number in nums_queues:
        system = FiniteSystem(p, number**2, number, "per_epoch")
        runs[number] = system.simulate(policy, levels, np.random.SeedSequence(seed))
    times = p.delta_t * np.arange(levels.size + 1)
    tables = [
        pd.DataFrame(
            {"num_queues": number, "time": times, "mean_filling": run.distributions @ p.fillings}
        )
        for number, run in runs.items()
    ]
    return pd.concat(tables, ignore_index=True)
