"""What the pages need to know of the runs, handed to the Sphinx extension in one file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mfc_lb.companion.records import write_json

CONTEXT_FILE = "companion.json"


@dataclass(frozen=True)
class Context:
    """Results and names for the pages of one build.

    Parameters
    ----------
    values : mapping
        How prose shows each value: ``{"notebook/name": text}``.
    cards : tuple of mappings
        The cards of the figures whose files readers can download, in reading order.
    provenance : mapping
        What `mfc_lb.companion.provenance` knows of the build and of what is stored.
    titles : mapping
        Title of each page of the whole book, by its name.
    single_page : bool
        Whether only one page is built, so that references to the others become plain text.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    cards: tuple[Mapping[str, Any], ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    single_page: bool = False

    @cached_property
    def cards_by_identifier(self) -> dict[str, Mapping[str, Any]]:
        """The cards, by the figures' identifiers."""
        return {card["identifier"]: card for card in self.cards}


def write_context(context: Context, folder: Path) -> None:
    """Leave the context in the folder that Sphinx is going to read."""
    write_json(folder / CONTEXT_FILE, asdict(context))


@lru_cache(maxsize=1)
def read_context(folder: Path) -> Context:
    """Return the context of the folder that Sphinx reads."""
    content = json.loads((folder / CONTEXT_FILE).read_text("utf-8"))
    return Context(**content | {"cards": tuple(content["cards"])})
