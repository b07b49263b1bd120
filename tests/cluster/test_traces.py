"""Traces: sorted stably, checked, read-only, written to the same bytes."""

import copy
import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfc_lb import InvalidInput
from mfc_lb.cluster import Trace, read_trace

TIMES = st.integers(0, 2**40)


def columns(trace):
    return [
        column.tolist() for column in (trace.job_id, trace.arrival_time_us, trace.service_time_us)
    ]


@given(st.lists(st.tuples(st.integers(0, 5), TIMES), max_size=30))
def test_jobs_are_sorted_stably_by_arrival(jobs):
    trace = Trace.from_arrays([a for a, _ in jobs], [s for _, s in jobs])
    expected = sorted(((name, a, s) for name, (a, s) in enumerate(jobs)), key=lambda job: job[1])
    assert list(trace) == expected
    assert len(trace) == len(jobs)


def test_columns_are_read_only_int64_and_not_the_callers():
    arrivals = np.array([1, 0], dtype=np.int32)
    trace = Trace.from_arrays(arrivals, [5, 6])
    arrivals[:] = 7
    assert columns(trace) == [[1, 0], [0, 1], [6, 5]]
    for column in (trace.job_id, trace.arrival_time_us, trace.service_time_us):
        assert column.dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_empty_trace():
    trace = Trace.from_arrays([], [])
    assert len(trace) == len(trace.to_frame()) == 0
    assert np.isnan(trace.offered_load(3))
    assert set(trace.to_frame().dtypes) == {np.dtype(np.int64)}


@pytest.mark.parametrize(
    ("arrivals", "services", "names", "message"),
    [
        ([0, -5], [1, 1], None, r"arrival_time_us\[1\] must be an integer >= 0, got -5"),
        ([0, 5], [1, -1], None, r"service_time_us\[1\] must be an integer >= 0, got -1"),
        ([0, 5], [1], None, "columns of one length"),
        ([0.5, 5], [1, 1], None, "arrival_time_us must be a one-dimensional array of integers"),
        ([[0, 5]], [[1, 1]], None, "one-dimensional"),
        (["0"], [1], None, "arrival_time_us must be a one-dimensional array of integers"),
        ([True], [1], None, "integers"),
        ([0, 5], [1, 1], [3, 3], "job_id must be different for each job, got 3"),
        (np.array([2**63], dtype=np.uint64), [1], None, "below 2"),
        ([2**62 - 1], [1], None, "less than 2"),
        ([0] * 4, [2**61] * 4, None, "less than 2"),
    ],
)
def test_bad_columns_are_refused(arrivals, services, names, message):
    with pytest.raises(InvalidInput, match=message):
        Trace.from_arrays(arrivals, services, names)


def test_offered_load():
    trace = Trace.from_arrays([0, 5, 10], [6, 6, 8])
    assert trace.offered_load(1) == 2.0
    assert trace.offered_load(4) == 0.5
    assert np.isnan(Trace.from_arrays([3, 3], [1, 1]).offered_load(1))


@pytest.mark.parametrize("name", ["trace.csv", "trace.csv.gz"])
@given(jobs=st.lists(st.tuples(TIMES, TIMES), max_size=10))
def test_a_trace_is_read_as_it_was_written(name, jobs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    trace = Trace.from_arrays([a for a, _ in jobs], [s for _, s in jobs])
    trace.write_csv(folder / name)
    first = (folder / name).read_bytes()
    again = read_trace(folder / name)
    assert columns(again) == columns(trace)
    again.write_csv(folder / name)
    assert (folder / name).read_bytes() == first


def test_file_is_plain_csv(tmp_path):
    trace = Trace.from_arrays([5, 0], [1, 2], [10, 20])
    trace.write_csv(tmp_path / "new" / "t.csv")
    trace.write_csv(str(tmp_path / "t.csv.gz"))
    expected = b"job_id,arrival_time_us,service_time_us\n20,0,2\n10,5,1\n"
    assert (tmp_path / "new" / "t.csv").read_bytes() == expected
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == expected


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_a_trace_are_equal_and_read_only_too(copied):
    trace = Trace.from_arrays([2_000, 0], [500, 700])
    same = copied(trace)
    assert same == trace
    assert hash(same) == hash(trace)
    assert same != Trace.from_arrays([2_000, 0], [500, 701])
    with pytest.raises(ValueError, match="read-only"):
        same.service_time_us[0] = 1
