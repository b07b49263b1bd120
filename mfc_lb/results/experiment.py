"""What an experiment is: independent cells of work, and the table that is made of their results."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mfc_lb.errors import require
from mfc_lb.systems import Estimate

#: One observation: the value of each column.
Row = dict[str, str | int | float]

#: What a cell leaves behind: anything that JSON keeps exactly.
Result = Any

#: Stored and recomputed numbers may differ by this, relatively: the tables have ten digits.
RELATIVE_TOLERANCE = 1e-9

#: Stored and recomputed numbers may differ by this, absolutely: a difference that is zero on paper
#: is a rounding error in either.
ABSOLUTE_TOLERANCE = 1e-12

#: Digests of files, by their kind and name; None where there is no such file.
Files = Mapping[str, Mapping[str, str | None]]

SizeT = TypeVar("SizeT")

#: The columns of every estimate, see `estimate_columns`.
ESTIMATE_COLUMNS = {
    "standard_error": "standard error of the estimate; same unit",
    "num_runs": "number of independent runs behind the estimate; 0 where it is exact",
    "interval_low": "lower end of the 95 % interval; same unit",
    "interval_high": "upper end of the 95 % interval; same unit",
}


@dataclass(frozen=True)
class Cell:
    """A piece of work that depends on nothing but itself.

    Attributes
    ----------
    key : str
        Names the cell within its experiment; stable, and fit to be part of a file's name.
    compute : callable
        Without arguments; can be sent to another process.
    """

    key: str
    compute: Callable[[], Result]


@dataclass(frozen=True)
class Experiment(Generic[SizeT]):
    """One question that the book asks, at several sizes through one code path.

    Attributes
    ----------
    name : str
        As the command line and `load` know it.
    question : str
        One line.
    seed : int
        The only seed; the cells' seeds derive from it, see `cell_seed`.
    sizes : mapping from str to a frozen dataclass
        "quick" takes seconds, "paper" has the paper's sizes.
    cells : callable
        From a size and the seed to the cells, small ones first.
    rows : callable
        From a size and the cells' results, by key, to the table's rows, in order.
    columns : mapping from str to str
        What each column of the table is, with its unit.
    constants : mapping from str, optional
        Parameters that all sizes share, as the manifest says them.
    data : callable, optional
        From a size to the files that the numbers depend on: for each kind of file the digest of
        each, by name; None where there is no such file.
    measured : tuple of str, optional
        Columns that are times: no two runs agree on them.
    tolerance : float, optional
        Relative difference that another machine may make.
    absolute_tolerance : float, optional
        Absolute difference that it may make: of numbers that are differences of larger ones.
    """

    name: str
    question: str
    seed: int
    sizes: Mapping[str, SizeT]
    cells: Callable[[SizeT, int], Sequence[Cell]]
    rows: Callable[[SizeT, Mapping[str, Result]], list[Row]]
    columns: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict)
    data: Callable[[SizeT], Files] = lambda _: {}
    measured: tuple[str, ...] = ()
    tolerance: float = RELATIVE_TOLERANCE
    absolute_tolerance: float = ABSOLUTE_TOLERANCE

    def size(self, name: str) -> SizeT:
        """Return the size of that name, or refuse it."""
        known = " or ".join(repr(size) for size in self.sizes)
        require(name in self.sizes, "size", name, known)
        return self.sizes[name]


def cell_seed(seed: int, *shared: str | float) -> int:
    """Return the seed of all cells that share something.

    Parameters
    ----------
    seed : int
        The experiment's seed.
    *shared : str or float
        The part of the cells' keys that they have in common. Cells with one seed share their paths
        of arrival levels, so that their runs are paired.

    Returns
    -------
    int
        Between 0 and 2^64.
    """
    digest = hashlib.sha256("/".join(map(str, shared)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return int(np.random.SeedSequence([seed, *words]).generate_state(1, np.uint64)[0])


def exactly(value: float) -> Estimate:
    """Return the estimate that no run was needed for."""
    return Estimate(float(value), 0.0, 0)


def estimate_columns(estimate: Estimate) -> Row:
    """Return the columns of an estimate: itself, its standard error, runs and 95 % interval."""
    exact = estimate.num_samples == 0
    low, high = (estimate.mean, estimate.mean) if exact else estimate.interval()
    return {
        "estimate": estimate.mean,
        "standard_error": estimate.standard_error,
        "num_runs": estimate.num_samples,
        "interval_low": low,
        "interval_high": high,
    }


def root_mean_square(samples: NDArray[np.float64]) -> Estimate:
    """Return the estimate of the root of the mean square of samples of shape (R,)."""
    square = Estimate.of(samples**2)
    root = float(np.sqrt(square.mean))
    # The root's derivative carries the error over.
    error = square.standard_error / (2.0 * root) if root > 0 else 0.0
    return Estimate(root, error, square.num_samples)
