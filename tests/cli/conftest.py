"""Calling the command line, in an empty folder."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mfc_lb.cli import main


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def call() -> Callable[..., Result]:
    """Run a command line."""
    return lambda *words: CliRunner().invoke(main, list(words))


@pytest.fixture
def table(call) -> Callable[..., list[dict[str, str]]]:
    """Run a command line and return the rows of the file that it writes."""

    def rows(*words: str) -> list[dict[str, str]]:
        done = call(*words, "--output", "out.csv")
        assert done.exit_code == 0, done.output
        with Path("out.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    return rows


@pytest.fixture
def refused(call) -> Callable[..., None]:
    """Run a command line that is a mistake.

    It has to cost exit code 2 and one line that holds the given words, and to leave no file.
    """

    def check(words: list[str], *fragments: str) -> None:
        before = set(Path.cwd().iterdir())
        done = call(*words)
        assert done.exit_code == 2, done.output
        assert isinstance(done.exception, SystemExit)
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("mfc-lb: ")
        assert [fragment for fragment in fragments if fragment not in line] == [], line
        assert set(Path.cwd().iterdir()) == before

    return check
