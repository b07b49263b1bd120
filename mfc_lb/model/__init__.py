"""The model: parameters, arrivals, decision rules and upper-level policies."""

from mfc_lb.model.arrivals import ArrivalProcess
from mfc_lb.model.decision_rules import (
    as_decision_rule,
    join_shortest_queue,
    random_choice,
    score_rule,
    shortest_expected_delay,
    softmin,
)
from mfc_lb.model.level_paths import LevelPaths, sample_path
from mfc_lb.model.matching import matching_score_rule
from mfc_lb.model.parameters import SystemParameters
from mfc_lb.model.policies import ConstantPolicy, Policy, check_policy
from mfc_lb.model.rules import DecisionRule, PriorityRule, ScoreRule, TableRule

__all__ = [
    "ArrivalProcess",
    "ConstantPolicy",
    "DecisionRule",
    "LevelPaths",
    "Policy",
    "PriorityRule",
    "ScoreRule",
    "SystemParameters",
    "TableRule",
    "as_decision_rule",
    "check_policy",
    "join_shortest_queue",
    "matching_score_rule",
    "random_choice",
    "sample_path",
    "score_rule",
    "shortest_expected_delay",
    "softmin",
]
