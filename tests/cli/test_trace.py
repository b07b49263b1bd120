"""`mfc-lb trace`: the library's traces and readers, told in the words of the command line."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from mfc_lb import ArrivalProcess, SystemParameters
from mfc_lb.cli.durations import show_duration
from mfc_lb.cluster import STUDY_TRACES, constant_trace, poisson_trace, ramp_trace, read_trace
from mfc_lb.systems import rate_paths

README = Path(__file__).parents[2] / "data" / "traces" / "README.md"
MY_CSV = "t;who;d\r\n1000;ann;12.5\r\n0;bob;30\r\n2000;eve;7\r\n"
MINE = ["my.csv", "--arrival-column", "t", "--service-column", "d", "--time-unit", "ms"]
OWN = "job_id,arrival_time_us,service_time_us\n"


@pytest.fixture
def made(call):
    """Generate a trace."""

    def generate(*words):
        done = call("trace", "generate", *words, "--output", "made.csv")
        assert done.exit_code == 0, done.output
        return read_trace("made.csv")

    return generate


@pytest.fixture
def shown(call):
    """Show a trace, and return what is said by name."""

    def show(*words):
        done = call("trace", "show", *words)
        assert done.exit_code == 0, done.output
        rows = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines())
        return {row[0]: row[-1] for row in rows if len(row) == 2}

    return show


def same(one, other):
    return one.to_frame().equals(other.to_frame())


# --- generate ---------------------------------------------------------------------------------


def test_commands_in_the_readme_make_the_stored_traces(call):
    Path("data/traces").mkdir(parents=True)
    commands = re.findall(
        r"^    mfc-lb (trace generate .*)$", README.read_text("utf-8"), re.MULTILINE
    )
    for command in commands:
        done = call(*shlex.split(command))
        assert done.exit_code == 0, done.output
    written = sorted(Path("data/traces").iterdir())
    assert [path.stem for path in written] == sorted(STUDY_TRACES)
    for path in written:
        assert path.read_bytes() == (README.parent / path.name).read_bytes()


def test_defaults_are_the_librarys(made):
    assert same(made("constant"), constant_trace())
    assert same(made("ramp"), ramp_trace())


def test_every_option_reaches_the_library(made):
    common = ["--durations", "0, 1.5ms,2s", "--seed", "3"]
    service = {"durations_us": (0, 1500, 2_000_000), "seed": 3}
    constant = made("constant", "--interval", "7us", "--num-jobs", "1e2", *common)
    assert same(constant, constant_trace(interval_us=7, num_jobs=100, **service))
    words = ["--interval", "1 s", "--floor", ".5s", "--ramp-length", "1min", "--repeats", "3"]
    ramp = ramp_trace(
        interval_us=10**6, floor_us=500_000, ramp_length_us=60 * 10**6, repeats=3, **service
    )
    assert same(made("ramp", *words, *common), ramp)
    words = ["--mean-interval", "3µs", "--mean-duration", "1h", "--num-jobs", "9", "--seed", "2"]
    poisson = poisson_trace(mean_interval_us=3, mean_duration_us=36 * 10**8, num_jobs=9, seed=2)
    assert same(made("poisson", *words), poisson)


def test_modulated_takes_the_arrival_levels_of_a_simulation(made):
    words = [
        "--num-workers",
        "1000",
        "--epoch",
        "2s",
        "--mean-duration",
        "1s",
        "--num-epochs",
        "20",
    ]
    trace = made("modulated", *words, "--seed", "5")
    parameters = SystemParameters(delta_t=2.0)
    rates = np.asarray(parameters.arrivals.rates)[rate_paths(parameters, 20, 1, 5)[0]]
    counts = np.bincount(trace.arrival_time_us // 2_000_000, minlength=20)
    assert np.abs(counts - 2000 * rates).max() < 5 * np.sqrt(2000)
    other = made("modulated", *words, "--arrival-rates", "0", "--seed", "5")
    assert len(other) == 0
    assert ArrivalProcess().rates == (0.9, 0.6)


def test_generate_says_what_it_wrote(call):
    done = call("trace", "generate", "constant", "--output", "t.csv")
    assert done.output == "t.csv: 1200 jobs, the last at 59.95 s\n"


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["constant"], ["Missing option '--output'"]),
        (["constant", "--output", "t.txt"], ["--output must be a file name that ends in .csv"]),
        (["constant", "--output", "no/t.csv"], ["--output must be in a folder that exists"]),
        (["constant", "--num-jobs", "-1"], ["--num-jobs must be an integer >= 0", "got -1"]),
        (["constant", "--num-jobs", "many"], ["--num-jobs must be an integer", "'many'"]),
        (["constant", "--interval", "50"], ["--interval must be a time with a unit", "'50'"]),
        (["constant", "--interval", "-5ms"], ["--interval must be a time with a unit", "'-5ms'"]),
        (["constant", "--interval", "nan"], ["--interval must be a time with a unit", "'nan'"]),
        (["constant", "--interval", "0.5us"], ["--interval must be whole microseconds", "'0.5us'"]),
        (
            ["constant", "--durations", "1s,x"],
            ["--durations must be times such as 100ms", "'1s,x'"],
        ),
        (["constant", "--seed", "-1"], ["--seed must be an integer >= 0", "got -1"]),
        (["ramp", "--floor", "1s"], ["--floor must be at most the interval, 100000 us"]),
        (["ramp", "--interval", "0"], ["--interval must be an integer >= 1", "got 0"]),
        (["ramp", "--ramp-length", "0ms"], ["--ramp-length must be", "got 0"]),
        (["ramp", "--repeats", "0"], ["--repeats must be an integer >= 1", "got 0"]),
        (["poisson", "--mean-interval", "soon"], ["--mean-interval must be a time", "'soon'"]),
        (["modulated", "--arrival-rates", "1,-1"], ["--arrival-rates[1]", ">= 0", "got -1.0"]),
        (["modulated", "--arrival-rates", "1,2,3"], ["--arrival-kernel", "3 x 3"]),
        (["modulated", "--num-workers", "0"], ["--num-workers must be an integer >= 1", "got 0"]),
        (["modulated", "--num-epochs", "0"], ["--num-epochs must be an integer >= 1", "got 0"]),
        (["modulated", "--epoch", "0"], ["--epoch", "must be", "> 0"]),
        (["modulated", "--mean-duration", "0"], ["--mean-duration must be an integer >= 1"]),
        (["rampp"], ["rampp", "ramp"]),
    ],
    ids=" ".join,
)
def test_what_cannot_be_generated_is_refused(words, fragments, refused):
    given = words if "--output" in words or words == ["constant"] else [*words, "--output", "t.csv"]
    refused(["trace", "generate", *given], *fragments)


# --- show -------------------------------------------------------------------------------------


def test_a_csv_of_ones_own_from_start_to_picture(shown):
    Path("my.csv").write_text("\ufeff" + MY_CSV, "utf-8", newline="")
    said = shown(*MINE, "--picture", "my.png", "--output", "tidy.csv")
    assert (said["jobs"], said["from the first arrival to the last"]) == ("3", "2 s")
    assert (said["service time: mean"], said["median"]) == ("16.5 ms", "12.5 ms")
    assert said["cores kept busy on average"] == "0.02475"
    assert Path("my.png").read_bytes().startswith(b"\x89PNG")
    assert (
        Path("tidy.csv").read_text("utf-8") == OWN + "1,0,30000\n0,1000000,12500\n2,2000000,7000\n"
    )
    first = Path("my.png").read_bytes()
    assert shown("tidy.csv", "--picture", "my.png") == said
    assert Path("my.png").read_bytes() == first


@pytest.mark.parametrize(
    ("content", "jobs"), [("", "0"), (OWN, "0"), ("; SWF\n", "0"), (OWN + "1,5,0\n", "1")]
)
def test_small_traces_are_shown(content, jobs, shown):
    Path("t.csv").write_text(content, "utf-8")
    assert shown("t.csv", "--picture", "t.png", "--output", "o.csv")["jobs"] == jobs
    assert len(Path("o.csv").read_text("utf-8").splitlines()) == 1 + int(jobs)
    assert Path("t.png").exists()


def test_parallel_jobs_are_told_in_one_line(call, shown):
    line = "{} 0 0 9 {} -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n"
    text = line.format(1, 4) + line.format(2, 1)
    Path("log.swf.gz").write_bytes(gzip.compress(text.encode()))
    done = call("trace", "show", "log.swf.gz")
    assert done.exit_code == 0
    (note,) = done.stderr.splitlines()
    told = "1 of 2 jobs ran on several processors; each is kept as one job for one core"
    assert note == f"note: log.swf.gz: {told}"
    assert shown("log.swf.gz", "--expand-parallel")["jobs"] == "5"


@pytest.mark.parametrize(
    ("content", "words", "fragments"),
    [
        (MY_CSV, MINE[:1], ["--arrival-column must be one of the columns", "(t, who, d)"]),
        (MY_CSV, MINE[:3], ["--service-column must be one of the columns", "(t, who, d)"]),
        (MY_CSV, MINE[:5], ["--time-unit must be one of ns, us, ms, s, min, h"]),
        (MY_CSV, [*MINE[:6], "days"], ["--time-unit", "'days'", "'min'"]),
        (MY_CSV, [*MINE, "--arrival-column", "T"], ["--arrival-column", "'T'", "(t, who, d)"]),
        (MY_CSV.replace("30", "-30"), MINE, ["my.csv, line 3, column 'd'", ">= 0, got '-30'"]),
        (MY_CSV.replace("30", "?"), MINE, ["my.csv, line 3, column 'd'", ">= 0, got '?'"]),
        (MY_CSV.replace(";eve", ""), MINE, ["my.csv, line 4 must have 3 cells", "got 2"]),
        (MY_CSV, ["none.csv"], ["TRACE must be a file that can be read", "No such file"]),
        (MY_CSV, ["."], ["TRACE must be the path of a file", "'.'"]),
        (MY_CSV, [], ["Missing argument 'TRACE'"]),
        (
            MY_CSV,
            [*MINE, "--picture", "my.gif"],
            ["--picture must be a file name that ends in .png"],
        ),
        (f"{OWN}1,0,{2**61}\n2,0,{2**61}\n", MINE[:1], ["TRACE must be such that", "2^62"]),
        ("\0", MINE[:1], ["TRACE must be a text file"]),
    ],
)
def test_mistake_is_told_before_anything_is_written(content, words, fragments, refused):
    Path("my.csv").write_text(content, "utf-8", newline="")
    refused(["trace", "show", *words, "--output", "out.csv"], *fragments)


def test_groups_show_their_help(call):
    for words in (["trace"], ["trace", "generate"]):
        done = call(*words)
        assert done.exit_code == 0
        assert "Commands:" in done.output


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "0 s"),
        (0.5, "0.5 us"),
        (999, "999 us"),
        (1500, "1.5 ms"),
        (59_950_000, "59.95 s"),
        (90_000_000, "90 s"),
        (360_000_000, "6 min"),
        (4 * 3600 * 10**6, "240 min"),
        (123_456_789 * 3600 * 10**6, "123 456 789 h"),
    ],
)
def test_durations_are_shown_with_a_fitting_unit(microseconds, text):
    assert show_duration(microseconds) == text
