"""How balancers decide, compiled: each function picks the worker for one job.

A decision sees a `View` and returns the index of a worker. A decision without a tie draws nothing
from the stream of ties.
"""

from typing import Any, NamedTuple

import numpy as np

from mfc_lb.compiled import njit


class View(NamedTuple):
    """What a decision sees.

    Attributes
    ----------
    jobs : ndarray of int64, shape (num_workers,)
        Snapshot of the jobs in service and waiting at each worker; read-only, as the cores are.
    cores : ndarray of int64, shape (num_workers,)
        Cores of each worker.
    num_decided : int64
        Number of decisions before this one.
    settings : ndarray of int64
        The balancer's own numbers, see `Balancer.settings`.
    table : ndarray of float64
        The balancer's own numbers, as of the snapshot, see `Balancer.table`.
    choices, ties : numpy.random.Generator
        Streams of random choices and of broken ties.
    """

    jobs: Any
    cores: Any
    num_decided: Any
    settings: Any
    table: Any
    choices: Any
    ties: Any


@njit()
def uniform_worker(view: Any) -> Any:
    """Pick any worker."""
    return uniform_below(view.jobs.size, view.choices)


@njit()
def next_worker(view: Any) -> Any:
    """Pick the workers in turns."""
    return view.num_decided % view.jobs.size


@njit()
def least_loaded_worker(view: Any) -> Any:
    """Pick the smallest load; settings: whether the first of the tied is taken."""
    best, num_tied = 0, 1
    for worker in range(1, view.jobs.size):
        order = compare_loads(view, worker, best)
        if order < 0:
            best, num_tied = worker, 1
        elif order == 0:
            num_tied += 1
    if num_tied == 1 or view.settings[0]:
        return best
    remaining = uniform_below(num_tied, view.ties)
    for worker in range(best, view.jobs.size):
        if compare_loads(view, worker, best) == 0:
            if remaining == 0:
                return worker
            remaining -= 1
    return best


@njit()
def shortest_sampled_worker(view: Any) -> Any:
    """Pick the smallest load of a sample; settings: first of the tied, size, distinct."""
    sample = sample_workers(view, view.settings[1], view.settings[2])
    best = sample[0]
    for worker in sample[1:]:
        order = compare_loads(view, worker, best)
        if order < 0 or (order == 0 and worker < best):
            best = worker
    num_tied, same = 0, True
    for slot in range(sample.size):
        if compare_loads(view, sample[slot], best) == 0:
            same = same and sample[slot] == best
            sample[num_tied] = sample[slot]
            num_tied += 1
    if same or view.settings[0]:
        return best
    return sample[uniform_below(num_tied, view.ties)]


@njit()
def worker_by_rule(view: Any) -> Any:
    """Pick from a sample by a decision rule.

    Settings are sample size, distinct, buffer size, number of states, and the class of each worker;
    the table holds the cumulative probabilities of the rule.
    """
    num_choices, buffer_size, num_states = view.settings[0], view.settings[2], view.settings[3]
    sample = sample_workers(view, num_choices, view.settings[1])
    row = 0
    for worker in sample:
        filling = min(view.jobs[worker], buffer_size)
        row = row * num_states + view.settings[4 + worker] * (buffer_size + 1) + filling
    draw, slot = view.choices.random(), 0
    while slot < num_choices - 1 and draw >= view.table[row * num_choices + slot]:
        slot += 1
    return sample[slot]


@njit()
def compare_loads(view: Any, worker: int, other: int) -> Any:
    """Return the sign of the difference of two loads, exactly: no division."""
    jobs, cores = view.jobs, view.cores
    difference = jobs[worker] * cores[other] - jobs[other] * cores[worker]
    return (difference > 0) - (difference < 0)


@njit()
def uniform_below(bound: int, generator: Any) -> int:
    """Return a uniform integer from 0 to `bound` - 1; one draw."""
    return int(generator.random() * bound)


@njit()
def sample_workers(view: Any, size: int, distinct: int) -> Any:
    """Return a uniform sample of workers; one draw each.

    Distinct ones are found as by R. W. Floyd (J. Bentley, Programming Pearls, 1987): a number that
    is already in the sample is replaced by the largest that could be drawn.
    """
    num_workers, sample = view.jobs.size, np.empty(size, dtype=np.int64)
    for slot in range(size):
        largest = num_workers - size + slot if distinct else num_workers - 1
        drawn = uniform_below(largest + 1, view.choices)
        if distinct and np.any(sample[:slot] == drawn):
            drawn = largest
        sample[slot] = drawn
    return sample
