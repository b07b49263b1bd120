"""What old news does to jobs of a trace: refresh interval against response time and drops.

Two kinds of demand. ``modulated`` is the model's, as a trace: workers with one core that hold at
most B jobs, Poisson arrivals at a rate that changes at each refresh, exponential service with a
mean of 1 s; there, the policy that was learned in the mean field fits, and random routing, the
power of two choices and the learned policy are the library's infinite-agent system. The others are
traces of the trace study on its cluster, with its parameters (which are ours, see `trace_study`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.balancers import (
    BALANCERS,
    Balancer,
    JoinShortestQueue,
    MeanFieldBalancer,
)
from mfc_lb.cluster.parameters import ClusterParameters
from mfc_lb.cluster.results import SimulationResult
from mfc_lb.cluster.simulator import simulate_cluster
from mfc_lb.cluster.trace_generators import modulated_poisson_trace, study_trace
from mfc_lb.experiments.cases import (
    HORIZON,
    JSQ,
    MF,
    PAPER,
    RND,
    Case,
    learned_policy,
    policy_digests,
    rate_paths,
    total_drops,
)
from mfc_lb.experiments.trace_study import MICROSECONDS
from mfc_lb.model import SystemParameters
from mfc_lb.results.experiment import (
    ESTIMATE_COLUMNS,
    Cell,
    Experiment,
    Result,
    Row,
    cell_seed,
    estimate_columns,
)
from mfc_lb.systems import Estimate

#: The model's demand as a trace.
MODULATED = "modulated"

RANDOM, ROUND_ROBIN, LEAST_LOADED = "random", "round-robin", "least-loaded"
POWER_OF_TWO, MEAN_FIELD = "jsq:2", "mean-field"
DELAY_BALANCERS = (RANDOM, ROUND_ROBIN, LEAST_LOADED, POWER_OF_TWO, MEAN_FIELD)

#: Balancers that are a policy of the model, with that policy's β as a softmin.
AS_POLICY = {RANDOM: (RND, 0.0), POWER_OF_TWO: (JSQ, np.inf), MEAN_FIELD: (MF, np.nan)}

#: Paired differences that the table holds: balancer minus reference.
DELAY_PAIRS = (
    *((balancer, RANDOM) for balancer in DELAY_BALANCERS[1:]),
    (POWER_OF_TWO, LEAST_LOADED),
    (MEAN_FIELD, POWER_OF_TWO),
)

#: Measures of a run; without a bound on jobs, nothing is dropped.
RESPONSE, DROPS = "response_time", "drops"


@dataclass(frozen=True)
class TraceDelaySize:
    """Sizes of the study.

    Parameters
    ----------
    num_workers : int
        Workers with one core, for the modulated demand.
    delta_ts : tuple of float
        Refresh intervals there, in mean service times and seconds alike; 0 means fresh news.
    intervals : tuple of float
        Refresh intervals for the study's traces, in seconds.
    num_runs : int
        Runs of each case; each has its own trace.
    traces : tuple of str
        Traces of the study.
    """

    num_workers: int
    delta_ts: tuple[float, ...]
    intervals: tuple[float, ...]
    num_runs: int
    traces: tuple[str, ...] = ("constant_trimodal", "ramp_trimodal")


@dataclass(frozen=True)
class DelayCase:
    """One balancer on one kind of demand, with news of one age.

    Parameters
    ----------
    trace : str
        ``modulated`` or a trace of the study.
    interval : float
        Refresh interval, in seconds.
    balancer : str
        One of `DELAY_BALANCERS`.
    num_workers : int
        Number of workers.
    """

    trace: str
    interval: float
    balancer: str
    num_workers: int

    @property
    def key(self) -> str:
        """Name of the case within its experiment."""
        return f"{self.trace}_{self.num_workers}_{self.interval:g}_{self.balancer}"

    @property
    def cluster(self) -> ClusterParameters:
        """The cluster."""
        refresh = round(self.interval * MICROSECONDS)
        if self.trace != MODULATED:
            return ClusterParameters(refresh_interval_us=refresh)
        cores, capacity = (1,) * self.num_workers, self.parameters.buffer_size
        return ClusterParameters(cores, capacity, refresh)

    @property
    def parameters(self) -> SystemParameters:
        """The model whose demand the modulated trace is; with fresh news, that of Δt = 1."""
        return SystemParameters(delta_t=self.interval or 1.0)

    @property
    def measures(self) -> tuple[str, ...]:
        """What is measured."""
        return (RESPONSE, DROPS) if self.trace == MODULATED else (RESPONSE,)

    @property
    def infinite_agents(self) -> Case | None:
        """The infinite-agent system that this case is, if any."""
        if self.trace != MODULATED or self.balancer not in AS_POLICY or self.interval == 0:
            return None
        policy, beta = AS_POLICY[self.balancer]
        return Case(self.interval, policy, beta, num_queues=self.num_workers)


def _groups(size: TraceDelaySize) -> Iterator[list[DelayCase]]:
    """Yield the balancers on each demand at each refresh interval."""
    for interval in size.delta_ts:
        # No policy is learned for fresh news.
        fitting = DELAY_BALANCERS if interval > 0 else DELAY_BALANCERS[:-1]
        yield [DelayCase(MODULATED, interval, name, size.num_workers) for name in fitting]
    for trace in size.traces:
        for interval in size.intervals:
            yield [DelayCase(trace, interval, name, 3) for name in DELAY_BALANCERS[:-1]]


def _cells(size: TraceDelaySize, seed: int) -> Sequence[Cell]:
    cases = [case for group in _groups(size) for case in group]
    cells = [Cell(case.key, partial(_runs, case, size.num_runs, seed)) for case in cases]
    for case in cases:
        limit = case.infinite_agents
        if limit is not None:
            paths = cell_seed(seed, MODULATED, case.interval)
            key = f"infinite_agents_{case.key}"
            cells.append(Cell(key, partial(total_drops, limit, size.num_runs, paths)))
    return cells


def _runs(case: DelayCase, num_runs: int, seed: int) -> dict[str, list[float]]:
    """Return each run's measures; all cases on one demand share its traces."""
    simulate = _simulate_modulated if case.trace == MODULATED else _simulate_study
    runs = [_measures(simulate(case, run, num_runs, seed)) for run in range(num_runs)]
    return {name: [measures[name] for measures in runs] for name in (RESPONSE, DROPS)}


def _measures(result: SimulationResult) -> dict[str, float]:
    num_workers = result.log.header.cluster.num_workers
    return {
        RESPONSE: float(result.response_times_us.mean()) / MICROSECONDS,
        DROPS: result.num_dropped / num_workers,
    }


def _simulate_study(case: DelayCase, run: int, _: int, seed: int) -> SimulationResult:
    own = cell_seed(seed, case.trace, run)
    jobs = study_trace(case.trace, seed=own)
    return simulate_cluster(jobs, case.cluster, _balancer(case, ()), seed=own)


def _simulate_modulated(case: DelayCase, run: int, num_runs: int, seed: int) -> SimulationResult:
    levels = _level_paths(case.parameters, num_runs, cell_seed(seed, MODULATED, case.interval))[run]
    own = cell_seed(seed, MODULATED, case.interval, run)
    jobs = modulated_poisson_trace(
        np.asarray(case.parameters.arrivals.rates)[levels],
        num_workers=case.num_workers,
        epoch_us=round(case.parameters.delta_t * MICROSECONDS),
        mean_duration_us=MICROSECONDS,
        seed=own,
    )
    return simulate_cluster(jobs, case.cluster, _balancer(case, levels), seed=own)


@cache
def _level_paths(parameters: SystemParameters, num_runs: int, seed: int) -> NDArray[np.int64]:
    return rate_paths(parameters, num_runs, seed)


def _balancer(case: DelayCase, levels: Any) -> Balancer:
    if case.balancer == MEAN_FIELD:
        told = tuple(int(level) for level in levels)
        return MeanFieldBalancer(learned_policy(case.interval), case.parameters, told)
    return JoinShortestQueue(2) if case.balancer == POWER_OF_TWO else BALANCERS[case.balancer]()


def _rows(size: TraceDelaySize, results: Mapping[str, Result]) -> list[Row]:
    rows: list[Row] = []
    for group in _groups(size):
        runs = {case.balancer: results[case.key] for case in group}
        for case in group:
            for measure in case.measures:
                mine = np.asarray(runs[case.balancer][measure])
                rows.append(_row(case, measure, "none", mine))
                for balancer, other in DELAY_PAIRS:
                    if balancer == case.balancer:
                        rows.append(_row(case, measure, other, mine - runs[other][measure]))
            if case.infinite_agents is not None:
                limit = results[f"infinite_agents_{case.key}"]
                difference = np.subtract(runs[case.balancer][DROPS], limit)
                rows.append(_row(case, DROPS, "infinite_agents", difference))
    return rows


def _row(case: DelayCase, measure: str, reference: str, samples: NDArray[np.float64]) -> Row:
    return {
        "trace": case.trace,
        "num_workers": case.num_workers,
        "refresh_interval": case.interval,
        "balancer": case.balancer,
        "reference": reference,
        "measure": measure,
        **estimate_columns(Estimate.of(samples)),
    }


EXPERIMENT = Experiment(
    name="trace_delay",
    question="What do old news do to the jobs of a trace?",
    seed=20231,
    sizes={
        "quick": TraceDelaySize(
            num_workers=20, delta_ts=(0.0, 1.0, 5.0), intervals=(0.0, 0.2, 1.0, 5.0), num_runs=10
        ),
        "paper": TraceDelaySize(
            num_workers=100,
            delta_ts=(0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0),
            intervals=(0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
            num_runs=100,
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    # With fresh news there is no delay to learn for.
    data=lambda size: policy_digests([delta_t for delta_t in size.delta_ts if delta_t > 0]),
    columns={
        "trace": f"{MODULATED}: the model's demand, on workers with one core that hold at most 5 "
        "jobs, mean service time 1 s; or a trace of the study, on 3 workers with 4 cores",
        "num_workers": "number of workers",
        "refresh_interval": "how old news get before the next come, in seconds; 0: they are always "
        "fresh",
        "balancer": "random, round-robin, least-loaded, jsq:2 (the less loaded of two sampled "
        "workers) or mean-field (the policy learned for this delay)",
        "reference": "none: the estimate is of the measure; infinite_agents: of the paired "
        "difference from the infinite-agent system; a balancer: of that from it",
        "measure": "response_time: mean over a run's finished jobs, in seconds; drops: jobs dropped"
        f" per worker over {HORIZON:g} s",
        "estimate": "mean over the runs of the measure or of its difference",
        **ESTIMATE_COLUMNS,
    },
)
