"""What both ways of training have in common."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch

from mfc_lb.errors import require
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.model import SystemParameters
from mfc_lb.model.parameters import require_parameters
from mfc_lb.systems import Estimate

#: Largest mean number of packets that may come to a queue in an epoch of training. Queues have long
#: forgotten by then how the epoch began.
MAX_ARRIVALS = 4e3

#: From a policy to its drops, for a learning curve.
Evaluate = Callable[[NetworkPolicy], Estimate]


@dataclass(frozen=True)
class CurvePoint:
    """One point of a learning curve.

    Attributes
    ----------
    environment_steps : int
        Epochs simulated so far, summed over all systems.
    seconds : float
        Spent on training so far, evaluations for the curve left out.
    drops : Estimate
        What the curve's evaluation gave.
    """

    environment_steps: int
    seconds: float
    drops: Estimate

    @classmethod
    def from_dict(cls, point: dict[str, Any]) -> "CurvePoint":
        """Return the point whose `dataclasses.asdict` is given."""
        return cls(**{**point, "drops": Estimate(**point["drops"])})


@dataclass(frozen=True)
class TrainingResult:
    """What training gives.

    Attributes
    ----------
    policy : NetworkPolicy
        The trained policy.
    settings : mapping
        The method's name and all its settings, for the policy's card.
    seconds : float
        Spent on training.
    curve : list of CurvePoint
        Empty if no evaluation was asked for.
    candidates : mapping from str to Estimate
        Drops of the policies among which the result was chosen, simplest first.
    excess : mapping from str to Estimate
        The same minus the drops of the chosen one, paired on the same paths.
    chosen : str
        Which of them it is.
    """

    policy: NetworkPolicy
    settings: Mapping[str, Any]
    seconds: float
    curve: list[CurvePoint] = field(default_factory=list)
    candidates: Mapping[str, Estimate] = field(default_factory=dict)
    excess: Mapping[str, Estimate] = field(default_factory=dict)
    chosen: str = "network"

    def results(self) -> dict[str, Any]:
        """Return what training reached, for the policy's card."""
        compared = {
            what: {name: asdict(estimate) for name, estimate in estimates.items()}
            for what, estimates in (("candidates", self.candidates), ("excess", self.excess))
        }
        return {"seconds": self.seconds, "chosen": self.chosen, **compared}


def check_run(parameters: SystemParameters, settings: object, kind: type) -> None:
    """Refuse what no training run can be made of, before anything is computed.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    settings : object
        The trainer's settings.
    kind : type
        What they have to be.

    Raises
    ------
    InvalidInput
        If either is something else, or so many packets come in an epoch that training takes hours.
    """
    require_parameters(parameters)
    require(isinstance(settings, kind), "settings", settings, kind.__name__)
    largest = max(parameters.num_choices * max(parameters.arrivals.rates), 1e-9)
    longest = MAX_ARRIVALS / largest
    allowed = f"at most {longest:g} for training"
    require(parameters.delta_t <= longest, "delta_t", parameters.delta_t, allowed)


@contextmanager
def isolated_torch() -> Iterator[None]:
    """Let a block use one thread and global random numbers, and leave no trace of it.

    On networks this small, several threads are slower than one; and they add in another order.
    """
    threads, numbers = torch.get_num_threads(), np.random.get_state()  # noqa: NPY002
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)
        np.random.set_state(numbers)  # noqa: NPY002
