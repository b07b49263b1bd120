"""The executed book: notebooks run by papermill, checked values, citable figures, HTML."""

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.execution import Run, run
from mfc_lb.companion.figure_making import make_figure
from mfc_lb.companion.figures import BookFigure, find_figure, list_figures
from mfc_lb.companion.location import Book, find_book
from mfc_lb.companion.notebooks import Notebook, find_notebook, list_notebooks
from mfc_lb.companion.pages import build_book, build_page, check_book
from mfc_lb.companion.parameters import Parameter, parse_assignments
from mfc_lb.companion.records import publish_figure, record_measurement, record_value
from mfc_lb.companion.repository import Repository

__all__ = [
    "Book",
    "BookFigure",
    "CompanionError",
    "Notebook",
    "Parameter",
    "Repository",
    "Run",
    "build_book",
    "build_page",
    "check_book",
    "find_book",
    "find_figure",
    "find_notebook",
    "list_figures",
    "list_notebooks",
    "make_figure",
    "parse_assignments",
    "publish_figure",
    "record_measurement",
    "record_value",
    "run",
]
