"""Monte-Carlo evaluation with common random numbers, standard errors and intervals."""

from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from mfc_lb.errors import as_float_array, check_int, check_seed, require
from mfc_lb.model import Policy, SystemParameters, sample_path
from mfc_lb.model.arrivals import MAX_EPOCHS
from mfc_lb.model.parameters import require_parameters
from mfc_lb.model.policies import require_policy
from mfc_lb.systems.mean_field import MeanFieldSystem
from mfc_lb.systems.queue_system import QueueSystem
from mfc_lb.systems.results import EvaluationResult, in_words
from mfc_lb.systems.trajectory import Trajectory, check_levels

System = MeanFieldSystem | QueueSystem

#: Largest number of runs of an evaluation.
MAX_RUNS = 10**9
#: Largest number of epochs of all runs together, which are held in memory.
MAX_LEVELS = 10**9


def evaluate(
    system: System,
    policy: Policy,
    *,
    num_epochs: int,
    num_runs: int,
    seed: int,
    processes: int = 1,
    nu: ArrayLike | None = None,
) -> EvaluationResult:
    """Estimate the drops of a policy in a system over independent runs.

    Parameters
    ----------
    system : MeanFieldSystem, InfiniteAgentSystem or FiniteSystem
        The system.
    policy : Policy
        Upper-level policy.
    num_epochs : int, >= 1
        Epochs per run; the paper's evaluation has ``system.parameters.num_epochs(500)``.
    num_runs : int, >= 1
        Number of independent runs.
    seed : int, >= 0
        A run depends on (seed, run index) alone, not on the numbers of runs or processes.
        Evaluations with one seed share their paths of arrival levels, so differences are paired.
    processes : int, optional
        Number of processes, of which no more are started than there are cores; -1 means one per
        core. The mean-field system always uses one.
    nu : array_like, shape (S,), optional
        Initial distribution of every run; all queues empty when omitted.

    Returns
    -------
    EvaluationResult
        Drops and arrival levels of every run, and what they were made with.

    Raises
    ------
    InvalidInput
        If a value is out of range, or `nu` gives a server class another mass than its fraction.

    Examples
    --------
    >>> from mfc_lb.model import ConstantPolicy, SystemParameters, random_choice
    >>> p = SystemParameters(delta_t=5.0)
    >>> rnd = ConstantPolicy(random_choice(p))
    >>> result = evaluate(MeanFieldSystem(p), rnd, num_epochs=100, num_runs=50, seed=1)
    >>> 37.0 < result.mean < 44.0  # exactly 40.53 in expectation
    True
    """
    is_system = isinstance(system, System)
    require(is_system, "system", system, "a system, such as MeanFieldSystem(parameters)")
    p = system.parameters
    require_policy(policy, p)
    _check_processes(processes)
    levels = rate_paths(p, num_epochs, num_runs, seed)
    start = as_float_array("nu", p.empty_distribution if nu is None else nu)
    require(start.ndim == 1, "nu shape", start.shape, f"({p.num_states},), for all runs alike")
    if isinstance(system, MeanFieldSystem):
        drops = system.simulate(policy, levels, start).drops
    else:
        runs = simulate_runs(system, policy, levels, seed, processes=processes, nu=start)
        drops = np.stack([run.drops for run in runs])
    made_with = (start, p, in_words(system), in_words(policy), int(seed))
    return EvaluationResult(drops, levels, *made_with)


def simulate_runs(
    system: QueueSystem,
    policy: Policy,
    levels: NDArray[np.int64],
    seed: int,
    *,
    processes: int = 1,
    nu: ArrayLike | None = None,
) -> Iterator[Trajectory]:
    """Yield the trajectories of independent runs along given paths, in order.

    Parameters
    ----------
    system : QueueSystem
        System of M queues.
    policy : Policy
        Upper-level policy.
    levels : ndarray of int, shape (num_runs, num_epochs)
        Arrival levels.
    seed : int, >= 0
        A run depends on (seed, run index) and its levels alone.
    processes : int, optional
        Number of processes, see `evaluate`.
    nu : array_like, shape (S,), optional
        Initial distribution.

    Yields
    ------
    Trajectory
        Of one run.
    """
    require(isinstance(system, QueueSystem), "system", system, "a QueueSystem")
    levels = check_levels(levels, system.parameters, axes=2)
    check_seed(seed)
    run_one = joblib.delayed(system.simulate)
    jobs = (run_one(policy, path, run_seed(seed, run)[1], nu) for run, path in enumerate(levels))
    workers = min(_check_processes(processes), max(len(levels), 1))
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
    runs: Any = tqdm(parallel(jobs), total=len(levels), unit="run", delay=2, disable=None)
    yield from runs


def run_seed(seed: int, run: int) -> tuple[np.random.SeedSequence, np.random.SeedSequence]:
    """Return a run's two seeds: of its arrival path, and of everything else."""
    rates, rest = np.random.SeedSequence(seed, spawn_key=(run,)).spawn(2)
    return rates, rest


def rate_paths(
    parameters: SystemParameters, num_epochs: int, num_runs: int, seed: int
) -> NDArray[np.int64]:
    """Return the paths of arrival levels that `evaluate` draws from a seed.

    Parameters
    ----------
    parameters : SystemParameters
        Gives the arrival process.
    num_epochs, num_runs, seed : int
        As for `evaluate`.

    Returns
    -------
    ndarray of int64, shape (num_runs, num_epochs)
        Arrival levels.
    """
    require_parameters(parameters)
    runs = check_int("num_runs", num_runs, 1, MAX_RUNS)
    epochs = check_int("num_epochs", num_epochs, 1, MAX_EPOCHS)
    few = runs * epochs <= MAX_LEVELS
    require(few, "num_runs", num_runs, f"such that num_runs * num_epochs <= {MAX_LEVELS}")
    check_seed(seed)
    generators = (np.random.default_rng(run_seed(seed, run)[0]) for run in range(runs))
    paths = (sample_path(parameters.arrivals, epochs, generator) for generator in generators)
    return np.stack(list(paths))


def _check_processes(processes: int) -> int:
    """Return how many processes are started: never more than there are cores."""
    cores = int(joblib.cpu_count())
    if processes == -1:
        return cores
    require(processes != 0, "processes", processes, "an integer >= 1, or -1 for every core")
    return min(check_int("processes", processes, 1), cores)
