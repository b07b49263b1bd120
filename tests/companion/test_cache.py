"""A kept run is used as long as nothing that it depends on has changed, and no longer."""

import json
from importlib.metadata import distributions
from types import SimpleNamespace

import pytest

from mfc_lb.companion import CompanionError, cache
from mfc_lb.companion.notebooks import find_notebook
from tests.companion.cells import notebook, parameters_cell

ANY = {"value": 1, "tolerance": 99, "kind": "timing", "why": "any number of runs"}


@pytest.fixture
def runs(book, add, monkeypatch, tmp_path):
    """Return a list that grows with each run that is not taken from the cache; nothing runs."""
    executed = []

    def execute(notebook, parameters, folder, _book):
        executed.append(dict(parameters))
        (folder / f"{notebook.name}.ipynb").touch()
        values = {"seconds": {"value": len(executed), "text": ""}}
        (folder / "values.json").write_text(json.dumps(values), "utf-8")

    library = tmp_path / "library"
    for folder in (library, book.root / "data"):
        folder.mkdir()
        (folder / "file").write_text("1", "utf-8")
    (book.root / "requirements.lock").write_text("numpy==2.0\n", "utf-8")
    add("page", notebook(parameters_cell()), {"seconds": ANY})
    monkeypatch.setattr(cache, "execute", execute)
    monkeypatch.setattr(cache, "LIBRARY", library)
    return executed


@pytest.fixture
def use(book, runs, tmp_path_factory):  # noqa: ARG001
    """Return a function that takes the page's run, from the cache if possible."""

    def used(**parameters):
        page = find_notebook("page", book)
        job = cache.Job(page, page.convert(parameters), book, book.root / "runs")
        return job.kept() or job.run(tmp_path_factory.mktemp("scratch"))

    return used


def test_a_run_that_is_kept_elsewhere_is_used_but_only_if_that_is_asked_for(use, runs, book):
    use()
    page = find_notebook("page", book)
    given, other = page.convert({}), book.root / "other"
    assert cache.Job(page, given, book, other).kept() is None
    kept = cache.Job(page, given, book, other, book.root / "runs").kept()
    assert kept is not None
    assert kept.folder.parent == book.root / "runs"
    assert (len(runs), other.exists()) == (1, False)


def test_an_unchanged_notebook_runs_once(use, runs):
    assert use(size="quick").values == use(size="quick").values
    assert len(runs) == 1


def test_parameters_have_runs_of_their_own(use, runs):
    for _ in range(2):
        use(size="quick")
        use(size="paper")
    assert [parameters["size"] for parameters in runs] == ["quick", "paper"]


@pytest.mark.parametrize(
    "name",
    ["data/file", "data/new/results.csv", "library/file", "library/new.py", "requirements.lock"],
)
def test_it_runs_again_when_a_file_that_it_depends_on_changes(use, runs, book, name):
    use()
    path = book.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("2", "utf-8")
    use()
    use()
    assert len(runs) == 2


def test_it_runs_again_when_a_file_moves_or_goes(use, runs, book):
    use()
    (book.root / "library" / "file").rename(book.root / "library" / "other")
    use()
    (book.root / "library" / "other").unlink()
    use()
    assert len(runs) == 3


def test_it_runs_again_when_the_notebook_changes(use, runs, add):
    use()
    add("page", notebook(parameters_cell(), "x = 1"))
    use()
    assert len(runs) == 2


def test_it_runs_again_when_a_package_is_replaced(use, runs, monkeypatch):
    use()
    others = [*distributions(), SimpleNamespace(name="numpy", version="0.0")]
    monkeypatch.setattr(cache, "distributions", lambda: others)
    use()
    assert len(runs) == 2


def test_it_runs_again_when_the_results_are_elsewhere(use, runs, monkeypatch, tmp_path):
    use()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "comparison-quick.csv").touch()
    monkeypatch.setenv("MFC_LB_RESULTS", str(tmp_path / "results"))
    use()
    assert len(runs) == 2


def test_compiled_files_do_not_matter(use, runs, book):
    use()
    compiled = book.root / "library" / "__pycache__"
    compiled.mkdir()
    (compiled / "file.pyc").touch()
    use()
    assert len(runs) == 1


def test_expected_values_are_compared_with_a_kept_run_too(use, runs, book):
    use()
    wrong = {"seconds": {"value": 5, "kind": "exact", "why": "it drifted"}}
    (book.expected / "page.json").write_text(json.dumps({"quick": wrong}), "utf-8")
    with pytest.raises(CompanionError, match="the value 'seconds' is 1, expected 5"):
        use()
    assert len(runs) == 1


def test_a_failed_run_is_not_kept(use, runs, book):
    expected = (book.expected / "page.json").read_text("utf-8")
    (book.expected / "page.json").write_text("{}", "utf-8")
    with pytest.raises(CompanionError, match="no entry"):
        use()
    (book.expected / "page.json").write_text(expected, "utf-8")
    use()
    assert len(runs) == 2


def test_a_notebook_keeps_only_its_newest_run(use, book, add):
    use()
    add("page", notebook(parameters_cell(), "x = 1"))
    use()
    assert len(list((book.root / "runs").iterdir())) == 1
