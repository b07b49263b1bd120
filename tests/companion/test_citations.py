"""Citations as TeX takes them."""

import re

import pytest

from mfc_lb.companion.citations import bibtex, plain_citation
from mfc_lb.companion.figures import list_figures

# Of what is not ASCII, pdfLaTeX knows the letters of Latin alphabets and these signs.
KNOWN = re.compile(r"[\x00-\x7fÀ-ÖØ-öø-ž–—…“”‘’]*")


def title_of(entry):
    return re.search(r"title = \{(.*)\},$", entry, re.MULTILINE)[1]


@pytest.mark.parametrize(
    ("title", "tex"),
    [
        ("The β of softmin", r"The $\beta$ of softmin"),
        ("Rates λ_t in %", r"Rates $\lambda$\_t in \%"),
        ("Formula $β_1$", r"Formula $\beta _1$"),
        ("M² agents, ±1 − 2", r"M$^2$ agents, $\pm$1 $-$ 2"),
        ("Norm ‖x‖ ≤ Δ", r"Norm $\|$x$\|$ $\le$ $\Delta$"),
        (r"Rates $\lambda(z)$", r"Rates $\lambda(z)$"),
        ("Fillings 0, 1, …", "Fillings 0, 1, …"),
    ],
)
def test_a_title_is_tex(title, tex):
    assert title_of(bibtex("rates", title, {})) == tex


def test_all_greek_letters_are_tex():
    letters = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
    assert title_of(bibtex("x", "γλΩ", {})) == r"$\gamma$$\lambda$$\Omega$"
    assert KNOWN.fullmatch(bibtex("x", letters, {"parameter": letters}))


def test_every_figure_of_the_book_can_be_cited_in_tex():
    for figure in list_figures():
        entry = figure.cite({})["bibtex"]
        assert KNOWN.fullmatch(entry), entry


def test_words_keep_their_letters():
    assert "The β of softmin." in plain_citation("x", "The β of softmin", {})
