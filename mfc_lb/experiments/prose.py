"""How prose shows numbers."""

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
