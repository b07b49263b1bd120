"""Probabilities from outside: checked once, renormalised once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import as_rows
from mfc_lb.compiled import njit
from mfc_lb.errors import InvalidInput, as_float_array, require

#: Probabilities may miss a sum of one by this much before they are refused.
SUM_TOLERANCE = 1e-9


def check_probabilities(field: str, values: Any) -> NDArray[np.float64]:
    """Return probabilities whose last axis sums to one within 1e-9, renormalised once.

    Parameters
    ----------
    field : str
        Name for the message.
    values : array_like, shape (..., K)
        Probabilities.

    Returns
    -------
    ndarray of float64, shape (..., K)
        A copy whose last axis sums to one.

    Raises
    ------
    InvalidInput
        If an entry is negative or not finite, or a sum is not one.
    """
    array = as_float_array(field, values)
    require(array.ndim > 0 and array.size > 0, field, values, "a non-empty array")
    rows = as_rows(array)
    normalised, valid = _normalise(rows)
    if not valid:
        _refuse(field, rows)
    return np.asarray(normalised.reshape(array.shape))


@njit(error_model="numpy")  # a sum of zero is refused, not divided by
def _normalise(rows: Any) -> tuple[Any, bool]:
    normalised, valid = np.empty_like(rows), True
    for row in range(rows.shape[0]):
        total, lowest = 0.0, 0.0
        for entry in rows[row]:
            total += entry
            lowest = min(lowest, entry)
        # Written so that NaN does not pass.
        valid = valid and lowest >= 0.0 and abs(total - 1.0) < SUM_TOLERANCE
        for column in range(rows.shape[1]):
            normalised[row, column] = rows[row, column] / total
    return normalised, valid


def _refuse(field: str, rows: NDArray[np.float64]) -> None:
    negative = rows[~(rows >= 0.0)]
    require(negative.size == 0, field, negative[:1].tolist(), "made of probabilities >= 0")
    totals = rows.sum(axis=-1)
    worst = totals[np.abs(totals - 1.0).argmax()]
    raise InvalidInput(f"{field} must sum to 1 within {SUM_TOLERANCE:g}, got a sum of {worst}")
