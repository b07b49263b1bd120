"""What is fixed in an experiment: buffers, servers, sampling, arrivals and the delay."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.arrays import WithoutCaches, read_only
from mfc_lb.errors import check_int, check_real, check_reals, require
from mfc_lb.model.arrivals import MAX_EPOCHS, ArrivalProcess
from mfc_lb.model.probabilities import check_probabilities

#: Largest number d of choices: binomial coefficients of d must fit into float64.
MAX_CHOICES = 1000
#: Largest buffer.
MAX_BUFFER = 10**6
#: Bound on the expected number of events at a queue in an epoch.
MAX_EVENTS = 1e9


@dataclass(frozen=True)
class SystemParameters(WithoutCaches):
    """Parameters of the load-balancing model; the defaults are the paper's, with delta_t = 1.

    Parameters
    ----------
    buffer_size : int, 1 to 10^6
        Largest filling B of a queue, the packet in service included.
    num_choices : int, 1 to 1000
        Number d of queues that an agent samples, uniformly and with replacement.
    service_rates : sequence of float, > 0
        Service rate α of each server class, in packets per unit of time.
    class_fractions : sequence of float
        Fraction of the queues in each server class; sums to one.
    arrivals : ArrivalProcess
        Arrival rate per queue, a Markov chain stepped once per epoch.
    delta_t : float, > 0
        Synchronisation delay Δt: length of an epoch, in units of time. At the highest rates, fewer
        than 10^9 events are expected at a queue in an epoch.

    Raises
    ------
    InvalidInput
        If a value is outside the ranges above.

    Notes
    -----
    A *queue state* is a pair (server class c, filling z), stored at index c·(B+1) + z; there are
    S = C·(B+1) of them. Section 2 of Tahir, Cui and Koeppl (ICPP 2022) has one class, S = B+1.
    Arrays are read-only: parameters do not change once they are made.

    Examples
    --------
    >>> p = SystemParameters(delta_t=5.0)
    >>> p.num_states, p.num_epochs(500)
    (6, 100)
    >>> SystemParameters(delta_t=-1.0)
    Traceback (most recent call last):
    mfc_lb.errors.InvalidInput: delta_t must be a finite number > 0, got -1.0
    """

    buffer_size: int = 5
    num_choices: int = 2
    service_rates: tuple[float, ...] = (1.0,)
    class_fractions: tuple[float, ...] = (1.0,)
    arrivals: ArrivalProcess = field(default_factory=ArrivalProcess)
    delta_t: float = 1.0

    if TYPE_CHECKING:  # what may be given is wider than what is kept

        def __init__(
            self,
            buffer_size: int = 5,
            num_choices: int = 2,
            service_rates: ArrayLike = (1.0,),
            class_fractions: ArrayLike = (1.0,),
            arrivals: ArrivalProcess = ...,
            delta_t: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check every field and store it in its canonical type."""
        rates = check_reals("service_rates", self.service_rates, strict=True)
        fractions = check_reals("class_fractions", self.class_fractions)
        one_each = f"one fraction for each of the {len(rates)} service_rates"
        require(len(fractions) == len(rates), "class_fractions", fractions, one_each)
        shares = check_probabilities("class_fractions", fractions)
        is_process = isinstance(self.arrivals, ArrivalProcess)
        require(is_process, "arrivals", self.arrivals, "an ArrivalProcess")
        self._store(
            buffer_size=check_int("buffer_size", self.buffer_size, 1, MAX_BUFFER),
            num_choices=check_int("num_choices", self.num_choices, 1, MAX_CHOICES),
            service_rates=rates,
            class_fractions=tuple(shares.tolist()),
            delta_t=check_real("delta_t", self.delta_t, strict=True),
        )
        require_few_events(self, self.num_choices * max(self.arrivals.rates))

    def _store(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> "SystemParameters":
        """Return a validated copy with some fields changed."""
        return replace(self, **changes)

    @property
    def num_classes(self) -> int:
        """Number C of server classes."""
        return len(self.service_rates)

    @cached_property
    def num_states(self) -> int:
        """Number S = C·(B+1) of queue states."""
        return self.num_classes * (self.buffer_size + 1)

    @cached_property
    def fillings(self) -> NDArray[np.int64]:
        """Filling z of each queue state, shape (S,)."""
        return read_only(np.tile(np.arange(self.buffer_size + 1), self.num_classes))

    @cached_property
    def state_service_rates(self) -> NDArray[np.float64]:
        """Service rate α of each queue state, shape (S,)."""
        return read_only(np.repeat(np.asarray(self.service_rates), self.buffer_size + 1))

    @cached_property
    def empty_distribution(self) -> NDArray[np.float64]:
        """Distribution ν over queue states when every queue is empty, shape (S,)."""
        nu = np.zeros(self.num_states)
        nu[:: self.buffer_size + 1] = self.class_fractions
        return read_only(nu)

    def num_epochs(self, horizon: float = 500.0) -> int:
        """Return the number of epochs round(horizon/Δt) that the paper's evaluation runs.

        Parameters
        ----------
        horizon : float, > 0
            Simulated time; the paper's is 500.

        Returns
        -------
        int
            At least one.
        """
        epochs = check_real("horizon", horizon, strict=True) / self.delta_t
        require(epochs < MAX_EPOCHS, "horizon", horizon, f"less than {MAX_EPOCHS:g} epochs long")
        return max(1, round(epochs))


def require_few_events(parameters: SystemParameters, arrival_rate: float) -> None:
    """Refuse epochs in which a queue with this arrival rate has more events than can be followed.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    arrival_rate : float
        Highest arrival rate at a queue.
    """
    events = (arrival_rate + max(parameters.service_rates)) * parameters.delta_t
    allowed = f"so short that fewer than {MAX_EVENTS:g} events are expected at a queue in an epoch"
    require(events < MAX_EVENTS, "delta_t", parameters.delta_t, allowed)


def require_parameters(parameters: Any) -> None:
    """Refuse what are no parameters, such as the class itself."""
    are_parameters = isinstance(parameters, SystemParameters)
    require(are_parameters, "parameters", parameters, "SystemParameters")
