"""Arrival levels as evaluation, training and environments draw them: one source for all."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mfc_lb.errors import as_int_array, check_int, require
from mfc_lb.model.arrivals import MAX_EPOCHS, ArrivalProcess

Levels = NDArray[np.int64]


def sample_path(process: ArrivalProcess, num_epochs: int, generator: np.random.Generator) -> Levels:
    """Return one path of arrival levels, checked.

    Parameters
    ----------
    process : ArrivalProcess
        Its `sample_levels` draws.
    num_epochs : int
        Length of the path.
    generator : numpy.random.Generator
        The stream of arrivals.

    Raises
    ------
    InvalidInput
        If a subclass draws something else than so many levels.
    """
    require(isinstance(process, ArrivalProcess), "process", process, "an ArrivalProcess")
    process.require_one_way()  # a method may have been assigned since the class was made
    num_epochs = check_int("num_epochs", num_epochs, 0, MAX_EPOCHS)
    allowed = f"{num_epochs} integers from 0 to {process.num_levels - 1}"
    path = as_int_array("sample_levels", process.sample_levels(num_epochs, generator), allowed)
    fits = path.shape == (num_epochs,)
    fits = fits and bool(((path >= 0) & (path < process.num_levels)).all())
    require(fits, "sample_levels", path, allowed)
    return path.astype(np.int64, copy=False)


class LevelPaths:
    """Arrival levels of many systems side by side, each in an episode of its own.

    Parameters
    ----------
    process : ArrivalProcess
        Its chain is moved on for all systems at once; a subclass that draws in its own way is asked
        for a path of each episode.
    count : int
        Number n of systems.
    num_epochs : int
        Epochs of an episode.

    Attributes
    ----------
    levels : ndarray of int64, shape (n,)
        Present level of each system.
    paths : ndarray of int64, shape (n, num_epochs + 1), or (n, 0) for the chain
        The levels of each system's episode, the one after its last epoch included.

    Notes
    -----
    Generators are one for all systems, or one for each. The chain takes a uniform draw for each
    level.
    """

    def __init__(self, process: ArrivalProcess, count: int, num_epochs: int) -> None:
        process.require_one_way()
        self._process = process
        length = 0 if process.follows_kernel else num_epochs + 1
        self.levels: Levels = np.zeros(count, dtype=np.int64)
        self.paths: Levels = np.zeros((count, length), dtype=np.int64)

    def begin(self, which: NDArray[np.bool_], generators: Sequence[np.random.Generator]) -> None:
        """Draw the first levels of the systems, a mask of shape (n,), that begin anew."""
        self.levels[which] = self._drawn(np.flatnonzero(which), self._first, generators)

    def advance(self, ages: NDArray[np.int64], generators: Sequence[np.random.Generator]) -> None:
        """Move every system on to the epoch `ages`, shape (n,), of its episode."""
        if self.paths.size:
            self.skip_to(ages)
        else:
            self.levels = self._drawn(np.arange(len(ages)), self._next, generators)

    def skip_to(self, ages: NDArray[np.int64]) -> None:
        """Take up own paths at some epochs, shape (n,); a chain is as far as it is."""
        if self.paths.size:
            self.levels = self.paths[np.arange(len(ages)), ages]

    def _drawn(
        self,
        systems: Levels,
        draw: Callable[[Levels, np.random.Generator], Levels],
        generators: Sequence[np.random.Generator],
    ) -> Levels:
        if len(generators) == 1:
            return draw(systems, generators[0])
        each = [draw(systems[i : i + 1], generators[one]) for i, one in enumerate(systems)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *each])

    def _first(self, systems: Levels, generator: np.random.Generator) -> Levels:
        if not self.paths.size:
            return self._process.first_levels(len(systems), generator)
        for system in systems:
            self.paths[system] = sample_path(self._process, self.paths.shape[1], generator)
        return np.asarray(self.paths[systems, 0])

    def _next(self, systems: Levels, generator: np.random.Generator) -> Levels:
        return self._process.next_levels(self.levels[systems], generator)
