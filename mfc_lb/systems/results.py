"""What an evaluation gives: drops with standard errors, and what they were made with."""

import io
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from mfc_lb.arrays import ArrayRecord
from mfc_lb.errors import InvalidInput, as_float_array, check_number, require, shorten
from mfc_lb.files import as_path, write_whole
from mfc_lb.model import ArrivalProcess, SystemParameters

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Estimate:
    """Mean of independent samples with its standard error.

    Attributes
    ----------
    mean : float
        Sample mean.
    standard_error : float
        Standard deviation of the mean; NaN for a single sample.
    num_samples : int
        Number of samples.
    """

    mean: float
    standard_error: float
    num_samples: int

    @classmethod
    def of(cls, samples: ArrayLike) -> "Estimate":
        """Return the estimate from samples of shape (R,)."""
        values = as_float_array("samples", samples)
        listed = values.ndim == 1 and values.size > 0
        require(listed, "samples shape", values.shape, "(R,), one number for each sample")
        count = values.size
        error = float(values.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
        return cls(float(values.mean()), error, count)

    @classmethod
    def ratio(cls, part: NDArray[np.float64], whole: NDArray[np.float64]) -> "Estimate":
        """Return the estimate of a ratio of means from paired samples, by the delta method.

        Parameters
        ----------
        part, whole : ndarray, shape (R,)
            Samples of what is divided, and of what divides it.

        Returns
        -------
        Estimate
            Of E[part] / E[whole], with the error of its linearisation.

        Examples
        --------
        >>> Estimate.ratio(np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0]))
        Estimate(mean=0.5, standard_error=0.0, num_samples=3)
        """
        mean = float(part.mean() / whole.mean())
        spread = cls.of((part - mean * whole) / whole.mean())
        return cls(mean, spread.standard_error, spread.num_samples)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's confidence interval of the mean.

        Parameters
        ----------
        confidence : float, in (0, 1)
            Coverage.

        Returns
        -------
        tuple of float
            Lower and upper end; NaN for a single sample.
        """
        allowed = "a number strictly between 0 and 1"
        coverage = check_number("confidence", confidence, allowed)
        require(0.0 < coverage < 1.0, "confidence", confidence, allowed)
        if self.num_samples < 2:
            return float("nan"), float("nan")
        quantile = scipy.special.stdtrit(self.num_samples - 1, 0.5 + coverage / 2.0)
        width = float(quantile) * self.standard_error
        return self.mean - width, self.mean + width


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult(ArrayRecord):
    """Drops of independent runs of one policy in one system, and what they were made with.

    Two results are equal if all of it is, arrays to the byte.

    Attributes
    ----------
    drops : ndarray, shape (num_runs, num_epochs)
        Drops per queue in each epoch; read-only, as all arrays of a result.
    levels : ndarray of int, shape (num_runs, num_epochs)
        Arrival level in each epoch.
    nu : ndarray, shape (S,)
        Initial distribution.
    parameters : SystemParameters
        Of the system.
    system, policy : str
        The system and the policy in words.
    seed : int
        Of the evaluation.
    """

    drops: NDArray[np.float64]
    levels: NDArray[np.int64]
    nu: NDArray[np.float64]
    parameters: SystemParameters
    system: str
    policy: str
    seed: int

    def __repr__(self) -> str:
        """Show the mean with its 95 % interval, and what was evaluated."""
        low, high = self.interval()
        runs = f"num_runs={self.num_runs}, num_epochs={self.num_epochs}, seed={self.seed}"
        mean = f"mean={self.mean:.6g}, interval=({low:.6g}, {high:.6g})"
        made_with = f"system={self.system}, policy={shorten(self.policy)}"
        return f"EvaluationResult({mean}, {runs}, {made_with})"

    @property
    def num_runs(self) -> int:
        """Number R of runs."""
        return len(self.drops)

    @property
    def num_epochs(self) -> int:
        """Number E of epochs of each run."""
        return int(self.drops.shape[1])

    @property
    def total_drops(self) -> NDArray[np.float64]:
        """Cumulative drops per queue of each run, shape (num_runs,)."""
        return np.asarray(self.drops.sum(axis=1))

    @property
    def estimate(self) -> Estimate:
        """Estimate of the expected cumulative drops per queue."""
        return Estimate.of(self.total_drops)

    @property
    def mean(self) -> float:
        """Mean of the cumulative drops per queue."""
        return self.estimate.mean

    @property
    def standard_error(self) -> float:
        """Standard error of `mean`."""
        return self.estimate.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of `mean`, see `Estimate.interval`."""
        return self.estimate.interval(confidence)

    def difference(self, other: "EvaluationResult") -> Estimate:
        """Return the estimate of this result's mean minus the other's, paired on rate paths.

        Parameters
        ----------
        other : EvaluationResult
            Of any system and policy with the same arrivals, delay, numbers of runs and epochs, and
            seed.

        Returns
        -------
        Estimate
            Of the expected difference of cumulative drops.

        Raises
        ------
        InvalidInput
            If the two were not made on the same demand; it says what differs.
        """
        require(isinstance(other, EvaluationResult), "other", other, "an EvaluationResult")
        mine, theirs = _demand(self), _demand(other)
        for name, value in mine.items():
            same_paths = f"evaluated on the same paths, with {name} {value!r}"
            require(theirs[name] == value, "other", theirs[name], same_paths)
        paired = np.array_equal(self.levels, other.levels)
        require(paired, "other", other.levels, "evaluated on the same paths")
        return Estimate.of(self.total_drops - other.total_drops)

    def to_frame(self) -> "pd.DataFrame":
        """Return a new table with a row for each epoch of each run.

        Returns
        -------
        DataFrame
            Columns ``run``, ``epoch``, ``level``, ``arrival_rate`` and ``drops``.
        """
        import pandas as pd

        run, epoch = (np.asarray(index) for index in np.indices(self.drops.shape))
        rates = np.asarray(self.parameters.arrivals.rates)[self.levels]
        columns: dict[str, NDArray[Any]] = {"run": run, "epoch": epoch, "level": self.levels}
        columns |= {"arrival_rate": rates, "drops": self.drops}
        return pd.DataFrame({name: values.ravel() for name, values in columns.items()}, copy=True)

    def save(self, path: str | Path) -> None:
        """Write all of the result to one file, which appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; NumPy's format ``.npz``. The same result gives the same bytes.

        Raises
        ------
        InvalidInput
            If the file cannot be written, or would not be read as this result: arrivals that a
            subclass draws in its own way are not in a file.
        """
        file = as_path("path", path)
        words = {name: getattr(self, name) for name in ("system", "policy", "seed")}
        described = json.dumps({"parameters": asdict(self.parameters), **words})
        content = io.BytesIO()
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        np.savez_compressed(content, made_with=np.array(described), **arrays)
        kind = type(self.parameters.arrivals)
        plain = kind is ArrivalProcess and _parse(content) == self
        require(plain, "arrivals of a result in a file", kind.__name__, "an ArrivalProcess")
        try:
            write_whole(file, content.getvalue())
        except (OSError, ValueError) as error:
            raise InvalidInput(f"path must be a file that can be written, got {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> "EvaluationResult":
        """Read a result that `save` wrote.

        Parameters
        ----------
        path : str or Path
            Of the file.

        Returns
        -------
        EvaluationResult
            Equal to the one that was saved.

        Raises
        ------
        InvalidInput
            If the file is missing, damaged or something else.
        """
        file = as_path("path", path)
        try:
            return _parse(io.BytesIO(file.read_bytes()))
        except Exception as error:  # a damaged archive fails in many ways
            allowed = "a file of an EvaluationResult"
            raise InvalidInput(f"path must be {allowed}, got {str(path)!r} ({error})") from error


_ARRAYS = ("drops", "levels", "nu")


def _demand(result: EvaluationResult) -> dict[str, Any]:
    arrivals = result.parameters.arrivals
    return {
        **asdict(arrivals),
        "arrivals": type(arrivals).__name__,
        "delta_t": result.parameters.delta_t,
        "num_epochs": result.num_epochs,
        "num_runs": result.num_runs,
        "seed": result.seed,
    }


def _parse(content: io.BytesIO) -> EvaluationResult:
    content.seek(0)
    with np.load(content, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in _ARRAYS}
        words = json.loads(str(stored["made_with"]))
    given = words.pop("parameters")
    parameters = SystemParameters(**{**given, "arrivals": ArrivalProcess(**given["arrivals"])})
    return EvaluationResult(**arrays, parameters=parameters, **words)


def in_words(thing: Any) -> str:
    """Return how a system or a policy shows itself, without its place in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(thing))
