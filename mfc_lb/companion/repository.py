"""Where the book's sources can be had, for readers who rerun a notebook without installing it."""

import re
from dataclasses import dataclass
from typing import Any

from mfc_lb.errors import require

# As GitHub allows them: no owner begins with a hyphen, no name is one or two dots.
_URL = re.compile(
    r"https://github\.com/[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+(?<!\.git)"
)
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Repository:
    """A public repository, from which Binder and Colab open notebooks.

    Parameters
    ----------
    url : str
        ``https://github.com/OWNER/NAME``: Colab opens notebooks from there alone.
    branch : str, optional
        Branch, tag or commit that has the book; without slashes, which have no place in the
        addresses.

    Raises
    ------
    InvalidInput
        If the address or the branch has another form.
    """

    url: str
    branch: str = "main"

    def __post_init__(self) -> None:
        """Refuse an address to which no launch button could lead."""
        allowed = "https://github.com/OWNER/NAME"
        require(_URL.fullmatch(self.url) is not None, "repository", self.url, allowed)
        allowed = "the name of a branch, without slashes"
        require(_BRANCH.fullmatch(self.branch) is not None, "branch", self.branch, allowed)

    @property
    def settings(self) -> dict[str, Any]:
        """The part of ``_config.yml`` by which pages of notebooks get their launch buttons."""
        return {
            "repository": {"url": self.url, "branch": self.branch, "path_to_book": "book"},
            "launch_buttons": {
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
                "notebook_interface": "jupyterlab",
            },
        }
