"""A work trace through least loaded workers: SimPy's and Ciw's way, and ours.

``python -m benchmarks.cluster JOBS`` prints the seconds and the peak in MiB of one large run.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.memory import ROOT, peak_memory
from benchmarks.timing import Measured, measure_pair
from benchmarks.usual_cluster import least_loaded, simulate_with_ciw, simulate_with_simpy
from mfc_lb.cluster import (
    ClusterParameters,
    LeastLoaded,
    SimulationResult,
    Trace,
    constant_trace,
    log_bytes,
    simulate_cluster,
)
from mfc_lb.cluster.trace_generators import TRIMODAL_DURATIONS

#: Ratios to reach.
TARGETS = {"Ciw": 20.0, "SimPy": 10.0}
#: Pairs are few: Ciw takes seconds, beside which noise is small.
MOST_PAIRS = 3
NUM_JOBS, LARGE = 10**5, 10**6
#: Limits of a large run.
MOST_SECONDS, MOST_MEBIBYTES = 8.0, 1024.0
CLUSTER = ClusterParameters()


@dataclass(frozen=True)
class Size:
    """What one large run takes, and the limit of it."""

    case: str
    ours: float
    unit: str
    target: float


def constant_trimodal(num_jobs: int) -> Trace:
    """Return the study's trace, longer."""
    return constant_trace(num_jobs=num_jobs, durations_us=TRIMODAL_DURATIONS, seed=1)


def measure(peer: str, pairs: int, num_jobs: int = NUM_JOBS) -> Measured:
    """Measure a simulation beside that of a peer; ours also keeps every event."""
    trace = constant_trimodal(num_jobs)
    ways: dict[str, Callable[[], object]] = {
        "Ciw": lambda: simulate_with_ciw(trace, CLUSTER.cores),
        "SimPy": lambda: simulate_with_simpy(trace, CLUSTER.cores, least_loaded),
    }
    return measure_pair(
        f"job of a trace, {peer}, {num_jobs:,} jobs",
        ways[peer],
        lambda: simulate(trace),
        pairs=min(pairs, MOST_PAIRS),
        units=(num_jobs, num_jobs),
        target=TARGETS[peer],
    )


def simulate(trace: Trace) -> SimulationResult:
    """Simulate, with ties as the peers break them."""
    return simulate_cluster(trace, CLUSTER, LeastLoaded("first"))


def measure_large(num_jobs: int = LARGE) -> Iterator[Size]:
    """Measure a large run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.cluster", str(num_jobs)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    seconds, peak = map(float, done.stdout.split())
    case = f"{num_jobs:,} jobs, job table and event log"
    yield Size(case, seconds, "s", MOST_SECONDS)
    yield Size(case, peak, "MiB", MOST_MEBIBYTES)


def run_large(num_jobs: int) -> float:
    """Return the seconds that a run takes, with its table and the bytes of its log."""
    make_everything(constant_trimodal(100))  # loads what is compiled
    trace = constant_trimodal(num_jobs)
    start = time.perf_counter()
    make_everything(trace)
    return time.perf_counter() - start


def make_everything(trace: Trace) -> None:
    """Simulate and make everything that a result holds."""
    result = simulate(trace)
    kept = result.to_frame(), log_bytes(result.log), result.summary()
    assert len(kept[0]) == len(trace)


if __name__ == "__main__":
    print(run_large(int(sys.argv[1])), peak_memory())
