"""Help, and how the program ends: exit codes, interrupts, notebooks that fail."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import mfc_lb
from mfc_lb import companion
from mfc_lb.cli import main

ROOT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-c", "from mfc_lb.cli import main; main()"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
TINY = ["--num-queues", "10", "--num-epochs", "3", "--runs", "2"]


def test_no_command_shows_help(call):
    for words in ((), ("--help",), ("-h",)):
        done = call(*words)
        assert done.exit_code == 0
        assert "agents" in done.output
        assert "  softmin  the shorter, the likelier: one packet less" in done.output


def test_version(call):
    assert call("--version").output == f"mfc-lb {mfc_lb.__version__}\n"


def commands(group: click.Group = main, path: tuple[str, ...] = ()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=str)
def test_every_command_explains_itself(path, command, call):
    done = call(*path, "--help")
    assert done.exit_code == 0
    assert f"Example:\n  mfc-lb {' '.join(path)}" in done.output.replace("    mfc", "  mfc")
    assert "\\b" not in done.output
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("group", ["notebook", "figure", "results", "book"])
def test_group_without_command_shows_help(group, call):
    done = call(group)
    assert done.exit_code == 0
    assert "Commands:" in done.output


def test_help_needs_no_heavy_import():
    """So it appears in a fifth of a second."""
    heavy = ["numpy", "scipy", "numba", "joblib", "pandas", "rich", "tqdm", "mfc_lb.companion"]
    heavy += ["torch", "mfc_lb.learning"]
    program = f"""
import sys
from mfc_lb.cli import main
try:
    main(["simulate", "--help"])
except SystemExit:
    print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (MemoryError(), 1, "memory"),
        (companion.CompanionError("comparison: cell [3] failed"), 1, "cell [3]"),
        (ModuleNotFoundError("", name="papermill"), 2, "pip install 'mfc_lb[book]'"),
        (ModuleNotFoundError("", name="stable_baselines3"), 2, "pip install 'mfc_lb[train]'"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (mfc_lb.InvalidInput("no book found"), 2, "no book found"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_how_a_run_may_end(error, code, line, monkeypatch, call):
    monkeypatch.setattr(companion, "list_notebooks", raising(error))
    done = call("notebook", "list")
    assert done.exit_code == code
    (shown,) = [text for text in done.stderr.splitlines() if text]
    assert shown.startswith("mfc-lb: ")
    assert line in shown


def test_an_error_of_our_own_shows_its_traceback(monkeypatch, call):
    monkeypatch.setattr(companion, "list_notebooks", raising(KeyError("ours")))
    assert isinstance(call("notebook", "list").exception, KeyError)


def test_a_failed_run_leaves_an_earlier_output_alone(monkeypatch, call):
    Path("out.csv").write_text("old", "utf-8")
    monkeypatch.setattr("mfc_lb.cli.outcomes.simulate_policy", raising(MemoryError()))
    assert call("simulate", *TINY, "--output", "out.csv").exit_code == 1
    assert Path("out.csv").read_text("utf-8") == "old"
    assert len(list(Path.cwd().iterdir())) == 1


def raising(error: BaseException):
    def function(*_args, **_named):
        raise error

    return function


def test_notebooks_are_listed_and_shown(call):
    names = [notebook.name for notebook in companion.list_notebooks()]
    assert names
    listed = call("notebook", "list")
    assert listed.exit_code == 0
    assert [name for name in names if name not in listed.output] == []
    shown = call("notebook", "show", names[0])
    assert shown.exit_code == 0
    assert "one of quick, paper" in shown.output


def test_notebook_run_hands_over_parameters_and_folder(monkeypatch, call):
    calls = []

    def build_page(name, parameters, output):
        calls.append((name, parameters, output))
        return output / f"{name}.html"

    monkeypatch.setattr(companion, "build_page", build_page)
    words = ["notebook", "run", "comparison", "-p", "delta_t=3", "-p", "num_queues=500"]
    done = call(*words, "--output", "there")
    assert done.exit_code == 0
    assert "there/comparison.html" in done.output
    assert call(*words).exit_code == 0
    given = {"delta_t": "3", "num_queues": "500"}
    assert calls[0] == ("comparison", given, Path("there"))
    assert calls[1] == ("comparison", given, ROOT / "_build" / "notebooks" / "comparison")


def test_unknown_notebook_is_refused(refused):
    for words in (["show", "comparisn"], ["run", "comparisn"]):
        refused(["notebook", *words], "comparisn")


@pytest.mark.parametrize("given", ["size", "size=", "nothing=3", "size=huge"])
def test_bad_notebook_parameter_is_refused(given, refused):
    name = companion.list_notebooks()[0].name
    refused(["notebook", "run", name, "-p", given, "--output", "there"], given.partition("=")[0])
    assert not Path("there").exists()


def test_missing_extra_is_named(monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "nbformat", None)
    refused(["notebook", "list"], "nbformat", "pip install 'mfc_lb[book]'")


def test_book_build_hands_over_what_is_asked_for(monkeypatch, call, refused):
    calls = []

    def build_book(size, output, book, *, pdf):
        calls.append((size, output, book.repository, pdf))
        return Path("there")

    monkeypatch.setattr(companion, "build_book", build_book)
    assert "index.html" in call("book", "build").output
    assert call("book", "build", "--size", "quick", "--output", "there", "--pdf").exit_code == 0
    address = "https://github.com/someone/mfc_lb"
    assert call("book", "build", "--repository", address, "--branch", "next").exit_code == 0
    assert calls == [
        ("paper", None, None, False),
        ("quick", Path("there"), None, True),
        ("paper", None, companion.Repository(address, "next"), False),
    ]
    refused(["book", "build", "--size", "huge"], "--size", "'huge'", "quick")


def test_details_of_a_failed_run_come_before_its_line(monkeypatch, call):
    error = companion.CompanionError("comparison: cell [3] failed", "long traceback")
    monkeypatch.setattr(companion, "build_book", raising(error))
    done = call("book", "build")
    assert done.exit_code == 1
    assert done.stderr == "long traceback\nmfc-lb: comparison: cell [3] failed\n"


def test_process_ends_in_exit_codes():
    good = subprocess.run(
        [*COMMAND, "simulate", *TINY], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert (good.returncode, good.stderr) == (0, "")
    bad = subprocess.run(
        [*COMMAND, "simulate", "--delta-t", "nan"],
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert bad.stderr == b"mfc-lb: --delta-t must be a finite number > 0, got nan\n"


def test_nobody_reads_the_output():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "simulate", *TINY],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        env=ENVIRONMENT,
    )
    os.close(writer)
    assert done.stderr == b""


def test_terminal_without_greek():
    done = subprocess.run(
        [*COMMAND, "simulate", *TINY],
        capture_output=True,
        check=False,
        env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_interrupt_leaves_one_line_and_no_file():
    words = ["simulate", "--num-queues", "1000", "--runs", "10000", "--processes", "1"]
    # It interrupts itself when it has computed for so long: then it has checked the values, and the
    # runs, which take an hour, have begun. Whoever runs the tests in the background may have told
    # their processes to ignore interrupts.
    interrupt = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT)); "
        "signal.setitimer(signal.ITIMER_PROF, 6); "
    )
    process = subprocess.Popen(
        [*COMMAND[:-1], interrupt + COMMAND[-1], *words, "--output", "out.csv"],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert stderr.split("\n") == ["", "mfc-lb: interrupted", ""]
    assert list(Path.cwd().iterdir()) == []


def test_a_message_does_not_command_the_terminal(call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\x1b[31m,b\n1,2\n", "utf-8")
    done = call("trace", "show", str(path))
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
    assert "a?[31m" in done.stderr
