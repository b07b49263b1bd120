"""What runs on GitHub: which commits are published and released, and by which actions."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

FILES = sorted((Path(__file__).parents[1] / ".github" / "workflows").glob("*.yml"))
#: Each action's first major for Node 24; runners have dropped Node 20.
OLDEST = {
    "actions/checkout": 5,
    "actions/deploy-pages": 5,
    "actions/setup-python": 6,
    "actions/upload-artifact": 6,
    "actions/upload-pages-artifact": 5,
}


def workflow(path: Path) -> dict:
    content = yaml.safe_load(path.read_text("utf-8"))
    return content | {"on": content.pop(True)}  # YAML 1.1 reads "on" so


WORKFLOWS = {path.stem: workflow(path) for path in FILES}
JOBS = {
    f"{name}/{job}": what for name, one in WORKFLOWS.items() for job, what in one["jobs"].items()
}
STEPS = [(job, step) for job, what in JOBS.items() for step in what.get("steps", ())]


def needs(job: str) -> set[str]:
    """Return all jobs that must have succeeded before this one."""
    name = job.partition("/")[0]
    direct = JOBS[job].get("needs", [])
    found = {f"{name}/{one}" for one in ([direct] if isinstance(direct, str) else direct)}
    return found.union(*map(needs, found))


def test_actions_run_on_todays_runners():
    used = [step["uses"] for _, step in STEPS if "uses" in step]
    assert {name.partition("@")[0] for name in used} == OLDEST.keys()
    majors = (re.fullmatch(r"(.+)@v(\d+)", name).groups() for name in used)
    assert [name for name, major in majors if int(major) < OLDEST[name]] == []


def test_one_workflow_publishes_and_only_commits_whose_tests_passed():
    publishing = [job for job, step in STEPS if "actions/deploy-pages" in step.get("uses", "")]
    assert publishing == ["checks/publish"]
    assert needs("checks/publish") == {"checks/build", "checks/test"}
    assert JOBS["checks/test"].get("if") is None
    assert "refs/heads/main" in JOBS["checks/build"]["if"]
    # Without a condition of their own, jobs are left out where one that they need is or fails.
    assert [job for job in ("checks/publish", "release/release") if "if" in JOBS[job]] == []


def test_a_release_is_of_a_tag_whose_tests_passed():
    assert WORKFLOWS["release"]["on"] == {"push": {"tags": ["v*"]}}
    checks = JOBS["release/checks"]
    assert checks["uses"] == "./.github/workflows/checks.yml"
    # A job of a called workflow may not ask for more than the caller has.
    assert JOBS["checks/publish"]["permissions"].items() <= checks["permissions"].items()
    assert "workflow_call" in WORKFLOWS["checks"]["on"]
    assert needs("release/release") == {"release/checks"}


def test_tests_run_each_week_and_their_reports_are_kept_when_they_fail():
    (weekly,) = WORKFLOWS["checks"]["on"]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", weekly["cron"])
    *_, tests, upload = (step for job, step in STEPS if job == "checks/test")
    assert (tests["run"], upload["if"]) == (".ci/run", "failure()")
    (report,) = re.findall(r"--junit-xml=(\S+)/\w+\.xml", tests["env"]["PYTEST_ADDOPTS"])
    assert upload["with"]["path"] == report


def test_nothing_may_be_written_unless_a_job_says_so():
    assert [one["permissions"] for one in WORKFLOWS.values()] == [{"contents": "read"}] * 2
    writing = {job for job, what in JOBS.items() if "write" in what.get("permissions", {}).values()}
    assert writing == {"checks/publish", "release/checks", "release/release"}


@pytest.mark.parametrize("command", [step["run"] for _, step in STEPS if "run" in step])
def test_commands_are_bash(command):
    subprocess.run(["bash", "-n", "-c", command], check=True)
