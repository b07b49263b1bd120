"""Small tables that illustrate the theory; they take no time and are not stored."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from mfc_lb.model import (
    ArrivalProcess,
    ConstantPolicy,
    DecisionRule,
    SystemParameters,
    random_choice,
)
from mfc_lb.systems import MeanFieldSystem, epoch_by_expm
from mfc_lb.systems.queue import chebyshev_degree


def chebyshev_errors(delta_ts: ArrayLike = (1.0, 5.0, 10.0), max_rate: float = 1.8) -> pd.DataFrame:
    """Return how the error of the propagator's interpolation falls with its degree.

    Parameters
    ----------
    delta_ts : array_like
        Delays.
    max_rate : float, optional
        Largest arrival rate that the series serves; d·λ_max in the paper's case.

    Returns
    -------
    DataFrame
        Columns ``delta_t``, ``degree``, ``error`` (largest over arrival rates and entries of
        exp(Q̄Δt), drops relative to max(1, r_max Δt)) and ``bound``: the smallest power of ten that
        `chebyshev_degree` guarantees at that degree, NaN where it guarantees nothing. Rounding
        keeps errors from falling much below 1e-14.
    """
    bounds = 10.0 ** np.arange(0, -15, -1)
    rows = []
    for delta_t in np.atleast_1d(np.asarray(delta_ts, dtype=np.float64)).tolist():
        degrees = np.array([chebyshev_degree(max_rate * delta_t, bound) for bound in bounds])
        for degree in range(1, int(degrees.max()) + 1):
            guaranteed = bounds[degrees <= degree]
            bound = float(guaranteed.min()) if guaranteed.size else float("nan")
            error = _interpolation_error(degree, delta_t, max_rate)
            rows.append({"delta_t": delta_t, "degree": degree, "error": error, "bound": bound})
    return pd.DataFrame(rows)


def _interpolation_error(degree: int, delta_t: float, max_rate: float) -> float:
    p = SystemParameters()

    def epochs(argument: NDArray[np.float64]) -> NDArray[np.float64]:
        rates = max_rate * (1.0 + argument) / 2.0
        entries = epoch_by_expm(rates, p.service_rates[0], p.buffer_size, delta_t)[..., :-1]
        entries[:, -1] /= max(1.0, max_rate * delta_t)
        return np.asarray(entries.reshape(len(argument), -1))

    nodes, places = chebyshev.chebpts1(degree + 1), np.linspace(-1.0, 1.0, 101)
    series = chebyshev.chebfit(nodes, epochs(nodes), degree)
    return float(np.abs(chebyshev.chebval(places, series).T - epochs(places)).max())


def rates_by_filling(
    rules: Mapping[str, DecisionRule], nu: ArrayLike, arrival_rate: float
) -> pd.DataFrame:
    """Return the arrival rate of a queue by its filling, under several rules.

    Parameters
    ----------
    rules : mapping from str to DecisionRule
        Rules by the policies' names.
    nu : array_like, shape (S,)
        Distribution of the queues, of one server class.
    arrival_rate : float
        Arrival rate λ per queue.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``filling``, ``fraction`` (of queues with it), ``arrival_rate``.
    """
    fractions = np.asarray(nu, dtype=np.float64)
    return pd.DataFrame(
        [
            {"policy": name, "filling": z, "fraction": fractions[z], "arrival_rate": float(rate)}
            for name, rule in rules.items()
            for z, rate in enumerate(rule.arrival_rates(fractions, arrival_rate))
        ]
    )


def random_routing_losses(
    buffer_size: int = 5, delta_t: float = 5.0, num_epochs: int = 2000
) -> pd.DataFrame:
    """Return the loss rate of random routing, by the mean field and by the M/M/1/B formula.

    Parameters
    ----------
    buffer_size : int, optional
        Buffer size B.
    delta_t : float, optional
        Delay; it makes no difference.
    num_epochs : int, optional
        Epochs until the queues are taken to be stationary.

    Returns
    -------
    DataFrame
        Columns ``arrival_rate``, ``formula`` (λ ρ^B (1−ρ)/(1−ρ^(B+1)) with ρ = λ/α; B+1 places) and
        ``mean_field``, both in drops per queue and mean service time.
    """
    rows = []
    for rate in np.linspace(0.1, 1.5, 15).round(3).tolist():
        arrivals = ArrivalProcess.constant(rate)
        p = SystemParameters(buffer_size=buffer_size, delta_t=delta_t, arrivals=arrivals)
        levels = np.zeros(num_epochs, dtype=np.int64)
        drops = MeanFieldSystem(p).simulate(ConstantPolicy(random_choice(p)), levels).drops
        powers = rate ** np.arange(buffer_size + 1)
        formula = float(rate * powers[-1] / powers.sum())
        loss = float(drops[-1] / delta_t)
        rows.append({"arrival_rate": rate, "formula": formula, "mean_field": loss})
    return pd.DataFrame(rows)
