"""Policies that are small neural networks, evaluated with NumPy alone.

From the distribution ν and the arrival level l, a network gives the action

    a(ν, l) = base_l + out · tanh(hidden · tanh(from_distribution · ν + from_level_l) + hidden_bias)

and `mfc_lb.learning.actions` gives the decision rule that the action means. The formula is written
once and serves NumPy arrays and torch tensors alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import InvalidInput, as_float_array, require
from mfc_lb.learning.actions import ActionKind, action_size, decision_rule_of
from mfc_lb.model import ScoreRule, SystemParameters, TableRule
from mfc_lb.model.parameters import require_parameters

#: Arrays, or tensors, by name.
Weights = Mapping[str, Any]

#: Every weight of a network beside ``base``.
NETWORK_WEIGHTS = ("from_distribution", "from_level", "hidden", "hidden_bias", "out")


def constant_scores(scores: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the weights of a policy of constant scores for each arrival level, shape (L, S)."""
    return {"base": scores}


def fresh_network(
    base: NDArray[np.float64], width: int, generator: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Return the weights of a network that gives the actions `base` whatever ν is.

    Parameters
    ----------
    base : ndarray, shape (L, A)
        Action for each arrival level; the number A of its entries is the number S of states.
    width : int
        Width of the two hidden layers.
    generator : numpy.random.Generator
        For the weights of the hidden layers.

    Returns
    -------
    dict of ndarray
        ``base`` (L, A), ``from_distribution`` (S, width), ``from_level`` (L, width), ``hidden``
        (width, width), ``hidden_bias`` (width,) and ``out`` (width, A), which is zero.
    """
    num_levels, num_states = base.shape

    def drawn(rows: int, inputs: int) -> NDArray[np.float64]:
        return np.asarray(generator.standard_normal((rows, width)) * (1.5 / np.sqrt(inputs)))

    inputs = num_states + num_levels
    return {
        "base": base.copy(),
        "from_distribution": drawn(num_states, inputs),
        "from_level": drawn(num_levels, inputs),
        "hidden": drawn(width, width),
        "hidden_bias": np.zeros(width),
        "out": np.zeros((width, num_states)),
    }


def _product(rows: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    # Row by row: a row's result must not depend on how many rows are computed.
    return np.asarray(np.matmul(rows[..., None, :], matrix)[..., 0, :])


def network_action(
    weights: Weights,
    nu: Any,
    level: Any,
    tanh: Callable[[Any], Any] = np.tanh,
    product: Callable[[Any, Any], Any] = _product,
) -> Any:
    """Return the action a(ν, l).

    Parameters
    ----------
    weights : mapping
        See `fresh_network`; with ``base`` alone the action is constant.
    nu : array or tensor, shape (..., S)
        Distributions over queue states.
    level : int, or array or tensor of int of shape (...)
        Arrival levels.
    tanh, product : callable, optional
        Functions for the kind of array that `weights` and `nu` are.

    Returns
    -------
    array or tensor, shape (..., A)
        Actions.
    """
    base = weights["base"][level]
    if "out" not in weights:
        return base
    first = tanh(product(nu, weights["from_distribution"]) + weights["from_level"][level])
    second = tanh(product(first, weights["hidden"]) + weights["hidden_bias"])
    return base + product(second, weights["out"])


@dataclass(frozen=True, eq=False)
class NetworkPolicy:
    """An upper-level policy that a network gives, see `mfc_lb.model.Policy`.

    Two are equal if their weights are, to the byte, and what they were trained for.

    Parameters
    ----------
    weights : mapping of array_like
        See `fresh_network`; finite. Kept as read-only copies, float64 in C order.
    parameters : SystemParameters
        What it was trained for. It runs at any delay and kernel of the arrivals, but needs the
        same buffers, servers, number of choices and arrival rates.
    kind : ActionKind or str, optional
        What the network's actions mean.

    Raises
    ------
    InvalidInput
        If the weights are not finite, or do not fit the parameters.
    """

    weights: Mapping[str, NDArray[np.float64]]
    parameters: SystemParameters
    kind: ActionKind = ActionKind.SCORE

    if TYPE_CHECKING:  # what may be given is wider than what is kept

        def __init__(
            self,
            weights: Mapping[str, ArrayLike],
            parameters: SystemParameters,
            kind: ActionKind | str = ActionKind.SCORE,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Take copies of the weights and check that they fit together."""
        require(isinstance(self.weights, Mapping), "weights", self.weights, "a mapping")
        require_parameters(self.parameters)
        own = {name: _owned(name, weight) for name, weight in self.weights.items()}
        object.__setattr__(self, "weights", MappingProxyType(own))
        object.__setattr__(self, "kind", ActionKind(self.kind))
        given = {name: weight.shape for name, weight in own.items()}
        require(given == self._expected_shapes(), "weights", given, f"{self._expected_shapes()}")

    def _identity(self) -> tuple[Any, ...]:
        weights = {name: (one.shape, one.tobytes()) for name, one in self.weights.items()}
        return tuple(sorted(weights.items())), self.parameters, self.kind

    def __eq__(self, other: object) -> bool:
        """Compare to the byte."""
        if not isinstance(other, NetworkPolicy) or type(other) is not type(self):
            return False
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash(self._identity())

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the weights as a plain dictionary, which can be pickled."""
        return vars(self) | {"weights": dict(self.weights)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes, and read-only copies of the weights."""
        vars(self).update(state)
        NetworkPolicy.__post_init__(self)

    def _expected_shapes(self) -> dict[str, tuple[int, ...]]:
        p = self.parameters
        levels, states = p.arrivals.num_levels, p.num_states
        size = action_size(p, self.kind)
        if "out" not in self.weights:
            return {"base": (levels, size)}
        width = self.weights["out"].shape[0] if self.weights["out"].ndim else 0
        shapes = (states, width), (levels, width), (width, width), (width,), (width, size)
        return {"base": (levels, size), **dict(zip(NETWORK_WEIGHTS, shapes, strict=True))}

    def __repr__(self) -> str:
        """Show what it is, not every weight."""
        width = f"width={len(self.weights['out'])}" if "out" in self.weights else "constant"
        return f"NetworkPolicy({self.kind}, {width}, delta_t={self.parameters.delta_t:g})"

    def __call__(self, nu: Any, level: Any) -> ScoreRule | TableRule:
        """Return the rule of an epoch, see `mfc_lb.model.Policy`."""
        p = self.parameters
        return decision_rule_of(self.action(nu, level), self.kind, p.num_states, p.num_choices)

    def action(self, nu: Any, level: Any) -> NDArray[np.float64]:
        """Return the network's action.

        Parameters
        ----------
        nu : ndarray, shape (..., S)
            Distributions over queue states.
        level : int, or ndarray of int of shape (...)
            Arrival levels.

        Returns
        -------
        ndarray, shape (..., A)
            Scores, or the numbers of a table.
        """
        return np.asarray(network_action(self.weights, nu, level))

    def require_fit(self, parameters: SystemParameters) -> None:
        """Refuse a system that the policy was not trained for.

        Parameters
        ----------
        parameters : SystemParameters
            The system's.

        Raises
        ------
        InvalidInput
            If buffers, servers, number of choices or arrival rates differ, or these are no
            parameters.
        """
        require_parameters(parameters)
        for name, mine, theirs in zip(
            _FITTING, _fitting(self.parameters), _fitting(parameters), strict=True
        ):
            if mine != theirs:
                raise InvalidInput(
                    f"{name} must be {mine}, for which the policy was trained, got {theirs}"
                )


def _owned(name: str, weight: Any) -> NDArray[np.float64]:
    # In C order, whatever the order in memory is: files hold the bytes as they lie there.
    array = np.array(as_float_array(f"weights {name}", weight), order="C")
    require(bool(np.isfinite(array).all()), f"weights {name}", weight, "finite numbers")
    array.flags.writeable = False
    return array


_FITTING = ("buffer_size", "num_choices", "service_rates", "class_fractions", "arrival_rates")


def _fitting(parameters: SystemParameters) -> tuple[Any, ...]:
    own = tuple(getattr(parameters, name) for name in _FITTING[:-1])
    return (*own, parameters.arrivals.rates)
