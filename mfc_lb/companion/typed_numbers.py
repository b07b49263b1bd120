"""No result typed by hand: digits in prose beside words about results.

Where a sentence, a heading, a caption, an alternative text or a cell of a table has both a digit
and a result word ("drops", "per cent", "faster", …), or a cell is nothing but a number, that
number must come from a run, through ``{value}``. Formulas, code, roles and addresses do not count,
but a formula that is a mere number does. What is no result (a definition, a parameter of the
paper) is a phrase of ``book/allowed_numbers.yml``, with its page and the reason; such phrases are
taken out first, and one that takes nothing out is a fault, too.
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
    r"%|per cent|\b(percent|drop(s|ped)?|lost|los(e|es|s|ses)|mean|averaged?|errors?|deviations?|"
    r"ratio|probability|share|fraction|gaps?|gains?|excess|response|(milli)?seconds?|minutes?|"
    r"hours?|times|twice|faster|slower|higher|lower|larger|smaller|more|less|fewer|better|worse)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_BARE_NUMBER = re.compile(r"[\s*≈~±+\-−–]*\d[\d\s.,±+\-−–]*(%|s|ms)?[\s*]*")
# Of several ways to write what is no prose, in this order.
_NO_PROSE = (
    re.compile(r"^[ ]*(?P<fence>`{3,}|~{3,}).*?^[ ]*(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL),
    re.compile(r"<style.*?</style>|<script.*?</script>|<!--.*?-->|<[^<>]+>", re.DOTALL),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"\{[a-z:-]+\}`[^`]*`"),
    re.compile(r"`[^`]+`"),
    re.compile(r"https?://\S+"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"^\([\w-]+\)=$", re.MULTILINE),
    re.compile(r"^\s*\d+\.(?=\s)", re.MULTILINE),
)
_FORMULA = re.compile(r"\$([^$]+)\$")
_MERE_NUMBER = re.compile(r"([\s\d.,+\-−–%{}^]|\\(approx|pm|cdot|times|%))*")
_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n(?=\s*(?:[*#-]|\d+\.)\s)|\||\n(?=\|)")


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
        """The phrase between two ends of words, with any white space for its blanks."""
        words = r"\s+".join(map(re.escape, self.phrase.split()))
        return re.compile(rf"(?<![\w.]){words}(?!\w)")


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
        yield from _END.split(_prose(text))


def _prose(text: str) -> str:
    for pattern in _NO_PROSE:
        text = pattern.sub(" ¤ ", text)
    return _FORMULA.sub(lambda found: found[1] if _MERE_NUMBER.fullmatch(found[1]) else "¤", text)


def _without(part: str, allowed: Iterable[Allowed]) -> tuple[str, set[Allowed]]:
    """Take the allowed phrases out of a part that states a result; say which were needed."""
    used = set()
    for entry in allowed:
        if _states_result(part):
            part, count = entry.pattern.subn("…", part)
            used |= {entry} if count else set()
    return part, used


def _states_result(part: str) -> bool:
    if _BARE_NUMBER.fullmatch(part):
        return True
    return bool(_DIGIT.search(part) and _RESULT.search(part))


def _short(part: str) -> str:
    text = " ".join(part.split())
    return text if len(text) <= 160 else f"{text[:157]}…"
