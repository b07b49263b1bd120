"""Import this before NumPy: it keeps every numerical library to one thread.

The matrices here are so small that more threads only wait for each other, and a ratio of two times
should not depend on how many cores a machine has. The libraries read these variables only once,
when they are loaded.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
