"""The trained policies of ``data/policies``: train them, and check that training gives them."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import joblib

from mfc_lb.experiments.cases import HORIZON, mean_field_system, policy_path
from mfc_lb.experiments.folders import policies_folder
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.learning.policy_files import load_policy, save_policy
from mfc_lb.model import SystemParameters
from mfc_lb.systems import evaluate

#: Delays of the paper, for each of which a policy is stored.
DELTA_TS = tuple(float(delta_t) for delta_t in range(1, 11))

#: Drops of a policy that is trained anew may differ by this, relatively: training amplifies
#: rounding errors, which differ between processors.
TOLERANCE = 1e-3


def train_and_store(delta_t: float, folder: Path) -> Path:
    """Train the policy for a delay as ``mfc-lb train`` does by default, and store it.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay.
    folder : Path
        Where to.

    Returns
    -------
    Path
        Of the stored weights.
    """
    from mfc_lb.learning.pathwise import train_pathwise

    trained = train_pathwise(SystemParameters(delta_t=delta_t))
    path = folder / policy_path(delta_t).name
    save_policy(trained.policy, path, training=trained.settings, results=trained.results())
    return path


def store_all(folder: Path | None = None, processes: int = -1) -> Iterator[Path]:
    """Train and store all policies, and yield where each is.

    Parameters
    ----------
    folder : Path, optional
        Where to; ``data/policies`` by default.
    processes : int, optional
        Number of processes; by default one per core.
    """
    target = policies_folder() if folder is None else folder
    jobs = (joblib.delayed(train_and_store)(delta_t, target) for delta_t in DELTA_TS)
    yield from joblib.Parallel(n_jobs=processes, return_as="generator")(jobs)


def mean_drops(policy: NetworkPolicy) -> float:
    """Return the mean drops of a policy over the paper's horizon, always on the same paths."""
    system = mean_field_system(policy.parameters.delta_t)
    num_epochs = system.parameters.num_epochs(HORIZON)
    return evaluate(system, policy, num_epochs=num_epochs, num_runs=100, seed=0).mean


def difference(stored: Path, fresh: Path) -> str | None:
    """Return how a stored policy differs from one that was trained anew, in words, or None."""
    before, now = load_policy(stored), load_policy(fresh)
    if asdict(before.parameters) != asdict(now.parameters):
        return "trained for other parameters"
    drops = mean_drops(before), mean_drops(now)
    close = abs(drops[0] - drops[1]) <= TOLERANCE * drops[1]
    return None if close else f"drops {drops[0]:.6g} became {drops[1]:.6g}"
