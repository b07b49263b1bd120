"""The command line of the experiments, in an empty folder."""

import sys

import pytest

from mfc_lb.experiments.__main__ import main


@pytest.fixture
def command(monkeypatch, tmp_path, capfd):
    """Run a command in an empty results folder; returns exit code, output and errors."""
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path))

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = exit_.code
        out, err = capfd.readouterr()
        return code, out, err

    return call
