"""Words by which a figure says which systems it shows: its caption is the same at every size."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def routing_text(routing: object) -> str:
    """Return how agents choose, in words.

    Examples
    --------
    >>> routing_text("per_epoch")
    'per epoch'
    """
    return str(routing).replace("_", " ")


def runs_text(rows: "pd.DataFrame") -> str:
    """Return how many runs are behind the estimates of a table.

    Parameters
    ----------
    rows : DataFrame
        With a column ``num_runs``, of simulated systems only.

    Examples
    --------
    >>> import pandas as pd
    >>> runs_text(pd.DataFrame({"num_runs": [200, 1000]}))
    '200 to 1000 runs'
    """
    fewest, most = rows.num_runs.min(), rows.num_runs.max()
    return f"{most:g} runs" if fewest == most else f"{fewest:g} to {most:g} runs"


def square_text(rows: "pd.DataFrame", routing: str) -> str:
    """Return what systems with N = M² have in common, for an axis or a title."""
    return f"N = M², {routing_text(routing)}, {runs_text(rows)}"
