"""What the herd does: how full the queues are over time, seen within the epochs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mfc_lb.experiments.cases import CASE_COLUMNS, JSQ, PAPER, RND, Case, mean_field_system
from mfc_lb.results.experiment import (
    ESTIMATE_COLUMNS,
    Cell,
    Experiment,
    Result,
    Row,
    cell_seed,
    estimate_columns,
    exactly,
)
from mfc_lb.systems import Estimate, FiniteSystem, epoch_by_expm
from mfc_lb.systems.evaluation import run_seed
from mfc_lb.systems.queue_system import serve_epoch

POLICIES = {JSQ: math.inf, RND: 0.0}


@dataclass(frozen=True)
class TrajectoriesSize:
    """Sizes of the trajectories.

    Parameters
    ----------
    delta_ts : tuple of float
        Synchronisation delays; multiples of `time_step` that divide the longest of them.
    levels : tuple of int
        Arrival level in each period of the longest delay, the same for all delays.
    time_step : float
        Time between observations, in mean service times.
    num_queues : int
        Number M of queues of the finite system; it has N = M² agents that choose per epoch.
    num_runs : int
        Runs of the finite system.
    """

    delta_ts: tuple[float, ...]
    levels: tuple[int, ...]
    time_step: float
    num_queues: int
    num_runs: int

    def epoch_levels(self, delta_t: float) -> NDArray[np.int64]:
        """Return the arrival level in each epoch of length Δt, shape (E,)."""
        return np.repeat(np.asarray(self.levels), round(max(self.delta_ts) / delta_t))

    def num_parts(self, delta_t: float) -> int:
        """Return the number of observations in an epoch."""
        return round(delta_t / self.time_step)


class ObservedSystem(FiniteSystem):
    """A finite system whose queues are observed within the epochs, too.

    Parameters
    ----------
    case : Case
        A finite case.
    num_parts : int
        Number of observations in an epoch. Each part is simulated by itself, which changes nothing:
        the arrival rates stay the same until the epoch ends, and the queues have no memory.

    Attributes
    ----------
    observed : list of ndarray, shape (S,)
        Fractions of the queues in each state at the end of each part.
    """

    def __init__(self, case: Case, num_parts: int) -> None:
        super().__init__(case.parameters, int(case.num_agents), int(case.num_queues), "per_epoch")
        self.num_parts = num_parts
        self.observed: list[NDArray[np.float64]] = []

    def _serve(
        self,
        states: NDArray[np.int64],
        rates: NDArray[np.float64],
        service: np.random.Generator,
    ) -> tuple[int, int, int]:
        p, totals = self.parameters, np.zeros(3, dtype=np.int64)
        part = p.delta_t / self.num_parts
        for _ in range(self.num_parts):
            service_rates = np.asarray(p.service_rates)
            totals += serve_epoch(states, rates, service_rates, p.buffer_size, part, service)
            self.observed.append(self._count(states) / self.num_queues)
        return cast("tuple[int, int, int]", tuple(totals.tolist()))


def _cases(size: TrajectoriesSize) -> Iterator[Case]:
    queues = size.num_queues
    for delta_t in size.delta_ts:
        for named in POLICIES.items():
            limit = Case(delta_t, *named)
            yield limit
            yield replace(limit, num_queues=queues, num_agents=queues**2, routing="per_epoch")


def _cells(size: TrajectoriesSize, seed: int) -> Sequence[Cell]:
    return [
        Cell(case.key, partial(follow, case, size, cell_seed(seed, case.delta_t)))
        for case in _cases(size)
    ]


def follow(case: Case, size: TrajectoriesSize, seed: int) -> dict[str, Any]:
    """Follow a case along the size's levels.

    Returns
    -------
    dict from str to nested list
        ``fractions`` of the queues per filling, shape (R, T+1, B+1); in the mean field also the
        mean ``fillings`` of queues that began an epoch with z, shape (E, parts+1, B+1).
    """
    if case.system_name == "mean_field":
        return _follow_limit(case, size)
    levels, runs = size.epoch_levels(case.delta_t), []
    for run in range(size.num_runs):
        system = ObservedSystem(case, size.num_parts(case.delta_t))
        start = system.simulate(case.make_policy(), levels, run_seed(seed, run)[1]).distributions[0]
        runs.append(np.vstack([start, *system.observed]).tolist())
    return {"fractions": runs}


def _follow_limit(case: Case, size: TrajectoriesSize) -> dict[str, Any]:
    p, policy = case.parameters, case.make_policy()
    levels = size.epoch_levels(case.delta_t)
    starts = mean_field_system(case.delta_t).simulate(policy, levels).distributions
    times = size.time_step * np.arange(size.num_parts(case.delta_t) + 1)
    fractions, fillings = [starts[:1]], []
    for nu, level in zip(starts[:-1], levels, strict=True):
        rates = policy(nu, level).arrival_rates(nu, p.arrivals.rates[level])
        # Column z of each state's own matrix: where a queue that began with z is at each time.
        epochs = np.stack(
            [epoch_by_expm(rates, p.service_rates[0], p.buffer_size, t) for t in times]
        )
        ends = np.einsum("tzez->tze", epochs[:, :, :-1, :-1])
        fractions.append((nu @ ends)[1:])
        fillings.append(ends @ p.fillings)
    return {
        "fractions": [np.concatenate(fractions).tolist()],
        "fillings": np.stack(fillings).tolist(),
    }


def _rows(size: TrajectoriesSize, results: Mapping[str, Result]) -> list[Row]:
    rows: list[Row] = []
    for case in _cases(size):
        result = {name: np.asarray(values) for name, values in results[case.key].items()}
        rows += _fraction_rows(case, size, result["fractions"])
        rows += _rate_rows(case, size, result["fractions"])
        if "fillings" in result and size.num_parts(case.delta_t) > 1:
            rows += _filling_rows(case, size, result["fillings"])
    return rows


def _fraction_rows(case: Case, size: TrajectoriesSize, fractions: NDArray[np.float64]) -> list[Row]:
    num_times, parts = fractions.shape[1], size.num_parts(case.delta_t)
    # The end of an epoch counts as the next one's beginning, except at the end of all.
    last = len(size.epoch_levels(case.delta_t)) - 1
    return [
        _row(case, size, min(step // parts, last), step, ("fraction", filling), samples)
        for step in range(num_times)
        for filling, samples in enumerate(fractions[:, step].T)
    ]


def _rate_rows(case: Case, size: TrajectoriesSize, fractions: NDArray[np.float64]) -> list[Row]:
    policy, rates = case.make_policy(), case.parameters.arrivals.rates
    parts = size.num_parts(case.delta_t)
    return [
        _row(case, size, epoch, epoch * parts, ("arrival_rate", filling), samples)
        for epoch, level in enumerate(size.epoch_levels(case.delta_t))
        for nu in [fractions[:, epoch * parts]]
        for filling, samples in enumerate(policy(nu, level).arrival_rates(nu, rates[level]).T)
    ]


def _filling_rows(case: Case, size: TrajectoriesSize, fillings: NDArray[np.float64]) -> list[Row]:
    parts = size.num_parts(case.delta_t)
    return [
        _row(case, size, epoch, epoch * parts + part, ("mean_filling", filling), mean)
        for epoch, within in enumerate(fillings)
        for part, means in enumerate(within)
        for filling, mean in enumerate(means[:, None])
    ]


def _row(
    case: Case,
    size: TrajectoriesSize,
    epoch: int,
    step: int,
    what: tuple[str, int],
    samples: NDArray[np.float64],
) -> Row:
    estimate = exactly(samples[0]) if case.system_name == "mean_field" else Estimate.of(samples)
    level = size.epoch_levels(case.delta_t)[epoch]
    return {
        **case.columns(),
        "time": size.time_step * step,
        "epoch": epoch,
        "mean_arrival_rate": case.parameters.arrivals.rates[level],
        "measure": what[0],
        "filling": what[1],
        **estimate_columns(estimate),
    }


EXPERIMENT = Experiment(
    name="trajectories",
    question="What does the herd do to the queues while it waits for news?",
    seed=20220,
    sizes={
        "quick": TrajectoriesSize(
            delta_ts=(1.0, 10.0),
            levels=(0, 0, 1, 0),
            time_step=1.0,
            num_queues=100,
            num_runs=5,
        ),
        "paper": TrajectoriesSize(
            delta_ts=(1.0, 10.0),
            levels=(0, 0, 0, 1, 1, 0),
            time_step=1.0,
            num_queues=1000,
            num_runs=20,
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    columns={
        **CASE_COLUMNS,
        "time": "time since all queues were empty, in mean service times",
        "epoch": "index of the epoch",
        "mean_arrival_rate": "arrival rate λ per queue at that time, in packets per mean service "
        "time",
        "measure": "fraction: of the queues that hold `filling` packets at that time; "
        "arrival_rate: into a queue that held `filling` packets when the epoch began (then); "
        "mean_filling: at that time, of the queues that held `filling` packets when it began",
        "filling": "packets in a queue, the one in service included",
        "estimate": "fraction: from 0 to 1; arrival_rate: packets per mean service time; "
        "mean_filling: packets",
        **ESTIMATE_COLUMNS,
    },
)
