"""`mfc-lb cluster live | balancer | worker | client`: real processes, and how they end."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from mfc_lb.cluster import check_log, read_log
from mfc_lb.cluster.rpc.errors import ClusterFailure

ROOT = Path(__file__).parent.parent.parent
# A suite that runs in the background ignores Ctrl-C, and so would the processes that it starts.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from mfc_lb.cli import main
main()
"""
COMMAND = [sys.executable, "-c", PROGRAM, "cluster"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
HEADER = "job_id,arrival_time_us,service_time_us\n"


@pytest.fixture
def trace() -> str:
    """A trace of three jobs, the last of length zero, which begins late."""
    Path("my.csv").write_text(HEADER + "7,5000000,20000\n8,5010000,20000\n9,5050000,0\n")
    return "my.csv"


def start(*words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )


def test_live_prints_a_table_and_writes_both_files(trace):
    words = ["--cores", "1,2", "--balancer", "jsq:2", "--refresh", "10ms", "--time-scale", "0.5"]
    process = start("live", trace, *words, "--output", "jobs.csv", "--log", "run.log")
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    for told in (
        "3 jobs, a second of the trace in 0.5 s",
        "response time, in the trace",
        "jitter of starts, real",
        "3 jobs finished and 0 dropped in ",
        " jobs per second",
        "median overhead per job (round trip of jobs of length 0): ",
        "log: 12 events are right; none is more than ",
    ):
        assert told in stdout
    jobs = pd.read_csv("jobs.csv")
    assert jobs.job_id.tolist() == [7, 8, 9]
    assert jobs.final_state.tolist() == ["finished"] * 3
    log = read_log(Path("run.log"))
    assert check_log(log, 10**9) == []
    assert (log.header.cluster.cores, log.header.cluster.refresh_interval_us) == ((1, 2), 10_000)
    pids = re.findall(r"\d+", stderr.partition("workers:")[2])
    assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_interrupt_leaves_one_line_and_no_process():
    Path("long.csv").write_text(HEADER + "0,0,1000000000\n")
    process = start("live", "long.csv", "--workers", "1", "--output", "jobs.csv")
    note = process.stderr.readline()
    pids = re.findall(r"process(?:es)? (\d+)", note)
    assert len(pids) == 2
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert stderr.split("\n") == ["", "mfc-lb: interrupted", ""]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not Path("jobs.csv").exists()


def test_processes_started_by_hand(trace):
    balancer = start("balancer", "--workers", "1", "--balancer", "round-robin")
    workers = []
    try:
        address = balancer.stdout.readline().split()[-1]
        workers.append(start("worker", address, "--cores", "2"))
        assert workers[0].stdout.readline() == "serving as worker 0\n"
        client = start("client", address, trace, "--log", "run.log")
        stdout, stderr = client.communicate(timeout=60)
        assert (client.returncode, stderr) == (0, "")
        assert "3 jobs finished" in stdout
        assert check_log(read_log(Path("run.log")), 10**9) == []
        # A worker too many is told so; one whose balancer ends, too.
        workers.append(start("worker", address))
        _, stderr = workers[1].communicate(timeout=60)
        assert workers[1].returncode == 1
        assert stderr == "mfc-lb: no place is free for a worker with 4 cores\n"
        balancer.kill()
        _, notes = balancer.communicate(timeout=60)
        assert notes.splitlines() == [
            "note: without certificates, every user of this machine may join",
            "note: worker 0 is there, with 2 cores",
            "note: a client's run begins",
            "note: the run is over: 3 jobs ended",
        ]
        _, stderr = workers[0].communicate(timeout=60)
        assert workers[0].returncode == 1
        assert re.fullmatch(r"mfc-lb: the balancer at \S+ (is gone|has ended)\n", stderr)
    finally:
        for process in (balancer, *workers):
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("live", "missing argument 'TRACE'."),
        ("live none.csv", "none.csv"),
        ("live my.csv --workers 0", "--workers must be an integer >= 1 and <= "),
        ("live my.csv --cores 0", "--cores[0] must be an integer >= 1"),
        ("live my.csv --cores 1,2 --workers 3", "--cores must be one number, or one for each of 3"),
        ("live my.csv --capacity 0", "--capacity must be an integer >= 1"),
        ("live my.csv --time-scale 0", "--time-scale must be a number from 1e-06 to 1e+06, got 0"),
        ("live my.csv --time-scale nan", "--time-scale must be a number from 1e-06"),
        ("live my.csv --refresh 10", "--refresh must be a time with a unit"),
        ("live my.csv --balancer best", "--balancer must be random, round-robin, least-loaded"),
        ("live my.csv --balancer jsq:0", "the number in --balancer jsq:D must be an integer >= 1"),
        ("live my.csv --balancer jsq:4:distinct", "must be at most the number of workers, 3"),
        ("live my.csv --balancer mean-field:none.safetensors", "none"),
        ("live my.csv --seed -1", "--seed must be an integer >= 0"),
        ("live my.csv --log run.txt", "--log must be a file name that ends in .log"),
        ("balancer --workers 1001", "--workers must be an integer >= 1 and <= 1000, got 1001"),
        ("balancer --listen 0.0.0.0:0", "--listen must be on loopback, unless there are"),
        ("balancer --listen nowhere", "--listen must be HOST:PORT"),
        ("balancer --tls-cert my.csv", "--tls-cert must come with a key and an authority"),
        ("balancer --patience 0", "--patience must be a finite number > 0"),
        ("balancer --keepalive 0", "--keepalive must be a number from 0.1 to 3600, got 0"),
        ("worker nowhere", "the address of the balancer must be HOST:PORT"),
        ("worker 127.0.0.1:1 --cores 0", "--cores must be an integer >= 1"),
        ("worker 127.0.0.1:1 --place -1", "--place must be an integer >= 0"),
        ("worker 192.0.2.1:1", "the address of the balancer must be on loopback"),
        ("client 192.0.2.1:1 my.csv", "the address of the balancer must be on loopback"),
        ("client 127.0.0.1:1 my.csv --tls-key my.csv --tls-cert x --tls-ca x", "--tls-ca must be"),
    ],
)
@pytest.mark.usefixtures("trace")
def test_mistakes_are_told_in_one_line(call, words, told):
    done = call("cluster", *words.split())
    assert done.exit_code == 2, done.output
    assert done.output.lower().startswith("mfc-lb: ")
    assert told.lower() in done.output.lower()
    assert done.output.count("\n") == 1


@pytest.mark.parametrize(
    ("workers", "told"), [(15, []), (16, ["note: starts 17"]), (999, ["note: starts 1000"])]
)
def test_many_processes_are_announced_before_they_start(call, trace, monkeypatch, workers, told):
    def refuse(*_, **__):
        raise ClusterFailure("enough")

    monkeypatch.setattr("mfc_lb.cluster.rpc.loopback.run_live", refuse)
    *notes, last = call("cluster", "live", trace, "--workers", str(workers)).output.splitlines()
    assert last == "mfc-lb: enough"
    assert [note.partition(" processes")[0] for note in notes] == told


def test_nobody_answers(call, trace):
    for words in (["worker", "127.0.0.1:1"], ["client", "127.0.0.1:1", trace]):
        done = call("cluster", *words, "--patience", "0.1")
        assert done.exit_code == 1
        assert done.output.startswith("mfc-lb: no balancer answers at 127.0.0.1:1 within 0.1 s")


def test_help_tells_of_each_balancer(call):
    for command in ("live", "balancer"):
        shown = call("cluster", command, "--help").output
        for word in ("round-robin", "least-loaded:first", "jsq:3:distinct", "mean-field:FILE"):
            assert word in shown
    assert "TRACE is a text file" in call("cluster", "client", "--help").output
