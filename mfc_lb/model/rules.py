"""The kinds of decision rules: by priority, by score, or by any table.

A decision rule is an array of shape (S,)*d + (d,): for each tuple of sampled states, the
probabilities of the d choices. Few rules need that array. A *priority rule* (random, JSQ, SED) only
ranks the states and a *score rule* (softmin) only scores them, so both work for buffers and numbers
of choices whose array would not fit in memory. `numpy.asarray(rule)` gives the array of any rule.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.arrays import WithoutCaches, read_only
from mfc_lb.errors import InvalidInput, as_float_array, check_int, require
from mfc_lb.model.exponential_race import ExponentialRace
from mfc_lb.model.packet_split import (
    PacketSplit,
    check_enumerable,
    split_by_priority,
    split_by_scores,
    split_by_table,
)
from mfc_lb.model.parameters import MAX_CHOICES
from mfc_lb.model.priority_rates import PriorityOrder, distinct_priority_rates, priority_rates
from mfc_lb.model.probabilities import check_probabilities
from mfc_lb.model.score_rates import score_rates

#: Largest number S^d of sampled tuples for which a score rule is tabulated.
MAX_TABULATED_TUPLES = 2**15
#: Largest array that `numpy.asarray(rule)` makes, in entries.
MAX_ARRAY_ENTRIES = 2**27


class DecisionRule(WithoutCaches, ABC):
    """What an agent does with the states of the queues that it sampled.

    Attributes
    ----------
    num_states : int
        Number S of queue states.
    num_choices : int
        Number d of sampled queues.
    """

    num_states: int
    num_choices: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape (S,)*d + (d,) of the rule as an array."""
        return (self.num_states,) * self.num_choices + (self.num_choices,)

    @abstractmethod
    def arrival_rates(self, nu: Any, arrival_rate: Any) -> Any:
        """Return the arrival rate λ(s) of a queue in each state, in the mean-field limit.

        Parameters
        ----------
        nu : ndarray, shape (..., S)
            Distribution over queue states; not checked here.
        arrival_rate : float, or ndarray of shape (...)
            Arrival rate λ per queue.

        Returns
        -------
        ndarray, shape (..., S)
            λ(s) = λ Σ_k Σ_{s̄ : s̄_k = s} Π_{i≠k} ν(s̄_i) h(k|s̄); no division, so it is well defined
            where ν(s) = 0, and Σ_s ν(s) λ(s) = λ.
        """

    @abstractmethod
    def distinct_arrival_rates(
        self, counts: NDArray[np.int64], arrival_rate: float
    ) -> NDArray[np.float64]:
        """Return λ(s) for M queues when an agent samples d distinct ones.

        Parameters
        ----------
        counts : ndarray of int, shape (S,)
            Number of queues in each state; their sum M is at least d.
        arrival_rate : float
            Arrival rate λ per queue.

        Returns
        -------
        ndarray, shape (S,)
            Meaningful where `counts` is positive.
        """

    @property
    @abstractmethod
    def packet_split(self) -> PacketSplit:
        """How agents that draw a choice for every packet split their rate.

        Raises
        ------
        InvalidInput
            If the tuples of states are too many to enumerate.
        """

    @abstractmethod
    def _table(self) -> NDArray[np.float64]: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the rule as an array of shape (S,)*d + (d,)."""
        entries = self.num_choices * float(self.num_states) ** self.num_choices
        small = entries <= MAX_ARRAY_ENTRIES
        require(small, "decision rule as an array", f"{entries:g} entries", "small enough")
        return np.array(self._table(), dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        """Return entries of the rule as an array."""
        return np.asarray(self)[index]


class PriorityRule(DecisionRule):
    """Choose the sampled queue whose state has the smallest key; ties are split evenly.

    Parameters
    ----------
    keys : array_like, shape (S,)
        Key of each state. Only their order matters.
    num_choices : int, >= 1
        Number d of sampled queues.

    Examples
    --------
    >>> rule = PriorityRule([0, 1], num_choices=2)
    >>> rule.arrival_rates(np.array([0.5, 0.5]), 1.0)
    array([1.5, 0.5])
    """

    def __init__(self, keys: ArrayLike, num_choices: int) -> None:
        values = as_float_array("keys", keys)
        ordered = values.ndim == 1 and values.size > 0 and not np.isnan(values).any()
        require(ordered, "keys", keys, "a vector without NaN")
        self.num_states = values.size
        self.num_choices = check_int("num_choices", num_choices, 1, MAX_CHOICES)
        self._group_of_state = np.unique(values, return_inverse=True)[1]
        self._order = PriorityOrder.of(values)

    @property
    def group_of_state(self) -> NDArray[np.int64]:
        """Rank of each state's key among the distinct keys, shape (S,)."""
        return read_only(self._group_of_state)

    def __repr__(self) -> str:
        """Show the rank of each state."""
        return f"PriorityRule(ranks={self.group_of_state.tolist()}, num_choices={self.num_choices})"

    def arrival_rates(self, nu: Any, arrival_rate: Any) -> NDArray[np.float64]:
        """Return λ(s), see `DecisionRule.arrival_rates`; for arrays only."""
        return np.asarray(
            _per_state(arrival_rate) * priority_rates(nu, self._order, self.num_choices)
        )

    def distinct_arrival_rates(
        self, counts: NDArray[np.int64], arrival_rate: float
    ) -> NDArray[np.float64]:
        """Return λ(s) with distinct queues, see `DecisionRule.distinct_arrival_rates`."""
        return arrival_rate * distinct_priority_rates(counts, self._order, self.num_choices)

    @cached_property
    def packet_split(self) -> PacketSplit:
        """Split by (best key, number of ties), see `DecisionRule.packet_split`."""
        return split_by_priority(self._group_of_state, self.num_choices)

    def _table(self) -> NDArray[np.float64]:
        ranks = _slot_array(self._group_of_state, self.num_choices)
        best = ranks == ranks.min(axis=-1, keepdims=True)
        return np.asarray(best / best.sum(axis=-1, keepdims=True))


class _TensorRule(DecisionRule):
    """A rule that is known through its array; the rates are contractions of it with ν."""

    @property
    @abstractmethod
    def rate_tensor(self) -> Any:
        """A(s, s_2..s_d) = Σ_k h(k|s̄) with s in slot k and the others in the other slots."""

    def arrival_rates(self, nu: Any, arrival_rate: Any) -> Any:
        """Return λ(s), see `DecisionRule.arrival_rates`."""
        rates = self.rate_tensor
        for remaining in range(self.num_choices - 1, 0, -1):
            weights = nu[(..., *(None,) * remaining, slice(None))]
            # Not a BLAS product: a row's result must not depend on how many rows are computed.
            rates = (rates * weights).sum(-1)
        if self.num_choices == 1:
            rates = rates + 0.0 * nu  # nothing was contracted, so nothing was broadcast
        return _per_state(arrival_rate) * rates

    def distinct_arrival_rates(
        self, counts: NDArray[np.int64], arrival_rate: float
    ) -> NDArray[np.float64]:
        """Return λ(s) with distinct queues, see `DecisionRule.distinct_arrival_rates`."""
        num_queues = int(counts.sum())
        slots = np.meshgrid(*(np.arange(self.num_states),) * self.num_choices, indexing="ij")
        weights = np.ones(self.shape[:-1])
        for slot in range(1, self.num_choices):
            taken = sum(slots[earlier] == slots[slot] for earlier in range(slot))
            weights *= (counts[slots[slot]] - taken) / (num_queues - slot)
        others = tuple(range(1, self.num_choices))
        rates = (self.rate_tensor * np.maximum(weights, 0.0)).sum(axis=others)
        return np.asarray(arrival_rate * rates)


class TableRule(_TensorRule):
    """Any decision rule, given as an array.

    Parameters
    ----------
    table : array_like, shape (..., S, ..., S, d)
        d axes of length S, then the probabilities of the d choices; leading axes are a batch.

    Raises
    ------
    InvalidInput
        If the shape does not fit, or the last axis is not made of probabilities.
    """

    def __init__(self, table: ArrayLike) -> None:
        array = as_float_array("decision_rule", table)
        choices = array.shape[-1] if array.ndim else 0
        states = array.shape[-choices - 1 : -1] if 0 < choices < array.ndim else ()
        square = len(states) == choices > 0 and len(set(states)) == 1
        require(square, "decision_rule shape", array.shape, "(S,)*d + (d,) after batch axes")
        self.num_states, self.num_choices = states[0], choices
        self._checked = check_probabilities("decision_rule", array)

    def __repr__(self) -> str:
        """Show the shape."""
        return f"TableRule(shape={self._checked.shape})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array, batch axes included."""
        return self._checked.shape

    @cached_property
    def rate_tensor(self) -> NDArray[np.float64]:
        """Slot-summed array, see `_TensorRule.rate_tensor`."""
        first = self._checked.ndim - 1 - self.num_choices
        slots = range(self.num_choices)
        moved = (np.moveaxis(self._checked[..., k], first + k, first) for k in slots)
        return read_only(np.ascontiguousarray(sum(moved)))

    @cached_property
    def packet_split(self) -> PacketSplit:
        """Split by tuple of sampled states, see `DecisionRule.packet_split`."""
        check_enumerable(self._checked.size // self.num_choices, "S^d")
        return split_by_table(self._checked)

    def _table(self) -> NDArray[np.float64]:
        return self._checked


class ScoreRule(_TensorRule):
    """Choose slot k with probability softmax_k g(s̄_k), for a score g of each state.

    Parameters
    ----------
    scores : array_like, shape (..., S)
        Finite score of each state; adding a constant to all of them changes nothing.
    num_choices : int, >= 1
        Number d of sampled queues.

    Notes
    -----
    Every achievable vector of rates λ(s) is achieved by such a rule, up to closure: it is the rule
    of maximum entropy with those rates, and the scores are its dual variables. Softmin(β) has
    g = −βz.
    A batch of scores gives rates that broadcast against ν.

    Examples
    --------
    >>> ScoreRule([0.0, 0.0], num_choices=2)[0, 1]
    array([0.5, 0.5])
    """

    def __init__(self, scores: Any, num_choices: int) -> None:
        self._scores = _finite_scores(scores)
        self.num_states = self._scores.shape[-1]
        self.num_choices = check_int("num_choices", num_choices, 1, MAX_CHOICES)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each state, shape (..., S); read-only."""
        return read_only(self._scores)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the rule as an array, batch axes included."""
        return (*self._scores.shape[:-1], *super().shape)

    def __repr__(self) -> str:
        """Show the scores."""
        return f"ScoreRule(scores={self._scores.tolist()}, num_choices={self.num_choices})"

    @property
    def _tabulated(self) -> bool:
        return bool(self.num_states**self.num_choices <= MAX_TABULATED_TUPLES)

    def arrival_rates(self, nu: Any, arrival_rate: Any) -> Any:
        """Return λ(s), see `DecisionRule.arrival_rates`."""
        if self._tabulated:
            rates = score_rates(self._scores, nu, self.num_choices)
            return _per_state(arrival_rate) * rates
        return _per_state(arrival_rate) * self._race.rates(nu)

    @cached_property
    def _race(self) -> ExponentialRace:
        return ExponentialRace(self._scores, self.num_choices)

    def distinct_arrival_rates(
        self, counts: NDArray[np.int64], arrival_rate: float
    ) -> NDArray[np.float64]:
        """Return λ(s) with distinct queues, see `DecisionRule.distinct_arrival_rates`."""
        if not self._tabulated:
            raise InvalidInput(
                "distinct_queues with a score rule needs S^d <= "
                f"{MAX_TABULATED_TUPLES}, got {self.num_states}^{self.num_choices}"
            )
        return super().distinct_arrival_rates(counts, arrival_rate)

    @cached_property
    def rate_tensor(self) -> Any:
        """Slot-summed array d·h(1|s̄), see `_TensorRule.rate_tensor`."""
        return read_only(np.ascontiguousarray(self.num_choices * self._table()[..., 0]))

    @cached_property
    def packet_split(self) -> PacketSplit:
        """Split by unordered sample of states, see `DecisionRule.packet_split`."""
        size = comb(self.num_states + self.num_choices - 1, self.num_choices)
        check_enumerable(size, "(S+d-1 over d)")
        return split_by_scores(self._scores, self.num_choices)

    def _table(self) -> NDArray[np.float64]:
        slots = _slot_array(self._scores, self.num_choices)
        weights = np.exp(slots - slots.max(axis=-1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _finite_scores(scores: Any) -> NDArray[np.float64]:
    values = as_float_array("scores", scores)
    fits = values.ndim > 0 and values.size > 0 and bool(np.isfinite(values).all())
    require(fits, "scores", scores, "finite numbers, one for each state")
    return values.copy()  # the caller may edit the own array later


def _slot_values(values: Any, num_choices: int) -> list[Any]:
    """Return `values` (..., S) laid along each of d trailing axes."""
    slots = []
    for slot in range(num_choices):
        axes = [None] * num_choices
        axes[slot] = slice(None)  # type: ignore[call-overload]
        slots.append(values[(..., *axes)])
    return slots


def _slot_array(values: NDArray[Any], num_choices: int) -> NDArray[Any]:
    return np.stack(np.broadcast_arrays(*_slot_values(values, num_choices)), axis=-1)


def _per_state(arrival_rate: Any) -> Any:
    return arrival_rate[..., None] if getattr(arrival_rate, "ndim", 0) else arrival_rate
