from .actions import ActionKind, action_size, decision_rule_of
from .clairvoyant import Certificate, certify, clairvoyant_drops
from .environment import MeanFieldEnv, MeanFieldVectorEnv
from .networks import NetworkPolicy
from .pathwise import Objective, PathwiseSettings, train_pathwise
from .policy_files import PolicyCard, load_card, load_policy, save_policy
from .ppo import PPOSettings, train_ppo
from .softmin import best_softmin
from .trainers import train, train_with
from .training import CurvePoint, TrainingResult

__all__ = [
    "ActionKind",
    "Certificate",
    "CurvePoint",
    "MeanFieldEnv",
    "MeanFieldVectorEnv",
    "NetworkPolicy",
    "Objective",
    "PPOSettings",
    "PathwiseSettings",
    "PolicyCard",
    "TrainingResult",
    "action_size",
    "best_softmin",
    "certify",
    "clairvoyant_drops",
    "decision_rule_of",
    "load_card",
    "load_policy",
    "save_policy",
    "train",
    "train_pathwise",
    "train_ppo",
    "train_with",
]
