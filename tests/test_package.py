"""What the package says of itself where the repository is not there, and what its sources hold."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = "from setuptools import build_meta; build_meta.build_sdist('dist')"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)]+)\)")


def build_sources(folder: Path, repository: str) -> tarfile.TarFile:
    """Build the sdist of a copy, as it is built for a repository at an address."""
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("mfc_lb", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    variables = {"MFC_LB_REPOSITORY": repository, "MFC_LB_BRANCH": "v1"}
    command = [sys.executable, "-c", BUILD]
    subprocess.run(command, cwd=folder, env=os.environ | variables, check=True, capture_output=True)
    (path,) = (folder / "dist").iterdir()
    return tarfile.open(path)


def metadata(sources: tarfile.TarFile) -> Message:
    (name,) = (name for name in sources.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", name))
    return message_from_bytes(sources.extractfile(name).read())


@pytest.fixture(scope="module")
def local(tmp_path_factory) -> tarfile.TarFile:
    with build_sources(tmp_path_factory.mktemp("local"), "") as sources:
        yield sources


def test_without_a_repository_the_readme_has_no_address_in_it(local):
    about = metadata(local)
    text = about.get_payload()
    assert about["Description-Content-Type"] == "text/markdown"
    assert [link for link in LINK.findall(text) if not link.startswith("https://")] == []
    assert "![" not in text
    assert "\n*The herd" not in text  # the picture's caption
    assert "evaluate(system, policy, num_epochs=100, num_runs=20, seed=1)" in text
    assert about.get_all("Project-URL") is None


def test_with_a_repository_its_addresses_lead_there(tmp_path):
    with build_sources(tmp_path, "https://github.com/somebody/a.book") as sources:
        about = metadata(sources)
    assert about.get_all("Project-URL") == ["Repository, https://github.com/somebody/a.book"]
    top = "https://github.com/somebody/a.book"
    links = [link for link in LINK.findall(about.get_payload()) if link.startswith(top)]
    parts = [link.removeprefix(f"{top}/").split("/", 2) for link in links]
    assert {tuple(part[:2]) for part in parts} == {("raw", "v1"), ("blob", "v1")}
    assert [name for *_, name in parts if not (ROOT / name).is_file()] == []
    assert "book/_static/herd.png" in [name for kind, _, name in parts if kind == "raw"]


def test_sources_hold_the_whole_library_and_no_tests(local):
    names = {name.partition("/")[2] for name in local.getnames()}
    assert [name for name in names if name.startswith("tests")] == []
    kinds = ("*.py", "*.pyi", "*.proto", "py.typed")
    files = {
        path.relative_to(ROOT).as_posix()
        for kind in kinds
        for path in ROOT.glob(f"mfc_lb/**/{kind}")
    }
    assert files - names == set()
