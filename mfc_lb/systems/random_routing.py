"""Random routing is an M/M/1/B queue: exact values without any sampling.

Under the uniform rule λ(s) = λ whatever ν is, so ν moves linearly and the joint law of the arrival
level and a queue's state is a Markov chain.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import as_float_array, check_int, check_real, require
from mfc_lb.model import SystemParameters
from mfc_lb.model.arrivals import MAX_EPOCHS
from mfc_lb.model.parameters import MAX_BUFFER, require_parameters
from mfc_lb.systems.queue import epoch_by_expm, require_agreement


def blocking_rate(
    arrival_rate: ArrayLike, service_rate: float, buffer_size: int
) -> NDArray[np.float64]:
    """Return the stationary drops per unit of time of an M/M/1/B queue.

    Parameters
    ----------
    arrival_rate : array_like, >= 0
        Arrival rate λ.
    service_rate : float, > 0
        Service rate α.
    buffer_size : int, >= 1
        Buffer size B, the packet in service included.

    Returns
    -------
    ndarray, shape of `arrival_rate`
        λ (1 − ρ) ρ^B / (1 − ρ^(B+1)) with ρ = λ/α, which is λ/(B+1) at ρ = 1.

    Examples
    --------
    >>> blocking_rate([0.9, 1.0], 1.0, 5).round(15).tolist()
    [0.113420294989532, 0.166666666666667]
    """
    rate = as_float_array("arrival_rate", arrival_rate)
    valid = bool(((rate >= 0) & np.isfinite(rate)).all())
    require(valid, "arrival_rate", arrival_rate, "finite and >= 0")
    fillings = np.arange(check_int("buffer_size", buffer_size, 1, MAX_BUFFER) + 1)
    service = check_real("service_rate", service_rate, strict=True)
    with np.errstate(over="ignore"):  # an infinite load has the limit's drops
        load = rate[..., None] / service
    # Dividing by the largest power keeps every term below one; no case for ρ = 1 is needed.
    terms = np.where(load <= 1, fillings, fillings - fillings[-1])
    powers = load**terms
    return np.asarray(rate * powers[..., -1] / powers.sum(axis=-1))


def random_routing_drops(parameters: SystemParameters, num_epochs: int) -> NDArray[np.float64]:
    """Return the exact expected drops per queue in each epoch under random routing.

    Parameters
    ----------
    parameters : SystemParameters
        The model; queues begin empty and the arrival level begins in its initial distribution.
    num_epochs : int, >= 0
        Number E of epochs.

    Returns
    -------
    ndarray, shape (E,)
        Expected drops per queue, by the linear chain on (level, queue state); their sum is the
        expected value of `EvaluationResult.mean` for random routing in every system with
        infinitely many agents.
    """
    require_parameters(parameters)
    parameters.arrivals.require_chain()
    p = parameters
    width = p.buffer_size + 1
    levels = p.arrivals.rates
    by_class = [epoch_by_expm(levels, rate, p.buffer_size, p.delta_t) for rate in p.service_rates]
    for of_class, service_rate in zip(by_class, p.service_rates, strict=True):
        require_agreement(of_class, levels, service_rate, p.buffer_size, p.delta_t)
    epochs = np.stack(by_class)
    moves, losses = epochs[..., :width, :width], epochs[..., width, :width]
    kernel = np.asarray(p.arrivals.kernel)
    # joint[c, l, z]: probability of level l and filling z, for a queue of class c and its mass.
    start = p.empty_distribution.reshape(p.num_classes, 1, width)
    joint = np.asarray(p.arrivals.initial)[:, None] * start
    drops = np.empty(check_int("num_epochs", num_epochs, 0, MAX_EPOCHS))
    for epoch in range(drops.size):
        drops[epoch] = (losses * joint).sum()
        joint = np.einsum("lm,clyz,clz->cmy", kernel, moves, joint)
    return drops
