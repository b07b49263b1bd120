"""The simulator against its invariants, and the faults that other simulators had."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfc_lb import InvalidInput
from mfc_lb.cluster import (
    ClusterParameters,
    EventKind,
    JoinShortestQueue,
    LeastLoaded,
    Random,
    RoundRobin,
    Trace,
    check_log,
    simulate_cluster,
)
from mfc_lb.cluster.balancers import Balancer
from mfc_lb.cluster.results import FINAL_STATES

ROOT = Path(__file__).parent.parent.parent
BALANCERS = [Random(), RoundRobin(), LeastLoaded(), LeastLoaded("first"), JoinShortestQueue(2)]
JOBS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), max_size=40)
TIMES = ["start", "finish", "waiting", "response"]
HORIZONS = st.none() | st.integers(0, 30)
CLUSTERS = st.builds(
    ClusterParameters,
    cores=st.lists(st.sampled_from([1, 2, 3, 64]), min_size=1, max_size=4).map(tuple),
    capacity=st.sampled_from([None, 1, 2, 5]),
    refresh_interval_us=st.sampled_from([0, 1, 3, 100]),
)


def trace_of(jobs):
    arrivals, services = zip(*jobs, strict=True) if jobs else ((), ())
    return Trace.from_arrays(list(arrivals), list(services))


def run(arrivals, services, cores=(1,), *, balancer=None, horizon_us=None, **limits):
    cluster = ClusterParameters(cores=cores, **limits)
    trace = Trace.from_arrays(arrivals, services)
    return simulate_cluster(trace, cluster, balancer or RoundRobin(), horizon_us=horizon_us)


def states(result):
    return [FINAL_STATES[state] for state in result.state]


# --- invariants -------------------------------------------------------------------------------


def test_equal_runs_are_equal():
    once, again = run([0, 1], [5, 5]), run([0, 1], [5, 5])
    assert (once, hash(once)) == (again, hash(again))
    assert once != run([0, 1], [5, 6])


@given(
    JOBS, CLUSTERS, st.sampled_from(BALANCERS), st.none() | st.integers(0, 30), st.integers(0, 9)
)
def test_every_log_passes_the_checker(jobs, cluster, balancer, horizon, seed):
    result = simulate_cluster(trace_of(jobs), cluster, balancer, seed=seed, horizon_us=horizon)
    assert check_log(result.log) == []


@given(JOBS, CLUSTERS, st.sampled_from(BALANCERS), HORIZONS)
def test_jobs_are_conserved_at_every_event(jobs, cluster, balancer, horizon):
    """What arrived is waiting, in service, finished or dropped; no count is ever negative."""
    result = simulate_cluster(trace_of(jobs), cluster, balancer, horizon_us=horizon)
    kind = result.log.events.kind
    arrived, assigned, started, finished, dropped = (
        np.cumsum(kind == wanted) for wanted in list(EventKind)[:5]
    )
    waiting, in_service = assigned - started - dropped, started - finished
    assert (waiting >= 0).all()
    assert (in_service >= 0).all()
    assert ((arrived - assigned >= 0) & (arrived - assigned <= 1)).all()
    counts = np.bincount(result.state, minlength=5).tolist()
    if len(kind):
        last = [len(jobs) - arrived[-1], waiting[-1], in_service[-1], finished[-1], dropped[-1]]
        assert counts == last


@given(JOBS, CLUSTERS, HORIZONS)
def test_little_is_exact(jobs, cluster, horizon):
    """The area under the number of jobs is the sum of the times that jobs spent there."""
    trace = trace_of(jobs)
    result = simulate_cluster(trace, cluster, LeastLoaded(), horizon_us=horizon)
    end = result.log.end_us
    left = np.where(result.finished, result.finish_time_us, end)
    there = np.isin(states(result), ["waiting", "running", "finished"])
    spent = (left - trace.arrival_time_us)[there]
    assert result.load.job_time_us().sum() == spent.sum()


@given(JOBS, CLUSTERS, st.integers(0, 30))
def test_a_horizon_only_cuts(jobs, cluster, horizon):
    """Up to the horizon, everything is as it would be without one."""
    trace = trace_of(jobs)
    whole, cut = (
        simulate_cluster(trace, cluster, LeastLoaded(), horizon_us=end) for end in (None, horizon)
    )
    events = whole.log.events
    kept = events.time_us <= horizon
    for column, cut_column in zip(events, cut.log.events, strict=True):
        assert column[kept].tolist() == cut_column.tolist()
    assert cut.log.end_us == horizon


@given(JOBS, CLUSTERS, st.sampled_from(BALANCERS))
def test_events_are_totally_ordered(jobs, cluster, balancer):
    """By time; at one instant all finishes, with the starts that they cause, precede arrivals
    of the trace's order, unless a job of zero length ends there."""
    log = simulate_cluster(trace_of(jobs), cluster, balancer).log
    frame = log.to_frame()
    assert frame.time_us.is_monotonic_increasing
    arrivals = frame[frame.kind == "arrived"]
    assert arrivals.job_id.tolist() == trace_of(jobs).job_id.tolist()
    started = dict(frame[frame.kind == "started"][["job_id", "time_us"]].to_numpy())
    arrived_at = set()
    for kind, time, job in zip(frame.kind, frame.time_us, frame.job_id, strict=True):
        if kind == "arrived":
            arrived_at.add(time)
        if kind == "finished" and time in arrived_at:
            assert started[job] == time


# --- ties -------------------------------------------------------------------------------------


@pytest.mark.parametrize("balancer", BALANCERS, ids=repr)
def test_no_job_is_lost_where_everything_ties(balancer):
    result = run([7] * 50, [3] * 50, cores=(2, 1, 64), balancer=balancer, horizon_us=10**6)
    assert states(result) == ["finished"] * 50
    assert check_log(result.log) == []


def test_a_finish_precedes_an_arrival_at_the_same_instant():
    result = run([0, 5], [5, 1], capacity=1)
    assert states(result) == ["finished", "finished"]
    assert result.start_time_us.tolist() == [0, 5]


def test_simultaneous_finishes_come_in_the_order_of_their_starts():
    """The third starts after the second, and both before the first ends with them."""
    result = run([0, 1, 2], [4, 3, 2], cores=(3,))
    frame = result.log.to_frame()
    assert frame[frame.kind == "finished"].job_id.tolist() == [0, 1, 2]


def test_waiting_jobs_start_in_the_order_of_arrival():
    result = run([0] * 4, [5, 5, 1, 1], cores=(2,))
    assert result.start_time_us.tolist() == [0, 0, 5, 5]


def test_many_jobs_at_one_instant():
    count = 10**5
    result = run([3] * count, [2] * count, cores=(4, 4, 4), balancer=LeastLoaded())
    assert result.finished.all()
    # The last of each worker's share, in rounds of four.
    rounds = -(-np.bincount(result.worker) // 4)
    assert result.finish_time_us.max() == 3 + 2 * rounds.max()
    assert rounds.max() == -(-count // 12)


def test_jobs_of_zero_length_never_wait_for_each_other():
    result = run([0] * 1000, [0] * 1000, capacity=1, balancer=LeastLoaded())
    assert result.finished.all()
    assert result.response_times_us.max() == 0
    assert check_log(result.log) == []


# --- cores and capacity -----------------------------------------------------------------------


def test_a_worker_with_one_core_beside_one_with_64():
    result = run([0] * 65, [10] * 65, cores=(1, 64), balancer=LeastLoaded("first"))
    assert np.bincount(result.worker).tolist() == [1, 64]
    assert result.waiting_times_us.max() == 0
    slower = run([0] * 66, [10] * 66, cores=(1, 64), balancer=LeastLoaded("first"))
    assert slower.waiting_times_us.tolist() == [0] * 65 + [10]


def test_capacity_counts_jobs_in_service():
    result = run([0] * 4, [9] * 4, cores=(2,), capacity=3)
    assert states(result) == ["finished"] * 3 + ["dropped"]
    frame = result.log.to_frame()
    assert frame[frame.kind == "dropped"].job_id.tolist() == [3]
    assert result.num_dropped == result.summary().dropped == 1


def test_dropped_jobs_have_a_worker_but_no_times():
    row = run([0, 0], [9, 9], capacity=1).to_frame().iloc[1]
    assert row.worker == 0
    assert (
        row[["start_time_us", "finish_time_us", "waiting_time_us", "response_time_us"]].isna().all()
    )


# --- horizon ----------------------------------------------------------------------------------


def test_unfinished_jobs_have_missing_times():
    frame = run([0, 1, 50], [9, 9, 9], horizon_us=5).to_frame()
    assert frame.final_state.tolist() == ["running", "waiting", "not arrived"]
    assert frame.finish_time_us.isna().all()
    assert frame.response_time_us.isna().all()
    assert frame.start_time_us.tolist()[0] == 0
    assert frame.start_time_us.isna().tolist() == [False, True, True]
    assert frame.worker.isna().tolist() == [False, False, True]


def test_what_happens_at_the_horizon_still_happens():
    result = run([0, 5], [5, 0], horizon_us=5)
    assert states(result) == ["finished", "finished"]


def test_integrals_end_exactly_at_the_horizon():
    result = run([0], [100], horizon_us=7)
    assert result.load.job_time_us().tolist() == [7]
    assert result.load_moments.end_us == 7
    longer = run([0], [100], horizon_us=1000)
    assert longer.load_moments.time_averages()["mean"] == pytest.approx(0.1)


def test_the_summary_begins_with_the_first_arrival():
    """Traces may count from 1970."""
    epoch = 10**15
    summary = run([epoch, epoch + 8], [5, 2]).summary()
    assert summary.load_mean == pytest.approx(7 / 10)
    before = run([epoch], [5], horizon_us=10).summary()
    assert np.isnan(before.load_mean)


def test_horizon_zero_and_empty_traces():
    at_once = run([0, 0], [0, 5], horizon_us=0)
    assert states(at_once) == ["finished", "running"]
    empty = run([], [])
    assert len(empty.to_frame()) == len(empty.log) == empty.log.end_us == 0
    assert np.isnan(empty.summary().response_mean)
    assert np.isnan(empty.summary().load_mean)
    assert check_log(empty.log) == []


# --- staleness --------------------------------------------------------------------------------


def test_a_burst_goes_to_one_worker_under_a_stale_view():
    """That is the subject: until the next refresh, one worker looks empty."""
    stale = run(
        range(30), [100] * 30, (1, 1), balancer=LeastLoaded("first"), refresh_interval_us=10
    )
    assert stale.worker.tolist() == [0] * 10 + [1] * 10 + [0] * 10
    fresh = run(range(30), [100] * 30, (1, 1), balancer=LeastLoaded("first"))
    assert fresh.worker.tolist() == [0, 1] * 15


def test_snapshots_are_taken_at_multiples_of_the_interval():
    """After what finished at that instant, before what arrived then."""
    result = run(
        [0, 10, 10, 20], [10, 50, 50, 1], (1, 1),
        balancer=LeastLoaded("first"), refresh_interval_us=10,
    )  # fmt: skip
    # At 10 both workers are empty, so the first gets two jobs; at 20 it has them.
    assert result.worker.tolist() == [0, 0, 0, 1]


def test_a_snapshot_is_old_even_if_no_job_arrives_for_long():
    """A job at 39 sees the loads at 30, not those of the last arrival."""
    result = run([0, 39], [35, 1], (1, 1), balancer=LeastLoaded("first"), refresh_interval_us=10)
    assert result.worker.tolist() == [0, 1]
    result = run([0, 39], [30, 1], (1, 1), balancer=LeastLoaded("first"), refresh_interval_us=10)
    assert result.worker.tolist() == [0, 0]


# --- arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cores": ()}, "cores must be at least 1"),
        ({"cores": (0,)}, "cores[0] must be an integer >= 1"),
        ({"cores": "44"}, "cores must be a sequence"),
        ({"capacity": 0}, "capacity must be an integer >= 1"),
        ({"capacity": 2**63}, "capacity must be an integer >= 1"),
        ({"refresh_interval_us": -1}, "refresh_interval_us must be an integer >= 0"),
        ({"refresh_interval_us": 0.5}, "refresh_interval_us must be an integer >= 0"),
    ],
)
def test_impossible_clusters_are_refused(change, message):
    with pytest.raises(InvalidInput) as caught:
        ClusterParameters(**change)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"horizon_us": -1}, "horizon_us"),
        ({"trace": []}, "trace"),
        ({"cluster": 3}, "cluster"),
        ({"balancer": "random"}, "balancer"),
    ],
)
def test_impossible_runs_are_refused(change, field):
    given_ = {"trace": trace_of([(0, 1)]), "cluster": ClusterParameters(), "balancer": Random()}
    given_ |= {key: value for key, value in change.items() if key in given_}
    others = {key: value for key, value in change.items() if key not in given_}
    with pytest.raises(InvalidInput, match=f"^{field} must be"):
        simulate_cluster(*given_.values(), **others)


def test_a_balancer_that_names_no_worker_is_refused():
    import numba

    class Lost(Balancer):
        name = "lost"
        decision = staticmethod(numba.njit(lambda view: view.jobs.size))

    with pytest.raises(InvalidInput, match="from 0 to 2, got another one"):
        simulate_cluster(trace_of([(0, 1)]), ClusterParameters(), Lost())


@pytest.mark.parametrize("refresh_interval_us", [0, 7])
def test_a_balancer_that_edits_what_it_sees_changes_no_loads(refresh_interval_us):
    class Vandal(LeastLoaded):
        follows_snapshots = True

        def settings(self, cores):
            cores[:] = 64
            return super().settings(cores)

        def table(self, jobs, settings, interval):
            table = super().table(jobs, settings, interval)
            jobs[:], settings[:] = 0, 0
            return table

    generator = np.random.default_rng(6)
    trace = Trace.from_arrays(*generator.integers(0, 400, (2, 300)))
    cluster = ClusterParameters((3, 2), 30, refresh_interval_us)
    tame, wild = (simulate_cluster(trace, cluster, one("first")) for one in (LeastLoaded, Vandal))
    assert tame.log.events.worker.tolist() == wild.log.events.worker.tolist()
    assert tame.finish_time_us.tolist() == wild.finish_time_us.tolist()


def test_a_decision_cannot_edit_what_it_sees():
    import numba

    def empty_all(view):
        view.jobs[:] = 0
        return 0

    class Vandal(Balancer):
        name = "vandal"
        decision = staticmethod(numba.njit(empty_all))

    with pytest.raises(TypeError, match="readonly array"):
        simulate_cluster(trace_of([(0, 1)]), ClusterParameters(), Vandal())


# --- results ----------------------------------------------------------------------------------


def test_the_job_table_and_the_summary_say_the_same():
    generator = np.random.default_rng(6)
    arrivals, services = generator.integers(0, 400, (2, 300))
    result = run(arrivals, services, (8, 2), capacity=30, balancer=LeastLoaded(), horizon_us=900)
    table, summary = result.to_frame(), result.summary()
    done = table[table.final_state == "finished"]
    assert (done.response_time_us == done.finish_time_us - done.arrival_time_us).all()
    assert (done.waiting_time_us == done.start_time_us - done.arrival_time_us).all()
    response = done.response_time_us.astype(float)
    assert summary.response_mean == pytest.approx(response.mean())
    assert summary.response_p99 == pytest.approx(response.quantile(0.99))
    assert summary.waiting_mean == pytest.approx(done.waiting_time_us.mean())
    assert summary.finished == len(done)
    assert summary.finished + summary.dropped + summary.unfinished == 300
    assert min(summary.dropped, summary.unfinished) > 0


def test_simulating_needs_neither_grpc_nor_protobuf():
    program = (
        "import sys\n"
        "from mfc_lb.cluster import ClusterParameters, LeastLoaded, Trace, simulate_cluster\n"
        "trace = Trace.from_arrays([0], [1])\n"
        "simulate_cluster(trace, ClusterParameters(), LeastLoaded()).to_frame()\n"
        "print([name for name in ('grpc', 'google.protobuf') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
