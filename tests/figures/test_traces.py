"""The figure of a work trace: its panels show the trace's numbers, for any trace."""

from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest

from mfc_lb.cluster import STUDY_TRACES, Trace, study_trace
from mfc_lb.figures.style import WIDTH
from mfc_lb.figures.traces import work_trace

RNG = np.random.default_rng(1)
TRACES = {name: study_trace(name, seed=1) for name in STUDY_TRACES} | {
    "empty": Trace.from_arrays([], []),
    "one": Trace.from_arrays([7], [0]),
    "two": Trace.from_arrays([7, 9000], [3, 4]),
    "instant": Trace.from_arrays([7] * 50, range(50)),
    "long": Trace.from_arrays(
        np.cumsum(RNG.integers(0, 6 * 10**8, 5000)), np.exp(RNG.normal(15, 2.5, 5000)).astype(int)
    ),
    "unix": Trace.from_arrays([1_717_156_800 * 10**6, 1_717_156_801 * 10**6], [0, 5]),
}


@pytest.mark.parametrize("name", TRACES)
def test_every_trace_can_be_drawn(name):
    figure = work_trace(TRACES[name].to_frame())
    figure.draw_without_rendering()
    assert figure.get_figwidth() == WIDTH
    for panel in figure.axes:
        assert panel.get_title(loc="left")
        assert panel.get_xlabel()
        assert panel.get_ylabel()


@pytest.mark.parametrize("name", ["constant_constant", "ramp_trimodal", "two", "long"])
def test_area_under_the_arrival_rate_is_the_number_of_jobs(name):
    trace = TRACES[name]
    rates = work_trace(trace.to_frame()).axes[0].patches[0].get_data()
    assert (rates.values * np.diff(rates.edges)).sum() == pytest.approx(len(trace))
    assert rates.edges[0] == 0


@pytest.mark.parametrize(("name", "second"), [("ramp_trimodal", 1e6), ("long", 24 * 3600e6)])
def test_each_bar_stands_for_the_jobs_of_its_time(name, second):
    """The unit is that of the axis: a second, or a day."""
    arrivals = TRACES[name].arrival_time_us
    since = (arrivals - arrivals[0]) / second
    filled, outline = (
        patch.get_data() for patch in work_trace(TRACES[name].to_frame()).axes[0].patches
    )
    edges = np.append(filled.edges[:-1], filled.edges[-1] + 1)
    counts = [((low <= since) & (since < high)).sum() for low, high in pairwise(edges)]
    assert filled.values * np.diff(filled.edges) == pytest.approx(counts)
    assert outline.values.tolist() == filled.values.tolist()
    assert outline.edges.tolist() == filled.edges.tolist()


def test_constant_arrivals_look_constant():
    rates = work_trace(TRACES["constant_trimodal"].to_frame()).axes[0].patches[0].get_data()
    assert rates.values == pytest.approx(np.full(60, 20.0))
    assert rates.edges == pytest.approx(np.arange(61))


def test_service_times_are_the_distribution_function():
    trace = TRACES["ramp_trimodal"]
    (line,) = work_trace(trace.to_frame()).axes[1].lines
    times, fractions = line.get_data()
    services = trace.service_time_us
    expected = [0, *((services <= bound).mean() for bound in (100_000, 500_000, 1_000_000)), 1]
    assert list(times[:-1]) == [0.1, 0.1, 0.5, 1.0]
    assert list(fractions) == pytest.approx(expected)


def test_thinned_steps_are_still_the_distribution_function():
    """Of five thousand service times a thousand are drawn, the first and the last included."""
    seconds = TRACES["long"].service_time_us / 1e6
    (panel,) = work_trace(TRACES["long"].to_frame()).axes[1:]
    (line,) = panel.lines
    times, fractions = line.get_data()
    assert panel.get_xlabel() == "service time (s)"
    assert line.get_drawstyle() == "steps-post"
    assert len(times) < 1010
    expected = [(seconds <= time).mean() for time in times[1:]]
    assert list(fractions[1:]) == pytest.approx(expected)
    assert (times[0], times[-2]) == (seconds.min(), seconds.max())
    assert fractions[0] == 0.0


def test_same_bytes_twice():
    def picture():
        file = BytesIO()
        work_trace(TRACES["long"].to_frame()).savefig(file, format="png")
        return file.getvalue()

    assert picture() == picture()
