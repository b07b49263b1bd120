"""Settings that every test shares."""

from hypothesis import settings
from threadpoolctl import threadpool_limits

import mfc_lb.systems  # noqa: F401  (loads NumPy's and SciPy's BLAS, which are limited below)

# The same examples on every run, and no deadline: a kernel's first call compiles it.
settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")

# Each worker has a core of its own; on small matrices, more threads only wait for each other.
threadpool_limits(1, user_api="blas")
