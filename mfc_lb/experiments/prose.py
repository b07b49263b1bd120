"""How prose shows numbers."""

import math
from typing import Any


def as_text(estimate: Any, digits: int) -> str:
    """Return a number, or an estimate with its 95 % interval, as prose shows it.

    Parameters
    ----------
    estimate : float, or a row of a table
        A row has ``estimate``, ``interval_low`` and ``interval_high``.
    digits : int, >= 0
        Digits after the point.

    Returns
    -------
    str
        With a true minus sign.

    Examples
    --------
    >>> as_text(-0.5, 2)
    '−0.50'
    >>> import pandas as pd
    >>> as_text(pd.Series({"estimate": 6.7, "interval_low": 6.694, "interval_high": 6.705}), 2)
    '6.70 (6.69 to 6.71)'
    """
    if not hasattr(estimate, "interval_low"):
        # Adding zero turns a rounded -0 into 0.
        return f"{round(float(estimate), digits) + 0.0:.{digits}f}".replace("-", "−")
    ends = (estimate.estimate, estimate.interval_low, estimate.interval_high)
    mean, low, high = (as_text(end, digits) for end in ends)
    return f"{mean} ({low} to {high})"


def crossing_text(crossing: Any, along: str, digits: int) -> str:
    """Return a crossing with its 95 % interval, or that there is none or that it is not certain.

    Parameters
    ----------
    crossing : a row of `mfc_lb.experiments.analysis.crossings`
        What is shown.
    along : str
        The column with the place.
    digits : int, >= 0
        Digits after the point.

    Returns
    -------
    str
        "none" if fewer than 2.5 % of the draws cross, "uncertain" if fewer than 97.5 % do.

    Examples
    --------
    >>> import pandas as pd
    >>> ends = {"interval_low": 6.694, "interval_high": 6.705}
    >>> crossing_text(pd.Series({"delta_t": 6.7, "share": 1.0, **ends}), "delta_t", 2)
    '6.70 (6.69 to 6.71)'
    >>> crossing_text(pd.Series({"delta_t": float("nan"), "share": 0.0}), "delta_t", 2)
    'none'
    """
    if crossing.share < 0.975 or math.isnan(crossing[along]):
        return "none" if crossing.share < 0.025 else "uncertain"
    ends = (crossing[along], crossing.interval_low, crossing.interval_high)
    place, low, high = (as_text(end, digits) for end in ends)
    return f"{place} ({low} to {high})"
