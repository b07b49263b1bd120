"""What no argument may be: refused by its name in one line, whoever is asked."""

import numpy as np
import pytest

from mfc_lb import InvalidInput
from mfc_lb.cluster import (
    ClusterParameters,
    Dispatcher,
    JoinShortestQueue,
    LeastLoaded,
    RoundRobin,
    Trace,
    check_log,
    constant_trace,
    log_bytes,
    modulated_poisson_trace,
    moments_of,
    parse_log,
    poisson_trace,
    ramp_trace,
    read_trace,
    run_live,
    simulate_cluster,
    study_trace,
    write_log,
)
from mfc_lb.cluster.load_windows import window_averages
from tests.arguments import NUMBERS, kind_of, refused

TRACE, CLUSTER = Trace.from_arrays([0, 1, 2], [5, 5, 5]), ClusterParameters((2, 1))
RESULT = simulate_cluster(TRACE, CLUSTER, RoundRobin())
DISPATCHER = Dispatcher(LeastLoaded(), np.array([1, 1]), 1)
RATES = {"num_workers": 2, "epoch_us": 10**6}

#: Nor a whole one.
NO_WHOLE_NUMBERS = [*NUMBERS, 1.5]
#: No row of integers: of another kind, with another number of axes, or beyond all that is.
ROWS = [
    None, "abc", ["1", "1", "1"], [True] * 3, [1j] * 3, [np.nan] * 3, [1.5] * 3, 1, [[1, 1, 1]],
    [[1], [1, 2]], [10**400] * 3, {0: 1}, {1, 2, 3}, [object()] * 3, np.array(1), np.zeros((3, 0)),
    [-1, 0, 1], np.ma.array([1, 1, 1], mask=[0, 1, 0]), [None] * 3,
]  # fmt: skip


def simulated(**options):
    return simulate_cluster(TRACE, CLUSTER, RoundRobin(), **options)


ASKED_FOR_A_NUMBER = {
    "capacity": lambda value: ClusterParameters(capacity=value or "none"),
    "refresh_interval_us": lambda value: ClusterParameters(refresh_interval_us=value),
    "num_workers": lambda value: ClusterParameters.uniform(value, 1),
    "cores": lambda value: ClusterParameters.uniform(2, value),
    "num_choices": JoinShortestQueue,
    "seed": lambda value: simulated(seed=value),
    "seed of a dispatcher": lambda value: Dispatcher(LeastLoaded(), np.array([1]), value),
    "seed of a trace": lambda value: constant_trace(seed=value),
    "seed of a live run": lambda value: run_live(TRACE, CLUSTER, seed=value),
    "horizon_us": lambda value: simulated(horizon_us="none" if value is None else value),
    "num_cores": TRACE.offered_load,
    "num_jobs": lambda value: constant_trace(num_jobs=value),
    "interval_us": lambda value: constant_trace(interval_us=value),
    "interval_us of a ramp": lambda value: ramp_trace(interval_us=value),
    "floor_us": lambda value: ramp_trace(floor_us=value),
    "ramp_length_us": lambda value: ramp_trace(ramp_length_us=value),
    "repeats": lambda value: ramp_trace(repeats=value),
    "num_workers of a trace": lambda value: modulated_poisson_trace(
        [0.5], **RATES | {"num_workers": value}
    ),
    "epoch_us": lambda value: modulated_poisson_trace([0.5], **RATES | {"epoch_us": value}),
    "mean_duration_us": lambda value: modulated_poisson_trace(
        [0.5], **RATES, mean_duration_us=value
    ),
    "start_us": RESULT.load_moments.time_averages,
    "jobs": lambda value: moments_of([value, 1], [1, 1]),
    "cores of moments": lambda value: moments_of([1, 1], [value, 1]),
}
ASKED_FOR_A_ROW = {
    "cores": ClusterParameters,
    "cores of a dispatcher": lambda row: Dispatcher(LeastLoaded(), row, 1),
    "jobs to choose for": DISPATCHER.choose,
    "jobs in a snapshot": lambda row: DISPATCHER.refresh(row, 0),
    "arrival_time_us": lambda row: Trace.from_arrays(row, [1, 1, 1]),
    "service_time_us": lambda row: Trace.from_arrays([1, 1, 1], row),
    "job_id": lambda row: Trace([0] if row is None else row, [1, 1, 1], [1, 1, 1]),
    "durations_us": lambda row: constant_trace(durations_us=row),
    "jobs": lambda row: moments_of(row, [1, 1, 1]),
    "cores of moments": lambda row: moments_of([1, 1, 1], row),
}


@pytest.mark.parametrize("name", ASKED_FOR_A_NUMBER)
@pytest.mark.parametrize("value", NO_WHOLE_NUMBERS, ids=kind_of)
def test_what_is_no_number_is_refused(name, value):
    assert refused(ASKED_FOR_A_NUMBER[name], value).startswith(name.split()[0])


@pytest.mark.parametrize("name", ["mean_interval_us", "mean_duration_us"])
@pytest.mark.parametrize("value", NUMBERS, ids=kind_of)
def test_what_is_no_mean_is_refused(name, value):
    assert refused(lambda mean: poisson_trace(**{name: mean}), value).startswith(name)


@pytest.mark.parametrize("name", ASKED_FOR_A_ROW)
@pytest.mark.parametrize("row", ROWS, ids=kind_of)
def test_what_is_no_row_is_refused(name, row):
    lengths = "trace must be made of columns of one length", "jobs must be one number for each"
    assert refused(ASKED_FOR_A_ROW[name], row).startswith((name.split()[0], *lengths))


@pytest.mark.parametrize(
    ("field", "ask"),
    {
        "trace": lambda value: simulate_cluster(value, CLUSTER, RoundRobin()),
        "cluster": lambda value: simulate_cluster(TRACE, value, RoundRobin()),
        "balancer": lambda value: simulate_cluster(TRACE, CLUSTER, value),
        "trace of a live run": lambda value: run_live(value, CLUSTER),
        "cluster of a live run": lambda value: run_live(TRACE, value),
        "balancer of a live run": lambda value: run_live(TRACE, CLUSTER, value),
        "time_scale": lambda value: run_live(TRACE, CLUSTER, time_scale=value),
        "log": check_log,
        "log for a file": lambda value: write_log(value, "file"),
        "log as bytes": log_bytes,
        "content": parse_log,
        "name": study_trace,
        "tie_break": LeastLoaded,
        "distinct": lambda value: JoinShortestQueue(distinct=value),
    }.items(),
)
@pytest.mark.parametrize("value", [None, [1], np.array(["a", "b"]), RoundRobin])
def test_what_is_something_else_is_refused(field, ask, value):
    assert refused(ask, value).startswith(field.split()[0])


@pytest.mark.parametrize("times", [1, [[0, 1]], [np.nan], [-1], [8], ["0"], np.zeros((0, 2))])
def test_times_that_a_run_does_not_have_are_refused(times):
    assert refused(RESULT.load.jobs_at, times).startswith("times_us")


def test_windows_end():
    edges = [0.0, np.inf]
    assert "finite" in refused(lambda row: window_averages(RESULT.load_moments, row), edges)


def test_a_unit_of_time_is_a_word(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", "utf-8")
    told = refused(lambda unit: read_trace(tmp_path / "a.csv", time_unit=unit), ["s"])
    assert told.startswith("time_unit must be one of")


def test_a_number_of_jobs_whose_moments_would_overflow_is_refused():
    """The largest that is allowed has exact moments."""
    most = 2**62 // (3 * 9)
    assert moments_of([most, 0, 0], [1, 1, 3])["mean"] == pytest.approx(most / 3)
    assert refused(lambda jobs: moments_of([jobs, 0, 0], [1, 1, 3]), most + 1).startswith("jobs")


@pytest.mark.parametrize("rows", [([-1, 0], [0, 0], [1, 1]), ([0, -(2**63)], [0, 0], [1, 1])])
def test_jobs_have_names_that_a_live_cluster_takes(rows):
    with pytest.raises(InvalidInput, match=r"job_id\[[01]\] must be an integer >= 0, got -"):
        Trace(*rows)
