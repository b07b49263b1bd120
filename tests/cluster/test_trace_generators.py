"""Generated traces: what is promised of arrivals and service, and the stored ones of the study."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mfc_lb import ArrivalProcess, InvalidInput, cluster
from mfc_lb.cluster import (
    STUDY_TRACES,
    constant_trace,
    modulated_poisson_trace,
    poisson_trace,
    ramp_trace,
    read_trace,
    study_trace,
)

FOLDER = Path(__file__).parents[2] / "data" / "traces"
CORES = 12
SECOND = 1_000_000


def same(one, other):
    return one.to_frame().equals(other.to_frame())


# --- the study --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDY_TRACES)
def test_stored_trace_is_the_generated_one(name):
    assert same(read_trace(FOLDER / f"{name}.csv"), study_trace(name, seed=1))


@pytest.mark.parametrize("name", STUDY_TRACES)
def test_study_loads_its_cluster_but_not_beyond(name):
    assert 0.7 < study_trace(name, seed=3).offered_load(CORES) < 1


@pytest.mark.parametrize("name", STUDY_TRACES)
def test_readme_tells_the_numbers(name):
    lines = (FOLDER / "README.md").read_text("utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"| `{name}`"))
    trace = study_trace(name, seed=1)
    jobs, last, load = (cell.strip() for cell in line.split("|")[2:5])
    assert int(jobs) == len(trace)
    assert last == f"{trace.arrival_time_us[-1] / SECOND:.2f} s"
    assert load == f"{trace.offered_load(CORES):.3f}"


def test_unknown_name_is_refused():
    with pytest.raises(InvalidInput, match="name must be one of constant_constant, "):
        study_trace("constant")


# --- arrivals ---------------------------------------------------------------------------------


def test_constant_arrivals():
    trace = constant_trace(num_jobs=5, interval_us=7)
    assert trace.arrival_time_us.tolist() == [0, 7, 14, 21, 28]
    assert len(constant_trace(num_jobs=0)) == 0
    assert constant_trace(num_jobs=3, interval_us=0).arrival_time_us.tolist() == [0, 0, 0]


def test_rate_of_a_ramp_grows_linearly():
    trace = ramp_trace(interval_us=1000, floor_us=100, ramp_length_us=SECOND, repeats=1)
    arrivals = trace.arrival_time_us / SECOND
    # The integral of the rate from 1000 to 10 000 jobs per second, at the arrival of job k, is k.
    assert 1000 * arrivals + 4500 * arrivals**2 == pytest.approx(np.arange(len(trace)), abs=0.006)
    assert len(trace) == 5500
    assert np.diff(trace.arrival_time_us)[[0, -1]].tolist() == pytest.approx([1000, 100], rel=0.01)


def test_ramp_backs_off_and_repeats():
    once = ramp_trace(repeats=1).arrival_time_us
    assert once[-1] < 30 * SECOND
    trice = ramp_trace(repeats=3).arrival_time_us.reshape(3, -1)
    assert (trice == once + 30 * SECOND * np.arange(3)[:, None]).all()


def test_flat_ramp_is_constant():
    ramp = ramp_trace(interval_us=50, floor_us=50, ramp_length_us=5000, repeats=2)
    assert same(ramp, constant_trace(num_jobs=200, interval_us=50))


def test_poisson_arrivals_and_exponential_service():
    trace = poisson_trace(num_jobs=20_000, mean_interval_us=3e6, mean_duration_us=5e6, seed=4)
    gaps = np.diff(trace.arrival_time_us)
    assert stats.kstest(gaps, "expon", args=(0, 3e6)).pvalue > 1e-4
    assert stats.kstest(trace.service_time_us, "expon", args=(0, 5e6)).pvalue > 1e-4
    assert abs(np.corrcoef(gaps, trace.service_time_us[1:])[0, 1]) < 4 / np.sqrt(len(gaps))


def test_modulated_arrivals_follow_their_rates():
    rates = np.repeat([0.9, 0.0, 0.6], 1000)
    trace = modulated_poisson_trace(
        rates, num_workers=20, epoch_us=2 * SECOND, mean_duration_us=SECOND, seed=1
    )
    counts = np.bincount(trace.arrival_time_us // (2 * SECOND), minlength=3000).reshape(3, 1000)
    assert counts[1].sum() == 0
    for row, rate in ((0, 0.9), (2, 0.6)):
        mean = rate * 20 * 2
        assert counts[row].mean() == pytest.approx(mean, abs=4 * np.sqrt(mean / 1000))
        assert counts[row].var() == pytest.approx(mean, rel=4 * np.sqrt(2 / 1000))
    within = trace.arrival_time_us % (2 * SECOND)
    assert stats.kstest(within, "uniform", args=(0, 2 * SECOND)).pvalue > 1e-4
    assert trace.service_time_us.mean() == pytest.approx(SECOND, rel=4 / np.sqrt(len(trace)))


def test_modulated_takes_a_path_of_the_models_chain():
    arrivals = ArrivalProcess()
    levels = arrivals.sample_levels(50, np.random.default_rng(1))
    rates = np.asarray(arrivals.rates)[levels]
    trace = modulated_poisson_trace(rates, num_workers=100, epoch_us=SECOND, seed=1)
    expected = rates.sum() * 100 * 2  # an epoch is two mean service times
    assert len(trace) == pytest.approx(expected, abs=4 * np.sqrt(expected))
    assert len(modulated_poisson_trace([], num_workers=1, epoch_us=1)) == 0
    assert len(modulated_poisson_trace([0.0], num_workers=1, epoch_us=SECOND)) == 0


# --- service and seeds ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [constant_trace, ramp_trace])
def test_durations_are_equally_likely(make):
    durations = (100_000, 500_000, 1_000_000)
    drawn = np.concatenate([make(durations_us=durations, seed=s).service_time_us for s in range(9)])
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(durations)
    assert stats.chisquare(counts).pvalue > 1e-4
    assert set(make(durations_us=(0,)).service_time_us.tolist()) == {0}


@pytest.mark.parametrize("name", STUDY_TRACES)
def test_seed_changes_service_only(name):
    one, other = study_trace(name, seed=1), study_trace(name, seed=2)
    assert same(one, study_trace(name, seed=1))
    assert (one.arrival_time_us == other.arrival_time_us).all()
    assert same(one, other) == name.endswith("_constant")


def test_service_of_poisson_traces_does_not_depend_on_the_arrival_rate():
    one, other = (poisson_trace(mean_interval_us=interval, seed=1) for interval in (1e3, 1e6))
    assert (one.service_time_us == other.service_time_us).all()


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("constant_trace", {"num_jobs": -1}, "num_jobs must be an integer >= 0"),
        ("constant_trace", {"num_jobs": 1.5}, "num_jobs must be an integer"),
        ("constant_trace", {"interval_us": -1}, "interval_us must be an integer >= 0"),
        ("constant_trace", {"interval_us": 2**62}, "interval_us must be"),
        ("constant_trace", {"durations_us": ()}, "durations_us must be a sequence of at least one"),
        ("constant_trace", {"durations_us": (5, -1)}, r"durations_us\[1\] must be"),
        ("constant_trace", {"seed": -1}, "seed must be an integer >= 0"),
        ("ramp_trace", {"interval_us": 0}, "interval_us must be an integer >= 1"),
        ("ramp_trace", {"floor_us": 0}, "floor_us must be an integer >= 1"),
        ("ramp_trace", {"floor_us": 200_000}, "floor_us must be at most the interval, 100000"),
        ("ramp_trace", {"ramp_length_us": 0}, "ramp_length_us must be an integer >= 1"),
        ("ramp_trace", {"ramp_length_us": 10**17}, "ramp_length_us must be such that at most"),
        ("ramp_trace", {"repeats": 0}, "repeats must be an integer >= 1"),
        ("ramp_trace", {"repeats": 2**62}, "repeats must be at most"),
        ("poisson_trace", {"mean_interval_us": float("nan")}, "mean_interval_us must be a finite"),
        ("poisson_trace", {"mean_duration_us": -1.0}, "mean_duration_us must be a finite"),
        ("poisson_trace", {"mean_duration_us": 1e18}, "mean_duration_us must be at most"),
    ],
)
def test_bad_parameter_is_refused(name, values, message):
    with pytest.raises(InvalidInput, match=message):
        getattr(cluster, name)(**values)


@pytest.mark.parametrize(
    ("rates", "values", "message"),
    [
        ([0.5, -0.1], {}, "arrival_rates must be one-dimensional, finite and >= 0"),
        ([np.nan], {}, "arrival_rates must be"),
        ([[0.5]], {}, "arrival_rates must be"),
        (["x"], {}, "arrival_rates must be numeric"),
        ([0.5], {"num_workers": 0}, "num_workers must be an integer >= 1"),
        ([0.5], {"epoch_us": 0}, "epoch_us must be an integer >= 1"),
        ([0.5], {"mean_duration_us": 0}, "mean_duration_us must be an integer >= 1"),
        ([0.5], {"num_workers": 10**12}, "num_workers must be such that about"),
    ],
)
def test_bad_demand_is_refused(rates, values, message):
    with pytest.raises(InvalidInput, match=message):
        modulated_poisson_trace(rates, **({"num_workers": 3, "epoch_us": SECOND} | values))
