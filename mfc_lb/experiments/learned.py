"""The trained policies of ``data/policies``: train them, and check that training gives them."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from mfc_lb.errors import InvalidInput
from mfc_lb.experiments.cases import HORIZON, mean_field_system, policies_folder, policy_path
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.learning.policy_files import load_card, load_policy, save_policy
from mfc_lb.model import SystemParameters
from mfc_lb.results.circumstances import circumstances
from mfc_lb.results.differences import Difference
from mfc_lb.results.reproduction import Verdict
from mfc_lb.results.runner import check_processes, finish
from mfc_lb.results.storage import write_bytes
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
    about = {"training": trained.settings, "results": trained.results()}
    save_policy(trained.policy, path, **about, computed=circumstances(1))
    return path


def store_all(
    folder: Path | None = None,
    delta_ts: Sequence[float] = DELTA_TS,
    processes: int = -1,
    dask: str | None = None,
) -> Iterator[Path]:
    """Train and store policies, and yield where each is.

    Parameters
    ----------
    folder : Path, optional
        Where to; ``data/policies`` by default.
    delta_ts : sequence of float, optional
        For which delays.
    processes : int, optional
        Number of processes; by default one per core.
    dask : str, optional
        Address of the scheduler of a Dask cluster that trains them instead.
    """
    target = policies_folder() if folder is None else folder
    calls = [partial(_train, delta_t) for delta_t in delta_ts]
    number = check_processes(processes, dask)
    for files in finish(calls, processes=number, dask=dask, data=dict):
        for name, content in files.items():
            write_bytes(target / name, content)
        yield target / next(iter(files))


def _train(delta_t: float) -> dict[str, bytes]:
    """Return the files of a trained policy, its weights first; whoever asked has another disk."""
    with TemporaryDirectory() as scratch:
        weights = train_and_store(delta_t, Path(scratch))
        files = [weights, *(path for path in Path(scratch).iterdir() if path != weights)]
        return {path.name: path.read_bytes() for path in files}


def reproduce_policies(
    delta_ts: Sequence[float] = DELTA_TS, processes: int = -1, dask: str | None = None
) -> Verdict:
    """Train the policies anew and compare them with the stored ones.

    Parameters
    ----------
    delta_ts : sequence of float, optional
        For which delays.
    processes : int, optional
        Number of processes; by default one per core.
    dask : str, optional
        Address of the scheduler of a Dask cluster that trains them instead.

    Returns
    -------
    Verdict
        Of all of them together: a row is a policy, and what is compared are its drops.
    """
    with TemporaryDirectory(prefix="mfc_lb-") as scratch:
        fresh = sorted(store_all(Path(scratch), delta_ts, processes, dask))
        stored = [policies_folder() / path.name for path in fresh]
        seconds = sum(float(load_card(path).results["seconds"]) for path in fresh)
        found = [_compare(*pair) for pair in zip(stored, fresh, strict=True)]
    faults = [fault for fault in found if isinstance(fault, str)]
    return Verdict(
        "policies",
        "retrained",
        len(fresh) - len(faults),
        seconds,
        None,
        tuple(one for one in found if isinstance(one, Difference)),
        "; ".join(faults) or None,
    )


def _compare(stored: Path, fresh: Path) -> Difference | str | None:
    """Return by how much the drops differ, or why they cannot be compared."""
    try:
        before, now = load_policy(stored), load_policy(fresh)
    except InvalidInput as error:
        return str(error)
    if before.parameters != now.parameters:
        return f"{stored.stem} was trained for other parameters"
    drops = _mean_drops(before), _mean_drops(now)
    close = abs(drops[0] - drops[1]) <= TOLERANCE * drops[1]
    return None if close else Difference(stored.stem, "drops", *drops)


def _mean_drops(policy: NetworkPolicy) -> float:
    """Return the mean drops of a policy over the paper's horizon, always on the same paths."""
    system = mean_field_system(policy.parameters.delta_t)
    num_epochs = system.parameters.num_epochs(HORIZON)
    return evaluate(system, policy, num_epochs=num_epochs, num_runs=100, seed=0).mean
