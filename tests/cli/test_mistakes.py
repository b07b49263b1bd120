"""What is refused: one line that names the option, its value and what is allowed."""

from pathlib import Path

import pytest

TINY = ["--num-queues", "10", "--num-epochs", "3", "--runs", "2"]


BAD_NUMBERS = [
    ("--num-queues", "0", "got 0", ">= 1"),
    ("--num-queues", "ten", "'ten'", "integer"),
    ("--num-queues", "1.5", "'1.5'", "integer"),
    ("--num-queues", "nan", "'nan'", "integer"),
    ("--num-agents", "0", "got 0", ">= 1"),
    ("--num-agents", "-3", "got -3", ">= 1"),
    ("--num-agents", "1e17", "100000000000000000", "<= 9007199254740992"),
    ("--buffer-size", "0", "got 0", ">= 1"),
    ("--num-choices", "0", "got 0", ">= 1"),
    ("--delta-t", "0", "got 0.0", "> 0"),
    ("--delta-t", "-1", "got -1.0", "> 0"),
    ("--delta-t", "nan", "got nan", "finite"),
    ("--delta-t", "inf", "got inf", "finite"),
    ("--delta-t", "soon", "'soon'", "number"),
    ("--service-rates", "0", "got 0.0", "> 0"),
    ("--service-rates", "nan", "got nan", "finite"),
    ("--service-rates", "1,", "'1,'", "numbers separated by commas"),
    ("--arrival-rates", "0.9,-0.6", "got -0.6", ">= 0"),
    ("--arrival-rates", "0.9,x", "'0.9,x'", "numbers separated by commas"),
    ("--arrival-kernel", "0.8,0.1;0.5,0.5", "0.9", "sum to 1"),
    ("--arrival-kernel", "0.8,0.2;1.5,-0.5", "-0.5", ">= 0"),
    ("--arrival-kernel", "0.8,nan;0.5,0.5", "nan", "probabilities"),
    ("--arrival-kernel", "0.8,0.2", "((0.8, 0.2),)", "2 x 2"),
    ("--arrival-kernel", "0.8,0.2;1", "'0.8,0.2;1'", "rows of one length"),
    ("--arrival-kernel", "a,b;c,d", "'a,b;c,d'", "numbers"),
    ("--arrival-initial", "0.5", "(0.5,)", "one probability for each"),
    ("--arrival-initial", "0.7,0.7", "1.4", "sum to 1"),
    ("--num-epochs", "0", "got 0", ">= 1"),
    ("--horizon", "-1", "got -1.0", "> 0"),
    ("--runs", "0", "got 0", ">= 1"),
    ("--seed", "-1", "got -1", ">= 0"),
    ("--processes", "0", "got 0", ">= 1"),
]


@pytest.mark.parametrize("command", ["simulate", "compare"])
@pytest.mark.parametrize(("name", "value", "shown", "allowed"), BAD_NUMBERS)
def test_bad_number_is_refused(command, name, value, shown, allowed, refused):
    words = ["--num-epochs", "3"] if name not in ("--num-epochs", "--horizon") else []
    refused(
        [command, "--output", "out.csv", "--runs", "2", *words, name, value], name, shown, allowed
    )


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_more_levels_need_their_own_kernel(command, refused):
    refused(
        [command, "--num-epochs", "3", "--arrival-rates", "0.9,0.6,0.3"],
        "--arrival-kernel",
        "3 x 3",
    )


BAD_WORDS = [
    (["--policy", "shortest"], "--policy", "'shortest'", "random, jsq, sed"),
    (["--policy", "jsq:2"], "--policy", "'jsq:2'"),
    (["--policy", "softmin:x"], "--policy", "'softmin:x'", ">= 0"),
    (["--policy", "softmin:-1"], "--policy", "'softmin:-1'", ">= 0"),
    (["--policy", "softmin", "--beta", "-1"], "--beta", "-1.0", ">= 0"),
    (["--policy", "softmin", "--beta", "nan"], "--beta", "nan", "finite"),
    (["--policy", "jsq", "--beta", "1"], "--beta", "softmin"),
    (["--beta", "1"], "--beta", "softmin"),
    (["--scores", "1,2"], "--scores", "6 states", "(1.0, 2.0)"),
    (["--scores", "1,2,3,4,5,nan"], "--scores", "finite"),
    (["--scores", "0,0,0,0,0,0", "--policy", "jsq"], "--scores", "--policy"),
    (["--decision-rule", "missing.npy"], "--decision-rule", "No such file", "missing.npy"),
    (["--decision-rule", "rule.txt"], "--decision-rule", ".npy, .csv or .json", "rule.txt"),
    (["--service-rates", "1,2", "--class-fractions", "1"], "--class-fractions", "each of the 2"),
    (["--service-rates", "1,2", "--class-fractions", "0.5,0.4"], "--class-fractions", "sum"),
    (["--distinct-queues"], "--routing", "per_epoch"),
    (["--distinct-queues", "--routing", "per-packet"], "--routing", "per_epoch"),
    (["--routing", "per-agent"], "--routing", "'per-agent'", "per-packet"),
    (["--system", "tiny"], "--system", "'tiny'", "finite"),
    (["--system", "mean-field", "--num-queues", "0"], "--num-queues", "mean-field"),
    (["--system", "mean-field", "--distinct-queues"], "--distinct-queues", "mean-field"),
    (["--system", "infinite-agents", "--num-agents", "9"], "--num-agents", "infinite-agents"),
    (
        ["--system", "infinite-agents", "--num-queues", "1", "--distinct-queues"],
        "--num-queues",
        "2",
    ),
    (["--horizon", "10"], "--num-epochs", "--horizon"),
    (["--num-queue", "3"], "--num-queue", "--num-queues"),
    (["--num-queues"], "--num-queues", "requires an argument"),
    (["jsq"], "jsq"),
    (
        ["--buffer-size", "100", "--num-choices", "4", "--policy", "softmin"],
        "outcomes of sampling",
        "per_epoch",
    ),
]


@pytest.mark.parametrize("words", BAD_WORDS, ids=lambda words: " ".join(words[0]))
def test_bad_word_is_refused(words, refused):
    given, *fragments = words
    refused(["simulate", *TINY[2:], *given], *fragments)


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["--policies", "jsq,nothing"], ["--policies", "'nothing'", "sed"]),
        (["--policies", "jsq,"], ["--policies", "''"]),
        (["--policies", "jsq,jsq"], ["--policies", "different"]),
        (["--policies", "missing.csv"], ["--policies", "missing.csv", "No such file"]),
        (["--delta-t", "1,-5"], ["--delta-t", "-5.0", "> 0"]),
        (["--num-queues", "10,0"], ["--num-queues", "0", ">= 1"]),
    ],
    ids=" ".join,
)
def test_bad_comparison_is_refused(words, fragments, refused):
    refused(["compare", *TINY[2:], *words], *fragments)


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("rule.npy", b"not an array", ["a readable .npy file", "rule.npy"]),
        ("rule.npy", b"", ["a readable .npy file"]),
        ("rule.json", b"{", ["a readable .json file"]),
        ("rule.json", b'{"a": 1}', ["numeric"]),
        ("rule.json", b"[[0.5, 0.5], [0.5, 0.5]]", ["shape"]),
        ("rule.json", b"\xff\xfe", ["a readable .json file"]),
        ("rule.csv", b"0.5,0.5\n", ["6^2 lines of 2 probabilities", "1 lines of 2"]),
        ("rule.csv", b"p,q\n" * 36, ["a readable .csv file"]),
        ("rule.csv", b"0.5,0.6\n" * 36, ["sum"]),
        ("rule.csv", b"1.5,-0.5\n" * 36, ["0"]),
        ("rule.csv", b"", ["6^2 lines"]),
    ],
)
def test_unusable_decision_rule_file_is_refused(name, content, fragments, tmp_path, refused):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / name).write_bytes(content)
    path = str(folder / name)
    refused(["simulate", *TINY, "--decision-rule", path], "--decision-rule", *fragments)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("results.txt", "ends in .csv"),
        ("nowhere/results.csv", "folder that exists"),
        ("folder.csv", "not a folder"),
        ("/proc/results.csv", "can be written"),
    ],
)
def test_bad_output_is_refused_before_running(path, allowed, monkeypatch, call):
    if path.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("no folder here refuses files from everybody")
    if path == "folder.csv":
        Path(path).mkdir()
    monkeypatch.setattr("mfc_lb.cli.outcomes.simulate_policy", lambda *_: pytest.fail("it ran"))
    done = call("simulate", *TINY, "--output", path)
    assert done.exit_code == 2
    assert done.stderr.startswith("mfc-lb: --output must be")
    assert allowed in done.stderr
    assert path in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_unknown_command_is_refused(refused):
    refused(["simulte"], "simulte", "simulate")
