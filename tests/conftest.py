"""Settings that every test shares."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import settings
from threadpoolctl import threadpool_limits

import mfc_lb.systems  # noqa: F401  (loads NumPy's and SciPy's BLAS, which are limited below)
from mfc_lb.cli import main

# The same examples on every run, and no deadline: a kernel's first call compiles it.
settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")

# What is computed again and again stays out of the user's own cache.
os.environ["MFC_LB_CACHE"] = str(Path(__file__).parents[1] / "_build" / "cache")

# Each worker has a core of its own; on small matrices, more threads only wait for each other.
threadpool_limits(1, user_api="blas")


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Run `mfc-lb results` in an empty folder of results; returns exit code, output and errors."""
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path))

    def call(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(main, ["results", *arguments])
        return done.exit_code, done.stdout, done.stderr

    return call
