"""Every quick notebook, and the results behind it, as other processors would compute them.

They take most of an hour, so they have a command of their own: ``make processors``. What the
libraries choose on another processor is chosen for them by variables; caches are empty.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfc_lb import baseline
from mfc_lb.experiments import EXPERIMENTS, find
from mfc_lb.results.checksums import kept_checksums, table_checksum
from mfc_lb.results.storage import StoredResult

pytestmark = [
    pytest.mark.processors,
    pytest.mark.skipif(not baseline.environment(), reason="needs Linux, x86-64 and AVX2"),
]

ROOT = Path(__file__).parents[1]
NO_AVX512 = "X86_V4,AVX512_ICL,AVX512_SPR"

#: Of NumPy's, OpenBLAS's, torch's, MKL's and numba's versions, those of one processor.
PROCESSORS = {
    "this one": {},
    "AVX2": {
        "NPY_DISABLE_CPU_FEATURES": NO_AVX512,
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_CBWR": "AVX2",
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",
    },
    "AVX": {
        "NPY_DISABLE_CPU_FEATURES": f"X86_V3,{NO_AVX512}",
        "OPENBLAS_CORETYPE": "Sandybridge",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "AVX",
        "NUMBA_CPU_NAME": "sandybridge",
        "NUMBA_CPU_FEATURES": "",
    },
    "SSE": {
        "NPY_DISABLE_CPU_FEATURES": f"X86_V3,{NO_AVX512}",
        "OPENBLAS_CORETYPE": "Prescott",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
    },
}

#: Runs every notebook at its quick size, which checks all its values.
RUN_ALL = """
import sys
from pathlib import Path
import joblib
from mfc_lb import companion
names = [notebook.name for notebook in companion.list_notebooks()]
run = joblib.delayed(companion.run)
size = {"size": "quick"}
joblib.Parallel(n_jobs=2)(run(name, size, Path(sys.argv[1], name)) for name in names)
"""


def run_all(folder: Path, processor: str, **variables: str) -> dict[str, str]:
    """Run the notebooks on an emulated processor and return the digests of all that they leave."""
    caches = {"NUMBA_CACHE_DIR": str(folder / "numba"), "MFC_LB_RESULTS": str(folder / "results")}
    told = {**os.environ, **PROCESSORS[processor], **caches, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-c", RUN_ALL, str(folder / "runs")]
    done = subprocess.run(command, env=told, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in ("runs/*/values.json", "runs/*/figures/*.csv")
        for path in folder.glob(pattern)
    }


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return tmp_path_factory.mktemp("here")


@pytest.fixture(scope="module")
def expected(here):
    return run_all(here, "this one")


@pytest.mark.parametrize("processor", list(PROCESSORS)[1:])
def test_the_baseline_gives_the_same_bytes(processor, expected, tmp_path):
    found = run_all(tmp_path, processor)
    assert [name for name in expected if found.get(name) != expected[name]] == []
    assert len(found) == len(expected) > 40


@pytest.mark.usefixtures("expected")
def test_the_checksums_of_the_repository_are_those_of_this_code(here):
    kept = kept_checksums("quick")
    stored = [StoredResult(here / "results", find(name), "quick") for name in EXPERIMENTS]
    found = {one.experiment.name: table_checksum(one) for one in stored if one.table.is_file()}
    assert len(found) > 6
    assert kept["baseline"] == baseline.NAME
    assert {name: kept["sha256"][name] for name in found} == found


@pytest.mark.parametrize("processor", PROCESSORS)
def test_without_the_baseline_every_check_passes(processor, tmp_path):
    run_all(tmp_path, processor, MFC_LB_BASELINE="off")
