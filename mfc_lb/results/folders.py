"""Where results are stored."""

import os
from pathlib import Path

import mfc_lb
from mfc_lb.baseline import in_force
from mfc_lb.files import user_cache

#: Names a folder that takes the place of ``data/results``.
RESULTS_VARIABLE = "MFC_LB_RESULTS"

LIBRARY = Path(mfc_lb.__file__).resolve().parent


def results_folder() -> Path:
    """Return where results are stored.

    Returns
    -------
    Path
        ``$MFC_LB_RESULTS`` if set, else ``data/results`` of the checkout that holds the library, or
        of the working directory if the library is installed without its checkout.
    """
    named = os.environ.get(RESULTS_VARIABLE)
    return Path(named) if named else committed_results_folder()


def computed_results_folder() -> Path:
    """Return where `load` keeps what it computes: ``$MFC_LB_RESULTS``, or the user's cache."""
    named = os.environ.get(RESULTS_VARIABLE)
    return Path(named) if named else user_cache() / "results" / in_force()


def committed_results_folder() -> Path:
    """Return where the results of the paper's size come with the checkout."""
    return data_folder() / "results"


def data_folder() -> Path:
    """Return ``data`` of the checkout, or of the working directory if there is no checkout."""
    checkout = LIBRARY.parent
    top = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    return top / "data"
