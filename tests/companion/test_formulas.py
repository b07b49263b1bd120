"""Formulas are typeset when the pages are made."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from mfc_lb.companion import CompanionError
from mfc_lb.companion.formulas import plain_text, typeset

SCRIPTS = """<script>window.MathJax = {"options": {}}</script>
<script defer="defer" src="_static/mathjax/tex-chtml.js"></script>"""
INLINE = '<span class="math notranslate nohighlight">\\({}\\)</span>'
DISPLAYED = """<div class="math notranslate nohighlight" id="equation-eq-x">
<span class="eqno">(1)<a class="headerlink" href="#equation-eq-x">#</a></span>\\[{}\\]</div>"""


@pytest.fixture
def pages(tmp_path):
    """Return a folder with MathJax, as Sphinx leaves it, and a function that adds a page."""
    package = Path(find_spec("sphinx-mathjax-offline").origin).parent
    shutil.copytree(package / "static" / "mathjax", tmp_path / "_static" / "mathjax")
    return tmp_path


def typeset_page(pages, *formulas):
    (pages / "page.html").write_text(f"<p>{SCRIPTS}{''.join(formulas)}</p>", "utf-8")
    typeset(pages)
    return (pages / "page.html").read_text("utf-8")


def test_formulas_need_no_script_and_come_with_mathml(pages):
    text = typeset_page(pages, INLINE.format("x &lt; y"), DISPLAYED.format("\\frac{1}{2}"))
    assert "<script" not in text
    assert "\\(" not in text
    assert "\\[" not in text
    assert "<mi>x</mi><mo>&lt;</mo><mi>y</mi>" in text
    assert text.count("<mfrac>") == 1
    assert 'href="_static/formulas.css"' in text
    assert "mjx-c1D465" in (pages / "_static" / "formulas.css").read_text("utf-8")


def test_only_the_fonts_of_mathjax_are_left(pages):
    typeset_page(pages, INLINE.format("x"))
    files = [path for path in (pages / "_static" / "mathjax").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".woff"}


def test_what_is_not_tex_is_refused_with_its_page(pages):
    with pytest.raises(CompanionError, match=r"page\.html: the formula .* is not TeX"):
        typeset_page(pages, INLINE.format("\\frac{1}"))
    with pytest.raises(CompanionError, match=r"page\.html: the formula .* is not TeX"):
        typeset_page(pages, INLINE.format("\\undefinedmacro"))


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("N = M^2", "N=M²"),
        (r"\lVert H_t - \nu_t \rVert_1", "‖Hₜ−νₜ‖₁"),
        (r"[0, r_{\max}]", "[0,r_max]"),
        (r"-\frac12", "−1/2"),
        ("M^{-1/2}", "M^(−1/2)"),
        ("x_i^2", "xᵢ²"),
        (r"\sqrt{2M}", "√(2M)"),
        (r"\lambda < 1", "λ<1"),
    ],
)
def test_a_formula_in_plain_text_keeps_what_is_above_and_below_the_line(pages, tex, text):
    page = typeset_page(pages, INLINE.format(tex.replace("<", "&lt;")))
    assert plain_text(page) == text
