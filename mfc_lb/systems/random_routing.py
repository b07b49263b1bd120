"""Random routing is an M/M/1/B queue: exact values without any sampling.

Under the uniform rule λ(s) = λ whatever ν is, so ν moves linearly and the joint law of the arrival
level and a queue's state is a Markov chain.
"""

import numpy as np

from mfc_lb.errors import check_int, check_real
from mfc_lb.model import SystemParameters
from mfc_lb.systems.queue import epoch_by_expm


def blocking_rate(arrival_rate: float, service_rate: float, buffer_size: int) -> float:
    """Return the stationary drops per unit of time of an M/M/1/B queue.

    Parameters
    ----------
    arrival_rate : float, >= 0
        Arrival rate λ.
    service_rate : float, > 0
        Service rate α.
    buffer_size : int, >= 1
        Buffer size B, the packet in service included.

    Returns
    -------
    float
        λ (1 − ρ) ρ^B / (1 − ρ^(B+1)) with ρ = λ/α, which is λ/(B+1) at ρ = 1.

    Examples
    --------
    >>> round(blocking_rate(0.9, 1.0, 5), 15), round(blocking_rate(1.0, 1.0, 5), 15)
    (0.113420294989532, 0.166666666666667)
    """
    rate = check_real("arrival_rate", arrival_rate)
    size = check_int("buffer_size", buffer_size, 1)
    load = rate / check_real("service_rate", service_rate, strict=True)
    # Dividing by the largest power keeps every term below one; no case for ρ = 1 is needed.
    powers = np.arange(size + 1) if load <= 1 else np.arange(-size, 1)
    return rate * float(load ** powers[-1] / np.sum(load**powers))


def random_routing_total_drops(parameters: SystemParameters, num_epochs: int) -> float:
    """Return the exact expected cumulative drops per queue under random routing.

    Parameters
    ----------
    parameters : SystemParameters
        The model; queues begin empty and the arrival level begins in its initial distribution.
    num_epochs : int, >= 0
        Number of epochs.

    Returns
    -------
    float
        Expected drops per queue over all epochs, by the linear chain on (level, queue state).
    """
    p = parameters
    width = p.buffer_size + 1
    levels = p.arrivals.rates
    by_class = (epoch_by_expm(levels, rate, p.buffer_size, p.delta_t) for rate in p.service_rates)
    epochs = np.stack(list(by_class))
    moves, losses = epochs[..., :width, :width], epochs[..., width, :width]
    kernel = np.asarray(p.arrivals.kernel)
    # joint[c, l, z]: probability of level l and filling z, for a queue of class c and its mass.
    start = p.empty_distribution.reshape(p.num_classes, 1, width)
    joint = np.asarray(p.arrivals.initial)[:, None] * start
    total = 0.0
    for _ in range(check_int("num_epochs", num_epochs, 0)):
        total += float((losses * joint).sum())
        joint = np.einsum("lm,clyz,clz->cmy", kernel, moves, joint)
    return total
