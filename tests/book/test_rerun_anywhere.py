"""Notebooks elsewhere: the cell that installs the library, and Binder's files."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from mfc_lb.companion.notebooks import load

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"pytorch": "torch"}
#: Stands for pip: it writes down what it was asked for.
RECORDER = '#!/bin/sh\nprintf "%s\\n" "$@" > "$(dirname "$0")/asked"\n'


# --- the first cell ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def install_cell() -> str:
    return first_cell(ROOT / "book" / "introduction.ipynb").source


def first_cell(path: Path) -> nbformat.NotebookNode:
    return load(path).cells[0]


def test_every_notebook_begins_with_the_same_cell_which_no_page_shows(install_cell):
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        cell = first_cell(path)
        assert (cell.id, cell.source) == ("install-library", install_cell), path.name
        assert cell.metadata.tags == ["remove-cell"], path.name


def test_no_address_is_made_up(install_cell):
    assert 'REPOSITORY = ""' in install_cell
    assert "://" not in install_cell


def test_where_the_library_is_there_the_cell_does_nothing(install_cell, monkeypatch, capfd):
    monkeypatch.setattr(subprocess, "run", None)
    monkeypatch.setattr("builtins.input", None)
    before = list(sys.path)
    exec(install_cell, {})
    assert sys.path == before
    assert capfd.readouterr() == ("", "")


def test_where_it_is_missing_the_cell_fetches_and_installs_it(install_cell, tmp_path):
    """From an address that the reader gives, or that the repository's owner put in."""
    origin = tmp_path / "origin"
    (origin / "mfc_lb").mkdir(parents=True)
    (origin / "mfc_lb" / "__init__.py").write_text("print('imported', __file__)\n")
    git = ["git", "-C", str(origin), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "All"]):
        subprocess.run([*git, *words], check=True)
    address = origin.as_uri()
    named = install_cell.replace('REPOSITORY = ""', f'REPOSITORY = "{address}"')
    for number, (cell, answer) in enumerate(((install_cell, f"{address}\n"), (named, ""))):
        folder = tmp_path / f"reader-{number}"
        folder.mkdir()
        pip = folder / "python"
        pip.write_text(RECORDER)
        pip.chmod(0o755)
        program = f"import sys\nsys.executable = {str(pip)!r}\n{cell}\nimport mfc_lb\n"
        # Isolated and without site-packages: the library is not there.
        command = [sys.executable, "-I", "-S", "-c", program]
        done = subprocess.run(
            command, cwd=folder, input=answer, capture_output=True, text=True, check=True
        )
        clone = folder / "load-balancing"
        assert done.stdout.endswith(f"imported {clone / 'mfc_lb' / '__init__.py'}\n")
        asked = (folder / "asked").read_text().split()
        assert asked[:2] == ["-m", "pip"]
        assert asked[-2:] == [f"{clone}[train,cluster]", "matplotlib"]


# --- Binder -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def binder() -> dict[str, Version]:
    """What Binder installs, with versions."""
    environment = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text("utf-8"))
    *conda, pip = environment["dependencies"]
    assert conda[:2] == ["python=3.11", "pip"]
    return pins([*conda[2:], *pip["pip"]])


def pins(lines: list[str]) -> dict[str, Version]:
    pairs = (line.split("==") for line in lines)
    return {
        canonicalize_name(CONDA_NAMES.get(name, name)): Version(version) for name, version in pairs
    }


def test_binder_has_what_the_notebooks_need_at_the_locked_versions(binder):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["train"], *extras["cluster"], *extras["book"]]
    names = {canonicalize_name(Requirement(line).name) for line in lines} | {"setuptools"}
    locked = pins((ROOT / "requirements.lock").read_text("utf-8").split())
    assert binder == {name: locked[name] for name in names}


def test_binders_steps_give_an_environment_that_runs_a_notebook(binder, tmp_path):
    """In a new virtual environment with those packages and what they require, and no others."""
    checkout = copy_of_the_repository(tmp_path / "checkout")
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    } | {"PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(*command: str, cwd: Path) -> str:
        done = subprocess.run(
            command, cwd=cwd, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    # Some versions of Python bring an old one.
    run(str(python), "-m", "pip", "uninstall", "--yes", "setuptools", cwd=tmp_path)
    install(set(binder), environment)
    with pytest.raises(AssertionError, match="No module named 'mfc_lb'"):
        run(str(python), "-c", "import mfc_lb", cwd=tmp_path)
    run("bash", "binder/postBuild", cwd=checkout)
    where = run(str(python), "-c", "import mfc_lb; print(mfc_lb.__file__)", cwd=tmp_path)
    assert where.strip() == str(checkout / "mfc_lb" / "__init__.py")
    words = (
        "-m",
        "papermill",
        "--no-progress-bar",
        "mean_field.ipynb",
        str(tmp_path / "out.ipynb"),
    )
    run(str(python), *words, cwd=checkout / "book")
    cells = [cell for cell in load(tmp_path / "out.ipynb").cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)


def copy_of_the_repository(folder: Path) -> Path:
    for name in ("mfc_lb", "book", "data", "binder"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def install(names: set[str], environment: Path) -> None:
    """Link packages that are installed here, and all that they require, into an environment."""
    here = Path(sysconfig.get_path("purelib"))
    (there,) = (environment / "lib").glob("python*/site-packages")
    for name in required(names):
        files = distribution(name).files or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (there / top).exists():
                (there / top).symlink_to(here / top)


def required(names: set[str]) -> set[str]:
    """Return the packages and what they require, directly or not."""
    found: set[str] = set()
    missing = {(name, frozenset[str]()) for name in names}
    seen = set()
    while missing:
        name, extras = missing.pop()
        seen.add((name, extras))
        found.add(name)
        for line in distribution(name).requires or ():
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras)):
                further = canonicalize_name(requirement.name), frozenset(requirement.extras)
                missing |= {further} - seen
    return found
