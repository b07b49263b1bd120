"""Settings that every test shares."""

import os
from pathlib import Path

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
