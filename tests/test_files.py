"""Where what can be made again is kept."""

from pathlib import Path

import pytest

from mfc_lb.files import user_cache
from mfc_lb.results.folders import computed_results_folder


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
    assert computed_results_folder() == user_cache() / "results"
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path / "named"))
    assert computed_results_folder() == tmp_path / "named"
