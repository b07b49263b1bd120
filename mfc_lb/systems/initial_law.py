"""The distribution with which a run begins: it has to fit the model."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import require
from mfc_lb.model import SystemParameters
from mfc_lb.model.probabilities import SUM_TOLERANCE, check_probabilities


def check_distributions(nu: ArrayLike, parameters: SystemParameters) -> NDArray[np.float64]:
    """Return distributions over the S queue states, checked: rows of a copy that sum to one."""
    checked, num_states = check_probabilities("nu", nu), parameters.num_states
    if checked.shape[-1] != num_states:
        one_each = f"(..., {num_states}), one probability for each state"
        require(False, "nu shape", checked.shape, one_each)
    return checked


def check_initial_law(
    nu: ArrayLike, parameters: SystemParameters, class_masses: Any = None
) -> NDArray[np.float64]:
    """Return distributions over queue states in which every server class has its mass.

    Parameters
    ----------
    nu : array_like, shape (..., S)
        Distributions.
    parameters : SystemParameters
        The model.
    class_masses : array_like, shape (C,), optional
        Masses that are allowed beside the parameters' own.

    Returns
    -------
    ndarray of float64, shape (..., S)
        A copy, each row of which sums to one.

    Raises
    ------
    InvalidInput
        If it is no distribution over the S states, or the mass of a class is not its fraction.
    """
    checked = check_distributions(nu, parameters)
    if parameters.num_classes > 1:
        _check_classes(checked, parameters, class_masses)
    return checked


def _check_classes(
    nu: NDArray[np.float64], parameters: SystemParameters, class_masses: Any
) -> None:
    fractions = parameters.class_fractions
    masses = nu.reshape(-1, parameters.num_classes, parameters.buffer_size + 1).sum(axis=-1)
    allowed = np.array([fractions, fractions if class_masses is None else class_masses])
    miss = np.abs(masses[:, None] - allowed).max(axis=-1).min(axis=-1)
    fits, worst = bool(miss.max() < SUM_TOLERANCE), masses[miss.argmax()]
    require(fits, "mass of nu in each server class", worst.tolist(), f"{list(fractions)}")


def allocate_queues(
    nu: ArrayLike, parameters: SystemParameters, num_queues: int
) -> NDArray[np.int64]:
    """Return how many of M queues are in each state, as nearly like ν as M allows.

    Parameters
    ----------
    nu : array_like, shape (S,)
        Distribution to imitate: of the model, or as M queues may have it.
    parameters : SystemParameters
        The model.
    num_queues : int
        Number M of queues.

    Returns
    -------
    ndarray of int64, shape (S,)
        Rounded by largest remainders, first the classes and then the fillings of each class.
    """
    per_class = _largest_remainders(np.array(parameters.class_fractions) * num_queues, num_queues)
    target = check_initial_law(nu, parameters, per_class / num_queues)
    one_each = f"({parameters.num_states},), one probability for each state"
    require(target.shape == (parameters.num_states,), "nu shape", target.shape, one_each)
    by_class = np.split(target * num_queues, parameters.num_classes)
    rounded = map(_largest_remainders, by_class, per_class.tolist())
    return np.concatenate(list(rounded))


def _largest_remainders(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    counts = np.floor(shares + 1e-9).astype(np.int64)
    missing = total - int(counts.sum())
    largest = np.argsort(counts - shares, kind="stable")[:missing]
    counts[largest] += 1
    return counts
