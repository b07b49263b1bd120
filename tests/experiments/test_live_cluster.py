"""Live runs beside simulations: what is checked of them, and what is shown."""

import json
from dataclasses import replace

import numpy as np
import pytest

from mfc_lb.cluster import EventKind, Events, Trace
from mfc_lb.cluster.rpc.errors import ClusterFailure
from mfc_lb.errors import InvalidInput
from mfc_lb.experiments import live_cluster, live_comparison, live_records
from mfc_lb.experiments.live_cluster import LiveRun, LiveSetting, load_gap, require_right
from mfc_lb.experiments.trace_study import CURVES
from mfc_lb.figures.live_cluster import loss_of_worker

SETTING = LiveSetting(workers=3, cores=2)
NUM_JOBS = 60
TRACE = Trace.from_arrays(np.arange(NUM_JOBS) * 50_000, np.tile([100_000, 500_000, 300_000], 20))


def as_live(setting=SETTING, change=lambda events: events, end_us=None):
    """Return a run whose log is the simulation's, changed: a live run without any jitter."""
    log = LiveRun(setting, TRACE, None).simulated.log
    events = Events(*(np.array(column) for column in change(log.events)))
    later = max(log.end_us, int(events.time_us[-1])) if end_us is None else end_us
    return LiveRun(setting, TRACE, replace(log, events=events, end_us=later))


def with_column(name, values):
    return lambda events: events._replace(**{name: values(events)})


@pytest.mark.parametrize("balancer", ["random", "round-robin", "least-loaded", "jsq"])
def test_a_simulation_is_a_live_run_without_jitter(balancer):
    run = as_live(replace(SETTING, balancer=balancer))
    require_right(run)
    assert load_gap(run) == (0.0, 0.0)
    assert run.lags.largest == 0
    found = live_comparison.differences(run)
    assert (found["moved"], found["shift"]) == (0, 0.0)
    assert found["response_live"] == found["response_simulated"] > 0.3


def test_another_seed_moves_jobs_of_a_balancer_that_draws():
    run = as_live(replace(SETTING, balancer="random"))
    fewest, most = live_comparison.moved_by_seed(run, 6)
    own, *others = run.simulations(6)
    assert fewest == min((other.worker != own.worker).sum() for other in others)
    # Of 60 jobs two of three, 40, give or take five times 3.7.
    assert 21 < fewest <= most < 59


def test_a_simulation_is_between_simulations():
    curves = live_comparison.curves(as_live(replace(SETTING, balancer="random")), 3, 10)
    within = live_comparison.within_simulations(curves)
    assert within.to_dict() == dict.fromkeys(CURVES, 1.0)
    beyond = curves.estimate.where(curves.source == "simulated", 99.0)
    assert not live_comparison.within_simulations(curves.assign(estimate=beyond)).any()


# --- what is wrong is told --------------------------------------------------------------------


def without(kind, number):
    """Return what leaves out one of the events of a kind."""

    def change(events):
        kept = np.ones(len(events.kind), dtype=bool)
        kept[np.flatnonzero(events.kind == kind)[number]] = False
        return [column[kept] for column in events]

    return change


def elsewhere(events):
    """Serve the first job and the last but two of its worker at each other's workers."""
    jobs = np.where(events.job_id == 0, 1, np.where(events.job_id == 1, 0, events.job_id))
    swapped = (events.kind != EventKind.ARRIVED) & np.isin(events.job_id, (0, 1))
    return np.where(swapped & (events.worker >= 0), 1 - events.worker, events.worker), jobs


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without(EventKind.FINISHED, -1), "never ends"),
        (without(EventKind.ASSIGNED, 5), "starts but is at the balancer"),
        (with_column("worker", lambda e: np.where(e.worker == 2, 1, e.worker)), "cores are busy"),
        (with_column("worker", lambda e: elsewhere(e)[0]), "chooses otherwise"),
    ],
)
def test_a_wrong_log_is_told(change, told):
    with pytest.raises(ClusterFailure, match=told):
        require_right(as_live(change=change))


def test_other_jobs_than_those_of_the_trace_are_told():
    run = as_live()
    other = Trace.from_arrays(
        TRACE.arrival_time_us, TRACE.service_time_us, np.roll(TRACE.job_id, 1)
    )
    with pytest.raises(ClusterFailure, match="order of the trace"):
        require_right(replace(run, trace=other))


def test_a_load_beyond_the_bound_is_told(monkeypatch):
    monkeypatch.setattr(live_cluster, "load_gap", lambda _: (0.2, 0.1))
    with pytest.raises(ClusterFailure, match=r"mean loads differ by 0\.2"):
        require_right(as_live())


# --- what is measured -------------------------------------------------------------------------


def delayed(by):
    """Return what makes every event so many microseconds later than the one before it asks for."""
    return with_column("time_us", lambda events: events.time_us + by(events))


def test_a_delay_of_everything_is_jitter_and_a_gap():
    run = as_live(change=delayed(lambda events: np.full(len(events.kind), 10_000)))
    require_right(run)
    assert live_comparison.differences(run)["shift"] == pytest.approx(0.01)
    late = live_comparison.jitter(run)
    assert late.loc["arrivals"].tolist() == pytest.approx([1.0] * 4)  # 10 ms at a tenth of the time
    assert late.loc["service times"].tolist() == [0.0] * 4
    gap, bound = load_gap(run)
    duration = run.log.end_us - TRACE.arrival_time_us[0]
    assert bound == pytest.approx(2 * NUM_JOBS * 10_000 / 6 / duration)
    assert gap == pytest.approx(gap_on_a_grid(run), rel=1e-6)
    assert 0.1 * bound < gap < bound


def test_the_gap_of_a_run_that_gets_slower_and_slower():
    run = as_live(change=delayed(lambda events: events.time_us // 7))
    gap, bound = load_gap(run)
    assert gap == pytest.approx(gap_on_a_grid(run), rel=1e-3)
    assert 0.1 * bound < gap <= bound


def gap_on_a_grid(run):
    """Return the mean absolute difference of the mean loads at many moments."""
    end = max(run.log.end_us, run.simulated.log.end_us)
    times = np.arange(0, end, 100) + 50

    def means(result):
        inside = np.minimum(times, result.log.end_us)
        return result.load.jobs_at(inside).sum(axis=1) / 6

    return float(np.abs(means(run.result) - means(run.simulated)).mean())


def test_curves_have_both_sources_and_a_band_if_the_balancer_draws():
    run = as_live(replace(SETTING, balancer="least-loaded"))
    table = live_comparison.curves(run, num_runs=4, num_windows=5)
    assert len(table) == 2 * 2 * 5
    keys = ["measure", "window_start"]
    live, simulated = (
        table[table.source == source].set_index(keys) for source in ("live", "simulated")
    )
    assert live.estimate.equals(simulated.estimate)
    assert (live.lowest == live.highest).all()
    assert (simulated.lowest <= simulated.estimate).all()
    assert (simulated.highest > simulated.lowest).any()
    plain = live_comparison.curves(as_live(), num_runs=4, num_windows=5)
    assert (plain.lowest == plain.highest).all()


# --- real processes ---------------------------------------------------------------------------


@pytest.fixture
def short(tmp_path):
    """Return a setting with a trace of a second or two."""
    TRACE.write_csv(tmp_path / "short.csv")
    return LiveSetting(trace=str(tmp_path / "short.csv"), cores=2, time_scale=0.3)


def test_a_run_of_processes(short):
    run = live_cluster.run(short)
    assert run.log.header.source == "live"
    assert run.trace.to_frame().equals(TRACE.to_frame())
    assert not live_cluster.moved(run).any()


def test_a_run_in_which_a_worker_is_killed(short):
    run = live_cluster.run(short, kill=True)
    assert live_comparison.loss_in_numbers(run)["results"] == NUM_JOBS


# --- recorded runs ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", live_records.RECORDED)
def test_recorded_runs_are_right_and_as_their_cards_say(name):
    run, card = live_records.recorded(name), live_records.card(name)
    require_right(run)
    assert (card["jobs"], card["events"]) == (len(run.trace), len(run.log))
    assert LiveSetting(**card["setting"]) == run.setting
    late = live_comparison.jitter(run).round(3).to_dict("index")
    assert late == card["jitter_milliseconds"]
    assert name in card["command"]


def test_a_recorded_run_that_was_changed_is_refused(tmp_path):
    source = live_records.records_folder()
    for suffix in (".log", ".json"):
        (tmp_path / f"killed{suffix}").write_bytes((source / f"killed{suffix}").read_bytes())
    assert len(live_records.recorded("killed", tmp_path).log) > 0
    with (tmp_path / "killed.log").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(InvalidInput, match="checksum"):
        live_records.recorded("killed", tmp_path)
    with pytest.raises(InvalidInput, match=r"round-robin-quick\.log"):
        live_records.recorded("round-robin-quick", tmp_path)


def test_a_run_is_recorded_with_its_card(tmp_path, short, monkeypatch):
    monkeypatch.setitem(live_records.RECORDED, "tiny", short)
    assert list(live_records.record(("tiny",), tmp_path)) == [tmp_path / "tiny.log"]
    assert len(live_records.recorded("tiny", tmp_path).trace) == NUM_JOBS
    card = json.loads((tmp_path / "tiny.json").read_text("utf-8"))
    assert card["computed"]["processes"] == 5
    assert {"grpcio", "protobuf"} <= card["computed"]["packages"].keys()


def test_an_unknown_name_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(InvalidInput, match="name must be one of round-robin-quick"):
        list(live_records.record(("killed", "kiled"), tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_page_draws_the_recorded_run_of_its_own_setting_alone():
    fresh = as_live(LiveSetting())
    assert live_records.drawn(fresh, "this run", "killed") is fresh
    assert live_records.drawn(fresh, "recorded", "killed").log.header.source == "live"
    other = as_live(LiveSetting(workers=4))
    assert live_records.drawn(other, "recorded", "killed") is other


# --- the loss of a worker ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def killed():
    return live_records.recorded("killed")


def test_the_story_of_a_loss(killed):
    story = live_comparison.story_of_loss(killed)
    jobs = {kind: rows.job.tolist() for kind, rows in story.groupby("event")}
    assert jobs["WORKER_LOST"] == jobs["WORKER_BACK"] == [""]
    assert jobs["RETURNED"] == jobs["ASSIGNED"][:-1] != []
    sent = story[story.event == "ASSIGNED"].worker
    assert "2" not in set(sent.iloc[:-1])
    assert sent.iloc[-1] == "2"
    assert story.index.astype(float).is_monotonic_increasing


def test_numbers_of_a_loss(killed):
    found = live_comparison.loss_in_numbers(killed)
    story = live_comparison.story_of_loss(killed)
    assert found["returned"] == (story.event == "RETURNED").sum()
    back, lost = (
        float(story.index[story.event == kind][0]) for kind in ("WORKER_BACK", "WORKER_LOST")
    )
    assert found["away"] == pytest.approx(back - lost, abs=2e-6)
    assert found["results"] == len(killed.trace)
    assert 0 < found["started_twice"] <= found["returned"]
    loads = live_comparison.loads_around_loss(killed)
    assert (loads.killed[loads.away] == 0).all()
    before = loads.others[: int(loads.away.argmax())].max()
    assert found["peak"] == loads.others[loads.away].max() > 2 * before
    (panel,) = loss_of_worker(loads).axes
    others, _ = panel.lines
    assert found["highest"] == others.get_ydata().max() >= found["peak"]


def test_a_run_without_a_loss_has_no_story():
    run = as_live()
    assert live_comparison.story_of_loss(run).empty
    found = live_comparison.loss_in_numbers(run)
    assert (found["lost"], found["returned"], found["away"], found["peak"]) == (0, 0, 0.0, 0.0)
    assert not live_comparison.loads_around_loss(run).away.any()
