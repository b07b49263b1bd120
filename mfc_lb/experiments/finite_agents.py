"""Random routing by finitely many agents, exactly.

The rate of a queue does not depend on its state. In each epoch the number of picks that fall on it
is Binomial(N, 1/M) with one pick per agent, each worth λM/N (per epoch), or Binomial(dN, 1/M), each
worth λM/(dN) (per packet). So the level and the filling of one queue together are a linear chain,
with the matrix of an epoch averaged over that number.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray

from mfc_lb.errors import check_int, require
from mfc_lb.experiments.cases import HORIZON, RND
from mfc_lb.model import SystemParameters
from mfc_lb.results.experiment import Row, estimate_columns, exactly
from mfc_lb.systems import epoch_by_expm

ROUTINGS = ("per_epoch", "per_packet")

#: Numbers of picks that are rarer than this, on either side, are left out.
NEGLIGIBLE = 1e-13


def queue_rates(
    arrival_rate: float,
    num_queues: int,
    agents_per_queue: Sequence[float],
    num_choices: int = 2,
) -> pd.DataFrame:
    """Return the law of one queue's arrival rate in an epoch of random routing.

    Parameters
    ----------
    arrival_rate : float, >= 0
        Arrival rate λ per queue.
    num_queues : int, >= 1
        Number M of queues.
    agents_per_queue : sequence of float, > 0
        Ratios N/M.
    num_choices : int, optional
        Number d of queues that an agent samples; matters per packet only.

    Returns
    -------
    DataFrame
        Columns ``agents_per_queue``, ``routing``, ``rate`` (of the queue, increasing) and
        ``probability``.
    """
    rows = [
        {"agents_per_queue": ratio, "routing": routing, "rate": rate, "probability": chance}
        for ratio in agents_per_queue
        for routing in ROUTINGS
        for rate, chance in _rate_law(
            routing, _num_agents(ratio, num_queues), num_queues, num_choices
        )
    ]
    table = pd.DataFrame(rows)
    return table.assign(rate=arrival_rate * table.rate)


def random_drops_by_population(
    parameters: SystemParameters, num_queues: int, agents_per_queue: Sequence[float]
) -> pd.DataFrame:
    """Return the exact expected drops of random routing with finitely many agents.

    Parameters
    ----------
    parameters : SystemParameters
        The model, with one server class.
    num_queues : int, >= 1
        Number M of queues.
    agents_per_queue : sequence of float, > 0
        Ratios N/M; may be inf.

    Returns
    -------
    DataFrame
        Columns ``routing``, ``num_queues``, ``num_agents``, ``agents_per_queue``, ``delta_t``,
        ``policy`` and those of an estimate: drops per queue over 500 mean service times.

    Examples
    --------
    >>> p = SystemParameters(delta_t=10.0)
    >>> table = random_drops_by_population(p, num_queues=50, agents_per_queue=(50,))
    >>> table.set_index("routing").estimate.round(6).to_dict()
    {'per_epoch': 43.546059, 'per_packet': 42.411063}
    """
    one_class = parameters.num_classes == 1
    require(one_class, "service_rates", parameters.service_rates, "those of one server class")
    rows = [
        _drops_row(parameters, routing, num_queues, ratio)
        for ratio in agents_per_queue
        for routing in ROUTINGS
    ]
    return pd.DataFrame(rows)


def _drops_row(p: SystemParameters, routing: str, num_queues: int, ratio: float) -> Row:
    num_agents = _num_agents(ratio, num_queues)
    law = _rate_law(routing, num_agents, num_queues, p.num_choices)
    return {
        "routing": routing,
        "num_queues": num_queues,
        "num_agents": num_agents,
        "agents_per_queue": ratio,
        "delta_t": p.delta_t,
        "policy": RND,
        **estimate_columns(exactly(_expected_drops(p, np.array(list(law))))),
    }


def _num_agents(ratio: float, num_queues: int) -> float:
    agents = (
        math.inf if math.isinf(ratio) else round(ratio * check_int("num_queues", num_queues, 1))
    )
    require(agents >= 1, "agents_per_queue", ratio, "large enough for one agent")
    return agents


def _rate_law(
    routing: str, num_agents: float, num_queues: int, num_choices: int
) -> Iterator[tuple[float, float]]:
    """Yield the values of λ_j/λ, in increasing order, and their probabilities."""
    if math.isinf(num_agents):
        yield 1.0, 1.0
        return
    picks = int(num_agents) * (1 if routing == "per_epoch" else num_choices)
    number = scipy.stats.binom(picks, 1.0 / num_queues)
    counts = np.arange(max(0.0, number.ppf(NEGLIGIBLE)), number.isf(NEGLIGIBLE) + 1)
    yield from zip(counts * num_queues / picks, number.pmf(counts), strict=True)


def _expected_drops(p: SystemParameters, law: NDArray[np.float64]) -> float:
    """Return Σ_t E D_t over the paper's horizon, for a law of λ_j/λ of shape (n, 2)."""
    kernel = np.asarray(p.arrivals.kernel)
    epochs = np.stack([_mean_epoch(p, rate, law) for rate in p.arrivals.rates])
    joint = np.asarray(p.arrivals.initial)[:, None] * p.empty_distribution
    total = 0.0
    for _ in range(p.num_epochs(HORIZON)):
        # The last row of an epoch collects drops.
        ends = np.einsum("lez,lz->le", epochs, joint)
        total += float(ends[:, -1].sum())
        joint = kernel.T @ ends[:, :-1]
    return total


def _mean_epoch(
    p: SystemParameters, arrival_rate: float, law: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the matrix of an epoch averaged over the law, shape (B+2, B+1)."""
    shares, chances = law.T
    epochs = epoch_by_expm(arrival_rate * shares, p.service_rates[0], p.buffer_size, p.delta_t)
    return np.asarray(np.tensordot(chances, epochs[:, :, :-1], axes=1))
