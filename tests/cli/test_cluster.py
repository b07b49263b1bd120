"""`mfc-lb cluster simulate | compare | check-log`: the library's numbers, in words and in files."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mfc_lb.cli.cluster_comparison import _seeds
from mfc_lb.cluster import (
    ClusterParameters,
    EventKind,
    JoinShortestQueue,
    LeastLoaded,
    RoundRobin,
    Trace,
    poisson_trace,
    read_log,
    simulate_cluster,
    study_trace,
    write_log,
)
from mfc_lb.experiments.cases import policy_path
from mfc_lb.systems import Estimate

TRACE = study_trace("ramp_trimodal", seed=3)
MINE = ["my.csv", "--arrival-column", "t", "--service-column", "d", "--time-unit", "ms"]


@pytest.fixture(autouse=True)
def _traces(_in_empty_folder):
    TRACE.write_csv(Path("t.csv"))
    lines = [f"{arrival},x,{service}\n" for _, arrival, service in poisson_trace(num_jobs=300)]
    Path("my.csv").write_text("t,who,d\n" + "".join(lines), "utf-8")


def column(rows, name):
    return [float(row[name]) for row in rows]


# --- compare ----------------------------------------------------------------------------------


def test_compare_gives_the_librarys_numbers(table):
    rows = table(
        *("cluster", "compare", "t.csv", "--workers", "6", "--cores", "2", "--capacity", "9"),
        *("--balancers", "round-robin,jsq:3", "--refresh", "0,1s", "--runs", "4", "--seed", "5"),
    )
    assert [(row["balancer"], row["refresh_interval"]) for row in rows] == [
        ("round-robin", "0.0"),
        ("jsq:3", "0.0"),
        ("round-robin", "1.0"),
        ("jsq:3", "1.0"),
    ]
    cluster = ClusterParameters((2,) * 6, 9, 1_000_000)
    turns = simulate_cluster(TRACE, cluster, RoundRobin()).summary()
    sampled = [
        simulate_cluster(TRACE, cluster, JoinShortestQueue(3), seed=seed).summary()
        for seed in _seeds(5, 4)
    ]
    assert float(rows[2]["response_time"]) == pytest.approx(turns.response_mean / 1e6)
    assert float(rows[2]["load_standard_deviation"]) == turns.load_standard_deviation
    assert rows[2]["response_time_low"] == ""  # not random: one run, no interval
    tail = Estimate.of([summary.response_p99 / 1e6 for summary in sampled])
    found = column(rows[3:], "response_time_p99")[0], column(rows[3:], "response_time_p99_high")[0]
    assert found == pytest.approx((tail.mean, tail.interval()[1]))
    differences = [summary.response_mean / 1e6 - turns.response_mean / 1e6 for summary in sampled]
    paired = Estimate.of(differences)
    assert float(rows[3]["response_time_difference"]) == pytest.approx(paired.mean)
    assert float(rows[3]["response_time_difference_low"]) == pytest.approx(paired.interval()[0])
    drops = [summary.dropped for summary in sampled]
    assert float(rows[3]["drops"]) == pytest.approx(np.mean(drops))


def test_a_csv_of_ones_own_from_start_to_picture(call):
    done = call(
        *("cluster", "compare", *MINE, "--workers", "16", "--cores", "8", "--runs", "2"),
        *("--refresh", "0", "100ms", "1s", "10s", "--balancers", "random", "least-loaded"),
        *("--picture", "my.png", "--output", "my_out.csv"),
    )
    assert done.exit_code == 0, done.output
    assert Path("my.png").read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv("my_out.csv")) == 8
    assert "300 jobs, 16 workers, 8 cores each" in done.stdout
    table, differences = done.stdout.split("Mean response time minus that of random")
    assert table.count("least-loaded") == differences.count("least-loaded") == 4
    assert [interval in table for interval in ("100 ms", "1 s", "10 s")] == [True] * 3
    assert "random" not in differences
    assert "my.png: the picture" in done.stdout


def test_the_command_of_the_help_works(call):
    text = call("cluster", "compare", "-h").output.partition("Example:")[2]
    command = text.replace("\\\n", " ").split()[1:]
    done = call(*command, "--runs", "2")
    assert done.exit_code == 0, done.output
    assert Path("my.png").exists()
    assert len(pd.read_csv("comparison.csv")) == 12


def test_stored_policies_are_balancers(table):
    words = "cluster", "compare", "t.csv", "--workers", "12", "--cores", "1", "--capacity", "5"
    policy = f"mean-field:{policy_path(5.0)}"
    balancers = f"random,mean-field:random,{policy}"
    rows = table(*words, "--refresh", "2s", "--runs", "8", "--balancers", balancers)
    random, same, learned = rows
    assert abs(float(same["drops"]) - float(random["drops"])) < 30
    assert float(learned["drops_high"]) < float(random["drops_low"])


def test_seed_decides_and_old_news_do_not_change_what_does_not_look(table):
    words = (
        "cluster",
        "compare",
        "t.csv",
        "--runs",
        "3",
        "--balancers",
        "random",
        "--refresh",
        "0,9s",
    )
    first, again = table(*words), table(*words)
    assert first == again
    assert first[0]["response_time"] == first[1]["response_time"]
    assert table(*words, "--seed", "1")[0]["response_time"] != first[0]["response_time"]


@pytest.mark.parametrize("content", ["", "job_id,arrival_time_us,service_time_us\n"])
def test_an_empty_trace_gives_an_empty_result(content, call):
    Path("e.csv").write_text(content, "utf-8")
    done = call("cluster", "compare", "e.csv", "--runs", "2", "--picture", "e.png")
    assert done.exit_code == 0, done.output
    assert "e.csv: 0 jobs" in done.stdout
    done = call("cluster", "simulate", "e.csv", "--picture", "e.png", "--load", "l.csv")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["t.csv", "--balancers", "fair"], ["--balancers must be random, round-robin", "'fair'"]),
        (["t.csv", "--balancers", "random,random"], ["--balancers must be made of different"]),
        (["t.csv", "--balancers", "jsq:0"], ["the number in --balancers jsq:D must be", "got 0"]),
        (
            ["t.csv", "--balancers", "jsq:9:distinct", "--workers", "3"],
            ["--balancers jsq:D must be at most the number of workers, 3", "got 9"],
        ),
        (["t.csv", "--balancers", "mean-field:no.safetensors"], ["--balancers", "with its card"]),
        (["t.csv", "--refresh", "soon"], ["--refresh must be times such as 100ms", "'soon'"]),
        (["t.csv", "--refresh", "1s,1000ms"], ["--refresh must be made of different values"]),
        (["t.csv", "--refresh", "0", "soon"], ["unexpected extra argument", "soon"]),
        (["t.csv", "--runs", "0"], ["--runs must be an integer >= 1", "got 0"]),
        (["t.csv", "--seed", "-1"], ["--seed must be", "got -1"]),
        (["t.csv", "--workers", "0"], ["--workers must be an integer >= 1", "got 0"]),
        (["t.csv", "--cores", "1,2", "--workers", "3"], ["--cores must be one number, or one for"]),
        (["t.csv", "--cores", "0"], ["--cores", "must be an integer >= 1", "got 0"]),
        (["t.csv", "--capacity", "0"], ["--capacity must be an integer >= 1", "got 0"]),
        (["no.csv"], ["TRACE must be a file that can be read"]),
        (["my.csv"], ["--arrival-column must be one of the columns"]),
        (["t.csv", "--picture", "p.jpg"], ["--picture must be a file name that ends in .png"]),
    ],
    ids=lambda value: " ".join(value[1:3]),
)
def test_what_cannot_be_compared_is_refused(words, fragments, refused):
    refused(["cluster", "compare", *words], *fragments)


# --- simulate and check-log -------------------------------------------------------------------


def test_simulate_writes_what_the_library_gives(call):
    done = call(
        *("cluster", "simulate", "t.csv", "--cores", "1,2,4", "--balancer", "least-loaded:first"),
        *("--refresh", "300ms", "--capacity", "7", "--seed", "2", "--output", "jobs.csv"),
        *("--log", "run.log", "--load", "load.csv", "--picture", "load.png"),
    )
    assert done.exit_code == 0, done.output
    cluster = ClusterParameters((1, 2, 4), 7, 300_000)
    result = simulate_cluster(TRACE, cluster, LeastLoaded("first"), seed=2)
    jobs = pd.read_csv("jobs.csv")
    assert jobs.finish_time_us.dropna().tolist() == result.finish_time_us[result.finished].tolist()
    assert (jobs.final_state == "dropped").sum() == result.num_dropped > 0
    log = read_log(Path("run.log"))
    assert log.events.time_us.tolist() == result.log.events.time_us.tolist()
    assert pd.read_csv("load.csv")["mean"].tolist() == result.load_moments.mean.tolist()
    assert Path("load.png").read_bytes().startswith(b"\x89PNG")
    assert f"dropped {result.num_dropped}" in " ".join(done.stdout.split())


def test_horizon_counts_from_the_first_arrival(call):
    Trace.from_arrays([10**15, 10**15 + 500], [1000, 1000]).write_csv(Path("unix.csv"))
    words = "cluster", "simulate", "unix.csv", "--horizon", "1ms", "--picture", "p.png"
    done = call(*words, "--output", "jobs.csv")
    assert done.exit_code == 0, done.output
    assert pd.read_csv("jobs.csv").final_state.tolist() == ["finished", "running"]
    assert "neither, at the horizon 1" in " ".join(done.stdout.split())


def test_check_log_says_what_holds(call):
    assert call("cluster", "simulate", "t.csv", "--log", "run.log").exit_code == 0
    done = call("cluster", "check-log", "run.log", "--output", "events.csv")
    assert done.exit_code == 0, done.output
    assert "4200 events" in done.stdout
    assert "3 workers with 4 cores" in done.stdout
    assert "in this log:\n  every job arrives once and ends once" in done.stdout
    assert "first come, first served" in done.stdout
    events = pd.read_csv("events.csv")
    assert events.kind.tolist()[:3] == ["arrived", "assigned", "started"]
    assert (events.kind == "finished").sum() == len(TRACE)


def wrong_worker(events):
    place = np.flatnonzero(events.kind == EventKind.STARTED)[100]
    worker = events.worker.copy()
    worker[place] = (worker[place] + 1) % 3
    return events._replace(worker=worker)


def without_a_finish(events):
    place = np.flatnonzero(events.kind == EventKind.FINISHED)[-1]
    return events._make(np.delete(column, place) for column in events)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [(wrong_worker, "starts on worker"), (without_a_finish, "never ends: it is in service")],
)
def test_check_log_says_what_is_wrong(damage, problem, call):
    assert call("cluster", "simulate", "t.csv", "--log", "run.log").exit_code == 0
    log = read_log(Path("run.log"))
    write_log(dataclasses.replace(log, events=damage(log.events)), Path("bad.log"))
    done = call("cluster", "check-log", "bad.log")
    assert done.exit_code == 1
    assert problem in done.stdout
    assert "in this log:" not in done.stdout
    assert re.fullmatch(r"mfc-lb: bad\.log has (1 fault|\d+ faults( or more)?)\n", done.stderr)


def test_a_live_log_may_be_late(call):
    trace = Trace.from_arrays([0, 0], [1000, 1000])
    log = simulate_cluster(trace, ClusterParameters(cores=(1,)), RoundRobin()).log
    late = log.events.time_us.copy()
    late[-2:] += 3000  # the second job starts 3 ms late
    header = dataclasses.replace(log.header, source="live")
    live = dataclasses.replace(
        log, header=header, events=log.events._replace(time_us=late), end_us=int(late[-1])
    )
    write_log(live, Path("live.log"))
    done = call("cluster", "check-log", "live.log")
    assert done.exit_code == 0, done.output
    assert "up to 4 ms of the trace early or late; half of that does not do" in done.stdout
    assert call("cluster", "check-log", "live.log", "--tolerance", "1ms").exit_code == 1
    assert call("cluster", "check-log", "live.log", "--tolerance", "3ms").exit_code == 0


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (b"", ["run.log: record 0 at byte 0", "cut off"]),
        (b"\x05hello", ["run.log: record 0 at byte 0"]),
        (None, ["FILE must be a file that can be read", "run.log"]),
    ],
)
def test_what_is_no_log_is_refused(content, fragments, refused):
    if content is not None:
        Path("run.log").write_bytes(content)
    refused(["cluster", "check-log", "run.log", "--output", "events.csv"], *fragments)


def test_a_log_that_is_cut_off_is_refused(call, refused):
    assert call("cluster", "simulate", "t.csv", "--log", "run.log").exit_code == 0
    content = Path("run.log").read_bytes()
    for length in (1, 100, len(content) - 1):
        Path("cut.log").write_bytes(content[:length])
        refused(["cluster", "check-log", "cut.log"], "cut.log: record", "cut off")


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["--balancer", "jsq:x"], ["--balancer must be random", "'jsq:x'"]),
        (["--balancer", "jsq:4:distinct"], ["--balancer jsq:D must be at most", "got 4"]),
        (["--refresh", "1"], ["--refresh must be a time with a unit", "'1'"]),
        (["--horizon", "-1s"], ["--horizon must be a time with a unit"]),
        (["--seed", "-1"], ["--seed must be an integer >= 0"]),
        (["--log", "run.txt"], ["--log must be a file name that ends in .log"]),
        (["--load", "no/load.csv"], ["--load must be in a folder that exists"]),
    ],
    ids=" ".join,
)
def test_what_cannot_be_simulated_is_refused(words, fragments, refused):
    refused(["cluster", "simulate", "t.csv", *words], *fragments)


def test_group_shows_its_commands(call):
    done = call("cluster")
    assert done.exit_code == 0
    for name in ("compare", "simulate", "check-log", "live"):
        assert f"  {name} " in done.output


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["simulate", "t.csv", "--output", "./t.csv"], "--output must be another file than TRACE"),
        (["simulate", "t.csv", "--load", "linked.csv"], "--load must be another file than TRACE"),
        (["compare", "t.csv", "--output", "t.csv"], "--output must be another file than TRACE"),
        (
            ["simulate", "t.csv", "--output", "a.csv", "--load", "a.csv"],
            "--output must be another file than --load",
        ),
    ],
)
def test_a_trace_is_not_written_over(words, told, call):
    Path("linked.csv").symlink_to("t.csv")
    before = Path("t.csv").read_bytes()
    done = call("cluster", *words)
    assert (done.exit_code, told in done.stderr) == (2, True), done.output
    assert Path("t.csv").read_bytes() == before
    assert not Path("a.csv").exists()
