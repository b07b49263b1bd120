"""Policies of random weights."""

import numpy as np

from mfc_lb import SystemParameters
from mfc_lb.learning import ActionKind, NetworkPolicy, action_size
from mfc_lb.learning.networks import fresh_network

#: Nothing of this names a file.
NO_PATHS = ["", ".", "..", "/", "a/..", "a\0b", "\ud800", None, 3, 1.5, b"bytes", ["a"], {}]


def random_policy(parameters: SystemParameters, kind: ActionKind, seed: int = 0) -> NetworkPolicy:
    """Return a network whose every weight is random."""
    generator = np.random.default_rng(seed)
    levels = parameters.arrivals.num_levels
    base = generator.standard_normal((levels, action_size(parameters, kind)))
    weights = fresh_network(
        generator.standard_normal((levels, parameters.num_states)), 8, generator
    )
    out = generator.standard_normal((8, base.shape[1]))
    return NetworkPolicy({**weights, "base": base, "out": out}, parameters, kind)
