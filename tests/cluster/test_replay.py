"""The replay checker catches every kind of fault that is planted into a correct log."""

from dataclasses import replace

import numpy as np
import pytest

from mfc_lb import InvalidInput
from mfc_lb.cluster import (
    ClusterParameters,
    EventKind,
    EventLog,
    Events,
    LogHeader,
    RoundRobin,
    Trace,
    check_log,
    simulate_cluster,
)
from mfc_lb.cluster.replay import MAX_FAULTS

A, S, F, D = EventKind.ASSIGNED, EventKind.STARTED, EventKind.FINISHED, EventKind.DROPPED
R, LOST, BACK = EventKind.RETURNED, EventKind.WORKER_LOST, EventKind.WORKER_BACK


def arrival(time, job, service):
    return (EventKind.ARRIVED, time, job, -1, service)


def log_of(*rows, cores=(1,), capacity=None, horizon_us=None, end_us=None):
    kinds = (np.uint8, np.int64, np.int64, np.int32, np.int64)
    filled = [(*row, -1) if len(row) == 4 else row for row in rows]
    columns = zip(*filled, strict=True)
    events = Events(*(np.array(c, dtype=k) for c, k in zip(columns, kinds, strict=True)))
    header = LogHeader("live", "by hand", 0, ClusterParameters(cores, capacity), horizon_us)
    return EventLog(header, events, max(row[1] for row in rows) if end_us is None else end_us)


#: Two jobs on one core, one after the other.
GOOD = (
    arrival(0, 0, 5), (A, 0, 0, 0), (S, 0, 0, 0),
    arrival(1, 1, 2), (A, 1, 1, 0), (F, 5, 0, 0), (S, 5, 1, 0), (F, 7, 1, 0),
)  # fmt: skip


def without(index, rows=GOOD):
    return rows[:index] + rows[index + 1 :]


def swapped(index, row, rows=GOOD):
    return (*rows[:index], row, *rows[index + 1 :])


def problems(log, tolerance_us=0):
    return [fault.problem for fault in check_log(log, tolerance_us)]


def test_a_good_log_has_no_faults():
    assert check_log(log_of(*GOOD)) == []


FAULTS = {
    "arrives twice": ((*GOOD[:1], *GOOD), {}, "job 0 arrives a second time"),
    "never ends": (without(7), {}, "job 1 never ends: it is in service"),
    "finishes twice": ((*GOOD, (F, 7, 1, 0)), {}, "job 1 finishes but is finished"),
    "dropped after its end": ((*GOOD, (D, 7, 1, 0)), {}, "job 1 is dropped but is finished"),
    "starts before it arrives": (GOOD[1:3], {}, "job 0 is assigned before it arrives"),
    "unassigned": (without(4), {}, "job 1 starts but is at the balancer"),
    "never starts": (without(6), {}, "job 1 finishes but is waiting"),
    "kept at the balancer": (
        (arrival(0, 0, 5), (A, 4, 0, 0), (S, 4, 0, 0), (F, 9, 0, 0)), {},
        "job 0 is at the balancer for 4 us",
    ),
    "kept after a return": (
        (*GOOD[:3], (LOST, 1, -1, 0), (R, 1, 0, 0), (A, 3, 0, 1), (S, 3, 0, 1), (F, 8, 0, 1)),
        {"cores": (1, 1)}, "job 0 is at the balancer for 2 us",
    ),
    "assigned twice": ((*GOOD[:5], (A, 1, 1, 0)), {}, "job 1 is assigned but is waiting"),
    "on another worker": (
        swapped(2, (S, 0, 0, 1)), {"cores": (1, 1)},
        "job 0 starts on worker 1 but is on worker 0",
    ),
    "out of turn": (
        (*GOOD[:5], arrival(2, 2, 0), (A, 2, 2, 0), (F, 5, 0, 0), (S, 5, 2, 0)),
        {}, "job 2 starts on worker 0 before job 1, which came first",
    ),
    "too many in service": (
        (*GOOD[:5], (S, 1, 1, 0)), {}, "job 1 starts on worker 0, whose 1 cores are busy",
    ),
    "idle core": (
        (*GOOD[:6], (S, 6, 1, 0), (F, 8, 1, 0)), {},
        "worker 0 has an idle core while job 1 waits, since 5 us",
    ),
    "idle core at the end": (
        GOOD[:6], {"horizon_us": 9, "end_us": 9},
        "worker 0 has an idle core while job 1 waits, since 5 us",
    ),
    "idle core at the horizon": (
        GOOD[:6], {"horizon_us": 5}, "worker 0 has an idle core while job 1 waits, since 5 us",
    ),
    "service too long": (swapped(7, (F, 8, 1, 0)), {}, "job 1 is served for 3 us instead of 2"),
    "service too short": (swapped(7, (F, 6, 1, 0)), {}, "job 1 is served for 1 us instead of 2"),
    "not finished in time": (
        GOOD[:3], {"horizon_us": 5, "end_us": 5}, "job 0 does not finish, though it is due at 5 us",
    ),
    "never assigned": (GOOD[:1], {"horizon_us": 3, "end_us": 3}, "job 0 is never assigned"),
    "time runs backwards": (
        (*GOOD[:5], arrival(0, 2, 0), *GOOD[5:]), {}, "time runs backwards, from 1 us",
    ),
    "ends early": (GOOD, {"end_us": 6}, "the log ends before its last event, at 7 us"),
    "ends elsewhere": (
        GOOD, {"horizon_us": 9, "end_us": 8}, "the log ends before or after its horizon, 9 us",
    ),
    "dropped though there is room": (
        (*GOOD[:5], (D, 1, 1, 0), *GOOD[5:6]), {"capacity": 2},
        "job 1 is dropped by worker 0, which has room",
    ),
    "over capacity": (
        GOOD, {"capacity": 1}, "worker 0 holds more jobs than its capacity, 1: job 1, since 1 us",
    ),
    "lost worker works": (
        (*GOOD[:3], (LOST, 1, 0, 0), (F, 5, 0, 0)), {},
        "worker 0 is lost but FINISHED says otherwise",
    ),
    "jobs of a lost worker stay": (
        (*GOOD[:3], (LOST, 1, 0, 0)), {"horizon_us": 4, "end_us": 4},
        "worker 0 is lost but still has jobs, since 1 us",
    ),
    "returned by a worker that lives": (
        (*GOOD[:3], (R, 1, 0, 0)), {}, "job 0 is returned from worker 0, which is not lost",
    ),
    "back without being lost": ((*GOOD, (BACK, 7, 0, 0)), {}, "worker 0 is back but was not lost"),
    "lost twice": (
        (*GOOD, (LOST, 7, 0, 0), (LOST, 7, 0, 0)), {}, "worker 0 is lost a second time",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FAULTS))
def test_planted_faults_are_caught(name):
    rows, others, expected = FAULTS[name]
    assert expected in problems(log_of(*rows, **others))


@pytest.mark.parametrize("index", range(len(GOOD)))
def test_no_event_can_be_missing(index):
    assert check_log(log_of(*without(index))) != []


def test_lost_workers_return_their_jobs():
    log = log_of(
        *GOOD[:5], (LOST, 2, 0, 0), (R, 2, 0, 0), (R, 2, 1, 0),
        (A, 2, 0, 1), (S, 2, 0, 1), (A, 2, 1, 1), (F, 7, 0, 1), (S, 7, 1, 1),
        (BACK, 8, 0, 0), (F, 9, 1, 1), cores=(1, 1),
    )  # fmt: skip
    assert check_log(log) == []


def test_tolerance_allows_delays_of_a_live_cluster():
    late = log_of(*GOOD[:5], (F, 6, 0, 0), (S, 8, 1, 0), (F, 9, 1, 0))
    assert check_log(late, tolerance_us=2) == []
    assert problems(late, tolerance_us=1) == [
        "worker 0 has an idle core while job 1 waits, since 6 us"
    ]
    assert len(check_log(late)) > 1
    with pytest.raises(InvalidInput, match="tolerance_us"):
        check_log(late, tolerance_us=-1)


def test_faults_say_where_and_are_not_endless():
    (fault,) = check_log(log_of(*swapped(7, (F, 8, 1, 0))))
    assert str(fault) == "event 7 at 8 us: job 1 is served for 3 us instead of 2"
    endless = log_of(*(arrival(0, 1, 0) for _ in range(100)))
    assert len(check_log(endless)) == MAX_FAULTS


@pytest.mark.parametrize("seed", range(30))
def test_exchanged_times_in_a_long_log_are_caught(seed):
    """Moving any one finish to another time is a fault."""
    generator = np.random.default_rng(seed)
    arrivals = np.cumsum(generator.integers(0, 4, 50))
    trace = Trace.from_arrays(arrivals, generator.integers(1, 9, 50))
    log = simulate_cluster(trace, ClusterParameters((2, 1), capacity=6), RoundRobin()).log
    assert check_log(log) == []
    finishes = np.flatnonzero(log.events.kind == EventKind.FINISHED)
    moved = log.events.time_us.copy()
    moved[generator.choice(finishes)] += generator.choice([-1, 1])
    assert check_log(replace(log, events=log.events._replace(time_us=moved))) != []


def test_every_wait_of_a_live_cluster_counts_by_itself():
    """A core that is idle for a moment before each of many short jobs lets none wait for long."""
    rows = [arrival(0, 0, 0), (A, 0, 0, 0)]
    for job in range(1, 50):
        rows += [arrival(job, job, 0), (A, job, job, 0), (S, job, job - 1, 0), (F, job, job - 1, 0)]
    rows += [(S, 50, 49, 0), (F, 50, 49, 0)]
    assert check_log(log_of(*rows), tolerance_us=1) == []
    assert "worker 0 has an idle core while job 0 waits, since 0 us" in problems(log_of(*rows))
