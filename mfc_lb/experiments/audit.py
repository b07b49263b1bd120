"""Are intervals honest? Stored estimates against those of another seed, and against each other.

Estimates of one table share runs, so the count of those that miss scatters more than a binomial's:
a small probability is a reason to look closer, with further seeds, and not a verdict.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from mfc_lb.experiments import find, load
from mfc_lb.experiments.trace_delay import AS_POLICY, MODULATED
from mfc_lb.results.experiment import ESTIMATE_COLUMNS, cell_seed
from mfc_lb.results.runner import run
from mfc_lb.results.storage import table_bytes

if TYPE_CHECKING:
    import pandas as pd

#: How many values of a field, drawn at random, are computed again; all of those not named. Values
#: of fields that are named together belong together.
SHARES: dict[str, dict[tuple[str, ...], int]] = {
    "trajectories": {},
    "convergence": {
        ("delta_ts",): 1,
        ("nums_agents",): 3,
        ("nums_queues", "nums_queues_runs"): 3,
    },
    "comparison": {("delta_ts",): 2, ("nums_queues",): 1},
    "populations": {("delta_ts",): 1, ("nums_queues",): 1, ("agents_per_queue",): 2},
    "modelling_choices": {("delta_ts",): 1, ("nums_queues", "nums_runs"): 3},
    "training": {("score_seeds",): 0, ("table_seeds",): 0, ("pathwise_seeds",): 1},
    "certificate": {("delta_ts",): 1},
    "trace_study": {},
    "trace_delay": {("delta_ts",): 2, ("intervals",): 3},
}

# What is not known before a run, besides an estimate.
_VALUES = {*ESTIMATE_COLUMNS, "estimate", "baseline_drops", "relative", "relative_low"}
_VALUES |= {"relative_high", "seconds"}
# Tables whose estimates are in no other.
_ALONE = ("trajectories", "modelling_choices")
# What says which quantity it is, across tables.
_WORDS = ("trace", "balancer", "system", "routing", "policy", "measure", "reference")
_NUMBERS = ("num_queues", "num_agents", "delta_t")
_OF = ("", "_other")
_LIMIT: dict[str, Any] = {
    "system": "mean_field",
    "routing": "none",
    "num_queues": np.inf,
    "num_agents": np.inf,
}


@dataclass(frozen=True)
class Finding:
    """How two tables agree on what both estimate.

    Attributes
    ----------
    table, against : str
        Names of the tables; ``seed N`` for the same table from another seed.
    size : str
        Their size.
    compared : int
        Estimates that both have, exact ones left out.
    missed : int
        How many of them differ by more than their joint 95 % interval allows.
    probability : float
        That so many or more would, were they independent and their intervals honest.
    largest : float
        The largest difference, in half widths of the joint interval.
    """

    table: str
    against: str
    size: str
    compared: int
    missed: int
    probability: float
    largest: float


def audit_seeds(name: str, size: str, seed: int, folder: Path) -> Finding:
    """Compute a random share of an experiment from another seed and compare.

    Parameters
    ----------
    name, size : str
        The experiment, and the name of its size.
    seed : int
        Draws the share, and the runs.
    folder : Path
        Where the new table is kept, and the finished cells of a run that is killed.
    """
    experiment = find(name)
    share = draw_share(experiment.size(size), SHARES[name], cell_seed(seed, name, size))
    other = replace(experiment, seed=cell_seed(seed, name), sizes={size: share})
    fresh = run(other, size, folder, processes=1).read()
    return compare(name, f"seed {seed}", size, load(name, size), fresh)


def draw_share(size: Any, shares: Mapping[tuple[str, ...], int], seed: int) -> Any:
    """Return a size with only some of the values of some fields, in their order."""
    generator = np.random.default_rng(seed)
    for names, count in shares.items():
        values = list(zip(*(getattr(size, name) for name in names), strict=True))
        number = min(count, len(values))
        chosen = np.sort(generator.choice(len(values), number, replace=False)).tolist()
        columns = list(zip(*(values[index] for index in chosen), strict=True))
        size = replace(size, **dict(zip(names, columns or [()], strict=True)))
    return size


def audit_tables(size: str) -> Iterator[Finding]:
    """Compare all pairs of tables that estimate the same."""
    names = [name for name in SHARES if name not in _ALONE]
    tables = {name: quantities(name, load(name, size)) for name in names}
    for (first, mine), (second, theirs) in combinations(tables.items(), 2):
        found = compare(first, second, size, mine, theirs)
        if found.compared:
            yield found


def quantities(name: str, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return what a table may share with others: drops, and response times with fresh news."""
    import pandas as pd

    if name == "trace_study":
        table = table[np.isinf(table.window_end)]
    elif name == "trace_delay":
        fresh = table[(table.trace != MODULATED) & (table.refresh_interval == 0)]
        table = pd.concat([fresh, _as_model(table)])
    elif name == "training":
        table = table[table.kind == "none"]
        table = table.assign(policy=table.method, delta_t=5.0, **_LIMIT)
    elif name == "certificate":
        table = table.assign(**_LIMIT)
    found = table.reindex(columns=[*_WORDS, *_NUMBERS, *ESTIMATE_COLUMNS, "estimate"])
    found = found.astype(dict.fromkeys(_WORDS, object) | dict.fromkeys(_NUMBERS, float))
    found = found.fillna({"measure": "drops"}).fillna(dict.fromkeys(_WORDS, "none"))
    return found[found.measure.isin(["drops", "response_time"])]


def _as_model(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return drops of the cluster as those of the infinite-agent system that it is."""
    same = (table.trace == MODULATED) & (table.refresh_interval > 0) & (table.reference == "none")
    policies = {balancer: policy for balancer, (policy, _) in AS_POLICY.items()}
    rows = table[same & table.balancer.isin(list(policies)) & (table.measure == "drops")]
    rows = rows.assign(policy=rows.balancer.map(policies), **_LIMIT | {"system": "infinite_agents"})
    named = rows.drop(columns=["trace", "balancer", "num_queues"])
    return named.rename(columns={"num_workers": "num_queues", "refresh_interval": "delta_t"})


def compare(
    table: str, against: str, size: str, mine: "pd.DataFrame", theirs: "pd.DataFrame"
) -> Finding:
    """Return how two tables agree on the estimates that both have."""
    keys = [name for name in mine.columns if name not in _VALUES]
    both = mine.merge(theirs, on=keys, suffixes=_OF)
    width, other = (both[f"interval_high{one}"] - both[f"interval_low{one}"] for one in _OF)
    allowed = np.hypot(width, other) / 2
    sampled = allowed > 1e-9 * np.maximum(1e-3, both.estimate.abs())
    scores = ((both.estimate - both.estimate_other).abs() / allowed)[sampled]
    missed, largest = int((scores > 1).sum()), float(scores.max()) if len(scores) else 0.0
    chance = float(binom.sf(missed - 1, len(scores), 0.05))
    return Finding(table, against, size, len(scores), missed, round(chance, 4), round(largest, 2))


def report(findings: Sequence[Finding]) -> bytes:
    """Return findings as CSV, one in a row."""
    columns = [field.name for field in fields(Finding)]
    return table_bytes([asdict(finding) for finding in findings], columns)
