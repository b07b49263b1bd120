"""Tables and numbers on the terminal."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from mfc_lb.systems import Estimate

NOT_KNOWN = "—"
# A pipe or a file has no width of its own.
WIDTH_WITHOUT_TERMINAL = 120
MOST_PLACES = 6


def console() -> "Console":
    """Return the console for results."""
    from rich.console import Console

    found = Console(highlight=False)
    if not found.is_terminal:
        found = Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL)
    return found


def new_table(title: str, *columns: str, caption: str | None = None) -> "Table":
    """Return an empty table whose columns, but for the first, are numbers."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=title,
        caption=caption,
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        title_justify="left",
        caption_justify="left",
    )
    for number, column in enumerate(columns):
        # A narrow terminal breaks a number into two lines, but shows all of it.
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    return table


def grouped(number: int) -> str:
    """Return a whole number with its digits in groups of three.

    Examples
    --------
    >>> grouped(10_000)
    '10 000'
    """
    return f"{number:,}".replace(",", " ")


def counted(number: int, thing: str) -> str:
    """Return how many there are of a thing.

    Examples
    --------
    >>> counted(1, "queue"), counted(10_000, "agent")
    ('1 queue', '10 000 agents')
    """
    return f"{grouped(number)} {thing}{'s' * (number != 1)}"


def show_estimate(estimate: "Estimate", *, percent: bool = False) -> tuple[str, str, str]:
    """Return mean, standard error and 95 % interval as text, to two digits of the error."""
    factor, unit = (100.0, " %") if percent else (1.0, "")
    mean, error = factor * estimate.mean, factor * estimate.standard_error
    form = number_format(mean, error)
    if math.isnan(error):
        return f"{mean:{form}}{unit}", NOT_KNOWN, NOT_KNOWN
    low, high = (factor * end for end in estimate.interval(0.95))
    interval = f"{low:{form}} to {high:{form}}{unit}"
    return f"{mean:{form}}{unit}", f"{error:{form}}{unit}", interval


def number_format(mean: float, error: float) -> str:
    """Return the format that shows two digits of the error, or four of the mean if that is exact.

    Examples
    --------
    >>> f"{12.3456:{number_format(12.3456, 0.0123)}}"
    '12.346'
    """
    digits, measure = (2, error) if error > 0 else (4, abs(mean))
    if not measure > 0:
        return ".0f"
    places = max(0, digits - 1 - math.floor(math.log10(measure)))
    return f".{places}f" if places <= MOST_PLACES else ".2e"
