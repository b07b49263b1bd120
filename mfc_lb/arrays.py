"""Arrays that objects hold: nobody else can edit them, whoever gave or gets them."""

from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view through which the array cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_rows(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows (n, K) for compiled code, which knows writable arrays only."""
    rows = np.ascontiguousarray(array).reshape(-1, array.shape[-1])
    return rows if rows.flags.writeable else rows.copy()


class WithoutCaches:
    """An object that is copied and pickled without what its cached properties hold.

    What is cached may be a closure, which does not pickle, or a read-only array, whose copy would
    be writable; both are computed anew when they are needed.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes that are not cached."""
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }


class ArrayRecord:
    """A frozen dataclass of arrays and other values: its arrays are read-only copies.

    A named tuple of arrays is kept as its arrays are. Two are equal if all their fields are, arrays
    to the byte.
    """

    def __post_init__(self) -> None:
        """Take read-only copies of the arrays."""
        for name, value in vars(self).items():
            object.__setattr__(self, name, _kept(value))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make arrays read-only again, which they are not after pickling or copying."""
        vars(self).update(state)
        ArrayRecord.__post_init__(self)

    def _identity(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return tuple(_comparable(value) for value in values)

    def __eq__(self, other: object) -> bool:
        """Compare field by field."""
        return isinstance(other, type(self)) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash(self._identity())


def _kept(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return read_only(value.copy())
    return value._make(map(_kept, value)) if _is_named_tuple(value) else value


def _comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return tuple(map(_comparable, value)) if _is_named_tuple(value) else value


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_make")
