"""A live cluster on loopback: how many jobs of length zero it serves, and what each costs.

``python -m benchmarks.live_cluster`` prints both.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mfc_lb.cluster import ClusterParameters, Trace
from mfc_lb.cluster.rpc.loopback import run_live

#: Jobs per second to reach.
TARGET = 1000.0
#: Jobs that come at one instant, and jobs that come one by one, so many microseconds apart.
NUM_AT_ONCE, NUM_APART, APART_US = 20_000, 500, 5_000
CLUSTER = ClusterParameters()


@dataclass(frozen=True)
class Measure:
    """A measured number; a target, if there is one, is to be reached or exceeded."""

    case: str
    ours: float
    unit: str
    target: float | None = None


def measure(num_at_once: int = NUM_AT_ONCE, num_apart: int = NUM_APART) -> Iterator[Measure]:
    """Measure throughput and overhead, client, balancer and workers as processes."""
    at_once = run_live(empty_jobs(num_at_once, 0), CLUSTER)
    case = f"{num_at_once:,} jobs of length 0 at one instant"
    yield Measure(case, at_once.jobs_per_second, "jobs/s", TARGET)
    apart = run_live(empty_jobs(num_apart, APART_US), CLUSTER)
    case = f"median overhead per job of length 0, one in {APART_US / 1000:g} ms"
    yield Measure(case, 1000 * apart.overhead, "ms")


def empty_jobs(count: int, interval_us: int) -> Trace:
    """Return a trace of jobs of length zero."""
    return Trace.from_arrays(np.arange(count) * interval_us, np.zeros(count, dtype=np.int64))


if __name__ == "__main__":
    for measured in measure():
        wanted = "" if measured.target is None else f" (target: {measured.target:,.0f})"
        print(f"{measured.case}: {measured.ours:,.4g} {measured.unit}{wanted}")
