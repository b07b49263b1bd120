"""Jupyter Book in a process of its own, with every warning an error."""

import os
import re
import subprocess
import sys
from pathlib import Path

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.figure_search import index_figures
from mfc_lb.companion.formulas import typeset
from mfc_lb.companion.kernel import library_path
from mfc_lb.companion.page_weight import lighten

_PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL|SEVERE|Error|Exception)\b")
# Browsers refuse to preload fonts for a page that is opened as a file; the fonts load without it.
_FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\s*')
# An ARIA role that is no longer one; the list of references is a list.
_ENTRY_ROLE = ('role="doc-biblioentry"', 'role="listitem"')
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def build_html(sources: Path, where: str) -> Path:
    """Build the HTML of a folder that has ``_config.yml``, ``_toc.yml`` and their pages.

    Parameters
    ----------
    sources : Path
        The staged book; its outputs come under ``_build``.
    where : str
        What is built, for messages.

    Returns
    -------
    Path
        Folder of the finished pages.

    Raises
    ------
    CompanionError
        If there is a warning or an error; all of them are in its details.
    """
    script = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", script, "build", "-W", "-n", "--keep-going", "-q", "."]
    done = subprocess.run(
        command,
        cwd=sources,
        env=os.environ | {"PYTHONPATH": library_path(), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    problems = _problems(done.stdout, sources)
    if done.returncode or problems:
        summary = "\n".join(problems[:10]) or f"exit status {done.returncode}"
        raise CompanionError(f"{where}: the pages have problems\n{summary}", done.stdout)
    pages = sources / "_build" / "html"
    for page in pages.rglob("*.html"):
        text = _FONT_PRELOAD.sub("", page.read_text("utf-8"))
        page.write_text(text.replace(*_ENTRY_ROLE), "utf-8")
    typeset(pages)
    lighten(pages)
    index_figures(pages)
    return pages


def _problems(output: str, sources: Path) -> list[str]:
    """Return the lines of Sphinx's output that say what is wrong, with short file names."""
    plain = _COLOURS.sub("", output).replace(f"{sources}{os.sep}", "")
    lines = [line.strip() for line in plain.splitlines() if _PROBLEM.search(line)]
    return list(dict.fromkeys(lines))
