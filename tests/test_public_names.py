"""What `import mfc_lb` offers: names, packages, types; and that it stays light."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api

import mfc_lb
from mfc_lb import InvalidInput

ROOT = Path(__file__).parent.parent
PACKAGES = ["cluster", "experiments", "learning", "model", "systems"]
LEARNING = ["certify", "load_policy", "save_policy", "train"]
HEAVY = ["torch", "gymnasium", "numba", "scipy", "pandas", "matplotlib", "grpc", "dask"]


def printed(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return done.stdout.strip()


@pytest.mark.parametrize("name", [*PACKAGES, "cli", "companion", "errors", "figures"])
def test_packages_are_attributes(name):
    assert printed(f"import mfc_lb; print(mfc_lb.{name}.__name__)") == f"mfc_lb.{name}"
    assert name in dir(mfc_lb)


def test_the_import_is_light():
    loaded = f"print([name for name in {HEAVY} if name in sys.modules])"
    assert printed(f"import sys, mfc_lb, mfc_lb.learning; {loaded}") == "[]"


def test_a_star_imports_names_and_no_packages():
    public = set(mfc_lb.__all__)
    assert set(LEARNING) <= public
    assert not public & {"learning", "figures", "cli"}
    everything = "from mfc_lb import *; import sys; print('matplotlib' in sys.modules, train)"
    assert printed(everything).startswith("False <function train")


@pytest.mark.parametrize("name", LEARNING)
def test_what_learns_is_public_and_documented(name):
    documented = getattr(mfc_lb, name)
    assert documented is getattr(mfc_lb.learning, name)
    assert "Parameters\n" in documented.__doc__
    assert "Raises\n" in documented.__doc__


def test_lists_arrays_and_text_are_accepted_by_the_types():
    """What docstrings allow is no type error, and the package is typed for those who use it."""
    used = str(ROOT / "tests" / "typed_use.py")
    told, failed, status = api.run(["--strict", used])
    assert (told.splitlines()[-1:], failed, status) == (
        ["Success: no issues found in 1 source file"], "", 0,
    )  # fmt: skip


def test_training_and_saving_and_loading_and_certifying(tmp_path):
    p = mfc_lb.SystemParameters(delta_t=10.0)
    settings = mfc_lb.learning.PathwiseSettings(
        constant_steps=10, network_steps=0, num_paths=4, num_validation_paths=4
    )
    policy = mfc_lb.train(p, settings, checkpoint=str(tmp_path / "run"))
    assert policy == mfc_lb.learning.train_pathwise(p, settings).policy
    mfc_lb.save_policy(policy, str(tmp_path / "mine"))
    assert mfc_lb.load_policy(str(tmp_path / "mine"), p) == policy
    found = mfc_lb.certify(policy, p, num_runs=2, num_epochs=4, num_steps=5)
    assert 0.0 <= found.gap.mean < found.policy.mean()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ((3,), "parameters"),
        ((None,), "parameters"),
        ((mfc_lb.SystemParameters(), {"seed": 1}), "settings"),
        ((mfc_lb.SystemParameters(), "ppo"), "settings"),
        ((mfc_lb.SystemParameters(delta_t=1e8),), "delta_t"),
        ((mfc_lb.SystemParameters(arrivals=mfc_lb.ArrivalProcess.constant(1e5)),), "delta_t"),
        ((mfc_lb.SystemParameters(buffer_size=200),), "number of state tuples"),
    ],
    ids=str,
)
def test_what_cannot_be_trained_is_refused_at_once(given, field):
    with pytest.raises(InvalidInput, match=f"{field} must be"):
        mfc_lb.train(*given)
