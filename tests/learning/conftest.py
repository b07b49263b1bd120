"""Small systems, random policies, and random numbers that nobody may touch."""

import numpy as np
import pytest
import torch

from mfc_lb import ArrivalProcess, SystemParameters
from mfc_lb.learning import ActionKind, NetworkPolicy
from tests.learning.policies import random_policy


@pytest.fixture(params=[str(kind) for kind in ActionKind])
def kind(request) -> ActionKind:
    """Either kind of action."""
    return ActionKind(request.param)


@pytest.fixture
def small() -> SystemParameters:
    """Return six states of two classes, three choices and three levels."""
    arrivals = ArrivalProcess(
        rates=(1.2, 0.8, 0.1),
        kernel=((0.5, 0.5, 0.0), (0.1, 0.8, 0.1), (0.3, 0.3, 0.4)),
        initial=(0.2, 0.3, 0.5),
    )
    return SystemParameters(2, 3, (1.0, 0.5), (0.4, 0.6), arrivals, delta_t=3.0)


@pytest.fixture
def network(small, kind) -> NetworkPolicy:
    """Return a random network for the small system."""
    return random_policy(small, kind)


@pytest.fixture
def _two_threads():
    """Let torch have two threads; a test fails if they, or global random numbers, change."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    legacy, numbers = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    yield
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)
    assert np.array_equal(np.random.get_state()[1], legacy[1])  # noqa: NPY002
    assert np.random.get_state()[2] == legacy[2]  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), numbers)
