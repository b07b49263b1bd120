"""What is no argument of anything, and how it has to be refused."""

import numpy as np
import pytest

from mfc_lb import InvalidInput

#: No number of anything: of another kind, or beyond all that is.
NUMBERS = [
    "1", True, None, 1j, np.complex128(1), np.nan, np.inf, -1, 10**400, 10**5000, [1],
    np.array([1]), np.timedelta64(5, "s"), b"1", object(),
]  # fmt: skip


def kind_of(value):
    return type(value).__name__


def refused(ask, value):
    """What is said in the one line of the error."""
    with pytest.raises(InvalidInput) as raised:
        ask(value)
    text = str(raised.value)
    assert "\n" not in text
    assert len(text) < 300
    return text
