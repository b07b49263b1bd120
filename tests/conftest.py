"""Settings that every test shares."""

from hypothesis import settings

# The same examples on every run, and no deadline: a kernel's first call compiles it.
settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")
