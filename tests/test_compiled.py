"""Compiled code where nothing can be written: it is compiled anew, and works."""

import subprocess
import sys

PROGRAM = """
import numba.core.caching
# As where neither the package nor the home can be written to.
numba.core.caching.CacheImpl._locator_classes = []
import mfc_lb, mfc_lb.cluster.simulator, mfc_lb.experiments.open_trace_choices
from mfc_lb.systems.propagator import _push_forward
p = mfc_lb.SystemParameters()
policy = mfc_lb.ConstantPolicy(mfc_lb.join_shortest_queue(p))
result = mfc_lb.evaluate(mfc_lb.MeanFieldSystem(p), policy, num_epochs=2, num_runs=1, seed=1)
print(result.drops[0, 0] > 0, _push_forward.stats.cache_path)
"""


def test_the_library_works_where_no_cache_can_be_written():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "None"], done.stderr
