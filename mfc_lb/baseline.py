"""One numerical baseline: the same machine code on every x86-64 processor with AVX2 under Linux.

NumPy, OpenBLAS, torch, MKL, oneDNN and numba look at the processor and choose among several
versions of one computation, which round differently. An optimiser amplifies that. So processes that
compute stored results, pages and policies tell them what to choose, by environment variables that
the libraries read once, when they are loaded.

``MFC_LB_BASELINE=off`` leaves the choice to the libraries. ``python -m mfc_lb.baseline`` prints the
variables, for processes that others start: ``env $(python -m mfc_lb.baseline) dask worker ...``.
"""

import os
import sys
from pathlib import Path

import click

#: Turns the baseline off.
VARIABLE = "MFC_LB_BASELINE"

#: The processors that have all that it uses, as compilers name them; and what a process that does
#: not use it says.
NAME, NONE = "x86-64-v3", "none"

#: What each library is told. NumPy's names are those of NumPy >= 2.4.
SETTINGS = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
    "ATEN_CPU_CAPABILITY": "avx2",
    # MKL's other branches depend on who made the processor.
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "NUMBA_CPU_NAME": NAME,
    "NUMBA_CPU_FEATURES": "",
}

_CPU_FILE = Path("/proc/cpuinfo")
_NEEDED = {"avx2", "bmi2", "fma"}


def environment() -> dict[str, str]:
    """Return the variables for processes that compute: none where the baseline is off or unknown.

    Unknown is it on processors without AVX2, and on systems other than Linux.
    """
    off = os.environ.get(VARIABLE, "on").lower() == "off"
    return {} if off or not _known() else dict(SETTINGS)


def _known() -> bool:
    if not (sys.platform == "linux" and _CPU_FILE.is_file()):
        return False
    lines = _CPU_FILE.read_text("utf-8", errors="replace").splitlines()
    return any(line.startswith("flags") and set(line.split()) >= _NEEDED for line in lines)


def establish() -> None:
    """Set the variables for this process and its children, unless NumPy is loaded already."""
    if "numpy" not in sys.modules:
        os.environ |= environment()


def in_force() -> str:
    """Return the name of the baseline that this process computes with, or ``none``.

    It looks at what NumPy and OpenBLAS chose: variables that came too late do not count.
    """
    import numpy as np
    from threadpoolctl import threadpool_info

    told = SETTINGS.items() <= os.environ.items()
    kernels = {library.get("architecture", "Haswell") for library in threadpool_info()}
    found = set(np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", []))
    seen = "X86_V3" in found and not found & set(SETTINGS["NPY_DISABLE_CPU_FEATURES"].split(","))
    return NAME if told and seen and kernels == {"Haswell"} else NONE


if __name__ == "__main__":
    click.echo("\n".join(f"{name}={value}" for name, value in environment().items()))
