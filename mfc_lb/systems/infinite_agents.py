"""Infinitely many agents on M queues: a queue's arrival rate follows from the queue states."""

import numpy as np
from numpy.typing import NDArray

from mfc_lb.model import DecisionRule
from mfc_lb.systems.queue_system import QueueSystem


class InfiniteAgentSystem(QueueSystem):
    """M queues and infinitely many agents (∞, M).

    Parameters
    ----------
    parameters : SystemParameters
        The model's parameters.
    num_queues : int, >= 1
        Number M of queues.
    distinct_queues : bool, optional
        Agents sample d distinct queues; the model's default is with replacement.

    Raises
    ------
    InvalidInput
        If a value is out of range.
    """

    def __repr__(self) -> str:
        """Show the size."""
        distinct = ", distinct_queues=True" if self.distinct_queues else ""
        return f"InfiniteAgentSystem(num_queues={self.num_queues}{distinct})"

    def _queue_rates(
        self,
        states: NDArray[np.int64],
        counts: NDArray[np.int64],
        arrival_rate: float,
        rule: DecisionRule,
        sampling: np.random.Generator,
    ) -> NDArray[np.float64]:
        return self._rates_by_state(counts, arrival_rate, rule)[states]
