"""One number of the library or of the stored results, changed on purpose, turns the build red."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mfc_lb.files import sha256
from mfc_lb.results.storage import read_json, write_json
from tests.book.conftest import ROOT

PARTS = ("mfc_lb", "book", "data", "_config.yml", "_toc.yml", "pyproject.toml")
RUN = "from mfc_lb.cli import main; main()"
# The share of empty queues under JSQ(2) and Δt = 1, when the demand has just fallen.
HERD = "mean_field,none,inf,inf,1,JSQ(2),inf,30,30,0.6,fraction,0,"


@pytest.fixture
def tree(tmp_path) -> Path:
    """Return a copy of what a notebook's run depends on."""
    for name in PARTS:
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path


def replace(path: Path, old: str, new: str) -> None:
    content = path.read_text("utf-8")
    assert content.count(old) == 1
    path.write_text(content.replace(old, new), "utf-8")


def run(tree: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a notebook of the copy as a reader does."""
    command = [sys.executable, "-c", RUN, "notebook", "run", name, *words]
    outside = {key: value for key, value in os.environ.items() if key != "MFC_LB_RESULTS"}
    environment = outside | {"PYTHONPATH": str(tree), "MFC_LB_CACHE": str(tree / "cache")}
    return subprocess.run(
        command, cwd=tree, env=environment, check=False, capture_output=True, text=True
    )


def assert_red(done: subprocess.CompletedProcess[str], tree: Path, name: str, *values: str) -> None:
    """Check that the run failed over these values, among others, and left nothing."""
    assert done.returncode == 1, done.stderr
    for value in values:
        assert f"{name}: the value '{value}' is " in done.stderr
    assert not (tree / "_build" / "notebooks" / name).exists()


def test_a_default_service_rate_that_is_one_per_cent_off(tree):
    default = "service_rates: tuple[float, ...] = (1.0,)"
    replace(tree / "mfc_lb" / "model" / "parameters.py", default, default.replace("1.0", "1.01"))
    done = run(tree, "introduction")
    assert_red(done, tree, "introduction", "empty_then", "full_then")


def test_a_loss_formula_that_is_a_millionth_off(tree):
    loss = "rate * powers[..., -1] / powers.sum(axis=-1)"
    replace(tree / "mfc_lb" / "systems" / "random_routing.py", loss, f"1.000001 * {loss}")
    done = run(tree, "mean_field")
    assert_red(done, tree, "mean_field", "loss_high", "loss_low", "loss_critical")


def test_a_stored_number_that_is_changed_together_with_its_checksum(tree):
    table = tree / "data" / "results" / "trajectories-paper.csv"
    lines = table.read_text("utf-8").splitlines()
    (row,) = (number for number, line in enumerate(lines) if line.startswith(HERD))
    share = lines[row].removeprefix(HERD).split(",")[0]
    lines[row] = lines[row].replace(f"{HERD}{share}", f"{HERD}{float(share) + 0.01}")
    table.write_text("\n".join(lines) + "\n", "utf-8")
    manifest = table.with_suffix(".json")
    write_json(manifest, read_json(manifest) | {"sha256": sha256(table.read_bytes())})
    done = run(tree, "finite_system", "-p", "size=paper")
    assert_red(done, tree, "finite_system", "empty_new")
