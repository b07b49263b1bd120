"""What the experiments' tables say: rates of convergence, crossings, sizes that suffice."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from mfc_lb.experiments.cases import JSQ, RND
from mfc_lb.experiments.convergence import QUEUES
from mfc_lb.experiments.fits import fit_power_law


def rates(
    table: pd.DataFrame, agents_per_queue: float = 10.0, num_queues: int = 20
) -> pd.DataFrame:
    """Return the fitted rates at which distances and drops approach their limits.

    Parameters
    ----------
    table : DataFrame
        The table of this experiment.
    agents_per_queue : float, optional
        Smallest N/M that enters the fits in N; with fewer agents the law has not set in.
    num_queues : int, optional
        Smallest M that enters the fits in M, for the same reason.

    Returns
    -------
    DataFrame
        One row for each ``limit``, ``measure``, ``delta_t`` and ``policy``: the ``exponent`` of M
        (or N), its 95 % ``interval_low`` and ``interval_high``, the ``factor`` of the law
        factor·M^exponent and ``num_points``. No row where too few estimates differ from zero.
    """
    finite = table[np.isfinite(table.num_agents) & (table.measure != "drops")]
    # At fixed M the distance to the mean field does not vanish.
    vanishing = (finite.limit == QUEUES) | (finite.measure == "bias")
    large = (finite.limit != QUEUES) | (finite.num_queues >= num_queues)
    many = finite.num_agents >= agents_per_queue * finite.num_queues
    groups = finite[vanishing & large & many].groupby(
        ["limit", "measure", "delta_t", "policy"], sort=False
    )
    fitted = (
        {**dict(zip(groups.keys, names, strict=True)), **_rate(group)}
        for names, group in groups
        if (group.estimate.abs() > 2.0 * group.standard_error).sum() >= 2 and len(group) >= 3
    )
    return pd.DataFrame(fitted)


def _rate(group: pd.DataFrame) -> dict[str, float]:
    growing = group.num_queues if group.limit.iloc[0] == QUEUES else group.num_agents
    law = fit_power_law(growing, group.estimate, group.standard_error)
    low, high = law.interval
    return {
        "exponent": law.exponent,
        "interval_low": low,
        "interval_high": high,
        "factor": law.factor,
        "num_points": law.num_points,
    }


def crossings(table: pd.DataFrame, num_draws: int = 2000) -> pd.DataFrame:
    """Return the delay at which JSQ(2) begins to drop more than random routing.

    Parameters
    ----------
    table : DataFrame
        The comparison's table.
    num_draws : int, optional
        Draws from which the interval is taken.

    Returns
    -------
    DataFrame
        One row for each system, routing and number of queues: ``delta_t`` is the root of a cubic
        spline through the paired differences, in mean service times; the interval's ends are
        quantiles of the roots when every difference is redrawn with its standard error.
        NaN where the spline has no root.
    """
    pairs = table[(table.policy == JSQ) & (table.reference == RND)]
    groups = pairs.groupby(["system", "routing", "num_queues"], sort=False)
    return pd.DataFrame(
        [
            {**dict(zip(groups.keys, names, strict=True)), **_crossing(group, num_draws)}
            for names, group in groups
        ]
    )


def _crossing(group: pd.DataFrame, num_draws: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((num_draws, len(group))) * group.standard_error.to_numpy()
    drawn = group.estimate.to_numpy() + np.vstack([np.zeros(len(group)), noise])
    best, *others = _first_roots(group.delta_t.to_numpy(), drawn)
    ends = np.nanquantile(others, [0.025, 0.975]) if math.isfinite(best) else [math.nan, math.nan]
    return {"delta_t": best, "interval_low": float(ends[0]), "interval_high": float(ends[1])}


def _first_roots(places: NDArray[np.float64], values: NDArray[np.float64]) -> list[float]:
    roots = CubicSpline(places, values, axis=1).roots(extrapolate=False)
    return [float(found[0]) if len(found) else math.nan for found in roots]


def where_choices_stop_mattering(table: pd.DataFrame, tolerance: float = 0.01) -> pd.DataFrame:
    """Return the number of queues from which on a choice does not matter.

    Parameters
    ----------
    table : DataFrame
        The table of this experiment.
    tolerance : float, optional
        A relative difference below it does not matter, nor does one whose interval includes zero.

    Returns
    -------
    DataFrame
        One row for each ``choice``, ``system``, ``policy`` and ``delta_t``: ``num_queues``, the
        smallest size in the table such that the choice matters neither there nor at any larger one
        (inf if it still matters at the largest), and the ``relative`` difference at the smallest
        size with its interval, whose sign is the direction.
    """
    groups = table.groupby(["choice", "system", "policy", "delta_t"], sort=False)
    return pd.DataFrame(
        [
            {**dict(zip(groups.keys, names, strict=True)), **_summary(group, tolerance)}
            for names, group in groups
        ]
    )


def _summary(group: pd.DataFrame, tolerance: float) -> dict[str, float]:
    ordered = group.sort_values("num_queues")
    clear = (ordered.relative_low > 0) | (ordered.relative_high < 0)
    matters = ordered.num_queues[clear & (ordered.relative.abs() >= tolerance)]
    beyond = ordered.num_queues[ordered.num_queues > max(matters, default=0.0)]
    smallest = ordered.iloc[0]
    return {
        "num_queues": float(min(beyond, default=math.inf)),
        "relative": float(smallest.relative),
        "relative_low": float(smallest.relative_low),
        "relative_high": float(smallest.relative_high),
    }
