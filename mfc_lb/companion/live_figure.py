"""What the page with the live figure needs: its scripts, and parameters, policies and colours.

The page computes the mean field in the reader's browser. It is opened from a file as often as from
a server, so its data come as a script, which browsers load in both cases. None of it is in
``_static``: Jupyter Book makes every page load every script that is there.
"""

import base64
import json
from pathlib import Path
from typing import Any

from mfc_lb.companion.folders import copy_contents
from mfc_lb.companion.location import Book
from mfc_lb.files import write_whole
from mfc_lb.learning import load_policy
from mfc_lb.model import SystemParameters

#: Name of the page, and of the folder with its scripts.
NAME = "explore"
DATA_FILE = "data.js"
#: Looks of the policies, by the page's names of them.
POLICIES = {"random": "RND", "softmin": "softmin", "jsq": "JSQ", "learned": "MF"}


def write_live_figure(book: Book, folder: Path) -> None:
    """Write the scripts and the data of the live page, if the book has that page.

    Parameters
    ----------
    book : Book
        The book; its policies are in ``data/policies``.
    folder : Path
        Where finished pages find them: in its subfolder ``explore``.
    """
    if (book.sources / f"{NAME}.md").is_file():
        copy_contents(book.sources / NAME, folder / NAME)
        content = json.dumps(live_data(book), indent=1, ensure_ascii=False)
        write_whole(folder / NAME / DATA_FILE, f"window.mfcLbData = {content};\n".encode())


def live_data(book: Book) -> dict[str, Any]:
    """Return what the live page has to know.

    Parameters
    ----------
    book : Book
        The book; its policies are in ``data/policies``.

    Returns
    -------
    dict
        ``parameters``: the paper's; ``policies``: the trained ones by rising delay, each with its
        file as base64; ``looks``: colour and marker by policy; ``fillings``: colours by filling;
        ``grey``: of what is not a policy.
    """
    from matplotlib.colors import to_hex

    from mfc_lb.figures.style import GREY, look
    from mfc_lb.figures.trajectories import filling_colors

    p = SystemParameters()
    return {
        "parameters": {
            "bufferSize": p.buffer_size,
            "serviceRate": p.service_rates[0],
            "kernel": p.arrivals.kernel,
            "initial": p.arrivals.initial,
        },
        "policies": _policies(book),
        "looks": {name: vars(look(policy)) for name, policy in POLICIES.items()},
        "fillings": [to_hex(color) for color in filling_colors(range(p.buffer_size + 1))],
        "grey": GREY,
    }


def _policies(book: Book) -> list[dict[str, Any]]:
    """Return the trained policies that run in the paper's system, by rising delay."""
    files = (book.root / "data" / "policies").glob("*.safetensors")
    policies = [(load_policy(path, SystemParameters()), path) for path in files]
    return [
        {
            "name": path.stem,
            "deltaT": policy.parameters.delta_t,
            "rates": policy.parameters.arrivals.rates,
            "file": base64.b64encode(path.read_bytes()).decode(),
        }
        for policy, path in sorted(policies, key=lambda pair: pair[0].parameters.delta_t)
    ]
