"""No result typed by hand: decimal numbers in prose, and digits beside words about results.

Each sentence, heading, caption, alternative text and cell of a table is searched, those within
directives, footnotes and images, too. A number is a fault

* where it has a decimal point, in a formula, too, or as a piece of code that is nothing else;
* where the same sentence has a result word ("drops", "per cent", "faster", …);
* where a cell of a table or a formula begins with it.

It must then come from a run, through ``{value}``. Other code, roles, addresses and version numbers
do not count. What is no result (a definition, a parameter of the paper) is a phrase of
``book/allowed_numbers.yml``, with its page and the reason; such phrases are taken out first, and
one that takes nothing out is a fault, too.

Out of reach are numbers in words ("two thirds"), whole numbers in formulas ("$D = 38$") and in
sentences without a result word, and what code cells print or draw.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfc_lb.companion.checks import report
from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.labels import read_labels
from mfc_lb.companion.location import Book
from mfc_lb.companion.notebooks import load, read_prose
from mfc_lb.companion.settings import read_yaml

ALLOWED_FILE = "allowed_numbers.yml"
EVERY_PAGE = "all"

_RESULT = re.compile(
    r"%|‰|≈|per cent|per mille|factor of|percentage|"
    r"\b(percent|drop(s|ped)?|lost|los(e|es|s|ses)|mean|averaged?|errors?|deviations?|differs?|"
    r"ratio|probability|share|fraction|gaps?|gains?|excess|response|(milli)?seconds?|minutes?|"
    r"hours?|times|twice|half|halves|doubles|improves?|saves?|costs?|cross(es)?|"
    r"reach(es)?|rises?|falls?|grows?|increases?|decreases?|reduces?|leads?|extra|fastest|slowest|"
    r"highest|lowest|largest|smallest|most|least|fewest|worst|difference|"
    r"about|near|nearly|roughly|approximately|around|minus|plus|"
    r"faster|slower|higher|lower|larger|smaller|more|less|fewer|better|worse)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"[\d½⅓¼¾]")
# No version (0.1.0) and no part of a name (python3.11).
_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?!\d*\.\d)")
_ROW = re.compile(r"^[ ]*\|(.*)$", re.MULTILINE)
_CELL = "|"
_CELL_OF_NUMBER = re.compile(r"\|[\s*≈~±+\-−–<>≤≥]*[\d½⅓¼¾]")
_BARE_NUMBER = re.compile(r"[\s*≈~±+\-−–]*\d[\d\s.,±+\-−–]*(%|s|ms)?[\s*.]*")

_FENCE = re.compile(
    r"^[ ]*(?P<fence>`{3,}|~{3,})[ ]*(?P<head>[^\n]*)\n(?P<body>.*?)^[ ]*(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}(?P<title>.*)")
_CODE = {"code", "code-block", "code-cell", "eval-rst", "literalinclude"}
_OPTION = re.compile(r"^[ ]*:(?!alt:|caption:)[\w-]+:.*$", re.MULTILINE)
# Of several ways to write what is no prose, or of which a part is, in this order.
_NO_PROSE = (
    (re.compile(r"<style.*?</style>|<script.*?</script>|<!--.*?-->", re.DOTALL), " ¤ "),
    (re.compile(r"<img\b[^<>]*?\balt=\"([^\"]*)\"[^<>]*>", re.DOTALL), r"\n\n\1\n\n"),
    (re.compile(r"\{math\}`([^`]*)`"), r"$\1$"),
    (re.compile(r"\{[a-z:-]+\}`([^`<]*)<[^`>]*>`"), r" \1 "),
    (re.compile(r"\{[a-z:-]+\}`[^`]*`"), " ¤ "),
    (re.compile(r"`([\d\s.,]*\d\.\d[\d\s.,]*)`"), r" \1 "),
    (re.compile(r"`[^`]+`"), " ¤ "),
    (re.compile(r"https?://\S+|\b10\.\d{4,}/\S+|<[^<>]+>"), " ¤ "),
    (re.compile(r"\]\([^)]*\)"), " ¤ "),
    (re.compile(r"^\([\w-]+\)=$", re.MULTILINE), " ¤ "),
    (re.compile(r"^\s*\d+\.(?=\s)", re.MULTILINE), " ¤ "),
)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
_MERE_NUMBER = re.compile(r"([\s\d.,+\-−–%{}^]|\\(approx|pm|cdot|times|%|,|;|mathbf|text\{\w*\}))*")
_END = re.compile(
    r"(?<!\bi\.e\.)(?<!\be\.g\.)(?<!\bvs\.)(?<=[.!?])\s+|\n\s*\n|\n(?=\s*(?:[*#-]|\d+\.)\s)"
)


@dataclass(frozen=True)
class Allowed:
    """A phrase with a number that is no result.

    Parameters
    ----------
    phrase : str
        As the page has it, from word to word.
    page : str
        Name of the page, or "all".
    why : str
        What the number is.
    """

    phrase: str
    page: str
    why: str

    def on(self, page: Path) -> bool:
        """Say whether it is allowed on this page."""
        return self.page in (EVERY_PAGE, page.stem)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The phrase, or its plural, as whole words, with any white space for its blanks."""
        words = r"\s+".join(map(re.escape, self.phrase.split()))
        plural = "s?" if self.phrase[-1].isalpha() else ""
        return re.compile(rf"(?<![\w.]){words}{plural}(?!\w)")


def check_typed_numbers(pages: Iterable[Path], book: Book) -> None:
    """Check that no page states a result that was typed by hand.

    Raises
    ------
    CompanionError
        With one line for each place, or for each entry of the list of allowed phrases that is not
        of the form, or needed by no page.
    """
    allowed = read_allowed(book)
    idle = set(allowed)
    for page in pages:
        here = [entry for entry in allowed if entry.on(page)]
        faults = []
        for part in _parts(page):
            kept, used = _without(part, here)
            idle -= used
            if _states_result(kept):
                faults.append(f"a number is typed by hand in {_short(part)!r}; {_ADVICE}")
        report(page.stem, faults)
    report(ALLOWED_FILE, sorted(f"no page needs {entry.phrase!r}" for entry in idle))


def read_allowed(book: Book) -> list[Allowed]:
    """Return the phrases whose numbers are no results; none if the book has no list."""
    path = book.sources / ALLOWED_FILE
    if not path.is_file():
        return []
    entries = read_yaml(path).get("allowed")
    if not isinstance(entries, list):
        raise CompanionError(f"{ALLOWED_FILE}: it must hold a list 'allowed'")
    return [_entry(number, entry) for number, entry in enumerate(entries, start=1)]


_ADVICE = f"show a result by {{value}}, or list its words in book/{ALLOWED_FILE}"


def _entry(number: int, entry: Any) -> Allowed:
    fields = {"phrase", "page", "why"}
    formed = isinstance(entry, dict) and entry.keys() == fields
    if not formed or not all(isinstance(text, str) and text.strip() for text in entry.values()):
        raise CompanionError(
            f"{ALLOWED_FILE}: entry {number} must hold the texts 'phrase', 'page' and 'why'"
        )
    return Allowed(**entry)


def _parts(page: Path) -> Iterator[str]:
    """Yield a page's sentences, headings, cells of tables, captions and alternative texts."""
    texts = [read_prose(page)]
    if page.suffix == ".ipynb":
        labels = read_labels(load(page))
        texts += [text for label in labels for text in (label.caption, label.alt)]
    for text in texts:
        prose = _prose(text)
        for row in _ROW.findall(prose):
            yield from (_CELL + cell for cell in row.split("|"))
        yield from _END.split(_ROW.sub("\n", prose))


def _prose(text: str) -> str:
    """Return what of a text in Markdown is prose, with formulas that have a decimal number."""
    text = _FENCE.sub(_of_directive, text)
    for pattern, kept in _NO_PROSE:
        text = pattern.sub(kept, text)
    return _FORMULA.sub(_of_formula, text)


def _of_directive(found: re.Match[str]) -> str:
    directive = _DIRECTIVE.match(found["head"])
    if directive is None or directive["name"] in _CODE:
        return " ¤ "
    if directive["name"] == "math":
        return f"$${_OPTION.sub('', found['body'])}$$"
    body = _FENCE.sub(_of_directive, _OPTION.sub("", found["body"]))
    return f"\n{directive['title']}\n\n{body}\n"


def _of_formula(found: re.Match[str]) -> str:
    formula = found[1] or found[2]
    return formula if _DECIMAL.search(formula) or _MERE_NUMBER.fullmatch(formula) else "¤"


def _without(part: str, allowed: Iterable[Allowed]) -> tuple[str, set[Allowed]]:
    """Take the allowed phrases out of a part that states a result; say which were needed."""
    used = set()
    for entry in allowed:
        if _states_result(part):
            part, count = entry.pattern.subn("…", part)
            used |= {entry} if count else set()
    return part, used


def _states_result(part: str) -> bool:
    if _CELL_OF_NUMBER.match(part) or _BARE_NUMBER.fullmatch(part) or _DECIMAL.search(part):
        return True
    return bool(_DIGIT.search(part) and _RESULT.search(part))


def _short(part: str) -> str:
    text = " ".join(part.split())
    return text if len(text) <= 160 else f"{text[:157]}…"
