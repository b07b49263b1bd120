"""What cards and provenance pages are made of: links, lists, and facts in words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

Facts = Mapping[str, Any]

# A line does not break before or after it.
_EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"


def link(text: str, address: str) -> nodes.reference:
    """Return a link to a page or file of the book."""
    # All pages are at the top, so addresses from the front page hold on each of them.
    return nodes.reference("", text, refuri=address, internal=True)


def listed(parts: Iterable[nodes.Node], separator: str = " · ") -> nodes.paragraph:
    """Return nodes one after the other, in one paragraph."""
    separated = [node for part in parts for node in (nodes.Text(separator), part)]
    return nodes.paragraph("", "", *separated[1:])


def inline(directive: SphinxDirective, markdown: str) -> list[nodes.Node]:
    """Return the nodes of a piece of Markdown, without a paragraph around them."""
    holder = nodes.container()
    directive.state.nested_parse(StringList([markdown]), directive.content_offset, holder)
    return [child for paragraph in holder for child in paragraph.children]


def assignments(given: Facts, changed: Iterable[str] = ()) -> str:
    """Return settings as one line, which does not break at an equals sign."""
    marks = dict.fromkeys(changed, " (changed)")
    return "; ".join(
        f"{name}{_EQUALS}{_words(value)}{marks.get(name, '')}" for name, value in _flat(given)
    )


def circumstances(computed: Facts | None) -> list[str]:
    """Return lines that say when, where and with what something was computed."""
    if not computed:
        return ["when, where and with which versions was not recorded"]
    when = computed["finished"].replace("T", " ").replace("+00:00", " UTC")
    return [
        f"finished {when}, processes: {computed['processes']}",
        computed["machine"],
        f"commit {computed['commit']}",
        versions(computed),
    ]


def versions(known: Facts) -> str:
    """Return the versions of Python and of the packages in one line."""
    packages = ", ".join(f"{name} {version}" for name, version in known["packages"].items())
    return f"Python {known['python']}, {packages}"


def _flat(given: Facts) -> Iterator[tuple[str, Any]]:
    """Yield names and values, with names like "system.buffer_size" for what is nested."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", part) for inner, part in _flat(value))
        else:
            yield name, value


def _words(value: Any) -> str:
    return f"[{', '.join(map(_words, value))}]" if isinstance(value, list) else str(value)
