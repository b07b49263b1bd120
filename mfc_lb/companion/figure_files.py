"""The files of a figure: the same bytes each time, and inside what they are and whose."""

from io import BytesIO
from typing import TYPE_CHECKING, Any

from mfc_lb.companion.citations import AUTHOR, LICENCE, WORK

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: What is written of each figure; a page links to all of them.
FIGURE_FORMATS = ("png", "svg", "pdf", "csv")

_RIGHTS = f"{AUTHOR}; licence: {LICENCE}"


def render(figure: "Figure", suffix: str, identifier: str, title: str) -> bytes:
    """Return a figure as the content of a PNG, SVG or PDF file.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure; it gets an opaque white face.
    suffix : {"png", "svg", "pdf"}
        The format.
    identifier, title : str
        What its metadata say, beside the author and the licence.
    """
    import matplotlib as mpl

    file = BytesIO()
    about = _METADATA[suffix] | _about(suffix, identifier, title)
    with mpl.rc_context({"svg.hashsalt": "mfc_lb", "svg.fonttype": "path", "pdf.fonttype": 42}):
        figure.savefig(file, format=suffix, dpi=200, facecolor="white", metadata=about)
    return file.getvalue()


def table(data: "DataFrame") -> bytes:
    """Return a tidy table as CSV, with its index if that has a name."""
    named = any(name is not None for name in data.index.names)
    tidy = data.reset_index() if named else data
    return str(tidy.to_csv(index=False, lineterminator="\n")).encode()


# Nothing that changes from run to run goes into a figure's file.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def _about(suffix: str, identifier: str, title: str) -> dict[str, str]:
    """Say title, author, identifier and licence in the format's own terms."""
    if suffix == "svg":
        names = {"Creator": AUTHOR, "Identifier": identifier, "Rights": _RIGHTS, "Source": WORK}
    elif suffix == "png":
        names = {"Author": AUTHOR, "Identifier": identifier, "Copyright": _RIGHTS, "Source": WORK}
    else:
        # A PDF's own fields name neither an identifier nor a licence.
        keywords = f"identifier: {identifier}, licence: {LICENCE}"
        names = {"Author": AUTHOR, "Subject": f"Figure of {WORK}", "Keywords": keywords}
    return {"Title": title} | names
