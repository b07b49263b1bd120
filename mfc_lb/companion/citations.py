"""Who made the figures, and how to cite one."""

import re
import unicodedata
from collections.abc import Mapping
from textwrap import TextWrapper

import mfc_lb

AUTHOR = "The mfc_lb developers"
WORK = (
    "mfc_lb: load balancing with delayed information, from finite systems to their mean-field limit"
)
LICENCE = "MIT"
#: In which this version was released.
YEAR = 2026

_FORMULA = re.compile(r"(\$[^$]*\$)")
_WRAP = TextWrapper(
    width=80, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
)
_SPECIAL = re.compile(r"[#%&_]")
# What pdfLaTeX refuses as it stands: Greek letters, and signs with their names in formulas.
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_SIGNS = {"−": "-", "±": "pm", "×": "times", "·": "cdot", "≤": "le", "≥": "ge", "≈": "approx"}
_SIGNS |= {"∞": "infty", "→": "to", "‖": "|", "²": "^2", "³": "^3"}
_REFUSED = re.compile("|".join([*_GREEK, *_SIGNS]))
# Of the formulas in titles, what is no plain text yet.
_PLAIN = {"\\lambda": "λ", "\\nu": "ν", "\\lVert ": "‖", " \\rVert": "‖", "\\max": "max", "^2": "²"}


def bibtex(identifier: str, title: str, changes: Mapping[str, str]) -> str:
    r"""Return a BibTeX entry for a figure.

    Parameters
    ----------
    identifier : str
        The figure's identifier.
    title : str
        Its title; formulas between dollar signs are TeX. Greek letters and signs that pdfLaTeX
        does not know become TeX, too.
    changes : mapping
        The parameters that differ from the notebook's, as text by name.

    Examples
    --------
    >>> print(bibtex("drops-by-delay", "Drops in % against $T_0$", {"size": "paper"}))
    @misc{mfc_lb-drops-by-delay,
      author = {{The mfc\_lb developers}},
      title = {Drops in \% against $T_0$},
      howpublished = {Figure drops-by-delay (size=paper) in mfc\_lb: load balancing
        with ...},
      year = {...},
      note = {Version ...},
    }
    """
    where = f"Figure {_name(identifier, changes)} in {WORK}"
    fields = {
        "author": f"{{{_escaped(AUTHOR)}}}",
        "title": _escaped(title),
        "howpublished": _escaped(where),
        "year": str(YEAR),
        "note": f"Version {mfc_lb.__version__}",
    }
    lines = [_WRAP.fill(f"  {name} = {{{value}}},") for name, value in fields.items()]
    return "\n".join([f"@misc{{mfc_lb-{identifier},", *lines, "}"])


def plain_citation(identifier: str, title: str, changes: Mapping[str, str]) -> str:
    r"""Return a citation in words; parameters as for `bibtex`.

    Examples
    --------
    >>> print(plain_citation("rates", r"Rates $\lambda(z)$ with $N = M^2$", {}))
    The mfc_lb developers (...). Rates λ(z) with N = M². Figure rates in mfc_lb: ...
    """
    where = f"Figure {_name(identifier, changes)} in {WORK}"
    return f"{AUTHOR} ({YEAR}). {in_words(title)}. {where}. Version {mfc_lb.__version__}."


def in_words(text: str) -> str:
    """Return a title or caption with its formulas as plain text."""
    return _FORMULA.sub(lambda formula: _plain_formula(formula[0][1:-1]), text)


def _plain_formula(formula: str) -> str:
    for tex, plain in _PLAIN.items():
        formula = formula.replace(tex, plain)
    return re.sub(r"[{}]", "", formula)


def _name(identifier: str, changes: Mapping[str, str]) -> str:
    changed = ", ".join(f"{name}={value}" for name, value in changes.items())
    return f"{identifier} ({changed})" if changed else identifier


def _escaped(text: str) -> str:
    """Write as TeX what TeX would not print."""
    parts = _FORMULA.split(text)
    # Every second part is a formula.
    parts[::2] = [_in_tex(_SPECIAL.sub(r"\\\g<0>", part), "${}$") for part in parts[::2]]
    parts[1::2] = [_in_tex(part, "{} ") for part in parts[1::2]]
    return "".join(parts)


def _in_tex(text: str, form: str) -> str:
    return _REFUSED.sub(lambda found: form.format(_command(found[0])), text)


def _command(character: str) -> str:
    name = _SIGNS.get(character) or _greek(character)
    return f"\\{name}" if name.isalpha() or name == "|" else name


def _greek(letter: str) -> str:
    name = unicodedata.name(letter).split()[-1].replace("LAMDA", "LAMBDA")
    return name.capitalize() if letter.isupper() else name.lower()
