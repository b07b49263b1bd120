"""Jobs of a trace through a balancer and workers, in integer microseconds."""

import numpy as np

from mfc_lb.cluster import kernel
from mfc_lb.cluster.balancers import Balancer, Dispatcher
from mfc_lb.cluster.events import ABSENT, EventKind, EventLog, Events, LogHeader
from mfc_lb.cluster.parameters import ClusterParameters
from mfc_lb.cluster.results import SimulationResult
from mfc_lb.cluster.traces import LONGEST_US, Trace
from mfc_lb.errors import InvalidInput, check_int, require

#: Largest seed: what a log can say.
MAX_SEED = 2**64 - 1


def simulate_cluster(
    trace: Trace,
    cluster: ClusterParameters,
    balancer: Balancer,
    *,
    seed: int = 0,
    horizon_us: int | None = None,
) -> SimulationResult:
    """Send the jobs of a trace through a balancer to the workers of a cluster.

    Parameters
    ----------
    trace : Trace
        The jobs.
    cluster : ClusterParameters
        The workers, their capacity and the refresh interval.
    balancer : Balancer
        Picks a worker for each job.
    seed : int, 0 to 2^64 - 1
        Of the balancer's random choices. The jobs are the trace's, whatever the balancer.
    horizon_us : int, >= 0, optional
        When to stop. What happens at this instant still happens; later arrivals do not. Without
        it, the simulation goes on until every job has ended.

    Returns
    -------
    SimulationResult
        Job table, event log and load over time.

    Raises
    ------
    InvalidInput
        If a value is out of range, or the balancer cannot serve the workers.

    Examples
    --------
    >>> from mfc_lb.cluster.balancers import LeastLoaded
    >>> trace = Trace.from_arrays([0, 0, 0], [5, 5, 5])
    >>> result = simulate_cluster(trace, ClusterParameters(cores=(1, 1)), LeastLoaded("first"))
    >>> result.worker.tolist(), result.finish_time_us.tolist()
    ([0, 1, 0], [5, 5, 10])
    """
    require(isinstance(trace, Trace), "trace", trace, "a Trace")
    require(isinstance(cluster, ClusterParameters), "cluster", cluster, "ClusterParameters")
    check_int("seed", seed, 0, MAX_SEED)
    if horizon_us is not None:
        check_int("horizon_us", horizon_us, 0, LONGEST_US)
    dispatcher = Dispatcher(balancer, cluster.cores_array, seed)
    state = _run(trace, cluster, dispatcher, horizon_us)
    header = LogHeader("simulation", repr(balancer), int(seed), cluster, horizon_us)
    log = _log(trace, state, header)
    jobs = state.jobs
    return SimulationResult(trace, log, jobs.worker, jobs.start, jobs.finish, jobs.state)


def _run(
    trace: Trace, cluster: ClusterParameters, dispatcher: Dispatcher, horizon_us: int | None
) -> kernel.State:
    stale = cluster.refresh_interval_us > 0
    times = trace.arrival_time_us, trace.service_time_us
    state = kernel.new_state(*times, dispatcher.cores, stale=stale)
    horizon = LONGEST_US if horizon_us is None else horizon_us
    capacity = LONGEST_US if cluster.capacity is None else cluster.capacity
    limits = kernel.Limits(capacity, cluster.refresh_interval_us, horizon)
    while (reason := _go_on(state, limits, dispatcher)) == kernel.REFRESH_DUE:
        interval = int(state.counters[kernel.REFRESHED])
        dispatcher.refresh(state.workers.snapshot, interval)
    if reason == kernel.NO_SUCH_WORKER:
        raise InvalidInput(
            f"balancer must decide for a worker from 0 to {cluster.num_workers - 1}, "
            f"got another one from {dispatcher.balancer!r}"
        )
    return state


def _go_on(state: kernel.State, limits: kernel.Limits, dispatcher: Dispatcher) -> int:
    balancer, view = dispatcher.balancer, dispatcher.view(state.workers.snapshot)
    pause = balancer.follows_snapshots
    return kernel.run(state, limits, view, balancer.decision, pause=pause)


def _log(trace: Trace, state: kernel.State, header: LogHeader) -> EventLog:
    count = int(state.counters[kernel.LOGGED])
    kind, time, job, worker = (column[:count] for column in state.log)
    arrived = kind == EventKind.ARRIVED
    service = np.where(arrived, trace.service_time_us[job], ABSENT)
    events = Events(kind, time, trace.job_id[job], worker, service)
    last = int(time[-1]) if count else 0
    return EventLog(header, events, last if header.horizon_us is None else header.horizon_us)
