"""The paper's whole grid of finite systems: sizes, delays and policies."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from tqdm import tqdm

from mfc_lb import (
    ConstantPolicy,
    FiniteSystem,
    SystemParameters,
    evaluate,
    join_shortest_queue,
    random_choice,
    softmin,
)

SIZES = (100, 200, 400, 600, 800, 1000)
DELAYS = tuple(float(delay) for delay in range(1, 11))
NUM_RUNS = 100
BETA = 0.5
#: Wall time to reach with per-epoch routing on two cores, in seconds.
TARGETS = {"per_epoch": 360.0, "per_packet": None}


@dataclass(frozen=True)
class GridTime:
    """Wall time of a grid in seconds."""

    case: str
    seconds: float
    target: float | None


def measure(
    routing: str,
    processes: int = 2,
    sizes: tuple[int, ...] = SIZES,
    delays: tuple[float, ...] = DELAYS,
    num_runs: int = NUM_RUNS,
) -> GridTime:
    """Simulate three policies in all systems of the grid, with N = M² agents."""
    start = time.perf_counter()
    systems = list(_systems(routing, sizes, delays))
    for system in tqdm(systems, unit="cell", delay=2, disable=None):
        p = system.parameters
        for rule in (random_choice(p), join_shortest_queue(p), softmin(p, BETA)):
            evaluate(
                system,
                ConstantPolicy(rule),
                num_epochs=p.num_epochs(),
                num_runs=num_runs,
                seed=1,
                processes=processes,
            )
    cells = f"{len(sizes)} x {len(delays)} cells, 3 policies, {num_runs} runs"
    case = f"{routing}, {cells}, {processes} processes"
    return GridTime(case, time.perf_counter() - start, TARGETS[routing])


def _systems(
    routing: str, sizes: tuple[int, ...], delays: tuple[float, ...]
) -> Iterator[FiniteSystem]:
    for num_queues in sizes:
        for delta_t in delays:
            yield FiniteSystem(
                SystemParameters(delta_t=delta_t), num_queues**2, num_queues, routing
            )
