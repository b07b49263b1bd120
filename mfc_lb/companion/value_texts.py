"""Whether the text by which the prose shows a value is true.

A text says its value by its first number: to the digits that it shows, that number is the value
times a factor. The factor is 1, or 100 beside a percent sign; values in other units than their
texts (a ratio in percent without the sign, seconds in milliseconds) are shown times 100 or 1000,
which their expected entry says by ``"shown_times"``. These forms say more:

``a (b to c)``
    An interval: a lies between b and c.
``a ± b``
    An estimate with its standard error.
``a to b``
    A range, of which the value is one end.

A text without a digit ("none") is words, and a word's text has the digits of the word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: What the number in a text may be, as a multiple of the value.
FACTORS = (1, 100, 1000)

#: Half the width of a 95 % interval in standard errors: 1.96 of a normal distribution, 3.2 of four
#: runs, 1.9 of some quantiles of draws, which need not be symmetric.
NARROWEST, WIDEST = 1.7, 3.3

_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.])[-−])?"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3}(?!\d))+|\d+)"
    r"(?P<decimals>\.\d+)?(?P<power>e[-+]?\d+)?"
)
_FORMS = {
    "interval": re.compile(r"# \(# to #\)"),
    "error": re.compile(r"# ± #"),
    "range": re.compile(r"# to #"),
}


@dataclass(frozen=True)
class Shown:
    """A number as a text shows it.

    Parameters
    ----------
    number : float
        The number.
    rounding : float
        By how much it may differ from what it shows.
    whole : bool
        It has no decimals.
    """

    number: float
    rounding: float
    whole: bool

    def shows(self, value: float | int) -> bool:
        """Say whether this is the value, rounded; a count is never rounded."""
        count = isinstance(value, int) and self.whole
        slack = 0.0 if count else self.rounding * (1 + 1e-9)
        return abs(self.number - value) <= slack + 1e-12 * abs(value)


def factors(text: str) -> tuple[int, ...]:
    """Return the factors that a text may have: with a percent sign, not those of other units."""
    return (1, 100) if "%" in text else FACTORS


def usual_factor(text: str) -> int:
    """Return the factor of a text of which nothing else is said."""
    return 100 if "%" in text else 1


def text_faults(value: float | str, text: str, factor: int) -> Iterator[str]:
    """Yield what a text says that its value does not.

    Parameters
    ----------
    value : float, int or str
        The value.
    text : str
        How the prose shows it.
    factor : int
        The number in the text is the value times this.
    """
    shown = _numbers(text)
    if isinstance(value, str):
        if [one.number for one in shown] != [one.number for one in _numbers(value)]:
            yield f"the text {text!r} has other numbers than the word {value!r}"
        return
    form = _form(text)
    saying = shown[:2] if form == "range" else shown[:1]
    if saying and not any(one.shows(value * factor) for one in saying):
        times = f" times {factor}" if factor != 1 else ""
        yield f"the text {text!r} does not show the value {value!r}{times}"
    if form == "interval" and not shown[1].number <= shown[0].number <= shown[2].number:
        yield f"the text {text!r} has its number outside of its interval"


def error_faults(text: str, error: float) -> Iterator[str]:
    """Yield what a text says of an estimate's error that its standard error does not.

    Parameters
    ----------
    text : str
        How the prose shows the estimate.
    error : float
        Its standard error, in the text's unit.
    """
    form, shown = _form(text), _numbers(text)
    if form == "interval":
        half, rounding = (shown[2].number - shown[1].number) / 2, shown[0].rounding
        if not NARROWEST * error - rounding <= half <= WIDEST * error + rounding:
            yield f"the interval {text!r} does not fit the standard error {error:.3g}"
    elif form == "error" and not shown[1].shows(error):
        yield f"the text {text!r} does not show the standard error {error:.3g}"


def _form(text: str) -> str | None:
    pattern = _NUMBER.sub("#", text)
    return next((name for name, form in _FORMS.items() if form.match(pattern)), None)


def _numbers(text: str) -> list[Shown]:
    return [_shown(found) for found in _NUMBER.finditer(text)]


def _shown(found: re.Match[str]) -> Shown:
    digits = re.sub(r"\D", "", found["digits"])
    decimals, power = found["decimals"] or "", found["power"] or ""
    sign = "-" if found["sign"] else ""
    number = float(sign + digits + decimals + power)
    exponent = int(power[1:] or 0) - len(decimals[1:])
    if not decimals and not power:
        exponent += _rounded_places(digits)
    return Shown(number, 0.5 * 10.0**exponent, not decimals)


def _rounded_places(digits: str) -> int:
    """Return how many of a whole number's last zeros may be rounding: two digits never are."""
    return max(0, min(len(digits) - len(digits.rstrip("0")), len(digits) - 2))
