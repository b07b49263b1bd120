"""One policy in one system: its drops, and what they are compared with."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfc_lb.cli.settings import Effort
from mfc_lb.cli.table_file import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mfc_lb.model import Policy
    from mfc_lb.systems import Estimate, EvaluationResult
    from mfc_lb.systems.evaluation import System

# Beyond this many states, or multiplications, the mean field takes much longer than the runs.
MANY_STATES = 500
MANY_PRODUCTS = 10**9


@dataclass(frozen=True)
class Outcome:
    """What runs of one policy in one system gave.

    Attributes
    ----------
    system : System
        The system.
    policy : str
        The policy, as the user wrote it.
    effort : Effort
        How much was simulated.
    result : EvaluationResult
        Drops and arrival levels of each run.
    limit : EvaluationResult or None
        Drops in the mean field on the same arrival rates; None where it is too large to compute, or
        is the system itself.
    """

    system: "System"
    policy: str
    effort: Effort
    result: "EvaluationResult"
    limit: "EvaluationResult | None"

    @property
    def arrivals(self) -> "NDArray[np.float64]":
        """Expected arrivals per queue of each run, given its arrival rates, shape (R,)."""
        import numpy as np

        p = self.system.parameters
        rates = np.asarray(p.arrivals.rates)[self.result.levels]
        return np.asarray(rates.sum(axis=1) * p.delta_t)

    @property
    def drop_fraction(self) -> "Estimate":
        """Drops divided by arrivals, a ratio of means."""
        from mfc_lb.systems import Estimate

        drops, arrivals = self.result.total_drops, self.arrivals
        if not arrivals.any():
            return Estimate(0.0, 0.0, len(drops))
        return Estimate.ratio(drops, arrivals)

    def describe(self) -> Row:
        """Return the columns that say what was simulated."""
        p, system = self.system.parameters, self.system
        return {
            "policy": self.policy,
            "num_agents": getattr(system, "num_agents", "inf"),
            "num_queues": getattr(system, "num_queues", "inf"),
            "routing": getattr(system, "routing", ""),
            "distinct_queues": getattr(system, "distinct_queues", False),
            "buffer_size": p.buffer_size,
            "num_choices": p.num_choices,
            "service_rates": _words(p.service_rates),
            "class_fractions": _words(p.class_fractions),
            "arrival_rates": _words(p.arrivals.rates),
            "arrival_kernel": ";".join(_words(row) for row in p.arrivals.kernel),
            "arrival_initial": _words(p.arrivals.initial),
            "delta_t": p.delta_t,
            "num_epochs": self.effort.num_epochs,
            "seed": self.effort.seed,
        }


def _words(numbers: tuple[float, ...]) -> str:
    """Return numbers as the options take them."""
    return ",".join(f"{number:g}" for number in numbers)


def simulate_policy(system: "System", name: str, policy: "Policy", effort: Effort) -> Outcome:
    """Run a policy in a system and, where that is sensible, in its mean-field limit."""
    from mfc_lb.systems import MeanFieldSystem, evaluate

    result = evaluate(
        system,
        policy,
        num_epochs=effort.num_epochs,
        num_runs=effort.num_runs,
        seed=effort.seed,
        processes=effort.processes,
    )
    limit = None
    if not isinstance(system, MeanFieldSystem) and _has_quick_limit(system, policy, effort):
        mean_field = MeanFieldSystem(system.parameters)
        drops = mean_field.simulate(policy, result.levels).drops
        limit = replace(result, drops=drops, system=repr(mean_field))
    return Outcome(system, name, effort, result, limit)


def _has_quick_limit(system: "System", policy: "Policy", effort: Effort) -> bool:
    from mfc_lb.model import PriorityRule

    p = system.parameters
    only_ranks = isinstance(getattr(policy, "rule", None), PriorityRule)
    tuples = 1 if only_ranks else p.num_states**p.num_choices
    products = tuples * effort.num_runs * effort.num_epochs
    return p.num_states <= MANY_STATES and products <= MANY_PRODUCTS
