"""Averages of the load over windows: exact, whatever the windows."""

import numpy as np
import pytest

from mfc_lb.cluster import (
    ClusterParameters,
    LeastLoaded,
    RoundRobin,
    Trace,
    simulate_cluster,
    study_trace,
)
from mfc_lb.cluster.load_windows import window_averages
from mfc_lb.errors import InvalidInput

MOMENTS = simulate_cluster(
    study_trace("ramp_trimodal", seed=1), ClusterParameters(), LeastLoaded(), seed=1
).load_moments


def test_windows_are_the_time_averages_there():
    edges = np.array([0, 1, 70_001, 5_000_000, MOMENTS.end_us])
    averages = window_averages(MOMENTS, edges)
    for index, window in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        expected = MOMENTS.time_averages(*window)
        for name, values in averages.items():
            assert values[index] == pytest.approx(expected[name], rel=1e-9, nan_ok=True)


def test_after_the_end_there_are_no_jobs():
    trace = Trace.from_arrays([0], [10])
    moments = simulate_cluster(trace, ClusterParameters(cores=(2,)), LeastLoaded()).load_moments
    averages = window_averages(moments, [0, 5, 20, 30])
    assert averages["mean"].tolist() == pytest.approx([1 / 2, 1 / 2 * 5 / 15, 0])


def test_a_moment_is_averaged_while_it_exists():
    # Loads (1, 0, 0) from 0 to 10, then (1, 1, 0) to 30, then (0, 1, 0) to 40, then nothing.
    trace = Trace.from_arrays([0, 10], [30, 30])
    moments = simulate_cluster(trace, ClusterParameters((1, 1, 1)), RoundRobin()).load_moments
    averages = window_averages(moments, [0, 10, 30, 50, 60])
    highest = 1 / np.sqrt(2)
    assert averages["skewness"].tolist() == pytest.approx(
        [highest, -highest, highest, np.nan], nan_ok=True
    )
    assert averages["mean"].tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 6, 0])


@pytest.mark.parametrize("edges", [[0], [3, 3], [5, 1], [-1, 2], [[0, 1]]])
def test_windows_that_are_none_are_refused(edges):
    with pytest.raises(InvalidInput, match=r"edges_us must be at least two, increasing, >= 0"):
        window_averages(MOMENTS, edges)
