"""The command line, ``mfc-lb simulate | compare | train | evaluate | trace | cluster | ...``.

The modules of this package import nothing heavy at their tops, so that help appears at once.
"""

from mfc_lb.cli.program import main

__all__ = ["main"]
