"""The numerical baseline: what processes are told, and whether the libraries listen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfc_lb import baseline
from mfc_lb.companion.kernel import kernel_manager_class

pytestmark = pytest.mark.skipif(not baseline.environment(), reason="needs Linux, x86-64 and AVX2")

#: What the libraries of another processor would choose.
FOREIGN = {
    "OPENBLAS_CORETYPE": "Sandybridge",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3",
    "MKL_CBWR": "SSE4_2",
}


def printed(script, **variables):
    environment = {**os.environ, **FOREIGN, "PYTHONPATH": str(Path.cwd()), **variables}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


#: All that NumPy could choose.
NOTHING = "X86_V3,X86_V4,AVX512_ICL,AVX512_SPR"

ESTABLISH = "from mfc_lb import baseline; baseline.establish(); "
TELL = """
import numpy, torch
from threadpoolctl import threadpool_info
kernels = {one["architecture"] for one in threadpool_info() if "architecture" in one}
print(baseline.in_force(), *kernels, torch.backends.cpu.get_cpu_capability())
"""


def test_the_libraries_choose_what_they_are_told():
    assert printed(ESTABLISH + TELL) == ["x86-64-v3", "Haswell", "AVX2"]


def test_off_leaves_the_choice_to_the_libraries():
    named, kernel, _ = printed(ESTABLISH + TELL, MFC_LB_BASELINE="off")
    assert (named, kernel) == ("none", "Sandybridge")


def test_a_processor_without_avx2_has_no_baseline_in_force():
    told = printed(f"from mfc_lb import baseline; {TELL}", NPY_DISABLE_CPU_FEATURES=NOTHING)
    assert told[0] == "none"


def test_variables_that_come_too_late_do_not_count():
    late = "import os, numpy; from mfc_lb import baseline; os.environ |= baseline.SETTINGS; "
    assert printed(late + TELL)[0] == "none"
    assert printed("import numpy; " + ESTABLISH + TELL)[0] == "none"


def test_kernels_of_notebooks_are_told(tmp_path, monkeypatch):
    def told():
        manager = kernel_manager_class(tmp_path, tmp_path)()
        return baseline.SETTINGS.items() <= manager.kernel_spec.env.items()

    assert told()
    monkeypatch.setenv(baseline.VARIABLE, "off")
    assert not told()


@pytest.mark.parametrize("machine", ["flags : fpu sse4_2 avx", "", "Features : asimd"])
def test_other_processors_are_left_alone(machine, tmp_path, monkeypatch):
    file = tmp_path / "cpuinfo"
    file.write_text(machine)
    monkeypatch.setattr(baseline, "_CPU_FILE", file)
    assert baseline.environment() == {}


def test_the_variables_are_printed_for_others():
    command = [sys.executable, "-m", "mfc_lb.baseline"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert dict(line.split("=") for line in lines) == baseline.SETTINGS
    off = {**os.environ, baseline.VARIABLE: "OFF"}
    assert subprocess.run(command, capture_output=True, check=True, env=off).stdout.split() == []
