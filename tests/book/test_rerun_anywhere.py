"""Notebooks elsewhere: the cell that installs the library, and Binder's files."""

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mfc_lb.companion.notebooks import load

ROOT = Path(__file__).parents[2]
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
    assert 'ADDRESS = ""' in install_cell
    assert "https://" not in install_cell


def test_where_the_library_is_there_the_cell_does_nothing(install_cell, monkeypatch, capfd):
    monkeypatch.setattr(subprocess, "run", None)
    monkeypatch.setattr("builtins.input", None)
    before = list(sys.path)
    exec(install_cell, {})
    assert sys.path == before
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> tuple[str, str]:
    """The address of a repository, and its first commit, after which another one came."""
    folder = tmp_path_factory.mktemp("origin")
    git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (folder / "mfc_lb").mkdir()
    for word in ("first", "second"):
        (folder / "mfc_lb" / "__init__.py").write_text(f"print('the {word}', __file__)\n")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", word], check=True)
    found = subprocess.run(
        [*git, "rev-parse", "HEAD~1"], check=True, capture_output=True, text=True
    )
    return folder.as_uri(), found.stdout.strip()


@pytest.fixture
def colab(origin) -> Iterator[dict[str, str]]:
    """The variables of a Colab on which the notebook of the first commit is open."""
    opened = quote("{}/blob/{}/book/training.ipynb".format(*origin))
    content = json.dumps([{"name": "training.ipynb", "path": f"fileId={opened}"}]).encode()

    class Sessions(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Sessions) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.server_address
        yield {"COLAB_JUPYTER_IP": host, "KMP_TARGET_PORT": str(port)}
        server.shutdown()


@pytest.mark.parametrize("way", ["asked", "given", "colab"])
def test_where_it_is_missing_the_cell_installs_it_from_the_commit_of_its_page(
    way, install_cell, origin, colab, tmp_path
):
    """The reader is asked again where an address names no commit."""
    repository, commit = origin
    opened = f"{repository}/blob/{commit}/book/training.ipynb"
    answer = f"{repository}\n{opened}\n" if way == "asked" else ""
    cell = install_cell.replace('ADDRESS = ""', f'ADDRESS = "{opened if way == "given" else ""}"')
    pip = tmp_path / "python"
    pip.write_text(RECORDER)
    pip.chmod(0o755)
    program = f"import sys\nsys.executable = {str(pip)!r}\n{cell}\nimport mfc_lb\n"
    # Isolated and without site-packages: the library is not there.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        cwd=tmp_path,
        env=os.environ | (colab if way == "colab" else {}),
        input=answer,
        capture_output=True,
        text=True,
        check=True,
    )
    checkout = tmp_path / "load-balancing"
    assert done.stdout.endswith(f"the first {checkout / 'mfc_lb' / '__init__.py'}\n")
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:2] == ["-m", "pip"]
    assert asked[-2:] == [f"{checkout}[train,cluster]", "matplotlib"]


# --- Binder -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def binder() -> set[str]:
    """The packages that Binder installs, besides what they require."""
    environment = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text("utf-8"))
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.11", "pip"]
    constraint, *packages, library = pip["pip"]
    # Paths count from the folder of the file, which conda makes pip's working directory.
    assert constraint == "--constraint ../requirements.lock"
    assert library == "-e ..[train,cluster]"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*packages, *project["dependencies"], *extras["train"], *extras["cluster"]]
    return {canonicalize_name(Requirement(line).name) for line in lines}


def test_binder_has_nothing_that_no_notebook_needs(binder):
    others = {"sphinx", "jupyter-book", "papermill", "mini-racer", "pytest", "mypy", "dask"}
    assert required(binder) & others == set()


def test_binders_environment_runs_the_notebooks(binder, tmp_path):
    """A new virtual environment with those packages and what they require, and no others."""
    checkout = copy_of_the_repository(tmp_path / "checkout")
    environment = tmp_path / "environment"
    venv.create(environment)
    install(binder, environment)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    (packages / "checkout.pth").write_text(str(checkout))
    mean_field = ROOT / "book" / "mean_field.ipynb"
    cells = [cell.source for cell in load(mean_field).cells if cell.cell_type == "code"]
    cells += sorted(imports(path) for path in (ROOT / "book").glob("*.ipynb"))
    (tmp_path / "cells.json").write_text(json.dumps(cells))
    program = (
        "import json, sys; from IPython.core.interactiveshell import InteractiveShell as Shell\n"
        "for cell in json.load(open(sys.argv[1])): Shell.instance().run_cell(cell).raise_error()"
    )
    variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(
        [environment / "bin" / "python", "-c", program, str(tmp_path / "cells.json")],
        cwd=checkout,
        env=variables | {"IPYTHONDIR": str(tmp_path), "MPLBACKEND": "agg"},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def imports(path: Path) -> str:
    """Return all that a notebook imports."""
    sources = [cell.source for cell in load(path).cells if cell.cell_type == "code"]
    nodes = ast.walk(ast.parse("\n".join(sources)))
    return "\n".join(
        ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)
    )


def copy_of_the_repository(folder: Path) -> Path:
    for name in ("mfc_lb", "book", "data"):
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
