from .balancers import (
    BALANCERS,
    Balancer,
    Dispatcher,
    JoinShortestQueue,
    LeastLoaded,
    MeanFieldBalancer,
    Random,
    RoundRobin,
)
from .event_log import log_bytes, parse_log, read_log, write_log
from .events import EventKind, EventLog, Events, LogHeader
from .load_moments import LoadMoments, moments_of
from .load_over_time import LoadOverTime
from .parameters import ClusterParameters
from .replay import Fault, check_log
from .results import SimulationResult, Summary
from .rpc.loopback import run_live
from .simulator import simulate_cluster
from .trace_generators import (
    STUDY_TRACES,
    constant_trace,
    modulated_poisson_trace,
    poisson_trace,
    ramp_trace,
    study_trace,
)
from .trace_readers import read_trace
from .traces import Trace

__all__ = [
    "BALANCERS",
    "STUDY_TRACES",
    "Balancer",
    "ClusterParameters",
    "Dispatcher",
    "EventKind",
    "EventLog",
    "Events",
    "Fault",
    "JoinShortestQueue",
    "LeastLoaded",
    "LoadMoments",
    "LoadOverTime",
    "LogHeader",
    "MeanFieldBalancer",
    "Random",
    "RoundRobin",
    "SimulationResult",
    "Summary",
    "Trace",
    "check_log",
    "constant_trace",
    "log_bytes",
    "modulated_poisson_trace",
    "moments_of",
    "parse_log",
    "poisson_trace",
    "ramp_trace",
    "read_log",
    "read_trace",
    "run_live",
    "simulate_cluster",
    "study_trace",
    "write_log",
]
