"""Other readings of the trace study."""

import numpy as np
import pytest

from mfc_lb.cluster import Dispatcher, LeastLoaded
from mfc_lb.experiments.open_trace_choices import FewestWaiting, other_least_loaded, other_ramps

CORES = np.array([4, 4, 4])


def chosen(balancer, jobs):
    dispatcher = Dispatcher(balancer, CORES, seed=1)
    return {dispatcher.choose(np.array(jobs)) for _ in range(100)}


def test_jobs_in_service_do_not_count_for_the_fewest_waiting():
    assert chosen(FewestWaiting(), [3, 0, 4]) == {0, 1, 2}
    assert chosen(LeastLoaded(), [3, 0, 4]) == {1}


def test_waiting_jobs_do():
    assert chosen(FewestWaiting(), [6, 5, 7]) == {1}
    assert chosen(FewestWaiting(), [6, 2, 3]) == {1, 2}


def test_least_loaded_read_otherwise():
    table = other_least_loaded(5, seed=1).set_index(["trace", "reading"])
    # Nothing waits there, so whom ties prefer does not matter; who looks at nothing loses.
    assert table.estimate["constant_constant", "first"] == 0
    assert (table.interval_low.xs("waiting", level="reading") > 0).all()


def test_a_ramp_that_ends_below_the_capacity_makes_no_difference():
    table = other_ramps((40.0, 44.0), (500.0,), 5, seed=1).set_index("floor_ms")
    assert table.offered.tolist() == pytest.approx([500 / 40 / 12, 500 / 44 / 12])
    assert table.estimate[44.0] == 0
    assert table.interval_low[40.0] > 0
