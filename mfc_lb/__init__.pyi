from . import cli as cli
from . import cluster as cluster
from . import companion as companion
from . import errors as errors
from . import experiments as experiments
from . import figures as figures
from . import learning as learning
from . import model as model
from . import systems as systems
from .errors import InvalidInput
from .learning import certify, load_policy, save_policy, train
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
    "certify",
    "check_policy",
    "evaluate",
    "join_shortest_queue",
    "load_policy",
    "random_choice",
    "save_policy",
    "score_rule",
    "shortest_expected_delay",
    "softmin",
    "train",
]
