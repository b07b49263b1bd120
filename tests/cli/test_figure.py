"""`mfc-lb figure`: names, refusals, and what is handed over."""

from pathlib import Path

import pytest

from mfc_lb import companion


def test_all_figures_are_listed_without_a_run(call):
    listed = call("figure", "list")
    assert listed.exit_code == 0
    figures = companion.list_figures()
    assert [found for found in figures if found.identifier not in listed.output] == []


def test_a_figure_is_shown_with_what_its_notebook_says(call):
    shown = call("figure", "show", "drops-by-delay")
    assert shown.exit_code == 0
    for part in (
        "Drops per queue in 500 units of time",
        "Three lines against the delay",
        "comparison.html#fig-drops-by-delay",
        "num_queues = 100",
        "mfc-lb figure make drops-by-delay",
    ):
        assert part in shown.output


@pytest.mark.parametrize("style", ["bibtex", "text"])
def test_a_citation_is_that_of_the_card(style, call):
    done = call("figure", "cite", "drops-by-delay", "--style", style, "-p", "size=quick")
    expected = companion.find_figure("drops-by-delay").cite({"size": "quick"})
    assert done.output == expected[style] + "\n"
    assert "size=quick" in done.output


def test_without_a_size_a_figure_is_the_books(call):
    """Made, cited and shown as on the book's page, which says nothing of a size."""
    for found in companion.list_figures():
        assert found.run_parameters({}) == {"size": "paper"}
        assert found.cite({}) == found.cite({"size": "paper"})
        assert found.command({"size": "paper"}) == f"mfc-lb figure make {found.identifier}"
    assert "size = paper" in call("figure", "show", "drops-by-delay").output


def test_bibtex_is_the_usual_style(call):
    assert call("figure", "cite", "herd").output.startswith("@misc{mfc_lb-herd,\n")


@pytest.mark.parametrize("command", ["show", "make", "cite"])
def test_an_unknown_figure_is_refused(command, refused):
    refused(["figure", command, "drops-by-dely"], "drops-by-dely", "drops-by-delay")
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("command", ["make", "cite"])
@pytest.mark.parametrize("given", ["size", "size=", "nothing=3", "size=huge"])
def test_a_bad_parameter_is_refused_before_a_run(command, given, refused):
    refused(["figure", command, "herd", "-p", given], given.partition("=")[0])
    assert list(Path.cwd().iterdir()) == []


def test_an_unknown_format_is_refused(refused):
    refused(["figure", "make", "herd", "--format", "gif"], "--format", "'gif'", "svg")


def test_a_folder_that_is_not_there_is_refused_before_a_run(refused):
    refused(["figure", "make", "herd", "--output", "none/herd.svg"], "existing folder", "none")


def test_make_hands_over_parameters_and_file(monkeypatch, call):
    calls = []
    monkeypatch.setattr(companion, "make_figure", lambda *given: calls.append(given))
    done = call("figure", "make", "herd", "--format", "pdf", "-p", "delta_t=3", "-p", "seed=2")
    assert "herd.pdf" in done.output
    assert call("figure", "make", "herd", "--output", "there.svg").exit_code == 0
    assert calls == [
        ("herd", "pdf", {"delta_t": "3", "seed": "2"}, Path("herd.pdf")),
        ("herd", "svg", {}, Path("there.svg")),
    ]
