"""`mfc-lb results`."""

import pytest

from mfc_lb.experiments import EXPERIMENTS, find
from mfc_lb.results.storage import StoredResult


def test_list_names_every_experiment_and_its_state(command):
    code, out, _ = command("list")
    assert code == 0
    assert all(name in out for name in EXPERIMENTS)
    assert out.count("missing") == 2 * len(EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nonsense"], "experiment must be one of"),
        (["run", "comparison", "--size", "big"], "'--size': 'big' is not one of 'quick', 'paper'"),
        (["reproduce", "--only", "traces", "--size", "big"], "'big' is not one of"),
        (["run", "comparison", "--processes", "0"], "processes must be an integer >= 1, got 0"),
        (["run", "comparison", "--processes", "two"], "not a valid integer"),
        (["run", "trajectories", "--output", "/dev/null/x"], "results cannot be written"),
        (["run"], "Missing argument 'NAME'"),
        (["reproduce", "--only", "nonsense"], "'nonsense' is not one of 'trajectories', "),
        (["reproduce", "--only", "nonsense"], "'policies', 'traces', 'live-cluster'"),
        (["recompute"], "No such command"),
        (["reproduce", "--differences", "/dev/null/x"], "results cannot be written"),
    ],
)
def test_mistakes_are_one_line(command, arguments, message):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_run_then_reproduce(command, tmp_path):
    code, out, _ = command("run", "trajectories", "--processes", "1")
    assert code == 0
    assert str(tmp_path / "trajectories-quick.csv") in out.replace("\n", "")
    reproduce = ("reproduce", "--size", "quick", "--only", "trajectories", "--processes", "1")
    code, out, _ = command(*reproduce)
    assert code == 0
    assert "agrees" in out
    stored = StoredResult(tmp_path, find("trajectories"), "quick")
    content = stored.table.read_text().splitlines(keepends=True)
    content[4] = content[4].replace(",fraction,", ",friction,")
    stored.table.write_text("".join(content))
    code, out, _ = command(*reproduce, "--differences", str(tmp_path / "all.csv"))
    assert code == 1
    words = " ".join(out.split())
    assert "4 measure friction fraction nan" in words
    assert "wrong" in words
    assert "1 of 1 results do not agree: trajectories-quick." in words
    assert (tmp_path / "all.csv").read_text() == (
        "result,row,column,stored,recomputed,difference\n"
        "trajectories-quick,4,measure,friction,fraction,nan\n"
    )


def test_missing_result_is_a_difference(command):
    code, out, _ = command("reproduce", "--size", "quick", "--only", "trajectories")
    assert code == 1
    assert "nothing is stored" in out
