"""What the experiments' tables say: rates of convergence, crossings, sizes that suffice."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from mfc_lb.errors import require
from mfc_lb.experiments.cases import JSQ, MF, RND
from mfc_lb.experiments.convergence import QUEUES
from mfc_lb.experiments.fits import fit_power_law


def rates(
    table: pd.DataFrame, agents_per_queue: float = 10.0, num_queues: int = 20
) -> pd.DataFrame:
    """Return the fitted rates at which distances and drops approach their limits.

    Parameters
    ----------
    table : DataFrame
        Of ``convergence``.
    agents_per_queue : float, optional
        Smallest N/M that enters the fits in N; with fewer agents the law has not set in.
    num_queues : int, optional
        Smallest M that enters the fits in M, for the same reason.

    Returns
    -------
    DataFrame
        One row for each ``limit``, ``measure``, ``delta_t`` and ``policy``: the ``exponent`` of M
        (or N), its ``standard_error``, its 95 % ``interval_low`` and ``interval_high``, the
        ``factor`` of the law factor·M^exponent and ``num_points``. No row where too few estimates
        differ from zero.
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
        "standard_error": law.standard_error,
        "interval_low": low,
        "interval_high": high,
        "factor": law.factor,
        "num_points": law.num_points,
    }


def without_learned(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the baselines, of the table of ``comparison`` or ``populations``."""
    return table[(table.policy != MF) & (table.reference != MF)]


def crossings(
    table: pd.DataFrame,
    policy: str = JSQ,
    reference: str = RND,
    *,
    along: str = "delta_t",
    num_draws: int = 2000,
) -> pd.DataFrame:
    """Return where a policy and another one drop the same.

    Parameters
    ----------
    table : DataFrame
        Of ``comparison`` or ``populations``.
    policy, reference : str, optional
        A pair whose differences the table has.
    along : {"delta_t", "agents_per_queue"}, optional
        What is varied; the number of agents per queue on a logarithmic scale, without its limit.
    num_draws : int, optional
        Draws from which the interval is taken.

    Returns
    -------
    DataFrame
        One row for each system, routing and number of queues (and each delay if that is not
        varied): `along` is the first root of a cubic spline through the paired differences; the
        interval's ends are quantiles of the roots when every difference is redrawn with its
        standard error, and ``standard_error`` is the roots' standard deviation. NaN where the
        spline has no root. ``share`` is the fraction of the draws that have one, and ``num_runs``
        that of the differences.

    Raises
    ------
    InvalidInput
        If the table does not have the pair, or `along` is unknown.
    """
    places = {"delta_t": [], "agents_per_queue": ["delta_t"]}
    require(along in places, "along", along, "'delta_t' or 'agents_per_queue'")
    pairs = table[(table.policy == policy) & (table.reference == reference)]
    require(len(pairs) > 0, "policy and reference", (policy, reference), "a pair of the table")
    pairs = pairs[np.isfinite(pairs[along])]
    groups = pairs.groupby(["system", "routing", "num_queues", *places[along]], sort=False)
    return pd.DataFrame(
        [
            {**dict(zip(groups.keys, names, strict=True)), **_crossing(group, along, num_draws)}
            for names, group in groups
        ]
    )


def _crossing(group: pd.DataFrame, along: str, num_draws: int) -> dict[str, float]:
    scale, back = (np.log, math.exp) if along == "agents_per_queue" else (np.asarray, float)
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((num_draws, len(group))) * group.standard_error.to_numpy()
    drawn = group.estimate.to_numpy() + np.vstack([np.zeros(len(group)), noise])
    best, *others = map(back, _first_roots(scale(group[along].to_numpy()), drawn))
    ends = np.nanquantile(others, [0.025, 0.975]) if math.isfinite(best) else [math.nan, math.nan]
    share = float(np.isfinite(others).mean())
    error = float(np.nanstd(others)) if math.isfinite(best) else math.nan
    interval = {"interval_low": float(ends[0]), "interval_high": float(ends[1])}
    runs = int(group.num_runs.min())
    return {along: best, "standard_error": error, **interval, "share": share, "num_runs": runs}


def _first_roots(places: NDArray[np.float64], values: NDArray[np.float64]) -> list[float]:
    roots = CubicSpline(places, values, axis=1).roots(extrapolate=False)
    return [float(found[0]) if len(found) else math.nan for found in roots]


def smallest_advantage(
    table: pd.DataFrame, policy: str, reference: str, shortest: float = 0.0
) -> pd.DataFrame:
    """Return where a policy's advantage over another one is the smallest, over all delays.

    Parameters
    ----------
    table : DataFrame
        Of ``comparison``.
    policy, reference : str
        A pair whose differences the table has.
    shortest : float, optional
        Shorter delays are left out.

    Returns
    -------
    DataFrame
        One row for each system, routing and number of queues: the ``delta_t`` with the largest
        difference, and that difference with its interval and standard error.
    """
    pairs = table[(table.policy == policy) & (table.reference == reference)]
    pairs = pairs[pairs.delta_t >= shortest]
    groups = pairs.groupby(["system", "routing", "num_queues"], sort=False)
    columns = [*groups.keys, "delta_t", "estimate", "standard_error", "interval_low"]
    return pairs.loc[groups.estimate.idxmax(), [*columns, "interval_high"]].reset_index(drop=True)


def average(estimates: pd.DataFrame) -> pd.Series:
    """Return the mean of independent estimates with its 95 % interval.

    Parameters
    ----------
    estimates : DataFrame
        Columns ``estimate`` and ``standard_error``; rows of different delays are independent.

    Returns
    -------
    Series
        ``estimate``, ``standard_error``, ``interval_low`` and ``interval_high``.
    """
    mean = estimates.estimate.mean()
    error = math.sqrt((estimates.standard_error**2).sum()) / len(estimates)
    low, high = mean - 1.96 * error, mean + 1.96 * error
    ends = {"interval_low": low, "interval_high": high}
    return pd.Series({"estimate": mean, "standard_error": error, **ends})


def where_choices_stop_mattering(table: pd.DataFrame, tolerance: float = 0.01) -> pd.DataFrame:
    """Return the number of queues from which on a choice does not matter.

    Parameters
    ----------
    table : DataFrame
        Of ``modelling_choices``.
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
