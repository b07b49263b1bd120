"""Columns of text files that become times; what is wrong is refused with file, line and column."""

import gzip
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mfc_lb.cluster.traces import LONGEST_US, Times
from mfc_lb.errors import InvalidInput

#: Nanoseconds in each unit of time that a file may use.
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}

UNKNOWN = -1
#: Stands for what is no text in UTF-8, and what is said where it matters.
REPLACED, NOT_UTF8 = "\ufffd", " (not all of the file is UTF-8: see \ufffd)"
# How a date begins, also one that does not exist.
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GZIP, _UTF16 = b"\x1f\x8b", (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path) -> str:
    """Return the text of a file, unpacked if it is compressed and without a byte order mark.

    Parameters
    ----------
    path : Path
        A text file in UTF-8, or in UTF-16 with its mark; gzip is known by its first bytes.

    Returns
    -------
    str
        With its line ends as they are. What is not text in that encoding becomes a question mark.

    Raises
    ------
    InvalidInput
        If it cannot be read, is damaged, or is no text.
    """
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content.startswith(_GZIP) else content
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidInput(f"path must be a whole gzip file, got {str(path)!r}") from None
    except OSError as error:
        allowed = f"a file that can be read, got {str(path)!r} ({error.strerror})"
        raise InvalidInput(f"path must be {allowed}") from None
    encoding = "utf-16" if content.startswith(_UTF16) else "utf-8-sig"
    text = content.decode(encoding, errors="replace")
    if "\0" in text:
        raise InvalidInput(f"path must be a text file, or one packed with gzip, got {str(path)!r}")
    return text


def refuse_line(file: str, line: int, allowed: str, value: object) -> NoReturn:
    """Raise the error of a line that is not as it must be."""
    raise InvalidInput(f"{file}, line {line} must {allowed}, got {value!r}")


@dataclass(frozen=True)
class Column:
    """One column of a file, as text.

    Attributes
    ----------
    file : str
        Name of the file.
    name : str
        Name of the column.
    texts : list of str
        The cells, without the header.
    lines : list of int
        On which line of the file each cell stands, from 1.
    """

    file: str
    name: str
    texts: list[str]
    lines: list[int]

    def numbers(self, *, or_unknown: bool = False) -> NDArray[Any]:
        """Return numbers >= 0, as int64 if all are whole and as float64 otherwise.

        Parameters
        ----------
        or_unknown : bool, optional
            Whether −1 is allowed and means unknown.

        Raises
        ------
        InvalidInput
            At the first cell that is anything else.
        """
        self._require_plain()
        try:
            values: NDArray[Any] = np.array(list(map(int, self.texts)), dtype=np.int64)
        except (ValueError, OverflowError):
            values = self._floats()
        wrong = ~(values >= 0) | ~np.isfinite(values)
        if or_unknown:
            wrong &= values != UNKNOWN
        self._refuse_any(wrong, "a number >= 0" + (" or -1 (unknown)" if or_unknown else ""))
        return values

    def integers(self, *, or_unknown: bool = False) -> NDArray[np.int64]:
        """Return integers >= 0 (or −1)."""
        values = self.numbers(or_unknown=or_unknown)
        self._refuse_any((values != np.rint(values)) | (values >= 2**63), "an integer below 2^63")
        return values.astype(np.int64)

    def distinct_integers(self) -> NDArray[np.int64]:
        """Return integers >= 0 of which no two are equal."""
        values = self.integers()
        again = np.ones(len(values), dtype=bool)
        again[np.unique(values, return_index=True)[1]] = False
        self._refuse_any(again, "different for each job")
        return values

    def times(self, unit: str, *, or_unknown: bool = False) -> Times:
        """Return times in microseconds, rounded; unknown ones are −1.

        Parameters
        ----------
        unit : str
            A key of `UNITS`, in which the file gives them.
        or_unknown : bool, optional
            See `numbers`.
        """
        values = self.numbers(or_unknown=or_unknown)
        known = values != UNKNOWN if or_unknown else np.ones(len(values), dtype=bool)
        scaled = values.astype(np.float64) * (UNITS[unit] / 1000)
        self._refuse_any(known & (scaled >= LONGEST_US), "less than 2^62 microseconds")
        return np.where(known, _microseconds(values, unit), UNKNOWN)

    def is_timestamps(self) -> bool:
        """Return whether the column begins with a date rather than a number."""
        if not self.texts or not self._is_no_number(0):
            return False
        first = self.texts[0]
        return _timestamp(first) is not None or _DATE.match(first.strip()) is not None

    def timestamps(self) -> Times:
        """Return the microseconds since 1970 of dates and times in ISO 8601, without zone in UTC.

        Either all have a zone or none has.
        """
        found = [_timestamp(text) for text in self.texts]
        missing = np.array([moment is None for moment in found], dtype=bool)
        self._refuse_any(missing[:1], "a date and time that exists, in ISO 8601")
        self._refuse_any(missing, "a timestamp in ISO 8601, as above it")
        moments = [moment for moment in found if moment is not None]
        zoned = np.array([moment.tzinfo is not None for moment in moments], dtype=bool)
        form = "with a zone, as above it" if zoned[0] else "without a zone, as above it"
        self._refuse_any(zoned != zoned[0], form)
        return np.array([_since_epoch(moment) for moment in moments], dtype=np.int64)

    def select(self, rows: Times) -> "Column":
        """Return the column with only some rows."""
        chosen = rows.tolist()
        texts = [self.texts[row] for row in chosen]
        return Column(self.file, self.name, texts, [self.lines[row] for row in chosen])

    def refuse(self, row: int, allowed: str) -> NoReturn:
        """Raise the error of one cell."""
        where = f"{self.file}, line {self.lines[row]}, column {self.name!r}"
        allowed += NOT_UTF8 if REPLACED in self.texts[row] else ""
        raise InvalidInput(f"{where} must be {allowed}, got {_shorten(self.texts[row])}")

    def _refuse_any(self, wrong: NDArray[np.bool_], allowed: str) -> None:
        if wrong.any():
            self.refuse(int(np.argmax(wrong)), allowed)

    def _require_plain(self) -> None:
        """Refuse what Python takes for a number and nobody else does: 1_000, digits of others."""
        joined = "".join(self.texts)
        if "_" in joined or not joined.isascii():
            wrong = ["_" in text or not text.isascii() for text in self.texts]
            self._refuse_any(np.array(wrong), "a number >= 0, in digits from 0 to 9")

    def _floats(self) -> NDArray[np.float64]:
        try:
            return np.array(list(map(float, self.texts)))
        except ValueError:
            self.refuse(next(filter(self._is_no_number, range(len(self.texts)))), "a number >= 0")

    def _is_no_number(self, row: int) -> bool:
        try:
            float(self.texts[row])
        except ValueError:
            return True
        return False


def _microseconds(values: NDArray[Any], unit: str) -> Times:
    nanoseconds = UNITS[unit]
    if values.dtype.kind == "f":
        return np.asarray(np.rint(values * nanoseconds / 1000).astype(np.int64))
    if nanoseconds >= 1000:
        return np.asarray(values * (nanoseconds // 1000))
    return np.asarray((values + 500) // 1000)


def _timestamp(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _since_epoch(moment: datetime) -> int:
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (zoned - _EPOCH) // timedelta(microseconds=1)


def _shorten(text: str, limit: int = 80) -> str:
    shown = repr(text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."
