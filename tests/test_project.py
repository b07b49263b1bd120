"""What the repository promises about itself: pins, README, sizes of files, what is tracked."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import mfc_lb

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "mfc_lb").rglob("*.py"))
MODULE_NAMES = {
    "PIL": "pillow",
    "google": "protobuf",
    "grpc": "grpcio",
    "py_mini_racer": "mini-racer",
    "yaml": "pyyaml",
}
# Registries, and folders of one machine or another; in pieces, so that they do not stand here.
FORBIDDEN = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "download." + "pytorch.org",
    "conda." + "anaconda.org",
    "/opt/" + "wheels",
    "/opt/" + "pypi",
    "/work/" + "main",
    "/work/" + "shared",
    "../" + "shared",
    "/tmp/" + "venv",
    "/root" + "/",
    "/home" + "/",
    "/Users" + "/",
]


# --- versions ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def direct() -> list[Requirement]:
    """Every requirement that pyproject.toml names."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for line in sum(extras, project["dependencies"])]


@pytest.fixture(scope="module")
def locked() -> dict[str, Version]:
    return pins(read("requirements.lock").splitlines())


def pins(lines: list[str]) -> dict[str, Version]:
    pairs = (line.split("==") for line in lines)
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def read(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_lock_is_plain_pins():
    lines = read("requirements.lock").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert not [line for line in lines if line.lower().startswith(("nvidia", "cuda", "triton"))]


def test_lock_pins_every_direct_dependency(direct, locked):
    wrong = [
        str(requirement)
        for requirement in direct
        if not (version := locked.get(canonicalize_name(requirement.name)))
        or version not in requirement.specifier
    ]
    assert wrong == []


def test_conda_gives_python_and_pip_and_the_lock_the_rest():
    *conda, pip = yaml.safe_load(read("environment.yml"))["dependencies"]
    python, other = map(Requirement, conda)
    assert (python.name, str(other)) == ("python", "pip")
    allowed = tomllib.loads(read("pyproject.toml"))["project"]["requires-python"]
    tested = [Version(f"3.{minor}") for minor in range(8, 20) if f"3.{minor}" in python.specifier]
    assert tested == [Version("3.11"), Version("3.12"), Version("3.13")]
    assert all(version in SpecifierSet(allowed) for version in tested)
    assert pip == {"pip": ["--requirement requirements.lock", "-e ."]}


def test_every_import_is_a_direct_dependency(direct):
    names = {canonicalize_name(requirement.name) for requirement in direct}
    files = [*SOURCES, *(ROOT / "book" / "_ext").rglob("*.py")]
    modules = {name.partition(".")[0] for path in files for name in imported(path)}
    others = modules - sys.stdlib_module_names - {"mfc_lb"}
    assert {canonicalize_name(MODULE_NAMES.get(name, name)) for name in others} - names == set()


def imported(path: Path) -> list[str]:
    """Names of the modules that a file imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module
    ]


def test_citation_names_the_paper_and_this_version():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= citation.keys()
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert citation["version"] == version == mfc_lb.__version__
    assert [paper["doi"] for paper in citation["references"]] == ["10.1145/3545008.3545025"]


# --- README and import ------------------------------------------------------------------------


def test_readme_example_prints_what_it_says(capsys):
    blocks = r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```"
    ((example, shown),) = re.findall(blocks, read("README.md"), flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line]) <= 10
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_readme_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)]+)\)", read("README.md"))
    local = [target for target in targets if not target.startswith("https://")]
    assert [target for target in local if not (ROOT / target).is_file()] == []


def test_import_is_light():
    heavy = ["torch", "grpc", "matplotlib", "pandas"]
    program = f"import sys, mfc_lb; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


# --- sources ----------------------------------------------------------------------------------


def test_files_stay_short():
    lengths = {str(path.relative_to(ROOT)): len(read(path).splitlines()) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_functions_stay_short():
    functions = (
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert median(map(num_lines, functions)) < 10


def num_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from its `def` to its end, without its docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


# --- what is tracked --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Files that git tracks, or would with the next `git add`."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = run.stdout.rstrip("\0").split("\0")
    return [path for name in names if (path := ROOT / name).is_file()]


def test_notebooks_carry_no_outputs(tracked):
    notebooks = [path for path in tracked if path.suffix == ".ipynb"]
    dirty = [
        path.name
        for path in notebooks
        for cell in json.loads(read(path))["cells"]
        if cell.get("outputs") or cell.get("execution_count") is not None
    ]
    assert dirty == []


def test_no_file_names_a_registry_or_a_machine(tracked):
    found = [
        (path.relative_to(ROOT).as_posix(), word)
        for path in tracked
        for word in FORBIDDEN
        if word.encode() in path.read_bytes()
    ]
    assert found == []
