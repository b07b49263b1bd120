"""Mean-field control for load balancing with delayed information in large queuing systems.

A companion library to Tahir, Cui and Koeppl, *Learning Mean-Field Control for Delayed Information
Load Balancing in Large Queuing Systems*, ICPP 2022, doi 10.1145/3545008.3545025.
"""

from importlib.metadata import PackageNotFoundError, version

from mfc_lb.errors import InvalidInput
from mfc_lb.model import (
    ArrivalProcess,
    ConstantPolicy,
    DecisionRule,
    Policy,
    SystemParameters,
    join_shortest_queue,
    random_choice,
    score_rule,
    shortest_expected_delay,
    softmin,
)
from mfc_lb.systems import (
    Estimate,
    EvaluationResult,
    FiniteSystem,
    InfiniteAgentSystem,
    MeanFieldSystem,
    evaluate,
)

try:
    __version__ = version("mfc_lb")
except PackageNotFoundError:  # used from a source tree that is not installed
    __version__ = "0.0.0"

__all__ = [
    "ArrivalProcess",
    "ConstantPolicy",
    "DecisionRule",
    "Estimate",
    "EvaluationResult",
    "FiniteSystem",
    "InfiniteAgentSystem",
    "InvalidInput",
    "MeanFieldSystem",
    "Policy",
    "SystemParameters",
    "evaluate",
    "join_shortest_queue",
    "random_choice",
    "score_rule",
    "shortest_expected_delay",
    "softmin",
]
