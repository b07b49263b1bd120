"""Compiled functions, kept from run to run wherever that is possible."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Function], Function]:
    """Return numba's decorator, with a cache on disk if there is a place for one.

    Parameters
    ----------
    **options : Any
        Of `numba.njit`.

    Notes
    -----
    numba keeps compiled code beside the package or, if that is read-only, in the user's own folder.
    Where neither can be written, as in some containers, functions are compiled in every process.
    """

    def decorate(function: Function) -> Function:
        try:
            compiled: Function = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no place for a cache
            compiled = numba.njit(**options)(function)
        return compiled

    return decorate
