"""Load balancers: each picks a worker for a job, from a snapshot of the workers' loads.

The *load* of a worker is the number of its jobs, in service and waiting, over its cores. What a
balancer is, is immutable; `Dispatcher` is a balancer at work, in the simulator and over RPC alike.
"""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mfc_lb.arrays import read_only
from mfc_lb.cluster import decisions
from mfc_lb.cluster.decisions import View
from mfc_lb.errors import as_int_array, check_flag, check_int, check_list, check_seed, require
from mfc_lb.model import ConstantPolicy, DecisionRule, Policy, SystemParameters, as_decision_rule
from mfc_lb.model.parameters import MAX_CHOICES, require_parameters
from mfc_lb.model.policies import require_policy

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: How equal loads are told apart.
TIE_BREAKS = ("uniform", "first")
#: Keeps a balancer's streams apart from those that a trace draws from the same seed.
STREAM_KEY = 0xBA1A


class Balancer(ABC):
    """What picks a worker for each job.

    A new balancer is a subclass with a name and a decision, and a line in `BALANCERS`. The decision
    is a function of a `View`, compiled by numba, that returns the index of a worker.
    """

    #: Name on the command line.
    name: ClassVar[str]
    #: Picks the worker, see `mfc_lb.cluster.decisions`; a static method.
    decision: ClassVar[Any]

    @property
    def follows_snapshots(self) -> bool:
        """Whether `table` depends on the snapshot."""
        return False

    @property
    def is_random(self) -> bool:
        """Whether another seed may lead to other decisions."""
        return True

    def settings(self, cores: Integers) -> Integers:
        """Return the numbers that the decision needs, for workers with so many cores.

        Raises
        ------
        InvalidInput
            If the balancer cannot serve these workers.
        """
        return np.zeros(1, dtype=np.int64)

    def table(self, jobs: Integers, settings: Integers, interval: int) -> Floats:
        """Return the table that the decision reads.

        Parameters
        ----------
        jobs : ndarray of int, shape (num_workers,)
            The snapshot.
        settings : ndarray of int
            What `settings` returned.
        interval : int
            Number of refresh intervals before the snapshot.
        """
        return np.zeros(1)


@dataclass(frozen=True)
class Random(Balancer):
    """Any worker, uniformly."""

    name = "random"
    decision = staticmethod(decisions.uniform_worker)


@dataclass(frozen=True)
class RoundRobin(Balancer):
    """Job i to worker i mod n."""

    name = "round-robin"
    decision = staticmethod(decisions.next_worker)

    @property
    def is_random(self) -> bool:
        """It draws nothing."""
        return False


@dataclass(frozen=True)
class LeastLoaded(Balancer):
    """The worker with the smallest number of jobs, in service and waiting, over its cores.

    Parameters
    ----------
    tie_break : {"uniform", "first"}
        Of the workers with equal loads, any one or the first.
    """

    tie_break: str = "uniform"

    name = "least-loaded"
    decision = staticmethod(decisions.least_loaded_worker)

    def __post_init__(self) -> None:
        """Check the field."""
        _check_tie_break(self.tie_break)

    @property
    def is_random(self) -> bool:
        """Only its ties are."""
        return self.tie_break == "uniform"

    def settings(self, cores: Integers) -> Integers:
        """Return how ties are broken."""
        return np.array([self.tie_break == "first"], dtype=np.int64)


@dataclass(frozen=True)
class JoinShortestQueue(Balancer):
    """The least loaded of d workers that are sampled afresh for each job: the power of d choices.

    Parameters
    ----------
    num_choices : int, 1 to 1000
        Size d of the sample.
    distinct : bool
        Sample without replacement. The default is with replacement, as in the model of the paper:
        the d choices may then be the same worker.
    tie_break : {"uniform", "first"}
        Of the sampled workers with equal loads, any one (a worker that was sampled twice counts
        twice) or the one of smallest index.
    """

    num_choices: int = 2
    distinct: bool = False
    tie_break: str = "uniform"

    name = "jsq"
    decision = staticmethod(decisions.shortest_sampled_worker)

    def __post_init__(self) -> None:
        """Check every field."""
        check_int("num_choices", self.num_choices, 1, MAX_CHOICES)
        check_flag("distinct", self.distinct)
        _check_tie_break(self.tie_break)

    def settings(self, cores: Integers) -> Integers:
        """Return tie-breaking, sample size and whether samples are distinct."""
        _check_sample(self.num_choices, self.distinct, cores)
        first = self.tie_break == "first"
        return np.array([first, self.num_choices, self.distinct], dtype=np.int64)


@dataclass(frozen=True)
class MeanFieldBalancer(Balancer):
    """An upper-level policy of the library: d workers are sampled for each job, h picks one.

    At each refresh, the policy is asked for the decision rule h that fits the empirical
    distribution of the snapshot.

    Parameters
    ----------
    policy : Policy
        Maps the distribution over queue states and the arrival level to a decision rule.
    parameters : SystemParameters
        What the policy was made for: buffer size B, number of choices d and server classes. A
        worker with more than B jobs counts as one with B.
    levels : sequence of int
        Arrival level that the policy is told in each refresh interval, or in each decision if the
        snapshot is always fresh; the last one stays.
    worker_classes : sequence of int, optional
        Server class of each worker; all 0 when omitted.
    distinct : bool
        Sample without replacement; the model samples with replacement.

    Notes
    -----
    With one core per worker, a capacity of B, Poisson arrivals and exponential service, this is
    `mfc_lb.InfiniteAgentSystem` with Δt = `refresh_interval_us`. Decisions repeat exactly on
    machines on which the policy's floating-point numbers do.
    """

    policy: Policy = field(repr=False)
    parameters: SystemParameters = field(default_factory=SystemParameters, repr=False)
    levels: Sequence[int] = field(default=(0,), repr=False)
    worker_classes: Sequence[int] | None = field(default=None, repr=False)
    distinct: bool = False

    name = "mean-field"
    decision = staticmethod(decisions.worker_by_rule)

    def __post_init__(self) -> None:
        """Check every field."""
        require_parameters(self.parameters)
        require_policy(self.policy, self.parameters)
        check_flag("distinct", self.distinct)
        last = self.parameters.arrivals.num_levels - 1
        given = check_list("levels", self.levels, "a sequence of arrival levels")
        require(len(given) > 0, "levels", self.levels, "at least one arrival level")
        levels = tuple(check_int("levels", level, 0, last) for level in given)
        object.__setattr__(self, "levels", levels)
        if self.worker_classes is not None:
            one_each = "a sequence of numbers, one for each worker"
            classes = check_list("worker_classes", self.worker_classes, one_each)
            object.__setattr__(self, "worker_classes", tuple(classes))

    @property
    def follows_snapshots(self) -> bool:
        """Whether the rule may change from one snapshot to the next."""
        # A subclass may change its rule.
        return type(self.policy) is not ConstantPolicy

    def settings(self, cores: Integers) -> Integers:
        """Return sample size, distinct, buffer size, number of states, the workers' classes."""
        p = self.parameters
        _check_sample(p.num_choices, self.distinct, cores)
        classes = [0] * len(cores) if self.worker_classes is None else list(self.worker_classes)
        one_each = f"{len(cores)} numbers, one for each worker"
        require(len(classes) == len(cores), "worker_classes", classes, one_each)
        for server_class in classes:
            check_int("worker_classes", server_class, 0, p.num_classes - 1)
        head = [p.num_choices, self.distinct, p.buffer_size, p.num_states]
        return np.array(head + classes, dtype=np.int64)

    def table(self, jobs: Integers, settings: Integers, interval: int) -> Floats:
        """Return the cumulative probabilities of the rule for a snapshot."""
        p = self.parameters
        states = settings[4:] * (p.buffer_size + 1) + np.minimum(jobs, p.buffer_size)
        nu = np.bincount(states, minlength=p.num_states) / len(jobs)
        level = self.levels[min(interval, len(self.levels) - 1)]
        rule = self.policy(nu, level)
        return _cumulative(as_decision_rule(rule, p))


#: The balancers by their names on the command line.
BALANCERS: dict[str, type[Balancer]] = {
    Random.name: Random,
    RoundRobin.name: RoundRobin,
    LeastLoaded.name: LeastLoaded,
    JoinShortestQueue.name: JoinShortestQueue,
    MeanFieldBalancer.name: MeanFieldBalancer,
}


class Dispatcher:
    """A balancer at work on some workers: its streams, its count of jobs, its present table.

    Parameters
    ----------
    balancer : Balancer
        What decides.
    cores : array_like of int, shape (num_workers,)
        Cores of each worker.
    seed : int, >= 0
        Of the two streams, choices and ties.

    Raises
    ------
    InvalidInput
        If the balancer cannot serve these workers.
    """

    def __init__(self, balancer: Balancer, cores: Integers, seed: int) -> None:
        require(isinstance(balancer, Balancer), "balancer", balancer, "a Balancer")
        root = np.random.SeedSequence(check_seed(seed), spawn_key=(STREAM_KEY,))
        self.choices, self.ties = (np.random.default_rng(child) for child in root.spawn(2))
        self.balancer = balancer
        self.cores = _check_counts("cores", cores, 1).copy()
        self.settings = balancer.settings(self.cores.copy())
        self.num_decided = 0
        self.refresh(np.zeros(len(self.cores), dtype=np.int64), 0)

    def refresh(self, jobs: Integers, interval: int) -> None:
        """Take in a new snapshot, see `Balancer.table`."""
        # Copies: what a balancer writes into what it is given is nobody's load.
        given = self._one_each(jobs).copy(), self.settings.copy()
        self.table = self.balancer.table(*given, interval)

    def choose(self, jobs: Integers) -> int:
        """Return the worker for the next job.

        Parameters
        ----------
        jobs : ndarray of int64, shape (num_workers,)
            The snapshot: jobs in service and waiting at each worker.
        """
        view = self.view(self._one_each(jobs))
        self.num_decided += 1
        return int(self.balancer.decision(view))

    def _one_each(self, jobs: Any) -> Integers:
        counts = _check_counts("jobs", jobs, 0)
        one_each = f"({len(self.cores)},), one number for each worker"
        require(counts.shape == self.cores.shape, "jobs shape", counts.shape, one_each)
        return counts

    def view(self, jobs: Integers) -> View:
        """Return what the next decision sees, given a snapshot."""
        numbers = self.num_decided, self.settings, self.table
        return View(read_only(jobs), read_only(self.cores), *numbers, self.choices, self.ties)


def _cumulative(rule: DecisionRule) -> Floats:
    table = np.asarray(rule)
    whole = table.ndim == rule.num_choices + 1
    require(whole, "decision_rule shape", table.shape, "that of one rule, not of a batch")
    return np.ascontiguousarray(np.cumsum(table, axis=-1, dtype=np.float64).ravel())


def _check_counts(field_name: str, values: Any, minimum: int) -> Integers:
    allowed = f"integers >= {minimum}, one for each worker"
    counts = as_int_array(field_name, values, allowed)
    fits = counts.ndim == 1 and counts.size > 0 and minimum <= counts.min() <= counts.max() < 2**62
    require(bool(fits), field_name, values, allowed)
    return counts.astype(np.int64, copy=False)


def _check_tie_break(value: Any) -> None:
    known = isinstance(value, str) and value in TIE_BREAKS
    require(known, "tie_break", value, " or ".join(map(repr, TIE_BREAKS)))


def _check_sample(num_choices: int, distinct: bool, cores: Integers) -> None:
    fits = not distinct or num_choices <= len(cores)
    allowed = f"at most the number of workers, {len(cores)}, if they are distinct"
    require(fits, "num_choices", num_choices, allowed)
