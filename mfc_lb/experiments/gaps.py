"""What the experiment ``certificate`` says, in percent."""

from typing import TYPE_CHECKING

from mfc_lb.experiments.cases import MF
from mfc_lb.experiments.certificate import CLAIRVOYANT

if TYPE_CHECKING:
    import pandas as pd

_ENDS = ["estimate", "standard_error", "interval_low", "interval_high"]


def optimality_gaps(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return how much more is dropped than a search found that knows the future.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``certificate``.

    Returns
    -------
    DataFrame
        Columns ``delta_t``, ``policy``, ``knows`` and those of an estimate, in percent of
        what the search found: estimates from below, since it may have missed lower drops. The rows
        of the policy ``clairvoyant`` are the difference between its two starts: from random routing
        minus from the learned policy, in percent of the latter.
    """
    ratios = table[(table.measure == "ratio") & (table.reference == CLAIRVOYANT)]
    beyond = ["estimate", "interval_low", "interval_high"]
    gaps = ratios.assign(**{column: ratios[column] - 1.0 for column in beyond})
    starts = table[table.reference == "starts"]
    drops = table[table.reference == "from MF"].set_index("delta_t").estimate
    return _stacked(_percent(gaps, 1.0), _percent(starts, starts.delta_t.map(drops)))


def knowledge_gaps(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return how much more is dropped than by the learned policy, on the same paths.

    Parameters
    ----------
    table : DataFrame
        Of the experiment ``certificate``.

    Returns
    -------
    DataFrame
        Columns ``delta_t``, ``policy``, ``knows`` and those of an estimate: the paired difference
        in percent of the learned policy's expected drops, whose own error is too small to matter.
    """
    differences = table[(table.measure == "difference") & (table.reference == MF)]
    learned = table[(table.measure == "drops") & (table.policy == MF)]
    drops = learned.set_index("delta_t").estimate
    return _stacked(_percent(differences, differences.delta_t.map(drops)))


def _percent(rows: "pd.DataFrame", unit: "pd.Series[float] | float") -> "pd.DataFrame":
    return rows.assign(**{column: 100.0 * rows[column] / unit for column in _ENDS})


def _stacked(*tables: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    dropped = ["measure", "reference"]
    return pd.concat(tables, ignore_index=True).drop(columns=dropped)
