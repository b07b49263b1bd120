"""What the provenance page tells: taken from what is stored, and nothing that a build changes."""

import json
import shutil
import subprocess

import pytest

from mfc_lb.companion import Run
from mfc_lb.companion.location import LIBRARY
from mfc_lb.companion.provenance import build_facts, publish_provenance
from mfc_lb.companion.provenance_pages import _TABLES, table
from mfc_lb.companion.records import write_json
from mfc_lb.files import sha256
from mfc_lb.results.storage import table_bytes
from tests.companion.cells import notebook, parameters_cell

DATA = LIBRARY.parent / "data"


@pytest.fixture
def top(tmp_path):
    folder = tmp_path / "extra"
    folder.mkdir()
    return folder


@pytest.fixture
def stored(book):
    """Put the smallest stored result into the book."""
    folder = book.root / "data" / "results"
    folder.mkdir(parents=True)
    for suffix in ("csv", "json"):
        shutil.copy(DATA / "results" / f"modelling_choices-paper.{suffix}", folder)
    return folder / "modelling_choices-paper.csv"


def result(book, top):
    found = publish_provenance(book, (), top)["results"]
    (one,) = [one for one in found if one["name"] == "modelling_choices"]
    return one


def words(name, facts):
    return _TABLES[name](facts).astext()


# --- the build --------------------------------------------------------------------------------


def test_without_git_and_lock_they_are_unknown(book):
    facts = build_facts(book)
    assert (facts["commit"], facts["commit_date"], facts["lock_sha256"]) == ("unknown",) * 3
    assert words("build", facts).count("unknown") == 3


def test_commit_and_date_are_those_of_the_checkout(book):
    git = ["git", "-C", str(book.root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for line in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(git + line, check=True)
    asked = [*git, "log", "-1", "--format=%H %cI"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    facts = build_facts(book)
    assert [facts["commit"], facts["commit_date"]] == shown


def test_packages_are_compared_with_the_lock(book):
    from importlib.metadata import version

    lines = [f"numpy=={version('numpy')}", "scipy==0.0.1", "no-such-package==2.0"]
    (book.root / "requirements.lock").write_text("\n".join(lines) + "\n")
    facts = build_facts(book)
    assert facts["packages"]["pinned"] == 3
    assert facts["packages"]["as_pinned"] == 1
    assert facts["lock_sha256"] == sha256((book.root / "requirements.lock").read_bytes())
    shown = words("build", facts)
    assert "1 of 3 are installed as pinned" in shown
    assert f"scipy {version('scipy')} instead of 0.0.1" in shown
    assert "no-such-package not installed instead of 2.0" in shown


# --- what is stored ---------------------------------------------------------------------------


def test_a_book_without_data_has_none(book, top):
    found = publish_provenance(book, (), top)
    assert [found[name] for name in ("results", "policies", "recordings", "notebooks")] == [[]] * 4
    assert list(top.iterdir()) == []


def test_a_result_is_told_from_its_manifest_and_can_be_downloaded(book, top, stored):
    one, manifest = result(book, top), json.loads(stored.with_suffix(".json").read_text())
    assert one["sha256"] == sha256((top / one["address"]).read_bytes()) == manifest["sha256"]
    assert json.loads((top / one["manifest"]).read_text()) == manifest
    shown = words("results", [one])
    for told in (
        one["question"],
        f"seed {manifest['seed']}",
        one["state"],
        manifest["computed"]["commit"],
    ):
        assert told in shown
    assert f"in {manifest['wall_time_seconds']:,.0f} s".replace(",", "\N{NO-BREAK SPACE}") in shown
    assert f"{manifest['rows']} rows" in shown


def test_an_old_manifest_says_that_nothing_was_recorded(book, top, stored):
    manifest = stored.with_suffix(".json")
    content = json.loads(manifest.read_text())
    content.pop("computed", None)
    write_json(manifest, content)
    assert "was not recorded" in words("results", [result(book, top)])


def test_the_state_is_that_of_the_code_and_not_of_the_manifest(book, top, stored):
    assert result(book, top)["state"] == "current"
    manifest = stored.with_suffix(".json")
    content = json.loads(manifest.read_text())
    other = {"version": "0", "sha256": "0"}
    write_json(manifest, content | {"code": other, "checked": {"code": other}})
    assert result(book, top)["state"] == "computed by other code"


def test_a_damaged_result_is_named_but_not_offered(book, top, stored):
    stored.write_bytes(stored.read_bytes() + b"1\n")
    one = result(book, top)
    assert (one["state"], "address" in one) == ("damaged", False)
    assert not (top / "results" / stored.name).exists()
    assert "damaged" in words("results", [one])


@pytest.mark.usefixtures("stored")
def test_results_that_are_not_stored_are_missing(book, top):
    states = {one["name"]: one["state"] for one in publish_provenance(book, (), top)["results"]}
    assert states["comparison"] == "missing"


def test_policies_come_by_delay_with_the_digest_of_their_weights(book, top):
    shutil.copytree(DATA / "policies", book.root / "data" / "policies")
    found = publish_provenance(book, (), top)["policies"]
    assert [one["delta_t"] for one in found] == sorted(one["delta_t"] for one in found)
    assert len(found) == 10
    for one in found:
        assert one["sha256"] == sha256((top / one["address"]).read_bytes())
    shown = words("policies", found)
    assert f"chosen: {found[4]['chosen']}" in shown
    assert f"drops {found[4]['drops']['mean']:.2f} ±" in shown


def test_recorded_runs_come_with_their_setting(book, top):
    shutil.copytree(DATA / "live_cluster", book.root / "data" / "live_cluster")
    found = publish_provenance(book, (), top)["recordings"]
    assert {one["name"] for one in found} >= {"killed", "round-robin-paper"}
    for one in found:
        assert one["sha256"] == sha256((top / one["address"]).read_bytes())
    shown = words("recordings", found)
    assert f"{found[0]['events']} events" in shown
    assert found[0]["computed"]["machine"] in shown


# --- runs -------------------------------------------------------------------------------------


@pytest.fixture
def run(add, tmp_path):
    def value(kind):
        return {"value": 1.0, "tolerance": 0.0, "kind": kind, "why": "x"} | (
            {"tolerance": 0.1, "standard_error": 0.025} if kind == "sampling" else {}
        )

    expected = {"one": value("exact"), "two": value("exact"), "three": value("sampling")}
    add("chapter", notebook(parameters_cell(), title="# A chapter"), expected)
    folder = tmp_path / "run"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "decay.csv").write_bytes(table_bytes([{"x": 1}], ["x"]))
    write_json(folder / "parameters.json", {"size": "paper", "delta_t": 7.5})
    write_json(folder / "figures.json", {"decay": {"title": "T", "result": "comparison"}})
    write_json(folder / "run-report.json", {"notebooks": {"chapter": {"seconds": 123.456789}}})
    return Run("chapter", folder)


def test_a_notebook_is_told_with_the_parameters_of_its_run(book, top, run):
    (one,) = publish_provenance(book, [run], top)["notebooks"]
    assert (one["size"], one["figures"], one["results"]) == ("paper", 1, ["comparison"])
    assert one["parameters"]["delta_t"] == 7.5
    assert one["values"] == {"exact": 2, "sampling": 1}
    shown = words("notebooks", [one]).replace("\N{NO-BREAK SPACE}", " ")
    assert "delta_t = 7.5" in shown
    assert "values: 2 exact, 1 sampling" in shown
    assert "stored: comparison" in shown


@pytest.mark.usefixtures("stored")
def test_nothing_that_a_build_changes_is_told(book, top, run):
    first = publish_provenance(book, [run], top)
    write_json(run.folder / "run-report.json", {"notebooks": {"chapter": {"seconds": 9.0}}})
    assert publish_provenance(book, [run], top) == first
    assert "123.456789" not in json.dumps(first)


# --- tables -----------------------------------------------------------------------------------


def test_there_is_a_table_for_all_that_is_known(book, top):
    assert _TABLES.keys() == publish_provenance(book, (), top).keys()


def test_a_cell_holds_one_paragraph_for_each_part():
    from docutils import nodes

    made = table(("a", "b"), [("one", ["two", nodes.strong("", "three")])], "kind")
    cells = list(made.findall(nodes.entry))[2:]
    assert [[part.astext() for part in cell] for cell in cells] == [["one"], ["two", "three"]]
    assert all(isinstance(part, nodes.paragraph) for cell in cells for part in cell)
    assert "provenance-kind" in made["classes"]
