"""Row by row: what is compared, what is said of differences, and what can only be checked."""

import shutil

import pandas as pd
import pytest

from mfc_lb.experiments.kept_files import check_live_records, reproduce_traces
from mfc_lb.experiments.live_records import records_folder
from mfc_lb.results.differences import Difference, differences, misfit
from mfc_lb.results.folders import data_folder
from mfc_lb.results.reproduction import CHECKSUMS, Verdict
from mfc_lb.results.reproduction_report import MOST_SHOWN, csv_report, terminal_report
from mfc_lb.results.storage import State

TABLE = pd.DataFrame(
    {"policy": ["JSQ(2)", "RND", "MF"], "num_runs": [10, 10, 0], "estimate": [28.4, 0.0, 1e-3]}
)


def changed(row, column, value):
    table = TABLE.astype({column: object}) if isinstance(value, str) else TABLE.copy()
    table.loc[row, column] = value
    return table


def test_equal_tables_do_not_differ():
    assert misfit(TABLE, TABLE) is None
    assert list(differences(TABLE, TABLE.copy())) == []
    assert list(differences(TABLE, TABLE.assign(estimate=TABLE.estimate * (1 + 1e-11)))) == []
    assert list(differences(TABLE, changed(1, "estimate", 1e-13))) == []


def test_missing_numbers_are_equal():
    table = changed(1, "estimate", float("nan"))
    assert list(differences(table, table.copy())) == []
    (found,) = differences(table, TABLE)
    assert (found.row, found.column, found.fresh) == ("2", "estimate", 0.0)


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [(0, "estimate", 28.4 * (1 + 1e-7)), (2, "estimate", -1e-3), (1, "num_runs", 11)],
)
def test_a_number_that_differs_is_named_with_its_row(row, column, value):
    (found,) = differences(TABLE, changed(row, column, value))
    assert (found.row, found.column) == (str(row + 1), column)
    assert found.stored == TABLE.loc[row, column]
    assert found.size == pytest.approx(value - TABLE.loc[row, column])


def test_every_difference_is_listed():
    fresh = TABLE.assign(policy=["JSQ(2)", "x", "y"], estimate=[1.0, 0.0, 1e-3])
    found = [(one.row, one.column) for one in differences(TABLE, fresh)]
    assert found == [("1", "estimate"), ("2", "policy"), ("3", "policy")]


def test_tables_that_do_not_fit_are_not_compared():
    assert misfit(TABLE, TABLE.iloc[1:]) == "3 rows became 2"
    assert "became ['policy', 'num_runs']" in misfit(TABLE, TABLE.drop(columns="estimate"))


# --- the verdict and its report ---------------------------------------------------------------


def verdict(state=State.CURRENT, found=(), fault=None):
    return Verdict("comparison-paper", "recomputed", 3, 1.0, state, tuple(found), fault)


@pytest.mark.parametrize("state", [State.CURRENT, State.OTHER_CODE, None])
def test_a_result_without_a_difference_agrees(state):
    assert verdict(state).agrees


@pytest.mark.parametrize(
    "one",
    [
        verdict(State.DAMAGED),
        verdict(State.MISSING),
        verdict(State.OTHER_PARAMETERS),
        verdict(found=[Difference("1", "estimate", 1.0, 2.0)]),
        verdict(fault="3 rows became 2"),
    ],
)
def test_anything_else_does_not(one, capsys):
    assert not one.agrees
    assert "1 of 1 results do not agree" in shown([one], capsys)


def shown(verdicts, capsys):
    from rich.console import Console

    Console(width=200).print(terminal_report(verdicts))
    return " ".join(capsys.readouterr().out.split())


def test_the_report_says_how_many_rows_differ_and_how_the_checksum_stands(capsys):
    found = [Difference("1", "estimate", 1.0, 2.5), Difference("1", "num_runs", 3, 4)]
    text = shown([verdict(State.DAMAGED, found), verdict()], capsys)
    assert "comparison-paper recomputed 3 1 1 wrong DIFFERS" in text
    assert "comparison-paper recomputed 3 0 1 right agrees" in text
    assert "1 estimate 1.0 2.5 1.5" in text
    assert set(CHECKSUMS) == set(State)


def test_the_terminal_shows_the_first_differences_and_the_file_has_all(capsys):
    number = MOST_SHOWN + 5
    one = verdict(found=[Difference(str(row), "estimate", 1.0, 2.0) for row in range(number)])
    assert f"the first {MOST_SHOWN} of {number} differences" in shown([one], capsys)
    lines = csv_report([one]).decode().splitlines()
    assert lines[:2] == [
        "result,row,column,stored,recomputed,difference",
        "comparison-paper,0,estimate,1.0,2.0,1",
    ]
    assert len(lines) == number + 1


# --- traces and recorded runs -----------------------------------------------------------------


@pytest.fixture
def traces(tmp_path):
    """Return a copy of the stored traces."""
    return shutil.copytree(data_folder() / "traces", tmp_path / "traces")


@pytest.fixture
def records(tmp_path):
    """Return a copy of the recorded runs."""
    return shutil.copytree(records_folder(), tmp_path / "records")


def test_the_stored_traces_are_made_again_to_the_byte(traces):
    assert reproduce_traces().agrees
    assert reproduce_traces(traces).rows > 4000


def test_a_changed_trace_is_found(traces):
    path = traces / "ramp_trimodal.csv"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:2], "1,2,3\n", *lines[3:]]), "utf-8")
    found = reproduce_traces(traces)
    assert [(one.row, one.column, one.stored) for one in found.differences] == [
        ("ramp_trimodal, 2", "line", "1,2,3")
    ]
    path.unlink()
    assert reproduce_traces(traces).differing_rows == len(lines)


def test_the_recorded_runs_keep_the_rules_of_a_log():
    verdicts = check_live_records()
    assert len(verdicts) >= 5
    assert all(one.agrees and one.rows > 100 for one in verdicts)
    assert {one.way for one in verdicts} == {"checked"}


def test_a_recorded_run_that_was_changed_is_found(records):
    path = records / "killed.log"
    path.write_bytes(path.read_bytes()[:-30])
    (found,) = (one for one in check_live_records(records) if one.name == "live killed")
    assert found.checksum == "wrong"
    assert found.fault
    path.unlink()
    (found,) = (one for one in check_live_records(records) if one.name == "live killed")
    assert (found.checksum, found.agrees) == ("missing", False)
