"""Where what can be made again is kept."""

from pathlib import Path

import pytest

from mfc_lb import (
    ConstantPolicy,
    EvaluationResult,
    InvalidInput,
    MeanFieldSystem,
    SystemParameters,
    evaluate,
    random_choice,
)
from mfc_lb.baseline import in_force
from mfc_lb.cluster import (
    ClusterParameters,
    RoundRobin,
    Trace,
    read_log,
    read_trace,
    simulate_cluster,
    write_log,
)
from mfc_lb.files import user_cache
from mfc_lb.results.folders import computed_results_folder

P = SystemParameters()
RESULT = evaluate(
    MeanFieldSystem(P), ConstantPolicy(random_choice(P)), num_epochs=2, num_runs=2, seed=1
)
TRACE = Trace.from_arrays([0, 1], [2, 3])
LOG = simulate_cluster(TRACE, ClusterParameters(), RoundRobin()).log
#: What is written and how, and how it is read.
FILES = {
    "result": (RESULT, RESULT.save, EvaluationResult.load),
    "trace": (TRACE, TRACE.write_csv, read_trace),
    "log": (LOG, lambda path: write_log(LOG, path), read_log),
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("MFC_LB_CACHE", "MFC_LB_RESULTS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "temporary"))
    return tmp_path / "home"


def test_the_cache_is_the_users_one_for_each_copy_of_the_library(home, monkeypatch):
    first = user_cache()
    assert first.parent == home / ".cache" / "mfc_lb"
    monkeypatch.setattr("mfc_lb.files.__file__", "/elsewhere/mfc_lb/files.py")
    assert user_cache().parent == first.parent
    assert user_cache() != first


@pytest.mark.parametrize("name", ["MFC_LB_CACHE", "XDG_CACHE_HOME"])
def test_the_cache_may_be_elsewhere(name, home, tmp_path, monkeypatch):
    monkeypatch.setenv(name, str(tmp_path / "there"))
    assert user_cache().is_relative_to(tmp_path / "there")
    assert not home.exists()


def test_who_has_no_home_has_a_cache(home, tmp_path, monkeypatch):
    home.write_text("no folder", "utf-8")
    assert user_cache().is_relative_to(tmp_path / "temporary")

    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", no_home)
    assert user_cache().is_relative_to(tmp_path / "temporary")


@pytest.mark.usefixtures("home")
def test_results_that_are_computed_on_the_way_stay_out_of_the_checkout(tmp_path, monkeypatch):
    assert computed_results_folder() == user_cache() / "results" / in_force()
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path / "named"))
    assert computed_results_folder() == tmp_path / "named"


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("as_given", [str, Path])
def test_a_path_is_text_or_a_path(kind, as_given, tmp_path):
    content, write, read = FILES[kind]
    write(as_given(tmp_path / "file"))
    assert read(as_given(tmp_path / "file")) == content


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("path", ["", ".", "..", "a\0b", "\ud800", b"file", 3, None, ["file"]])
def test_what_is_no_path_is_refused_in_one_line(kind, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, write, read = FILES[kind]
    for use in (write, read):
        with pytest.raises(InvalidInput) as raised:
            use(path)
        assert str(raised.value) == f"path must be the path of a file, got {path!r}"
    assert not list(tmp_path.iterdir())
