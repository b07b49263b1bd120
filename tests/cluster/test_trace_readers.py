"""Reading traces: every format, and every mistake told with file, line, column and value."""

import gzip
import re
import warnings

import pytest

from mfc_lb import InvalidInput
from mfc_lb.cluster import read_trace

OWN = "job_id,arrival_time_us,service_time_us\n"
AZURE = "app,func,end_timestamp,duration\n"
NAMED = {"arrival_column": "t", "service_column": "d", "time_unit": "ms"}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write a file, and return its jobs as (name, arrival, service)."""
    monkeypatch.chdir(tmp_path)

    def read(content, name="trace.csv", **how):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_trace(name, **how))

    return read


@pytest.fixture
def refused(read):
    """Read a file with a mistake, which costs one line with exactly these words."""

    def check(content, message, name="trace.csv", **how):
        with pytest.raises(InvalidInput) as caught:
            read(content, name, **how)
        assert str(caught.value) == message

    return check


# --- our own CSV ------------------------------------------------------------------------------

JOBS = [(7, 0, 500), (3, 10, 0), (5, 10, 900)]
LINES = ["job_id,arrival_time_us,service_time_us", "3,10,0", "7,0,500", "5,10,900"]
PLAIN = "\n".join([*LINES, ""])


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace("\n", "\n\n"),
        "\n \n" + PLAIN + "  \n",
        "\ufeff" + PLAIN,
        PLAIN.encode("utf-16"),
        ("\ufeff" + PLAIN.replace("\n", "\r\n")).encode(),
        gzip.compress(PLAIN.encode(), mtime=0),
        gzip.compress(("\ufeff" + PLAIN.replace("\n", "\r\n")).encode(), mtime=0),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", " , "),
        PLAIN.replace("10", '"10"'),
        PLAIN.replace("900", "9e2"),
        PLAIN.replace("3,10", "3.0,10.0"),
    ],
)
def test_own_csv_in_many_guises(content, read):
    assert read(content) == JOBS


def test_gzip_is_known_whatever_the_name(read):
    assert read(gzip.compress(PLAIN.encode()), "trace.csv.gz") == JOBS


def test_columns_in_another_order_and_more_of_them(read):
    assert read("x,service_time_us,arrival_time_us\na,5,1\nb,6,0\n") == [(1, 0, 6), (0, 1, 5)]


@pytest.mark.parametrize(
    "content", ["", "\n\n", "\ufeff", "  \r\n", OWN, AZURE, "; only\n; comments\n", "t,d\n"]
)
def test_empty_trace_is_read(content, read):
    assert read(content, **(NAMED if content == "t,d\n" else {})) == []


def test_empty_file_is_empty_however_it_is_read(read):
    assert read("", **NAMED) == []
    assert read(gzip.compress(b""), "log.swf.gz") == []


def test_many_jobs_at_one_instant_keep_their_order(read):
    content = OWN + "".join(f"{name},5,1\n" for name in range(1000, 0, -1))
    assert [name for name, _, _ in read(content)] == list(range(1000, 0, -1))


@pytest.mark.parametrize(
    ("rows", "where", "what"),
    [
        ("1,0,5\n2,-1,5\n", "line 3, column 'arrival_time_us'", "a number >= 0, got '-1'"),
        ("1,0,5\n2,1,-0.5\n", "line 3, column 'service_time_us'", "a number >= 0, got '-0.5'"),
        ("1,0,5\n\n2,x,5\n", "line 4, column 'arrival_time_us'", "a number >= 0, got 'x'"),
        ("1,0,5\r\n2,,5\r\n", "line 3, column 'arrival_time_us'", "a number >= 0, got ''"),
        ("1,0,nan\n", "line 2, column 'service_time_us'", "a number >= 0, got 'nan'"),
        ("1,0,inf\n", "line 2, column 'service_time_us'", "a number >= 0, got 'inf'"),
        ("1,0,-inf\n", "line 2, column 'service_time_us'", "a number >= 0, got '-inf'"),
        ("1,0,12:30\n", "line 2, column 'service_time_us'", "a number >= 0, got '12:30'"),
        (
            "1,1e30,5\n",
            "line 2, column 'arrival_time_us'",
            "less than 2^62 microseconds, got '1e30'",
        ),
        (
            f"1,{2**62},5\n",
            "line 2, column 'arrival_time_us'",
            f"less than 2^62 microseconds, got '{2**62}'",
        ),
        ("1,0,5\n1,1,5\n", "line 3, column 'job_id'", "different for each job, got '1'"),
        ("a,0,5\n", "line 2, column 'job_id'", "a number >= 0, got 'a'"),
        ("1.5,0,5\n", "line 2, column 'job_id'", "an integer below 2^63, got '1.5'"),
        (
            f"1,0,{'x' * 100}\n",
            "line 2, column 'service_time_us'",
            f"a number >= 0, got '{'x' * 76}...",
        ),
    ],
)
def test_bad_cell_is_refused(rows, where, what, refused):
    refused(OWN + rows, f"trace.csv, {where} must be {what}")


def test_line_numbers_count_lines_within_quotes(refused):
    message = "trace.csv, line 4, column 'd' must be a number >= 0, got 'x'"
    refused('note,t,d\n"two\nlines",1,2\n"",3,x\n', message, **NAMED)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,0\n", "trace.csv, line 2 must have 3 cells, as the header has, got 2"),
        ("1,0,5,6\n", "trace.csv, line 2 must have 3 cells, as the header has, got 4"),
        ('1,0,"5\n', "trace.csv, line 2 must be CSV, got 'unexpected end of data'"),
    ],
)
def test_bad_row_is_refused(rows, message, refused):
    refused(OWN + rows, message)


def test_jobs_that_take_too_long_together_are_refused(refused):
    allowed = "such that the last arrival plus all service times is less than 2^62 microseconds"
    row = f"{{}},0,{2**61}\n"
    refused(
        OWN + row.format(1) + row.format(2) + row.format(3),
        f"trace must be {allowed}, got {3 * 2.0**61}",
    )


# --- files that are none ----------------------------------------------------------------------


def test_unreadable_files_are_refused(refused, tmp_path):
    packed = gzip.compress(PLAIN.encode())
    for damaged in (packed[:-9], packed[:20] + b"\xff" * 20 + packed[40:]):
        refused(damaged, "path must be a whole gzip file, got 'trace.csv'")
    allowed = "a text file, or one packed with gzip"
    refused(b"PK\x03\x04\x00\x00", f"path must be {allowed}, got 'trace.csv'")
    with pytest.raises(InvalidInput, match=r"path must be a file that can be read, got '.*none'"):
        read_trace(tmp_path / "none")
    with pytest.raises(InvalidInput, match=r"path must be a file that can be read, .*directory"):
        read_trace(tmp_path)


# --- any CSV ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("us", 1), ("ms", 1000), ("s", 10**6), ("min", 6 * 10**7), ("h", 36 * 10**8)],
)
def test_units(unit, factor, read):
    named = NAMED | {"time_unit": unit}
    content = "t,who,d\n4,ä,2\n1,b,0.5\n"
    assert read(content, **named) == [(1, factor, round(factor / 2)), (0, 4 * factor, 2 * factor)]
    assert read(content.encode("latin-1"), **named)


def test_times_are_rounded_to_microseconds(read):
    named = NAMED | {"time_unit": "ns"}
    assert read("t,d\n1499,500\n1717156800123456789,2501\n", **named) == [
        (0, 1, 1),
        (1, 1717156800123457, 3),
    ]
    assert read("t,d\n0.0014,5160.142570018768\n", **(NAMED | {"time_unit": "s"})) == [
        (0, 1400, 5160142570)
    ]


@pytest.mark.parametrize(
    ("stamps", "arrivals"),
    [
        (["2024-05-31T12:00:01", "2024-05-31T12:00:00.25"], [750_000, 0]),
        (["2024-05-31 12:00:01Z", "2024-05-31 14:00:01.000001+02:00"], [0, 1]),
        (["2024-02-28", "2024-03-01"], [0, 2 * 86_400 * 10**6]),
        ([" 2024-05-31T12:00:00 ", "2024-05-31T12:00:00"], [0, 0]),
    ],
)
def test_timestamps_count_from_the_first(stamps, arrivals, read):
    content = "d,t\n" + "".join(f"1,{stamp}\n" for stamp in stamps)
    jobs = read(content, **NAMED)
    assert sorted(jobs) == [(name, arrival, 1000) for name, arrival in enumerate(arrivals)]


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ("soon", "a timestamp in ISO 8601, as above it"),
        ("", "a timestamp in ISO 8601, as above it"),
        ("5", "a timestamp in ISO 8601, as above it"),
        ("2024-13-01T00:00:00", "a timestamp in ISO 8601, as above it"),
        ("2024-01-01T00:00:00Z", "without a zone, as above it"),
    ],
)
def test_bad_timestamp_is_refused(second, what, refused):
    content = f"t,d\n2024-01-01T00:00:00,1\n{second},2\n"
    refused(content, f"trace.csv, line 3, column 't' must be {what}, got {second!r}", **NAMED)


def test_timestamp_among_numbers_is_refused(refused):
    message = "trace.csv, line 3, column 't' must be a number >= 0, got '2024-01-01'"
    refused("t,d\n5,1\n2024-01-01,2\n", message, **NAMED)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "arrival_column must be one of the columns of trace.csv (t, d, t2, t2), got None"),
        (
            {"arrival_column": "t", "time_unit": "s"},
            "service_column must be one of the columns of trace.csv (t, d, t2, t2), got None",
        ),
        (
            NAMED | {"service_column": "D"},
            "service_column must be one of the columns of trace.csv (t, d, t2, t2), got 'D'",
        ),
        (
            NAMED | {"arrival_column": "t2"},
            "arrival_column must be one of the columns of trace.csv (t, d, t2, t2), got 't2'",
        ),
        (NAMED | {"time_unit": None}, "time_unit must be one of ns, us, ms, s, min, h, got None"),
        (NAMED | {"time_unit": "d"}, "time_unit must be one of ns, us, ms, s, min, h, got 'd'"),
    ],
)
def test_columns_have_to_be_named(how, message, refused):
    refused("t,d,t2,t2\n1,2,3,4\n", message, **how)


# --- Azure Functions 2021 ---------------------------------------------------------------------


def test_azure_calls_arrive_when_they_end_minus_how_long_they_took(read):
    content = AZURE + "a,f,10.5,0.5\na,g,12.25,11.25\nb,f,11,0\n"
    expected = [(1, 1_000_000, 11_250_000), (0, 10_000_000, 500_000), (2, 11_000_000, 0)]
    assert read(content, "calls.txt") == expected


def test_azure_calls_from_before_the_trace_begin_it(read):
    told = []
    jobs = read(AZURE + "a,f,0.5,0.25\na,f,1,3\n", tell=told.append)
    assert jobs == [(1, 0, 3_000_000), (0, 2_250_000, 250_000)]
    assert told == [
        "trace.csv: 1 of 2 calls began before time 0; time begins with the first of them"
    ]


def test_bad_azure_cell_is_refused(refused):
    message = "trace.csv, line 3, column 'duration' must be a number >= 0, got '-1'"
    refused(AZURE + "a,f,1,0\na,f,2,-1\n", message)


def test_columns_of_an_azure_file_may_be_named(read):
    how = {"arrival_column": "end_timestamp", "service_column": "duration", "time_unit": "s"}
    assert read(AZURE + "a,f,2,1\n", **how) == [(0, 2_000_000, 1_000_000)]


@pytest.mark.parametrize("cell", ["1_000", "\u0661\u0662", "\uff11"])
def test_what_only_python_takes_for_a_number_is_refused(cell, refused):
    message = f"must be a number >= 0, in digits from 0 to 9, got {cell!r}"
    refused(
        f"arrival_time_us,service_time_us\n5,1\n{cell},2\n".encode(),
        f"trace.csv, line 3, column 'arrival_time_us' {message}",
    )


def test_fractions_of_a_microsecond_are_refused_in_our_own_files(read, refused):
    assert read("arrival_time_us,service_time_us\n10.0,5\n") == [(0, 10, 5)]
    refused(
        "arrival_time_us,service_time_us\n10,5\n11,5.5\n",
        "trace.csv, line 3, column 'service_time_us' must be an integer below 2^63, got '5.5'",
    )


def test_dates_that_do_not_exist_are_refused_as_dates(refused):
    where = "trace.csv, line 2, column 't' must be a date and time that exists, in ISO 8601"
    refused("t,d\n2024-02-30T10:00:00,1\n", f"{where}, got '2024-02-30T10:00:00'", **NAMED)


def test_a_file_in_another_encoding_says_so_where_it_matters(read, refused):
    told = " (not all of the file is UTF-8: see \ufffd)"
    content = "name,t,d\nJörg,1,2\n".encode("latin-1")
    assert read(content, **NAMED) == [(0, 1000, 2000)]
    there = "arrival_column must be one of the columns of trace.csv (\ufffdt, d)"
    refused("ät,d\n1,2\n".encode("latin-1"), f"{there}{told}, got 't'", **NAMED)
    refused(
        "t,d\n1²,2\n".encode("latin-1"),
        "trace.csv, line 2, column 't' must be a number >= 0, in digits from 0 to 9"
        f"{told}, got '1\ufffd'",
        **NAMED,
    )


@pytest.mark.parametrize("name", ["log.swf", "log.SWF.gz"])
def test_a_file_that_is_called_swf_is_read_as_such(name, refused):
    refused("1 0 1\n", f"{name}, line 1 must have 18 fields, got 3", name)


# --- Standard Workload Format -----------------------------------------------------------------


def swf(number, submit, run, got=1, asked=1, status=1):
    return f"  {number} {submit} 3 {run} {got} -1 -1 {asked} -1 -1 {status} 1 1 1 1 -1 -1 -1\n"


def test_swf(read):
    content = (
        "; Version: 2.2\n;\n" + swf(1, 0, 10) + "\n" + swf(4, 2.5, 0) + "; Ünd\n" + swf(2, 1, 3)
    )
    expected = [(1, 0, 10_000_000), (2, 1_000_000, 3_000_000), (4, 2_500_000, 0)]
    for name in ("log.swf", "log.txt"):
        assert read(content, name) == expected
        assert read(content.replace("\n", "\r\n").encode("latin-1"), name) == expected
    assert read(gzip.compress(content.encode()), "log.swf.gz") == expected
    assert read(content.partition(";\n")[2]) == expected
    assert read(content.replace(" ", "\t")) == expected


def test_swf_jobs_without_times_are_left_out_and_told(read):
    content = swf(1, 0, -1, status=5) + swf(2, -1, 4) + swf(3, 5, 6) + swf(4, 6, "-1.0")
    told = []
    assert read(content, tell=told.append) == [(3, 5_000_000, 6_000_000)]
    assert told == ["trace.csv: 3 of 4 jobs are left out: their submit or run time is unknown (-1)"]


def test_swf_parts_of_jobs_are_not_counted_twice(read):
    parts = swf(1, 0, 4, status=2) + swf(1, -1, 6, status=3)
    told = []
    assert read(swf(1, 0, 10) + parts, tell=told.append) == [(1, 0, 10_000_000)]
    assert told == ["trace.csv: 2 of 3 lines are left out: parts of jobs that other lines sum up"]


def test_swf_parts_that_no_line_sums_up_are_told(read):
    content = swf(1, 0, 10) + swf(1, 0, 10, status=3)
    content += swf(2, 1, 4, status=2) + swf(2, -1, 6, status=4)
    told = []
    assert read(content, tell=told.append) == [(1, 0, 10_000_000)]
    assert told == [
        "trace.csv: 1 of 4 lines are left out: parts of jobs that other lines sum up",
        "trace.csv: 2 of 4 lines are left out: parts of jobs that no line sums up",
    ]


def test_swf_jobs_that_were_cancelled_before_they_ran_are_told(read):
    content = swf(1, 0, 0, got=0, status=5) + swf(2, 1, 0, got=-1, asked=4, status=5)
    # These were cancelled while they ran, were too short to be counted, or are of a model.
    content += swf(3, 2, 7, status=5) + swf(4, 3, 0) + swf(5, 4, 0, got=-1, status=-1)
    told = []
    jobs = read(content, tell=told.append)
    assert [(name, service) for name, _, service in jobs] == [
        (1, 0),
        (2, 0),
        (3, 7_000_000),
        (4, 0),
        (5, 0),
    ]
    assert told[0] == (
        "trace.csv: 2 of 5 jobs were cancelled before they ran; "
        "they are kept, with a service time of 0"
    )


def test_swf_without_header_unsorted_and_with_fractions(read):
    """As programs write it that simulate schedulers: jobs from 0 on, all times with a point."""
    line = "{} {} -0.0 {} 4.0 -1 -1 4 60.0 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    content = line.format(20, 30.25, 1.5) + line.format(0, 0.0, 6.609) + line.format(3, 7.1, -0.0)
    jobs = read(content, tell=lambda _: None)
    assert jobs == [(0, 0, 6_609_000), (3, 7_100_000, 0), (20, 30_250_000, 1_500_000)]


PARALLEL = (
    swf(1, 0, 2, got=3)
    + swf(2, 1, 4, got=-1, asked=2)
    + swf(3, 2, 5, got=-1, asked=-1)
    + swf(4, 3, 6)
)


def test_parallel_jobs_are_kept_and_told(read):
    told = []
    jobs = read(PARALLEL, tell=told.append)
    assert [name for name, _, _ in jobs] == [1, 2, 3, 4]
    assert told == [
        "trace.csv: 2 of 4 jobs ran on several processors; each is kept as one job for one core"
    ]


def test_parallel_jobs_are_expanded_on_request(read):
    told = []
    jobs = read(PARALLEL, expand_parallel=True, tell=told.append)
    seconds = [(0, 2)] * 3 + [(1, 4)] * 2 + [(2, 5), (3, 6)]
    assert jobs == [(name, 10**6 * a, 10**6 * s) for name, (a, s) in enumerate(seconds)]
    assert told == []


def test_library_warns_of_what_it_changes(read):
    with pytest.warns(UserWarning, match=r"^trace.csv: 2 of 4 jobs ran on several processors"):
        read(PARALLEL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(swf(1, 0, 1))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (swf(2, "x", 1), "line 3, column 'submit time' must be a number >= 0, got 'x'"),
        (
            swf(2, -2, 1),
            "line 3, column 'submit time' must be a number >= 0 or -1 (unknown), got '-2'",
        ),
        (
            swf(2, 0, "nan"),
            "line 3, column 'run time' must be a number >= 0 or -1 (unknown), got 'nan'",
        ),
        (
            swf(2, 0, 1, got=1.5),
            "line 3, column 'allocated processors' must be an integer below 2^63, got '1.5'",
        ),
        (swf("j", 0, 1), "line 3, column 'job number' must be a number >= 0, got 'j'"),
        (swf(1, 0, 1), "line 3, column 'job number' must be different for each job, got '1'"),
        ("2 0 1\n", "line 3 must have 18 fields, got 3"),
        (swf(2, 0, 1).strip() + " 5\n", "line 3 must have 18 fields, got 19"),
    ],
)
def test_bad_swf_line_is_refused(line, message, refused):
    refused(";\n" + swf(1, 0, 1) + line, f"log.swf, {message}", "log.swf")


def test_columns_of_swf_have_no_names(refused):
    allowed = "left out: log.swf is in the Standard Workload Format"
    refused(swf(1, 0, 1), f"arrival_column must be {allowed}, got 't'", "log.swf", **NAMED)


def test_more_processors_than_anybody_has_are_refused(refused):
    content = swf(1, 0, 1, got=10**12)
    message = "expand_parallel must be left out for more than 1000000000 jobs in all, got True"
    refused(content, message, expand_parallel=True)


def test_names_in_errors_are_as_the_file_was_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(OWN + "1,x,1\n", "utf-8")
    with pytest.raises(InvalidInput, match=re.escape(f"{path}, line 2, column")):
        read_trace(path)
