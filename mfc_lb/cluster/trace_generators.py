"""Traces made by rule: those of the trace study, and Poisson arrivals with exponential service.

All times are whole microseconds.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.traces import Times, Trace
from mfc_lb.errors import as_float_array, check_int, check_list, check_real, check_seed, require

#: Service times of the study: always the same, or one of three that are equally likely. The study
#: names the three; the constant one is ours, a little below their mean.
CONSTANT_DURATIONS = (500_000,)
TRIMODAL_DURATIONS = (100_000, 500_000, 1_000_000)

#: The most jobs that are generated, and the longest time, 30 000 years.
MOST_JOBS = 10**9
LONGEST_US = 10**18


def constant_trace(
    *,
    num_jobs: int = 1200,
    interval_us: int = 50_000,
    durations_us: Sequence[int] = CONSTANT_DURATIONS,
    seed: int = 0,
) -> Trace:
    """Return a trace whose jobs arrive at a constant rate.

    Parameters
    ----------
    num_jobs : int, >= 0
        Number of jobs; the first arrives at time 0.
    interval_us : int, >= 0
        Time between two arrivals.
    durations_us : sequence of int, >= 0
        Service times; each job draws one of them, all equally likely.
    seed : int, >= 0
        Of the service times.

    Returns
    -------
    Trace
        With the defaults, 20 jobs per second for a minute.
    """
    count = check_int("num_jobs", num_jobs, 0, MOST_JOBS)
    interval = check_int("interval_us", interval_us, 0, LONGEST_US // max(1, count))
    return _with_durations(np.arange(count, dtype=np.int64) * interval, durations_us, seed)


def ramp_trace(
    *,
    interval_us: int = 100_000,
    floor_us: int = 40_000,
    ramp_length_us: int = 30_000_000,
    repeats: int = 2,
    durations_us: Sequence[int] = CONSTANT_DURATIONS,
    seed: int = 0,
) -> Trace:
    """Return a trace whose arrival rate grows linearly, backs off, and grows again.

    Parameters
    ----------
    interval_us : int, > 0
        Time between arrivals when a ramp begins: the rate is its inverse.
    floor_us : int, > 0
        Time between arrivals when a ramp ends, the shortest; at most `interval_us`.
    ramp_length_us : int, > 0
        How long a ramp takes. The next begins at once, back at the first rate.
    repeats : int, >= 1
        Number of ramps.
    durations_us : sequence of int, >= 0
        Service times; each job draws one of them, all equally likely.
    seed : int, >= 0
        Of the service times.

    Returns
    -------
    Trace
        With the defaults, twice from 10 to 25 jobs per second in half a minute.

    Notes
    -----
    Arrivals are not random: within a ramp of length L, whose rate is r(t) = a + (b − a) t/L, job
    k = 0, 1, ... arrives when the integral of r reaches k. Rounded to microseconds.
    """
    interval = check_int("interval_us", interval_us, 1, LONGEST_US)
    floor = check_int("floor_us", floor_us, 1)
    require(floor <= interval, "floor_us", floor_us, f"at most the interval, {interval} us")
    length = check_int("ramp_length_us", ramp_length_us, 1, LONGEST_US)
    count = check_int("repeats", repeats, 1)
    require(count * length <= LONGEST_US, "repeats", repeats, f"at most {LONGEST_US // length}")
    allowed = f"such that at most {MOST_JOBS} jobs arrive"
    require(count * (length / floor + 1) <= MOST_JOBS, "ramp_length_us", length, allowed)
    starts = np.arange(count, dtype=np.int64) * length
    arrivals = np.add.outer(starts, _ramp(interval, floor, length)).ravel()
    return _with_durations(arrivals, durations_us, seed)


def _ramp(interval: int, floor: int, length: int) -> Times:
    first, last = 1.0 / interval, 1.0 / floor
    jobs = np.arange(int((first + last) / 2 * length) + 1)
    # The root of k = a t + (b - a) t²/2L, in the form that also holds for a = b.
    times = 2.0 * jobs / (first + np.sqrt(first * first + 2.0 * (last - first) / length * jobs))
    rounded = np.rint(times).astype(np.int64)
    # A job that would arrive when the next ramp begins is that ramp's first.
    return np.asarray(rounded[rounded < length])


def poisson_trace(
    *,
    num_jobs: int = 10_000,
    mean_interval_us: float = 50_000,
    mean_duration_us: float = 500_000,
    seed: int = 0,
) -> Trace:
    """Return a trace of Poisson arrivals with exponential service times.

    Parameters
    ----------
    num_jobs : int, >= 0
        Number of jobs.
    mean_interval_us : float, >= 0
        Mean time between two arrivals.
    mean_duration_us : float, >= 0
        Mean service time.
    seed : int, >= 0
        Arrivals and service times have streams of their own.

    Returns
    -------
    Trace
        Times are rounded to microseconds.
    """
    count = check_int("num_jobs", num_jobs, 0, MOST_JOBS)
    interval = _check_mean("mean_interval_us", mean_interval_us, count)
    arriving, serving = _streams(seed)
    arrivals = _round(np.cumsum(arriving.exponential(interval, count)))
    return _with_exponential_service(arrivals, mean_duration_us, serving)


def modulated_poisson_trace(
    arrival_rates: Any,
    *,
    num_workers: int,
    epoch_us: int,
    mean_duration_us: int = 500_000,
    seed: int = 0,
) -> Trace:
    """Return a trace of Poisson arrivals whose rate changes from epoch to epoch.

    Parameters
    ----------
    arrival_rates : array_like of float, shape (T,), >= 0
        Rate λ_t in each epoch, in jobs per worker and mean service time, as in the model.
    num_workers : int, >= 1
        Number M of workers; jobs arrive at rate M·λ_t.
    epoch_us : int, >= 1
        Length of an epoch.
    mean_duration_us : int, >= 1
        Mean of the exponential service times, the model's unit of time.
    seed : int, >= 0
        Arrivals and service times have streams of their own.

    Returns
    -------
    Trace
        Times are rounded down (arrivals) and to the nearest (service) microsecond.

    Notes
    -----
    This is the demand of `mfc_lb.InfiniteAgentSystem` as jobs; the levels' chain is sampled by
    `mfc_lb.ArrivalProcess.sample_levels`.
    """
    rates = as_float_array("arrival_rates", arrival_rates)
    allowed = "one-dimensional, finite and >= 0"
    good = rates.ndim == 1 and bool(np.isfinite(rates).all() and (rates >= 0).all())
    require(good, "arrival_rates", arrival_rates, allowed)
    workers = check_int("num_workers", num_workers, 1, 2**63 - 1)
    epoch = check_int("epoch_us", epoch_us, 1, LONGEST_US // max(1, rates.size))
    mean = check_int("mean_duration_us", mean_duration_us, 1, LONGEST_US)
    arriving, serving = _streams(seed)
    expected = rates * workers * (epoch / mean)
    few = float(expected.sum()) <= MOST_JOBS
    require(few, "num_workers", num_workers, f"such that about {MOST_JOBS} jobs arrive at most")
    counts = arriving.poisson(expected)
    starts = np.repeat(np.arange(rates.size, dtype=np.int64) * epoch, counts)
    arrivals = np.sort(starts + arriving.integers(0, epoch, size=starts.size))
    return _with_exponential_service(arrivals, mean, serving)


#: The study's four traces by name: arrivals, then service.
STUDY_TRACES: dict[str, Callable[..., Trace]] = {
    "constant_constant": partial(constant_trace, durations_us=CONSTANT_DURATIONS),
    "constant_trimodal": partial(constant_trace, durations_us=TRIMODAL_DURATIONS),
    "ramp_constant": partial(ramp_trace, durations_us=CONSTANT_DURATIONS),
    "ramp_trimodal": partial(ramp_trace, durations_us=TRIMODAL_DURATIONS),
}


def study_trace(name: str, seed: int = 0) -> Trace:
    """Return one of the four traces of the study.

    Parameters
    ----------
    name : str
        A key of `STUDY_TRACES`, such as ``"ramp_trimodal"``.
    seed : int, >= 0
        Of the service times, where these are drawn.

    Returns
    -------
    Trace
        For 3 workers of 4 cores.

    Examples
    --------
    >>> trace = study_trace("constant_trimodal", seed=1)
    >>> len(trace), trace.service_time_us[:3].tolist()
    (1200, [1000000, 500000, 100000])
    """
    known = isinstance(name, str) and name in STUDY_TRACES
    require(known, "name", name, f"one of {', '.join(STUDY_TRACES)}")
    return STUDY_TRACES[name](seed=seed)


def _with_durations(arrivals: Times, durations_us: Sequence[int], seed: int) -> Trace:
    allowed = "a sequence of at least one service time"
    durations = [
        check_int(f"durations_us[{index}]", value, 0, LONGEST_US)
        for index, value in enumerate(check_list("durations_us", durations_us, allowed))
    ]
    require(len(durations) > 0, "durations_us", durations_us, allowed)
    _, serving = _streams(seed)
    drawn = serving.integers(len(durations), size=len(arrivals))
    return Trace.from_arrays(arrivals, np.array(durations, dtype=np.int64)[drawn])


def _with_exponential_service(
    arrivals: Times, mean_us: float, generator: np.random.Generator
) -> Trace:
    mean = _check_mean("mean_duration_us", mean_us, len(arrivals))
    return Trace.from_arrays(arrivals, _round(generator.exponential(mean, len(arrivals))))


def _streams(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the streams of arrivals and of service times."""
    source = np.random.SeedSequence(check_seed(seed))
    arriving, serving = source.spawn(2)
    return np.random.default_rng(arriving), np.random.default_rng(serving)


def _check_mean(field: str, value: float, count: int) -> float:
    mean = check_real(field, value)
    most = LONGEST_US / max(1, count)
    require(mean <= most, field, value, f"at most {most:g} for {count} jobs")
    return mean


def _round(times: NDArray[np.float64]) -> Times:
    return np.asarray(np.rint(times).astype(np.int64))
