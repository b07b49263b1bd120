"""What a live run shows: its loads beside the simulated ones, its jitter, and a worker's loss."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.cluster import EventKind, EventLog
from mfc_lb.cluster.load_windows import window_averages
from mfc_lb.errors import check_int
from mfc_lb.experiments.live_cluster import LiveRun, load_gap, moved
from mfc_lb.experiments.trace_study import CURVES, MICROSECONDS


def curves(run: LiveRun, num_runs: int = 20, num_windows: int = 60) -> pd.DataFrame:
    """Return the loads over time, live and simulated.

    Parameters
    ----------
    run : LiveRun
        The live run.
    num_runs : int, >= 1
        Simulations of a balancer that draws: that with the seed of the live run, and others.
    num_windows : int, >= 1
        Windows from the first arrival to the last over which loads are averaged.

    Returns
    -------
    DataFrame
        Columns ``source`` (``live`` or ``simulated``), ``balancer``, ``measure``, ``window_start``
        and ``window_end`` (seconds since the first arrival), ``estimate``, and ``lowest`` and
        ``highest`` of the simulations.
    """
    arrivals = run.trace.arrival_time_us
    edges = np.linspace(arrivals[0], arrivals[-1], 1 + check_int("num_windows", num_windows, 1))
    simulated = [
        window_averages(result.load_moments, edges)
        for result in run.simulations(check_int("num_runs", num_runs, 1))
    ]
    sources = {"simulated": simulated, "live": [window_averages(run.result.load_moments, edges)]}
    seconds = (edges - arrivals[0]) / MICROSECONDS
    parts = [
        _curve(source, name, np.array([one[name.removeprefix("load_")] for one in runs]), seconds)
        for source, runs in sources.items()
        for name in CURVES
    ]
    return pd.concat(parts, ignore_index=True).assign(balancer=run.setting.balancer)


def _curve(
    source: str, measure: str, values: NDArray[np.float64], seconds: NDArray[np.float64]
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "source": source,
            "measure": measure,
            "window_start": seconds[:-1],
            "window_end": seconds[1:],
            "estimate": values[0],
            "lowest": values.min(axis=0),
            "highest": values.max(axis=0),
        }
    )


def jitter(run: LiveRun) -> pd.DataFrame:
    """Return how late the actions of a run were, in real milliseconds.

    Returns
    -------
    DataFrame
        One row for ``arrivals``, ``starts`` and ``service times``; columns ``p1``, ``median``,
        ``p99`` and ``largest``, early or late. Negative: early.
    """
    milliseconds = run.setting.time_scale / 1000
    rows = {name: _spread(milliseconds * lags) for name, lags in run.lags.columns.items()}
    return pd.DataFrame(rows).T


def _spread(values: NDArray[np.floating]) -> dict[str, float]:
    low, median, high = np.quantile(values, [0.01, 0.5, 0.99]) if values.size else [np.nan] * 3
    largest = values[np.abs(values).argmax()] if values.size else np.nan
    return {"p1": low, "median": median, "p99": high, "largest": largest}


def differences(run: LiveRun) -> dict[str, float]:
    """Return a run beside its simulation in a few numbers.

    Returns
    -------
    dict of str to float
        ``moved``: jobs that ended on another worker; ``response_live`` and ``response_simulated``:
        mean response times, and ``shift``: the largest difference of a job's end, in seconds of the
        trace; ``gap`` and ``bound``: see `load_gap`.
    """
    live, simulated = run.result, run.simulated
    gap, bound = load_gap(run)
    shift = np.abs(live.finish_time_us - simulated.finish_time_us).max()
    return {
        "moved": int(moved(run).sum()),
        "response_live": float(live.response_times_us.mean()) / MICROSECONDS,
        "response_simulated": float(simulated.response_times_us.mean()) / MICROSECONDS,
        "shift": float(shift) / MICROSECONDS,
        "gap": gap,
        "bound": bound,
    }


def moved_by_seed(run: LiveRun, num_runs: int = 20) -> tuple[int, int]:
    """Return how many jobs another seed sends to another worker, in simulations.

    Parameters
    ----------
    run : LiveRun
        With a balancer that draws.
    num_runs : int, >= 2
        Simulations: that with the seed of the live run, and others, which are compared with it.

    Returns
    -------
    fewest, most : int
        Over the other simulations.
    """
    own, *others = run.simulations(check_int("num_runs", num_runs, 2))
    counts = [int(np.count_nonzero(other.worker != own.worker)) for other in others]
    return min(counts), max(counts)


def within_simulations(curves: pd.DataFrame) -> pd.Series:
    """Return in which fraction of the windows a live run is between its simulations.

    Parameters
    ----------
    curves : DataFrame
        See `curves`.

    Returns
    -------
    Series
        By ``measure``.
    """
    windows = curves.set_index(["measure", "window_start"])
    live, simulated = (windows[windows.source == name] for name in ("live", "simulated"))
    inside = live.estimate.between(simulated.lowest, simulated.highest)
    return inside.groupby("measure").mean()


def loads_around_loss(run: LiveRun) -> pd.DataFrame:
    """Return the load of the worker that was killed, and the mean load of the others.

    Returns
    -------
    DataFrame
        Columns ``time`` (seconds since the first arrival, whenever a load changes), ``killed`` and
        ``others`` (jobs per core), and ``away``: whether the worker was lost then.
    """
    load, first = run.result.load, int(run.trace.arrival_time_us[0])
    lost, back = (_times(run.log, kind) for kind in (EventKind.WORKER_LOST, EventKind.WORKER_BACK))
    times = np.unique(np.concatenate([load.time_us, lost, back]))
    jobs = load.jobs_at(times) / load.cores
    gone, returned = (np.searchsorted(when, times, side="right") for when in (lost, back))
    return pd.DataFrame(
        {
            "time": (times - first) / MICROSECONDS,
            "killed": jobs[:, -1],
            "others": jobs[:, :-1].mean(axis=1),
            "away": gone > returned,
        }
    )


def loss_in_numbers(run: LiveRun) -> dict[str, float]:
    """Return what the loss of a worker did, in a few numbers.

    Returns
    -------
    dict of str to float
        ``lost``: how often a worker was lost; ``returned``: jobs that the balancer got back;
        ``started_twice``: those of them that had been in service; ``results``: jobs that ended;
        ``away``: seconds during which the last worker was lost; ``peak``: the highest mean load of
        the others in that time, and ``highest``: at any time.
    """
    kind, job = run.log.events.kind, run.log.events.job_id
    returned = job[kind == EventKind.RETURNED]
    started = job[kind == EventKind.STARTED]
    loads = loads_around_loss(run)
    return {
        "lost": int(np.count_nonzero(kind == EventKind.WORKER_LOST)),
        "returned": len(returned),
        "started_twice": len(started) - len(np.unique(started)),
        "results": int(np.count_nonzero(kind == EventKind.FINISHED)),
        "away": float(np.diff(loads.time, append=loads.time.iloc[-1])[loads.away].sum()),
        "peak": float(loads.others[loads.away].max()) if loads.away.any() else 0.0,
        "highest": float(loads.others.max()),
    }


def story_of_loss(run: LiveRun) -> pd.DataFrame:
    """Return the part of the log that the loss of a worker caused.

    Returns
    -------
    DataFrame
        Columns ``event``, ``job`` and ``worker``, as words, by ``time`` (seconds since the first
        arrival): the loss, jobs that returned and where they were sent, the worker's return, and
        the first job that it got then. Empty if no worker was lost.
    """
    events = run.log.events
    chosen = list(_consequences(run.log))
    kinds = [EventKind(kind) for kind in events.kind[chosen]]
    jobs = zip(kinds, events.job_id[chosen], strict=True)
    seconds = (events.time_us[chosen] - run.trace.arrival_time_us[0]) / MICROSECONDS
    return pd.DataFrame(
        {
            "event": [kind.name for kind in kinds],
            "job": [str(job) if kind.has_job else "" for kind, job in jobs],
            "worker": events.worker[chosen].astype(str),
        },
        index=pd.Index([f"{time:.6f}" for time in seconds], name="time"),
    )


def _times(log: EventLog, kind: EventKind) -> NDArray[np.int64]:
    """Return when the last worker, which is the one to be killed, was lost or back."""
    last = log.header.cluster.num_workers - 1
    chosen = (log.events.kind == kind) & (log.events.worker == last)
    return np.asarray(log.events.time_us[chosen])


def _consequences(log: EventLog) -> Iterator[int]:
    """Yield the indices of the first loss of a worker and of what it caused."""
    kind, worker = log.events.kind, log.events.worker
    for lost in np.flatnonzero(kind == EventKind.WORKER_LOST)[:1].tolist():
        returned = int(np.argmin(np.append(kind[lost + 1 :] == EventKind.RETURNED, False)))
        # The balancer sends what returned to others at once: as many events follow.
        yield from range(lost, lost + 1 + 2 * returned)
        here = worker == worker[lost]
        back = np.flatnonzero(here & (kind == EventKind.WORKER_BACK))[:1]
        yield from back.tolist()
        for index in back.tolist():
            again = np.flatnonzero((here & (kind == EventKind.ASSIGNED))[index:])[:1]
            yield from (index + again).tolist()
