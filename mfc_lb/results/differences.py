"""Two tables, stored and recomputed, compared number by number."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.results.experiment import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE


@dataclass(frozen=True)
class Difference:
    """One number (or word) that did not come out as it is stored.

    Attributes
    ----------
    row : str
        Which row, counted from 1 without the header; or the name of a file.
    column : str
        Its column.
    stored, fresh : float, int or str
        As stored, and as recomputed.
    """

    row: str
    column: str
    stored: Any
    fresh: Any

    @property
    def size(self) -> float:
        """Recomputed minus stored; NaN for words."""
        try:
            return float(self.fresh) - float(self.stored)
        except ValueError:
            return float("nan")


def misfit(stored: pd.DataFrame, fresh: pd.DataFrame) -> str | None:
    """Return why two tables cannot be compared row by row, or None if they can."""
    if list(stored.columns) != list(fresh.columns):
        return f"columns {list(stored.columns)} became {list(fresh.columns)}"
    if len(stored) != len(fresh):
        return f"{len(stored)} rows became {len(fresh)}"
    return None


def differences(
    stored: pd.DataFrame,
    fresh: pd.DataFrame,
    tolerance: float = RELATIVE_TOLERANCE,
    absolute_tolerance: float = ABSOLUTE_TOLERANCE,
) -> Iterator[Difference]:
    """Yield all that differs between two tables that fit, row by row.

    Parameters
    ----------
    stored, fresh : DataFrame
        With the same columns and as many rows.
    tolerance : float, optional
        Relative difference that numbers may have.
    absolute_tolerance : float, optional
        Absolute difference that they may have.
    """
    allowed = (tolerance, absolute_tolerance)
    columns = [_differs(stored[name], fresh[name], *allowed) for name in stored.columns]
    for row, column in np.argwhere(np.column_stack(columns)).tolist():
        before, now = stored.iloc[row, column], fresh.iloc[row, column]
        yield Difference(str(row + 1), str(stored.columns[column]), before, now)


def _differs(
    stored: "pd.Series[Any]", fresh: "pd.Series[Any]", relative: float, absolute: float
) -> NDArray[np.bool_]:
    before, now = stored.to_numpy(), fresh.to_numpy()
    if before.dtype.kind in "fi" and now.dtype.kind in "fi":
        numbers = before.astype(float), now.astype(float)
        close = np.isclose(*numbers, relative, absolute, equal_nan=True)
        return np.asarray(~close)
    return np.asarray(before.astype(object) != now.astype(object))
