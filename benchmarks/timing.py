"""Paired times of two ways of doing the same work.

Times are processor times of this process, which has one thread and never waits: on a quiet machine
they equal the time on the clock, and on a busy one they leave out what others are doing.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles

Work = Callable[[], object]

#: A measurement repeats its work until it takes about this long.
MEASURE_SECONDS = 0.05


@dataclass(frozen=True)
class Measured:
    """Median seconds per unit of work of both ways, and the ratio of paired measurements.

    Attributes
    ----------
    case : str
        What was measured.
    usual, ours : float
        Median seconds of the usual way and of the library's.
    ratio, low, high : float
        Median and quartiles of usual / ours over the pairs.
    target : float or None
        The ratio to reach.
    """

    case: str
    usual: float
    ours: float
    ratio: float
    low: float
    high: float
    target: float | None = None


def measure_pair(
    case: str,
    usual: Work,
    ours: Work,
    *,
    pairs: int,
    units: tuple[float, float] = (1.0, 1.0),
    target: float | None = None,
) -> Measured:
    """Measure two ways in turns, so that a slow moment of the machine meets both.

    Parameters
    ----------
    case : str
        What is measured.
    usual, ours : callable
        The two ways.
    pairs : int
        Number of pairs; the median is robust against the slow ones.
    units : tuple of float
        How many units of work one call of each way does.
    target : float, optional
        The ratio to reach.
    """
    works = (usual, ours)
    calls = [_calibrate(work) for work in works]
    times: list[list[float]] = [[], []]
    for pair in range(pairs):
        # Every other pair begins with the other one.
        for way in (0, 1) if pair % 2 else (1, 0):
            times[way].append(_time(works[way], calls[way]) / units[way])
    ratios = [slow / fast for slow, fast in zip(*times, strict=True)]
    low, _, high = quantiles(ratios, n=4) if pairs > 1 else ratios * 3
    return Measured(case, median(times[0]), median(times[1]), median(ratios), low, high, target)


def _calibrate(work: Work) -> int:
    """Return how many calls take `MEASURE_SECONDS`; the first call, which compiles, is free."""
    work()
    calls = 1
    while (seconds := _time(work, calls) * calls) < MEASURE_SECONDS:
        calls = max(2 * calls, round(calls * MEASURE_SECONDS / max(seconds, 1e-9)))
    return calls


def _time(work: Work, calls: int) -> float:
    """Return the mean seconds of a call."""
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(calls):
            work()
        return (time.process_time() - start) / calls
    finally:
        gc.enable()
