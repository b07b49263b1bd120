"""Monte-Carlo evaluation with common random numbers, standard errors and intervals."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from mfc_lb.errors import check_int, require
from mfc_lb.model import Policy, SystemParameters
from mfc_lb.model.parameters import MAX_EPOCHS
from mfc_lb.model.policies import check_policy
from mfc_lb.systems.mean_field import MeanFieldSystem
from mfc_lb.systems.queue_system import QueueSystem
from mfc_lb.systems.trajectory import Trajectory

System = MeanFieldSystem | QueueSystem

#: Largest number of runs of an evaluation.
MAX_RUNS = 10**9


@dataclass(frozen=True)
class Estimate:
    """Mean of independent samples with its standard error.

    Attributes
    ----------
    mean : float
        Sample mean.
    standard_error : float
        Standard deviation of the mean; NaN for a single sample.
    num_samples : int
        Number of samples.
    """

    mean: float
    standard_error: float
    num_samples: int

    @classmethod
    def of(cls, samples: ArrayLike) -> "Estimate":
        """Return the estimate from samples of shape (R,)."""
        values = np.asarray(samples, dtype=np.float64)
        count = values.size
        error = float(values.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
        return cls(float(values.mean()), error, count)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's confidence interval of the mean.

        Parameters
        ----------
        confidence : float, in (0, 1)
            Coverage.

        Returns
        -------
        tuple of float
            Lower and upper end; NaN for a single sample.
        """
        inside = isinstance(confidence, float) and 0.0 < confidence < 1.0
        require(inside, "confidence", confidence, "a number strictly between 0 and 1")
        if self.num_samples < 2:
            return float("nan"), float("nan")
        quantile = scipy.special.stdtrit(self.num_samples - 1, 0.5 + confidence / 2.0)
        width = float(quantile) * self.standard_error
        return self.mean - width, self.mean + width


@dataclass(frozen=True)
class EvaluationResult:
    """Drops of independent runs of one policy in one system.

    Attributes
    ----------
    drops : ndarray, shape (num_runs, num_epochs)
        Drops per queue in each epoch.
    levels : ndarray of int, shape (num_runs, num_epochs)
        Arrival level in each epoch.
    """

    drops: NDArray[np.float64]
    levels: NDArray[np.int64]

    @property
    def total_drops(self) -> NDArray[np.float64]:
        """Cumulative drops per queue of each run, shape (num_runs,)."""
        return np.asarray(self.drops.sum(axis=1))

    @property
    def estimate(self) -> Estimate:
        """Estimate of the expected cumulative drops per queue."""
        return Estimate.of(self.total_drops)

    @property
    def mean(self) -> float:
        """Mean of the cumulative drops per queue."""
        return self.estimate.mean

    @property
    def standard_error(self) -> float:
        """Standard error of `mean`."""
        return self.estimate.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of `mean`, see `Estimate.interval`."""
        return self.estimate.interval(confidence)

    def difference(self, other: "EvaluationResult") -> Estimate:
        """Return the estimate of this result's mean minus the other's, paired on rate paths.

        Parameters
        ----------
        other : EvaluationResult
            From the same seed, numbers of runs and epochs, and arrival process.

        Returns
        -------
        Estimate
            Of the expected difference of cumulative drops.

        Raises
        ------
        InvalidInput
            If the two do not share their paths of arrival levels.
        """
        paired = np.array_equal(self.levels, other.levels)
        require(paired, "other", other.levels.shape, "evaluated on the same paths; their shape")
        return Estimate.of(self.total_drops - other.total_drops)


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
        Number of processes; -1 means one per core. The mean-field system always uses one.
    nu : array_like, shape (S,), optional
        Initial distribution; all queues empty when omitted.

    Returns
    -------
    EvaluationResult
        Drops and arrival levels of every run.

    Raises
    ------
    InvalidInput
        If a value is out of range.

    Examples
    --------
    >>> from mfc_lb.model import ConstantPolicy, SystemParameters, random_choice
    >>> p = SystemParameters(delta_t=5.0)
    >>> rnd = ConstantPolicy(random_choice(p))
    >>> result = evaluate(MeanFieldSystem(p), rnd, num_epochs=100, num_runs=50, seed=1)
    >>> 37.0 < result.mean < 44.0  # exactly 40.53 in expectation
    True
    """
    check_policy(policy, system.parameters)
    _check_processes(processes)
    levels = rate_paths(system.parameters, num_epochs, num_runs, seed)
    if isinstance(system, MeanFieldSystem):
        return EvaluationResult(system.simulate(policy, levels, nu).drops, levels)
    runs = simulate_runs(system, policy, levels, seed, processes=processes, nu=nu)
    return EvaluationResult(np.stack([run.drops for run in runs]), levels)


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
        Number of processes; -1 means one per core.
    nu : array_like, shape (S,), optional
        Initial distribution.

    Yields
    ------
    Trajectory
        Of one run.
    """
    run_one = joblib.delayed(system.simulate)
    jobs = (run_one(policy, path, run_seed(seed, run)[1], nu) for run, path in enumerate(levels))
    parallel = joblib.Parallel(n_jobs=_check_processes(processes), return_as="generator")
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
    runs = check_int("num_runs", num_runs, 1, MAX_RUNS)
    epochs = check_int("num_epochs", num_epochs, 1, MAX_EPOCHS)
    check_int("seed", seed, 0)
    sample = parameters.arrivals.sample_levels
    generators = (np.random.default_rng(run_seed(seed, run)[0]) for run in range(runs))
    return np.stack([sample(epochs, generator) for generator in generators])


def _check_processes(processes: int) -> int:
    if processes != -1:
        require(processes != 0, "processes", processes, "an integer >= 1, or -1 for every core")
        return check_int("processes", processes, 1)
    return -1
