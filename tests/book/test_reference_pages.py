"""What the plain pages tell a reader is true."""

import ast
import re
import shlex

import click
import pytest
import yaml
from click.testing import CliRunner

import mfc_lb
from mfc_lb.cli import main
from mfc_lb.companion import list_notebooks

REFUSAL = re.compile(r"^\$ mfc-lb (?P<words>.*)\n(?P<said>mfc-lb: .*)$", re.MULTILINE)
ROW = re.compile(r"^\| \{doc\}`(?P<notebook>\w+)` \| (?P<parameters>`.*`) \|$", re.MULTILINE)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
BIBTEX = re.compile(r"@inproceedings\{.*?\n\}", re.DOTALL)
DOCUMENTED = re.compile(r"^\.\. auto(?:class|function|exception):: mfc_lb\.(\w+)$", re.MULTILINE)

COMMAND = re.compile(r"(?:^|`)mfc-lb ([^`\n]*)", re.MULTILINE)


@pytest.fixture
def text(book):
    """Return the text of a page."""
    return lambda name: (book.sources / f"{name}.md").read_text("utf-8")


def test_the_refusals_shown_are_what_the_command_line_says(text):
    shown = list(REFUSAL.finditer(text("rerun")))
    assert len(shown) >= 3
    for refusal in shown:
        done = CliRunner().invoke(main, refusal["words"].split())
        assert (done.exit_code, done.stderr.strip()) == (2, refusal["said"])


def test_the_commands_shown_exist_with_their_options(text):
    shown = COMMAND.findall(text("rerun"))
    assert len(shown) >= 12
    for words in shown:
        parse(main, shlex.split(words))


def parse(command, words):
    """Let click read the words, and refuse what it does not know."""
    context = click.Context(command)
    if isinstance(command, click.Group):
        _, inner, rest = command.resolve_command(context, words)
        parse(inner, rest)
    else:
        command.make_parser(context).parse_args(words)


@pytest.mark.parametrize("words", ["book bind", "book build --sise quick", "figure cite --st x y"])
def test_a_command_that_does_not_exist_is_found_out(words):
    with pytest.raises(click.UsageError):
        parse(main, shlex.split(words))


def test_the_parameters_listed_are_those_of_the_notebooks(book, text):
    listed = {
        row["notebook"]: tuple(re.findall(r"`(\w+)`", row["parameters"]))
        for row in ROW.finditer(text("rerun"))
    }
    names = {
        notebook.name: tuple(p.name for p in notebook.parameters if p.name != "size")
        for notebook in list_notebooks(book)
    }
    assert listed == names


def test_the_script_runs(text, capsys):
    (script,) = PYTHON.findall(text("rerun"))
    exec(compile(ast.parse(script), "rerun.md", "exec"), {})
    assert "SED(2) minus JSQ(2): -" in capsys.readouterr().out


def test_every_public_name_is_documented(text):
    assert set(mfc_lb.__all__) <= set(DOCUMENTED.findall(text("api")))


def test_the_paper_is_cited_as_in_the_bibliography(book, text):
    (shown,) = BIBTEX.findall(text("cite"))
    (listed,) = BIBTEX.findall((book.sources / "references.bib").read_text("utf-8"))[:1]
    assert " ".join(shown.split()) == " ".join(listed.split())


def test_the_companion_is_cited_as_in_the_citation_file(book, text):
    citation = yaml.safe_load((book.root / "CITATION.cff").read_text("utf-8"))
    page = " ".join(text("cite").replace("\\_", "_").split())
    assert f"title = {{{citation['title']}}}" in page
    assert f"version = {{{citation['version']}}}" in page
    assert f"year = {{{citation['date-released'].year}}}" in page
