"""How pages show where everything comes from: ``{provenance} TABLE`` and ``{paper-map}``."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from mfc_lb.companion.context import read_context
from mfc_lb.companion.labels import LABEL_PREFIX
from mfc_lb.companion.page_parts import (
    Facts,
    assignments,
    circumstances,
    inline,
    link,
    listed,
)
from mfc_lb.companion.paper_map import PAPER_MAP_FILE, Entry, Part, read_paper_map

Cell = str | nodes.Node | Sequence[str | nodes.Node]

_SHOWN_DIGITS = 16
_NO_BREAK = "\N{NO-BREAK SPACE}"


class Provenance(SphinxDirective):
    """``{provenance} TABLE``: one of the tables of `mfc_lb.companion.provenance`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table, or say that the book has nothing to fill it with."""
        name = self.arguments[0]
        if name not in _TABLES:
            raise self.error(f"{name!r} is not one of {', '.join(_TABLES)}")
        facts = read_context(Path(self.env.srcdir)).provenance.get(name)
        return [_TABLES[name](facts) if facts else nodes.paragraph("", "None.")]


class PaperMap(SphinxDirective):
    """``{paper-map}``: what became of the sources' equations, tables and figures, and where."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each part of the map."""
        path = Path(self.env.srcdir) / PAPER_MAP_FILE
        self.env.note_dependency(str(path))
        return [self._part(part) for part in read_paper_map(path)]

    def _part(self, part: Part) -> nodes.section:
        columns = ("what", "state", "where")
        rows = table(columns, map(self._entry, part.entries), "map")
        heading = nodes.title("", "", *inline(self, part.title))
        return nodes.section("", heading, rows, ids=[nodes.make_id(part.title)], names=[])

    def _entry(self, entry: Entry) -> Sequence[Cell]:
        places = list(self._places(entry))
        functions = [f"{{py:obj}}`{name}`" for name in entry.functions]
        where: list[nodes.Node] = [listed(places)] if places else []
        where += [nodes.paragraph("", "", *inline(self, name)) for name in functions]
        what, why = (
            nodes.paragraph("", "", *inline(self, text)) for text in (entry.what, entry.why)
        )
        return what, [nodes.strong("", entry.state), why], where

    def _places(self, entry: Entry) -> Iterator[nodes.Node]:
        titles = read_context(Path(self.env.srcdir)).titles
        for page, wanted in entry.at.items():
            if not wanted:
                yield link(titles[page], f"{page}.html")
            for text in wanted:
                shown = nodes.inline("", "", *inline(self, text))
                address = f"{page}.html#{nodes.make_id(shown.astext())}"
                yield nodes.reference("", "", shown, refuri=address, internal=True)
        roles = [f"{{eq}}`{label}`" for label in entry.equations]
        roles += [f"{{numref}}`{LABEL_PREFIX}{name}`" for name in entry.figures]
        for role in roles:
            yield nodes.inline("", "", *inline(self, role))


def table(headings: Sequence[str], rows: Iterable[Sequence[Cell]], kind: str) -> nodes.table:
    """Return a table.

    Parameters
    ----------
    headings : sequence of str
        Of its columns.
    rows : iterable of sequences of cells
        A cell is a text, a node, or a sequence of these, each of which becomes a paragraph.
    kind : str
        The table's CSS class.
    """
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in headings), cols=len(headings))
    group += nodes.thead("", _row(headings))
    group += nodes.tbody("", *map(_row, rows))
    return nodes.table("", group, classes=["provenance", f"provenance-{kind}"])


def _row(cells: Sequence[Cell]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", *_paragraphs(cell)) for cell in cells))


def _paragraphs(cell: Cell) -> Iterator[nodes.Node]:
    for part in [cell] if isinstance(cell, str | nodes.Node) else cell:
        inline = isinstance(part, nodes.Inline | nodes.Text)
        yield (
            nodes.paragraph("", part)
            if isinstance(part, str)
            else (nodes.paragraph("", "", part) if inline else part)
        )


def _digest(digest: str) -> nodes.raw:
    """Return a digest that may break after every sixteenth digit, and is copied as one word."""
    parts = [digest[at : at + _SHOWN_DIGITS] for at in range(0, len(digest), _SHOWN_DIGITS)]
    text = f'<p>SHA-256 <code class="digest">{"<wbr>".join(parts)}</code></p>'
    return nodes.raw("", text, format="html")


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", _NO_BREAK)


def _build(build: Facts) -> nodes.table:
    packages = build["packages"]
    counted = f"{packages['as_pinned']} of {packages['pinned']} are installed as pinned"
    others = [
        f"{name} {found['installed'] or 'not installed'} instead of {found['pinned']}"
        for name, found in packages["others"].items()
    ]
    lock = build["lock_sha256"]
    rows: list[Sequence[Cell]] = [
        ("mfc_lb", build["version"]),
        ("Commit", nodes.literal("", build["commit"])),
        ("Date of the commit", build["commit_date"]),
        ("requirements.lock", lock if lock == "unknown" else _digest(lock)),
        ("Packages of the lock", [counted, *others]),
        ("Python", build["python"]),
    ]
    return table(("what", "which"), rows, "build")


def _results(results: Iterable[Facts]) -> nodes.table:
    headings = ("result", "computed", "state and files")
    return table(headings, map(_result, results), "results")


def _result(result: Facts) -> Sequence[Cell]:
    named = [nodes.strong("", result["name"]), result["question"]]
    if "sha256" not in result:
        return named, "", result["state"]
    size = f"size {result['size']}, {_number(result['rows'])} rows, seed {result['seed']}"
    time = f"in {_number(result['wall_time_seconds'])} s, summed over its cells"
    files = listed([link("CSV", result["address"]), link("manifest", result["manifest"])])
    return (
        [*named, size],
        [time, *circumstances(result["computed"])],
        [nodes.strong("", result["state"]), files, _digest(result["sha256"])],
    )


def _policies(policies: Iterable[Facts]) -> nodes.table:
    headings = ("policy", "training", "files")
    return table(headings, map(_policy, policies), "policies")


def _policy(policy: Facts) -> Sequence[Cell]:
    drops, name = policy["drops"], policy["name"]
    time = f"{policy['method']}, seed {policy['seed']}, in {_number(policy['seconds'])} s"
    paths = f"on {drops['num_samples']} paths"
    reached = f"drops {drops['mean']:.2f} ± {drops['standard_error']:.2f} per queue {paths}"
    files = listed([link("weights", policy["address"]), link("card", policy["card"])])
    return (
        [nodes.strong("", name), f"Δt = {policy['delta_t']:g}", f"mfc_lb {policy['version']}"],
        [time, f"chosen: {policy['chosen']}", reached, *circumstances(policy["computed"])],
        [files, _digest(policy["sha256"])],
    )


def _recordings(recordings: Iterable[Facts]) -> nodes.table:
    headings = ("recorded run", "recorded", "files")
    return table(headings, map(_recording, recordings), "recordings")


def _recording(recording: Facts) -> Sequence[Cell]:
    counted = f"{recording['jobs']} jobs, {recording['events']} events"
    files = listed([link("log", recording["address"]), link("card", recording["card"])])
    return (
        [nodes.strong("", recording["name"]), assignments(recording["setting"]), counted],
        [*circumstances(recording["computed"]), nodes.literal("", recording["command"])],
        [files, _digest(recording["sha256"])],
    )


def _notebooks(notebooks: Iterable[Facts]) -> nodes.table:
    headings = ("notebook", "parameters of this build", "figures and values")
    return table(headings, map(_notebook, notebooks), "notebooks")


def _notebook(notebook: Facts) -> Sequence[Cell]:
    counted = [f"{number} {kind}" for kind, number in notebook["values"].items()]
    figures = f"{notebook['figures']} figure{'s' * (notebook['figures'] != 1)}"
    shown = [f"stored: {', '.join(notebook['results'])}"] if notebook["results"] else []
    return (
        [link(notebook["title"], f"{notebook['name']}.html"), f"size {notebook['size']}"],
        assignments(notebook["parameters"]) or "none",
        [figures, *shown, f"values: {', '.join(counted) or 'none'}"],
    )


_TABLES: Mapping[str, Callable[[Any], nodes.table]] = {
    "build": _build,
    "results": _results,
    "policies": _policies,
    "recordings": _recordings,
    "notebooks": _notebooks,
}
