"""Settings that every test shares."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

import mfc_lb.systems  # noqa: F401  (loads NumPy's and SciPy's BLAS, which are limited below)

# The same examples on every run, and no deadline: a kernel's first call compiles it.
settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")

# What is computed again and again stays out of the user's own cache.
os.environ["MFC_LB_CACHE"] = str(Path(__file__).parents[1] / "_build" / "cache")

# Each worker has a core of its own; on small matrices, more threads only wait for each other.
threadpool_limits(1, user_api="blas")


@pytest.fixture
def command(monkeypatch, tmp_path, capfd):
    """Run a command of the experiments in an empty folder; returns exit code, output and errors."""
    from mfc_lb.experiments.__main__ import main

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
