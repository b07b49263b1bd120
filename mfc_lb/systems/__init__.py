"""The three systems: finite, infinitely many agents, and the mean-field limit."""

from mfc_lb.systems.evaluation import evaluate, rate_paths, simulate_runs
from mfc_lb.systems.finite import FiniteSystem
from mfc_lb.systems.infinite_agents import InfiniteAgentSystem
from mfc_lb.systems.mean_field import MeanFieldSystem
from mfc_lb.systems.propagator import EpochPropagator
from mfc_lb.systems.queue import epoch_by_expm, extended_rate_matrix
from mfc_lb.systems.queue_system import QueueSystem
from mfc_lb.systems.random_routing import blocking_rate, random_routing_drops
from mfc_lb.systems.results import Estimate, EvaluationResult
from mfc_lb.systems.trajectory import Trajectory

__all__ = [
    "EpochPropagator",
    "Estimate",
    "EvaluationResult",
    "FiniteSystem",
    "InfiniteAgentSystem",
    "MeanFieldSystem",
    "QueueSystem",
    "Trajectory",
    "blocking_rate",
    "epoch_by_expm",
    "evaluate",
    "extended_rate_matrix",
    "random_routing_drops",
    "rate_paths",
    "simulate_runs",
]
