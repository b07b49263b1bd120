"""When, where and with what a result was computed."""

import subprocess

import numpy as np

from mfc_lb.results.circumstances import circumstances, commit, machine, package_versions


def git(folder, *words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", *identity, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_changed_checkout_is_marked(tmp_path):
    assert commit(tmp_path) == "unknown"
    git(tmp_path, "init")
    (tmp_path / "a.py").write_text("one\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-m", "first")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert commit(tmp_path) == head
    (tmp_path / "new.txt").write_text("not part of it\n")
    assert commit(tmp_path) == head
    (tmp_path / "a.py").write_text("two\n")
    assert commit(tmp_path) == head + "+"


def test_without_git_the_commit_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit(tmp_path) == "unknown"


def test_packages_that_are_missing_are_left_out():
    assert package_versions(("numpy", "no-such-package")) == {"numpy": np.__version__}


def test_everything_is_said():
    said = circumstances(2)
    where = {"commit", "machine", "baseline", "processes", "python", "packages"}
    assert said.keys() == {"finished", *where}
    assert said["processes"] == 2
    assert said["finished"].endswith("+00:00")
    assert "cores" in machine()
