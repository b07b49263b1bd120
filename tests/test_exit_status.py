"""A command that fails is never overlooked: not in a pipe, not in the middle of a step."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SETTINGS = re.compile(r"^(?:SHELL|\.SHELLFLAGS) :?=.*$", re.MULTILINE)


@pytest.mark.skipif(not shutil.which("make"), reason="no make is installed")
@pytest.mark.parametrize(("recipe", "code"), [("false | true", 2), ("true | true", 0)])
def test_a_failure_in_a_pipe_of_a_recipe_ends_make(tmp_path, recipe, code):
    settings = SETTINGS.findall((ROOT / "Makefile").read_text("utf-8"))
    assert len(settings) == 2
    (tmp_path / "Makefile").write_text("\n".join([*settings, f"all:\n\t@{recipe}\n"]), "utf-8")
    done = subprocess.run(["make", "-C", tmp_path], check=False, capture_output=True)
    assert done.returncode == code


@pytest.mark.parametrize("command", ["false | true", "false", "echo $undefined_name"])
def test_a_failure_anywhere_in_the_script_of_ci_ends_it(command):
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    first = next(line for line in lines if line and not line.startswith("#"))
    script = f"{first}\n{command}\ntrue\n"
    assert subprocess.run(["bash", "-c", script], check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name
)
def test_a_step_of_a_workflow_is_one_command(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    commands = [step["run"] for job in jobs for step in job.get("steps", ()) if "run" in step]
    assert [command for command in commands if re.search(r"[|;&\n]", command.strip())] == []


@pytest.mark.parametrize(("ci", "outcome"), [("true", {"error": 1}), ("", {"skipped": 1})])
def test_where_a_browser_is_missing_ci_is_told(ci, outcome):
    """The tests that open pages are skipped on a developer's machine only."""
    opens_a_page = "tests/book/test_browser.py::test_a_sound_page_has_no_fault"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", opens_a_page],
        cwd=ROOT,
        env=os.environ | {"CI": ci, "PATH": ""},
        check=False,
        capture_output=True,
        text=True,
    )
    counted = re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1].partition(" in ")[0])
    assert {word: int(number) for number, word in counted} == outcome
