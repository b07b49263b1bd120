"""The cases that experiments compare: one baseline policy in one system at one delay."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from mfc_lb import systems
from mfc_lb.files import sha256
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.learning.policy_files import load_policy
from mfc_lb.learning.softmin import best_softmin
from mfc_lb.model import (
    ConstantPolicy,
    SystemParameters,
    join_shortest_queue,
    random_choice,
    softmin,
)
from mfc_lb.results.experiment import Cell, Row, cell_seed, exactly
from mfc_lb.results.folders import data_folder
from mfc_lb.systems import FiniteSystem, InfiniteAgentSystem, MeanFieldSystem, evaluate
from mfc_lb.systems.evaluation import System

if TYPE_CHECKING:
    from mfc_lb.systems.finite import Routing

#: Simulated time of the paper's evaluation, in mean service times.
HORIZON = 500.0

#: What the experiments take from the paper, at every size.
PAPER = {"system": asdict(SystemParameters()), "horizon": HORIZON}

#: Names of the baselines, and of the policy learned in the mean field, as tables write them.
JSQ, RND, SOFTMIN, MF = "JSQ(2)", "RND", "softmin", "MF"

BASELINES = (JSQ, RND, SOFTMIN)
POLICIES = (*BASELINES, MF)

#: Softmin with this β is JSQ(2) for all purposes: drops agree within 0.1 %.
LARGEST_BETA = 10.0

#: Of the paths on which β is chosen, in every experiment alike.
BETA_SEED = 5


@dataclass(frozen=True)
class Case:
    """A policy in a system.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay Δt, in mean service times.
    policy : str
        Its name in tables and figures.
    beta : float
        All baselines are softmin(β): random routing is β = 0 and JSQ(d) is β = ∞. NaN for the
        learned policy.
    num_queues, num_agents : float, optional
        M and N, each possibly infinite; infinitely many queues are the mean-field system.
    routing : str, optional
        ``per_epoch`` or ``per_packet`` if N is finite, else ``none``.
    distinct_queues : bool, optional
        Whether agents sample distinct queues.
    """

    delta_t: float
    policy: str
    beta: float
    num_queues: float = math.inf
    num_agents: float = math.inf
    routing: str = "none"
    distinct_queues: bool = False

    @property
    def key(self) -> str:
        """Name of the case within its experiment."""
        size = f"M={self.num_queues}_N={self.num_agents}_{self.routing}"
        sampling = "_distinct" if self.distinct_queues else ""
        return f"{size}{sampling}_dt={self.delta_t:g}_{self.policy}_beta={self.beta:g}"

    @property
    def system_name(self) -> str:
        """Return ``finite``, ``infinite_agents`` or ``mean_field``."""
        if math.isinf(self.num_queues):
            return "mean_field"
        return "infinite_agents" if math.isinf(self.num_agents) else "finite"

    @property
    def parameters(self) -> SystemParameters:
        """The paper's parameters at this delay."""
        return SystemParameters(delta_t=self.delta_t)

    def make_system(self) -> System:
        """Return the system."""
        if self.system_name == "mean_field":
            return mean_field_system(self.delta_t)
        queues, distinct = int(self.num_queues), self.distinct_queues
        if self.system_name == "infinite_agents":
            return InfiniteAgentSystem(self.parameters, queues, distinct_queues=distinct)
        routing = cast("Routing", self.routing)
        return FiniteSystem(
            self.parameters, int(self.num_agents), queues, routing, distinct_queues=distinct
        )

    def make_policy(self) -> ConstantPolicy | NetworkPolicy:
        """Return the policy."""
        if self.policy == MF:
            return learned_policy(self.delta_t)
        if math.isinf(self.beta):
            return ConstantPolicy(join_shortest_queue(self.parameters))
        if self.beta == 0.0:
            return ConstantPolicy(random_choice(self.parameters))
        return ConstantPolicy(softmin(self.parameters, self.beta))

    def columns(self) -> Row:
        """Return the columns that say which case an observation is of."""
        return {
            "system": self.system_name,
            "routing": self.routing,
            "num_queues": self.num_queues,
            "num_agents": self.num_agents,
            "delta_t": self.delta_t,
            "policy": self.policy,
            "beta": self.beta,
        }


#: What the columns of `Case.columns` are.
CASE_COLUMNS = {
    "system": "finite (N agents, M queues), infinite_agents (M queues) or mean_field",
    "routing": "an agent chooses per_packet or per_epoch; none where N is infinite",
    "num_queues": "number M of queues; inf in the mean field",
    "num_agents": "number N of agents; may be inf",
    "delta_t": "synchronisation delay, in mean service times",
    "policy": "routing policy; softmin alone means that beta was chosen in the mean field, MF is "
    "the policy learned there",
    "beta": "the policy as softmin(beta): inf is JSQ, 0 is random routing; nan for MF",
}


@cache
def mean_field_system(delta_t: float) -> MeanFieldSystem:
    """Return the paper's mean-field system; a process interpolates each propagator once."""
    return MeanFieldSystem(SystemParameters(delta_t=delta_t))


def total_drops(case: Case, num_runs: int, seed: int) -> list[float]:
    """Return each run's drops per queue over the paper's horizon of 500 mean service times."""
    result = evaluate(
        case.make_system(),
        case.make_policy(),
        num_epochs=case.parameters.num_epochs(HORIZON),
        num_runs=num_runs,
        seed=seed,
    )
    return cast("list[float]", result.total_drops.tolist())


def drops_cell(case: Case, num_runs: int, seed: int) -> Cell:
    """Return the cell that computes a case's `total_drops`."""
    return Cell(case.key, partial(total_drops, case, num_runs, seed))


def baselines(delta_t: float, num_beta_paths: int) -> list[Case]:
    """Return JSQ(2), random routing and the best softmin at one delay, in the mean field."""
    betas = {JSQ: math.inf, RND: 0.0, SOFTMIN: best_beta(delta_t, num_beta_paths)}
    return [Case(delta_t, policy, beta) for policy, beta in betas.items()]


def all_policies(
    delta_t: float, num_beta_paths: int, names: Sequence[str] = POLICIES
) -> list[Case]:
    """Return the `baselines` and the learned policy at one delay, in the mean field.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay; a policy must have been learned for it, if MF is among the names.
    num_beta_paths : int
        Paths on which softmin's β is chosen.
    names : sequence of str, optional
        Which of them.
    """
    known = [*baselines(delta_t, num_beta_paths), Case(delta_t, MF, math.nan)]
    return [case for case in known if case.policy in names]


@cache
def learned_policy(delta_t: float) -> NetworkPolicy:
    """Return the stored policy that was learned for a delay, with the paper's parameters."""
    return load_policy(policy_path(delta_t), SystemParameters(delta_t=delta_t))


def policies_folder() -> Path:
    """Return where trained policies are: ``data/policies``."""
    return data_folder() / "policies"


def policy_path(delta_t: float) -> Path:
    """Return where the policy learned for a delay is stored."""
    return policies_folder() / f"mf-dt{delta_t:g}.safetensors"


def policy_digests(delta_ts: Sequence[float]) -> dict[str, dict[str, str | None]]:
    """Return the digests of the learned policies on which a result depends, for its manifest.

    Of a policy that is not stored, it is None.
    """
    return {"policies": {path.stem: _digest(path) for path in map(policy_path, delta_ts)}}


def _digest(path: Path) -> str | None:
    return sha256(path.read_bytes()) if path.is_file() else None


@cache
def best_beta(delta_t: float, num_paths: int) -> float:
    """Return the β of the best softmin in the mean field, to three significant digits.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay.
    num_paths : int
        Number of paths of arrival levels over which the drops are averaged; all β share them.

    Returns
    -------
    float
        At most `LARGEST_BETA`, which it is where nothing beats JSQ(2).
    """
    system = mean_field_system(delta_t)
    levels = rate_paths(system.parameters, num_paths, cell_seed(BETA_SEED, delta_t))

    best = best_softmin(system, levels, largest=LARGEST_BETA)
    # So near an optimum the digits cut off cost nothing, and rounding errors do not show.
    beta = float(f"{best:.3g}")
    return beta if beta < 0.99 * LARGEST_BETA else LARGEST_BETA


def rate_paths(parameters: SystemParameters, num_paths: int, seed: int) -> NDArray[np.int64]:
    """Return the paths of arrival levels that `evaluate` draws from a seed.

    Parameters
    ----------
    parameters : SystemParameters
        Gives the arrival process and the number of epochs.
    num_paths : int
        Number R of paths.
    seed : int
        As for `evaluate`.

    Returns
    -------
    ndarray of int64, shape (R, E)
        Arrival levels.
    """
    return systems.rate_paths(parameters, parameters.num_epochs(HORIZON), num_paths, seed)


class Limit:
    """Estimates in the mean field, with random routing, whose expectation is exact, as control.

    Part of what happens by chance on a path of arrival levels happens under random routing, too. It
    is known there and can be taken away, by as much as regression tells.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    control : ndarray, shape (R,)
        Drops of random routing on each path over the paper's horizon.
    """

    def __init__(self, parameters: SystemParameters, control: NDArray[np.float64]) -> None:
        num_epochs = parameters.num_epochs(HORIZON)
        self._expected = float(systems.random_routing_drops(parameters, num_epochs).sum())
        self._control = control

    def estimate(self, samples: NDArray[np.float64]) -> systems.Estimate:
        """Return the estimate of the expectation of samples that are paired with the control."""
        if samples is self._control:
            return exactly(self._expected)
        (_, covariance), (_, variance) = np.cov(samples, self._control)
        # With a single arrival rate all paths are alike, and there is no luck to take away.
        slope = covariance / variance if variance > 0 else 0.0
        return systems.Estimate.of(samples - slope * (self._control - self._expected))
