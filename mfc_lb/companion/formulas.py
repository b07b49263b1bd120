r"""Formulas of finished pages, typeset before anybody reads them.

Sphinx leaves formulas as TeX, for MathJax to typeset in the reader's browser at each visit. The
same MathJax does it here, once, in V8: pages load no typesetting script, show their formulas at
once and do so without JavaScript, too. Screen readers get the MathML that comes with each formula.
"""

import html
import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mfc_lb.companion.errors import CompanionError

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

_COMPONENTS = (
    "core",
    "input/tex",
    "output/chtml",
    "output/chtml/fonts/tex",
    "adaptors/liteDOM",
    "a11y/assistive-mml",
)
_FONTS = "mathjax/output/chtml/fonts/woff-v2"
_STYLE = "formulas.css"
_SET_UP = r"""
var sources = %s;
globalThis.MathJax = {
  loader: {
    load: ["input/tex", "output/chtml", "adaptors/liteDOM", "a11y/assistive-mml"],
    paths: {mathjax: ""},
    require: name => (0, eval)(sources[name.replace(/^\//, "")]),
  },
  startup: {typeset: false, document: ""},
  // What is not defined is an error, neither shown in red nor looked for elsewhere.
  tex: {packages: {"[-]": ["noundefined", "autoload", "require"]}},
  // Latin Modern is smaller than the pages' font of the same size.
  chtml: {fontURL: "%s", scale: 1.2, matchFontHeight: false},
};
"""
_TYPESET = r"""
function typeset(tex, display) {
  return MathJax.startup.adaptor.outerHTML(MathJax.tex2chtml(tex, {display: display}));
}
"""
_SHEET = "MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet())"

_INLINE = re.compile(r'(<span class="[^"]*\bmath\b[^"]*">)\\\((.+?)\\\)(?=</span>)', re.DOTALL)
_DISPLAYED = re.compile(
    r'(<div class="[^"]*\bmath\b[^"]*"[^>]*>\s*(?:<span class="eqno">.*?</span>)?)'
    r"\\\[(.+?)\\\](?=</div>)",
    re.DOTALL,
)
_SCRIPTS = re.compile(
    r"[ ]*<script>window\.MathJax = .*?</script>\s*"
    r'<script defer="defer" src="(_static/)mathjax/tex-chtml\.js"></script>'
)
_ERROR = re.compile(r'data-mjx-error="([^"]*)"')

_DRAWN = re.compile(r"<mjx-math\b.*?</mjx-math>", re.DOTALL)
_MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_RAISED = str.maketrans("0123456789+-−()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾")
_LOWERED = str.maketrans("0123456789+-−()aeijknrt", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎ₐₑᵢⱼₖₙᵣₜ")


def typeset(pages: Path) -> None:
    """Typeset the formulas of all pages in a folder, and leave MathJax's fonts but not its scripts.

    Raises
    ------
    CompanionError
        If a formula is not TeX that MathJax understands.
    """
    mathjax = pages / "_static" / "mathjax"
    if not mathjax.is_dir():
        return
    from py_mini_racer import MiniRacer

    with MiniRacer() as engine:
        sources = {f"{name}.js": (mathjax / f"{name}.js").read_text() for name in _COMPONENTS}
        engine.eval(_SET_UP % (json.dumps(sources), _FONTS))
        engine.eval((mathjax / "startup.js").read_text("utf-8"))
        engine.eval(_TYPESET)
        for page in sorted(pages.glob("*.html")):
            page.write_text(_typeset_page(page, engine), "utf-8")
        (pages / "_static" / _STYLE).write_text(str(engine.eval(_SHEET)) + "\n", "utf-8")
    _keep_only_fonts(mathjax)


def _typeset_page(page: Path, engine: "MiniRacer") -> str:
    text = page.read_text("utf-8")
    for pattern, displayed in ((_INLINE, False), (_DISPLAYED, True)):
        text = pattern.sub(partial(_formula, engine, displayed, page.name), text)
    return _SCRIPTS.sub(rf'<link rel="stylesheet" href="\1{_STYLE}" />', text)


def _formula(engine: "MiniRacer", displayed: bool, page: str, found: re.Match[str]) -> str:
    before, tex = found.groups()
    typeset = str(engine.call("typeset", html.unescape(tex), displayed))
    if error := _ERROR.search(typeset):
        raise CompanionError(f"{page}: the formula {tex!r} is not TeX: {error[1]}")
    return f"{before}{typeset}"


def _keep_only_fonts(mathjax: Path) -> None:
    for path in sorted(mathjax.rglob("*"), reverse=True):
        if path.is_file() and path.suffix != ".woff":
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def plain_text(markup: str) -> str:
    """Return the text of a piece of a finished page, with its formulas in one line each.

    Examples
    --------
    >>> plain_text("<em>with</em> <math><msup><mi>M</mi><mn>2</mn></msup></math> agents")
    'with M² agents'
    """
    written = _MATHML.sub(lambda formula: _in_one_line(formula[0]), _DRAWN.sub("", markup))
    return " ".join(html.unescape(_TAG.sub("", written)).split())


def _in_one_line(mathml: str) -> str:
    return html.escape(_written(ET.fromstring(mathml)))


def _written(node: ET.Element) -> str:
    """Write an element of MathML as text, where a place above or below the line has a meaning."""
    parts = [_written(child) for child in node]
    match node.tag.rpartition("}")[2], parts:
        case "msup", [base, upper]:
            return base + _moved(upper, "^", _RAISED)
        case "msub" | "munder", [base, lower]:
            return base + _moved(lower, "_", _LOWERED)
        case "msubsup" | "munderover", [base, lower, upper]:
            return base + _moved(lower, "_", _LOWERED) + _moved(upper, "^", _RAISED)
        case "mfrac", [above, below]:
            return f"{above}/{below}"
        case "msqrt", _:
            return f"√({''.join(parts)})"
    return "".join(parts) or (node.text or "").strip()


def _moved(script: str, sign: str, table: dict[int, int]) -> str:
    """Write a superscript or subscript with letters that are one, or else behind a sign."""
    if all(ord(letter) in table for letter in script):
        return script.translate(table)
    return f"{sign}{script}" if len(script) == 1 or script.isalnum() else f"{sign}({script})"
