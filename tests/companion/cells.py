"""Cells and notebooks to run, change and break."""

from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).parents[2]

PARAMETERS = """\
delta_t: float = 5.0  # synchronisation delay, in mean service times; 0.1 to 50
num_queues: int = 100  # number of queues M; 1 to 10000
size: str = "quick"  # which results are shown; one of quick, paper
"""
FIGURE = """\
from matplotlib import pyplot as plt
from pandas import DataFrame
from mfc_lb.companion import publish_figure

figure, axes = plt.subplots()
axes.plot([0, delta_t], [1, 0])
publish_figure(figure, "decay", DataFrame({"time": [0, delta_t], "drops": [1, 0]}))
"""
LABEL = {
    "figure": {"name": "fig-decay", "caption": "Drops decay over $\\Delta t$."},
    "image": {"alt": "A straight line from one to zero"},
}
VALUE = 'from mfc_lb.companion import record_value\nrecord_value("delay", delta_t)\n'


def parameters_cell(source: str = PARAMETERS) -> Any:
    return new_code_cell(source, metadata={"tags": ["parameters"]})


def notebook(*cells: Any, title: str = "# A page") -> Any:
    """Return a notebook whose first cell is its title; strings are code."""
    listed = [new_markdown_cell(title)]
    listed += [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    for index, cell in enumerate(listed):
        cell["id"] = f"cell-{index}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=listed, metadata={"kernelspec": kernel})


def figure_cell(source: str = FIGURE, label: Any = LABEL) -> Any:
    return new_code_cell(source, metadata={"mystnb": label})
