from .errors import InvalidInput
from .learning import load_policy
from .model import (
    ArrivalProcess,
    ConstantPolicy,
    DecisionRule,
    Policy,
    SystemParameters,
    check_policy,
    join_shortest_queue,
    random_choice,
    score_rule,
    shortest_expected_delay,
    softmin,
)
from .systems import (
    Estimate,
    EvaluationResult,
    FiniteSystem,
    InfiniteAgentSystem,
    MeanFieldSystem,
    evaluate,
)

__version__: str

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
    "check_policy",
    "evaluate",
    "join_shortest_queue",
    "load_policy",
    "random_choice",
    "score_rule",
    "shortest_expected_delay",
    "softmin",
]
