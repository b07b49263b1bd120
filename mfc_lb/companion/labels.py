"""What the cell of a figure says about it in its metadata: label, caption, alternative text."""

import re
from dataclasses import dataclass
from typing import Any

LABEL_PREFIX = "fig-"

_ROLE = re.compile(r"\{[a-z:]+\}`([^`]*)`")
_END_OF_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z{])")


@dataclass(frozen=True)
class Label:
    """A figure, as its cell describes it.

    Parameters
    ----------
    identifier : str
        Its name in addresses and citations.
    caption : str
        Its caption, in MyST.
    alt : str
        What it shows, for those who do not see it.
    """

    identifier: str
    caption: str
    alt: str

    @property
    def title(self) -> str:
        """The first sentence of the caption, without its full stop; formulas stay in TeX."""
        return _ROLE.sub(r"\1", self.opening).removesuffix(".")

    @property
    def opening(self) -> str:
        """The first sentence of the caption, in MyST."""
        return _END_OF_SENTENCE.split(" ".join(self.caption.split()), maxsplit=1)[0]


def read_labels(content: Any) -> list[Label]:
    """Return the labels of a notebook's figures, in its order."""
    return [_label(cell) for cell in content.cells if figure_metadata(cell) is not None]


def figure_metadata(cell: Any) -> dict[str, Any] | None:
    """Return what makes a cell's output a figure, if it is one."""
    figure: dict[str, Any] | None = cell.metadata.get("mystnb", {}).get("figure")
    return figure


def identifier_of(cell: Any) -> str:
    """Return the identifier of a cell's figure; nothing if it has none."""
    return str((figure_metadata(cell) or {}).get("name", "")).removeprefix(LABEL_PREFIX)


def _label(cell: Any) -> Label:
    caption = str((figure_metadata(cell) or {}).get("caption", ""))
    alt = str(cell.metadata["mystnb"].get("image", {}).get("alt", ""))
    return Label(identifier_of(cell), caption, alt)
