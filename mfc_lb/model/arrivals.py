"""The arrival rate per queue: a Markov chain on a few levels, stepped once per epoch."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from mfc_lb.arrays import WithoutCaches, read_only
from mfc_lb.errors import as_float_array, as_int_array, check_int, check_real, check_reals, require
from mfc_lb.model.probabilities import check_probabilities

#: Largest number of epochs of a run.
MAX_EPOCHS = 10**9
#: Largest number of independent chains.
MAX_CHAINS = 10**9


@dataclass(frozen=True)
class ArrivalProcess(WithoutCaches):
    """Markov-modulated arrival rate per queue; the defaults are the paper's two levels.

    Parameters
    ----------
    rates : sequence of float, >= 0
        Arrival rate λ of each level, in packets per queue and unit of time. Any number of levels.
    kernel : nested sequence of float, shape (L, L)
        Row i holds the probabilities of the next epoch's level when the present one is i.
    initial : sequence of float, shape (L,)
        Probabilities of the first epoch's level.

    Raises
    ------
    InvalidInput
        If a rate is negative or not finite, a shape is wrong, or a row does not sum to one.

    Notes
    -----
    The total arrival rate of a system of M queues is M·λ_t (section 2 of the paper). The paper's
    levels are 0.9 and 0.6 with kernel ((0.8, 0.2), (0.5, 0.5)) and initial probabilities ½, ½.

    A subclass may draw its levels otherwise, by a `sample_levels` of its own: evaluation, training
    and environments all follow it, and what is exact for the Markov chain only refuses it.

    Examples
    --------
    >>> ArrivalProcess().stationary.round(4).tolist()
    [0.7143, 0.2857]
    """

    rates: tuple[float, ...] = (0.9, 0.6)
    kernel: tuple[tuple[float, ...], ...] = ((0.8, 0.2), (0.5, 0.5))
    initial: tuple[float, ...] = (0.5, 0.5)

    if TYPE_CHECKING:  # what may be given is wider than what is kept

        def __init__(
            self,
            rates: ArrayLike = (0.9, 0.6),
            kernel: ArrayLike = ((0.8, 0.2), (0.5, 0.5)),
            initial: ArrayLike = (0.5, 0.5),
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check every field and store it as nested tuples of floats."""
        rates = check_reals("rates", self.rates)
        size = len(rates)
        kernel = as_float_array("kernel", self.kernel).copy()
        square = f"a {size} x {size} matrix, one row for each of the {size} rates"
        require(kernel.shape == (size, size), "kernel", self.kernel, square)
        for index, row in enumerate(kernel):
            kernel[index] = check_probabilities(f"kernel[{index}]", row)
        initial = as_float_array("initial", self.initial)
        one_each = f"one probability for each of the {size} rates"
        require(initial.shape == (size,), "initial", self.initial, one_each)
        initial = check_probabilities("initial", initial)
        object.__setattr__(self, "rates", rates)
        object.__setattr__(self, "kernel", tuple(tuple(row) for row in kernel.tolist()))
        object.__setattr__(self, "initial", tuple(initial.tolist()))

    @classmethod
    def constant(cls, rate: float) -> "ArrivalProcess":
        """Return the process that stays at one rate.

        Parameters
        ----------
        rate : float, >= 0
            Arrival rate per queue.

        Returns
        -------
        ArrivalProcess
            With a single level.
        """
        return cls(rates=(rate,), kernel=((1.0,),), initial=(1.0,))

    @classmethod
    def from_generator(
        cls,
        rates: ArrayLike,
        generator: ArrayLike,
        delta_t: float,
        initial: ArrayLike | None = None,
    ) -> "ArrivalProcess":
        """Return the process that samples a continuous-time chain every Δt.

        Parameters
        ----------
        rates : sequence of float, >= 0
            Arrival rate of each level.
        generator : array_like, shape (L, L)
            Rate matrix G of the chain: off-diagonal entries >= 0, rows sum to zero.
        delta_t : float, > 0
            Length of an epoch; the kernel is exp(G Δt).
        initial : sequence of float, optional
            Initial probabilities; the stationary ones when omitted.

        Returns
        -------
        ArrivalProcess
            The rate is held constant within an epoch, as in the model.

        Raises
        ------
        InvalidInput
            If `generator` is not a rate matrix of the right shape.
        """
        matrix = as_float_array("generator", generator)
        levels = check_reals("rates", rates)
        size = len(levels)
        square = f"a finite {size} x {size} matrix"
        fits = matrix.shape == (size, size) and bool(np.isfinite(matrix).all())
        require(fits, "generator", generator, square)
        off_diagonal = matrix - np.diag(np.diag(matrix))
        lowest = off_diagonal.min()
        require(bool(lowest >= 0), "generator", lowest, "non-negative off its diagonal")
        sums = matrix.sum(axis=1)
        scale = max(1.0, np.abs(matrix).max())
        balanced = bool(np.abs(sums).max() <= 1e-9 * scale)
        require(balanced, "generator", sums.tolist(), "a matrix whose rows sum to 0; their sums")
        step = check_real("delta_t", delta_t, strict=True)
        require(scale * step < 1e9, "delta_t", delta_t, "shorter than 1e9 changes of level")
        kernel = np.clip(scipy.linalg.expm(matrix * step), 0.0, None)
        kernel /= kernel.sum(axis=1, keepdims=True)
        start = _stationary(kernel) if initial is None else initial
        chances = check_probabilities("initial", start)
        require(chances.ndim == 1, "initial", initial, f"{size} probabilities")
        return cls(rates=levels, kernel=_as_rows(kernel), initial=tuple(chances.tolist()))

    @property
    def num_levels(self) -> int:
        """Number L of arrival levels."""
        return len(self.rates)

    @cached_property
    def stationary(self) -> NDArray[np.float64]:
        """Stationary probabilities of the levels, shape (L,)."""
        return read_only(_stationary(np.asarray(self.kernel)))

    def __init_subclass__(cls) -> None:
        """Refuse a subclass that draws in two ways."""
        super().__init_subclass__()
        cls.require_one_way()

    @classmethod
    def require_one_way(cls) -> None:
        """Refuse a subclass that draws in two ways, wherever it has the second one from."""
        names = ("first_levels", "next_levels")
        derived = [name for name in names if getattr(cls, name) is not vars(ArrivalProcess)[name]]
        require(not derived, "overridden method", derived, "sample_levels, which all draws follow")

    @property
    def follows_kernel(self) -> bool:
        """Whether levels are drawn from `kernel` and `initial`: not if a subclass does it."""
        return type(self).sample_levels is ArrivalProcess.sample_levels

    def require_chain(self) -> None:
        """Refuse a subclass that draws its levels in its own way, where the chain is needed."""
        own = type(self).__name__
        require(self.follows_kernel, "arrivals", own, "an ArrivalProcess that follows its kernel")

    def sample_levels(self, num_epochs: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw one path of arrival levels.

        Parameters
        ----------
        num_epochs : int, >= 0
            Length of the path.
        generator : numpy.random.Generator
            Consumed by exactly `num_epochs` uniform draws, one per epoch.

        Returns
        -------
        ndarray of int64, shape (num_epochs,)
            Index of the level in each epoch.
        """
        num_epochs = check_int("num_epochs", num_epochs, 0, MAX_EPOCHS)
        draws = generator.random(num_epochs)
        cumulative = np.cumsum(np.asarray(self.kernel), axis=1)
        chances = np.cumsum(np.asarray(self.initial))
        levels = np.empty(num_epochs, dtype=np.int64)
        for epoch, draw in enumerate(draws):
            # Rounding may leave the last cumulative probability just under one.
            level = min(int(np.searchsorted(chances, draw, side="right")), self.num_levels - 1)
            levels[epoch] = level
            chances = cumulative[level]
        return levels

    def first_levels(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw the first level of so many independent chains.

        Parameters
        ----------
        count : int
            Number n of chains.
        generator : numpy.random.Generator
            Consumed by n uniform draws.

        Returns
        -------
        ndarray of int64, shape (n,)
            A level for each chain.
        """
        self.require_chain()
        number = check_int("count", count, 0, MAX_CHAINS)
        return self._draw(np.asarray(self.initial), generator.random(number))

    def next_levels(
        self, levels: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Move independent chains on by one epoch.

        Parameters
        ----------
        levels : ndarray of int, shape (n,)
            Present level of each chain.
        generator : numpy.random.Generator
            Consumed by n uniform draws.

        Returns
        -------
        ndarray of int64, shape (n,)
            The next levels.
        """
        self.require_chain()
        allowed = f"(n,) integers from 0 to {self.num_levels - 1}"
        present = as_int_array("levels", levels, allowed)
        known = present.ndim == 1 and bool(((present >= 0) & (present < self.num_levels)).all())
        require(known, "levels", levels, allowed)
        return self._draw(np.asarray(self.kernel)[present], generator.random(len(present)))

    def _draw(self, chances: NDArray[np.float64], draws: NDArray[np.float64]) -> NDArray[np.int64]:
        beyond = (draws[:, None] >= np.cumsum(chances, axis=-1)).sum(axis=-1)
        return np.asarray(np.minimum(beyond, self.num_levels - 1))


def _as_rows(matrix: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _stationary(kernel: NDArray[np.float64]) -> NDArray[np.float64]:
    size = len(kernel)
    equations = np.vstack([kernel.T - np.eye(size), np.ones(size)])
    solution = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    clipped = np.clip(solution, 0.0, None)
    return np.asarray(clipped / clipped.sum())
