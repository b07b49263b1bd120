"""A book with one of everything: maths, a figure, values, citations, tables, an API page."""

import json
import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from mfc_lb.companion import Book
from tests.companion.cells import FIGURE, LABEL, ROOT, figure_cell, notebook, parameters_cell

INTRODUCTION = """\
Many clients send packets to many servers, see {cite:t}`tahir2022`. The delay is
{value}`finite_system/delay`, in {numref}`fig-decay`, {eq}`eq-rate`, {ref}`sec-rate`,
{doc}`finite_system`, [the finite system](finite_system.ipynb) and [notation](notation.md).
"""
FINITE_SYSTEM = """\
(sec-rate)=
## The rate

Every queue in state $s$ receives packets at the rate

```{math}
:label: eq-rate
\\lambda(s) = \\lambda \\sum_{k=1}^{d} \\sum_{\\bar s : \\bar s_k = s}
\\prod_{i \\neq k} \\nu(\\bar s_i)\\, h(k \\mid \\bar s)
```

by {eq}`eq-rate` {cite}`tahir2022`; see {py:func}`mfc_lb.evaluate` and
{doc}`the notation <notation>`.
"""
RECORD = """\
from mfc_lb.companion import record_value
record_value("delay", delta_t, f"{delta_t:.2f} ± 0.01")
print("size:", size)
DataFrame({"policy": ["JSQ(2)", "random"], "drops": [1.5, 2.5]})
"""
PAGES = {
    "notation.md": "# Notation\n\n| symbol | meaning |\n| --- | --- |\n| $B$ | buffer |\n",
    "figures.md": "# All figures\n\n```{figure-gallery}\n```\n\n```{figure-card} decay\n```\n",
    "references.md": "# References\n\n```{bibliography}\n```\n",
    "api.md": (
        "# API reference\n\n```{eval-rst}\n.. currentmodule:: mfc_lb\n\n"
        ".. autoclass:: SystemParameters\n   :members:\n\n.. autofunction:: evaluate\n```\n"
    ),
    "references.bib": (
        "@inproceedings{tahir2022,\n  author = {Tahir, Anam and Cui, Kai and Koeppl, Heinz},\n"
        "  title = {Learning Mean-Field Control},\n  booktitle = {ICPP},\n  year = {2022}\n}\n"
    ),
}
TOC = """\
format: jb-book
root: book/introduction
parts:
  - caption: The model
    numbered: true
    chapters:
      - file: book/finite_system
  - caption: Reference
    chapters:
      - file: book/figures
      - file: book/notation
      - file: book/api
      - file: book/references
"""


def demo_book(root: Path) -> Book:
    """Write the book into an empty folder, with the repository's own settings and style."""
    book = Book(root)
    for folder in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / folder, book.sources / folder)
    shutil.copy(ROOT / "_config.yml", root)
    book.toc.write_text(TOC, "utf-8")
    for name, text in PAGES.items():
        (book.sources / name).write_text(text, "utf-8")
    introduction = notebook(parameters_cell(), new_markdown_cell(INTRODUCTION), title="# The book")
    label = LABEL | {"figure": {"name": "fig-decay", "caption": "By {eq}`eq-rate`, $x$ decays."}}
    system = notebook(
        parameters_cell(), new_markdown_cell(FINITE_SYSTEM), figure_cell(FIGURE, label), RECORD
    )
    nbformat.write(introduction, book.sources / "introduction.ipynb")
    nbformat.write(system, book.sources / "finite_system.ipynb")
    book.expected.mkdir()
    delay = {"delay": {"value": 5.0, "tolerance": 0.0, "kind": "exact", "why": "the default"}}
    (book.expected / "finite_system.json").write_text(json.dumps({"quick": delay, "paper": delay}))
    return book
