"""The options of cluster commands: balancers by word, workers and their cores."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfc_lb.cli.durations import Duration
from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import combined, option
from mfc_lb.cli.values import INTEGERS, Whole

if TYPE_CHECKING:
    from mfc_lb.cluster import Balancer, ClusterParameters, MeanFieldBalancer

BALANCING, WORKERS = "How jobs are sent to workers", "Workers"
DISTINCT, FIRST = "distinct", "first"
#: What the help says of the words that name balancers.
BALANCER_WORDS = """\b
A balancer picks a worker for each job. The load of a worker is the number
of its jobs, in service and waiting, over its cores.
  random           any worker
  round-robin      the workers in turns
  least-loaded     the smallest load; least-loaded:first breaks ties by order,
                   not at random
  jsq, jsq:3       the smallest load of 2 (or 3) workers, sampled afresh for
                   each job: the power of d choices; jsq:3:distinct samples
                   without replacement
  mean-field:FILE  a trained policy (mfc-lb train), or jsq, softmin:BETA, ...
                   instead of FILE
"""

which_balancer = option(
    "--balancer",
    default="least-loaded",
    section=BALANCING,
    metavar="WORD",
    text="What picks a worker for each job, see above.",
)

capacity = option(
    "--capacity",
    type=Whole(),
    section=WORKERS,
    otherwise="no bound",
    text="Most jobs at a worker, in service and waiting; at least 1. More are dropped.",
)
workers = combined(
    option(
        "--workers",
        type=Whole(),
        section=WORKERS,
        otherwise="3, or as many as --cores names",
        text="Number of workers; at least 1.",
    ),
    option(
        "--cores",
        type=INTEGERS,
        default="4",
        section=WORKERS,
        text="Cores of each worker, at least 1: one number for all, or one for each worker.",
    ),
    capacity,
)

refresh = option(
    "--refresh",
    type=Duration(),
    default="0",
    section=BALANCING,
    text="How often the balancer looks at the loads: it sees them as they were at the last "
    "multiple of this time of the trace, such as 100ms. 0: it always sees the present loads.",
)

#: All of them.
shape = combined(workers, which_balancer, refresh)


def cluster_of(
    given: dict[str, Any], refresh_interval_us: int | None = None
) -> "ClusterParameters":
    """Return the cluster that the options describe.

    Parameters
    ----------
    given : dict
        Values of the options of `workers`, and of `refresh` unless the interval is told.
    refresh_interval_us : int, optional
        The refresh interval.
    """
    from mfc_lb.cluster import ClusterParameters

    interval = given["refresh"] if refresh_interval_us is None else refresh_interval_us
    with naming_options(num_workers="--workers", refresh_interval_us="--refresh"):
        return ClusterParameters(cores_of(given), given["capacity"], interval)


def cores_of(given: dict[str, Any]) -> tuple[int, ...]:
    """Return the cores of each worker."""
    from mfc_lb.cluster.parameters import MAX_WORKERS
    from mfc_lb.errors import check_int

    cores: tuple[int, ...] = given["cores"]
    count = given["workers"]
    if count is None:
        return cores * 3 if len(cores) == 1 else cores
    with naming_options(workers="--workers"):
        check_int("workers", count, 1, MAX_WORKERS)
    if len(cores) not in (1, count):
        refuse("--cores", f"one number, or one for each of {count} workers", len(cores))
    return cores * count if len(cores) == 1 else cores


def named_balancer(word: str, field: str, load: float | None = None) -> "Balancer":
    """Return the balancer that a word means.

    Parameters
    ----------
    word : str
        See `BALANCER_WORDS`.
    field : str
        The option, for messages.
    load : float, optional
        Work that is expected per core: a mean-field policy is told the arrival level that is
        nearest to it, or else its first.
    """
    from mfc_lb.cluster import JoinShortestQueue, LeastLoaded, Random, RoundRobin

    name, _, rest = word.partition(":")
    if name in ("random", "round-robin") and not rest:
        return Random() if name == "random" else RoundRobin()
    if name == "least-loaded" and rest in ("", FIRST):
        return LeastLoaded(rest or "uniform")
    number, _, how = (rest or "2").partition(":")
    if name == "jsq" and number.isascii() and number.isdigit() and how in ("", DISTINCT):
        with naming_options(num_choices=f"the number in {field} jsq:D"):
            return JoinShortestQueue(int(number), distinct=how == DISTINCT)
    if name != "mean-field" or not rest:
        words = "random, round-robin, least-loaded[:first], jsq[:D][:distinct] or mean-field:FILE"
        refuse(field, words, word)
    return _mean_field(rest, field, load)


def _mean_field(word: str, field: str, load: float | None) -> "MeanFieldBalancer":
    from mfc_lb.cli.policies import named_policy
    from mfc_lb.cluster import MeanFieldBalancer
    from mfc_lb.learning import load_policy
    from mfc_lb.model import SystemParameters

    with naming_options(policy=field):
        if Path(word).suffix in (".safetensors", ".json"):
            trained = load_policy(word)
            levels = (_nearest(trained.parameters.arrivals.rates, load),)
            return MeanFieldBalancer(trained, trained.parameters, levels)
        parameters = SystemParameters()
        return MeanFieldBalancer(named_policy(word, parameters, field), parameters)


def _nearest(rates: tuple[float, ...], load: float | None) -> int:
    import math

    if load is None or not math.isfinite(load):
        return 0
    return min(range(len(rates)), key=lambda level: abs(rates[level] - load))
