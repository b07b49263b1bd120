"""What the model's description leaves open: how much the drops change if one chooses otherwise.

All of it in the mean field with the paper's parameters, where every difference is paired on paths
of arrival levels or exact. `mfc_lb.experiments.open_trace_choices` does the same for the traces.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.errors import check_int, check_real, require
from mfc_lb.experiments.cases import HORIZON, JSQ, MF, RND, learned_policy, rate_paths
from mfc_lb.experiments.finite_agents import random_drops_by_population
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.model import (
    ArrivalProcess,
    ConstantPolicy,
    Policy,
    PriorityRule,
    ScoreRule,
    SystemParameters,
    TableRule,
    join_shortest_queue,
    random_choice,
)
from mfc_lb.results.experiment import Row, estimate_columns, exactly
from mfc_lb.systems import Estimate, MeanFieldSystem, random_routing_drops
from mfc_lb.systems import rate_paths as paths_of

Floats = NDArray[np.float64]

#: Epochs of a training episode.
EPISODE = 500


def overview(
    delta_ts: Iterable[float], high_start: float, num_queues: int, num_paths: int, seed: int
) -> pd.DataFrame:
    """Return how much other choices change the drops.

    Parameters
    ----------
    delta_ts : iterable of float
        Synchronisation delays; some for which policies are stored.
    high_start : float, 0 to 1
        See `starting_level`.
    num_queues : int, >= 2
        Number M of queues, for choices that matter in finite systems only; they have M² agents.
    num_paths : int, >= 2
        Paths of arrival levels.
    seed : int
        Of the paths.

    Returns
    -------
    DataFrame
        Columns ``delta_t``, ``choice``, ``policy`` and those of an estimate: of the relative change
        of the drops. Choices are ``distinct`` (queues), ``per_packet`` (instead of per epoch),
        ``start``, and those of `other_mappings`.
    """
    tables = []
    for delta_t in delta_ts:
        start = starting_level(delta_t, high_start, num_paths, seed)
        mapped = other_mappings(delta_t, num_paths, seed)
        finite = pd.DataFrame(
            [
                _row(distinct_queues(delta_t, num_queues, num_paths, seed), "distinct", JSQ),
                _row(exactly(per_packet(delta_t, num_queues)), "per_packet", RND),
            ]
        )
        parts = [finite, start, mapped]
        tables.append(pd.concat(parts, ignore_index=True).assign(delta_t=delta_t))
    return pd.concat(tables, ignore_index=True)


def distinct_queues(delta_t: float, num_queues: int, num_paths: int, seed: int) -> Estimate:
    """Return by what fraction JSQ(2)'s drops change if the sampled queues are distinct.

    With replacement, both picks are one queue with probability 1/M, which is a dose of random
    routing of that size. To first order in it, distinct queues change the drops by the opposite of
    what one more such dose does.
    """
    p = SystemParameters(delta_t=delta_t)
    rules = [np.asarray(make(p)) for make in (join_shortest_queue, random_choice)]
    pure, mixed = (
        _totals(p, ConstantPolicy((1 - dose) * rules[0] + dose * rules[1]), num_paths, seed)
        for dose in (0.0, 1.0 / check_int("num_queues", num_queues, 2))
    )
    return Estimate.ratio(pure - mixed, pure)


def per_packet(delta_t: float, num_queues: int) -> float:
    """Return by what fraction random routing's drops change if M² agents choose per packet."""
    p = SystemParameters(delta_t=delta_t)
    table = random_drops_by_population(p, num_queues, agents_per_queue=(num_queues,))
    drops = table.set_index("routing").estimate
    return float(drops["per_packet"] / drops["per_epoch"] - 1)


def starting_level(delta_t: float, high_start: float, num_paths: int, seed: int) -> pd.DataFrame:
    """Return what it changes to begin at the high arrival level more or less often.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay.
    high_start : float, 0 to 1
        Probability of the high level in the first epoch; the model's is ½.
    num_paths : int, >= 2
        Paths of arrival levels for JSQ(2) and the learned policy; random routing's is exact.
    seed : int
        Of the paths.

    Returns
    -------
    DataFrame
        Columns ``choice`` ("start"), ``policy`` and those of an estimate: of the relative change of
        the drops.

    Notes
    -----
    With E_l the expected drops after a start at level l, the change is (p − ½)(E_high − E_low).
    The two are paired: both paths are made of the same uniform numbers, so that they soon meet.
    """
    shift = check_real("high_start", high_start) - SystemParameters().arrivals.initial[0]
    require(high_start <= 1, "high_start", high_start, "a probability")
    starts = [_starting_at(delta_t, level) for level in (1.0, 0.0)]
    exact = [random_routing_drops(p, p.num_epochs(HORIZON)).sum() for p in starts]
    high, low = (
        {name: _totals(p, policy, num_paths, seed) for name, policy in _policies(delta_t).items()}
        for p in starts
    )
    estimates = {
        name: Estimate.ratio(shift * (high[name] - low[name]), (high[name] + low[name]) / 2)
        for name in (JSQ, MF)
    }
    change = shift * (exact[0] - exact[1]) / ((exact[0] + exact[1]) / 2)
    found = {RND: exactly(change), **estimates}
    return pd.DataFrame(_row(estimate, "start", name) for name, estimate in found.items())


def rounding_of_epochs(delta_ts: tuple[float, ...] = tuple(range(1, 11))) -> pd.DataFrame:
    """Return how the number of epochs in 500 mean service times depends on rounding, for RND.

    Returns
    -------
    DataFrame
        Columns ``delta_t``, ``epochs`` (rounded, as in the library), ``time`` (that these take) and
        ``last_epoch``: by what fraction one epoch more than rounding down gives raises the drops of
        random routing; 0 where 500/Δt is whole.
    """
    rows = []
    for delta_t in delta_ts:
        p = SystemParameters(delta_t=delta_t)
        down, epochs = math.floor(HORIZON / delta_t), p.num_epochs(HORIZON)
        drops = random_routing_drops(p, down + 1)
        whole = down * delta_t == HORIZON
        more = 0.0 if whole else float(drops[-1] / drops[:-1].sum())
        rows.append([delta_t, epochs, epochs * delta_t, more])
    return pd.DataFrame(rows, columns=["delta_t", "epochs", "time", "last_epoch"])


class SinglePrecisionRule(PriorityRule):
    """A rule whose arrival rates are rounded to single precision."""

    def arrival_rates(self, nu: Any, arrival_rate: Any) -> Floats:
        """Return λ(s), rounded."""
        exact = super().arrival_rates(nu, arrival_rate)
        return np.asarray(exact.astype(np.float32), dtype=np.float64)


def single_precision(delta_t: float, num_paths: int, seed: int) -> float:
    """Return the largest relative change of drops on a path, if JSQ(2)'s rates are float32."""
    p = SystemParameters(delta_t=delta_t)
    keys = p.fillings
    exact, rounded = (
        _totals(p, ConstantPolicy(kind(keys, p.num_choices)), num_paths, seed)
        for kind in (PriorityRule, SinglePrecisionRule)
    )
    return float(np.abs(rounded / exact - 1).max())


def first_of_tied() -> TableRule:
    """Return JSQ(2) that does not split ties: of equal queues, the one sampled first is taken."""
    table = np.array(join_shortest_queue(SystemParameters()))
    return TableRule(np.stack([table[..., 0] >= 0.5, table[..., 0] < 0.5], axis=-1).astype(float))


def change_of_rates(rule: TableRule) -> float:
    """Return the largest difference of a rule's arrival rates from JSQ(2)'s, for a few ν."""
    p = SystemParameters()
    nus = np.random.default_rng(0).dirichlet(np.ones(p.num_states), size=100)
    difference = rule.arrival_rates(nus, 1.0) - join_shortest_queue(p).arrival_rates(nus, 1.0)
    return float(np.abs(difference).max())


@dataclass(frozen=True)
class Remapped:
    """A learned policy whose actions are turned into rules in another way.

    Parameters
    ----------
    policy : NetworkPolicy
        The policy; its actions are scores.
    mapping : callable
        From scores to the scores of the other rule.
    """

    policy: NetworkPolicy
    mapping: Callable[[Floats], Floats]

    def __call__(self, nu: Any, level: Any) -> ScoreRule:
        """Return the rule of an epoch."""
        scores = self.mapping(self.policy.action(nu, level))
        return ScoreRule(scores, self.policy.parameters.num_choices)


def _shares(scores: Floats) -> Floats:
    """Return scores whose softmax are the actions' sigmoids, divided by their sum."""
    return -np.logaddexp(0.0, -scores)


def _most_likely(scores: Floats) -> Floats:
    """Return scores so far apart that the choice of the larger one is certain."""
    return 1e6 * scores


#: Other ways from a network's numbers to a rule.
MAPPINGS: Mapping[str, Callable[[Floats], Floats]] = {
    "shares": _shares,
    "most_likely": _most_likely,
}


def other_mappings(delta_t: float, num_paths: int, seed: int) -> pd.DataFrame:
    """Return what it costs to read a learned policy's actions otherwise than in its training.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay; one for which a policy is stored.
    num_paths : int, >= 2
        Paths of arrival levels.
    seed : int
        Of the paths.

    Returns
    -------
    DataFrame
        Columns ``choice``, ``policy`` and those of an estimate: of the relative change of the
        drops. ``shares``: the numbers are taken between 0 and 1 by a sigmoid, and divided by their
        sum; ``most_likely``: the more probable choice is made for certain.
    """
    policy, p = learned_policy(delta_t), SystemParameters(delta_t=delta_t)
    own = _totals(p, policy, num_paths, seed)
    rows = []
    for name, mapping in MAPPINGS.items():
        other = _totals(p, Remapped(policy, mapping), num_paths, seed)
        rows.append(_row(Estimate.ratio(other - own, own), name, MF))
    return pd.DataFrame(rows)


def by_objective(delta_t: float, discount: float, num_paths: int, seed: int) -> pd.DataFrame:
    """Return how two rules compare by the discounted and by the undiscounted sum of drops.

    Parameters
    ----------
    delta_t : float
        Synchronisation delay.
    discount : float, 0 to 1
        Discount γ per epoch, over 500 epochs; the undiscounted sum is over 500 mean service times.
    num_paths : int, >= 2
        Paths of arrival levels.
    seed : int
        Of the paths.

    Returns
    -------
    DataFrame
        Columns ``objective`` (``discounted``, ``total``) and those of an estimate: of the relative
        difference of JSQ(2) from random routing.
    """
    p = SystemParameters(delta_t=delta_t)
    weights = {
        "total": np.ones(p.num_epochs(HORIZON)),
        "discounted": check_real("discount", discount) ** np.arange(EPISODE),
    }
    rows = []
    for objective, weight in weights.items():
        levels = paths_of(p, weight.size, num_paths, seed)
        jsq, rnd = (
            MeanFieldSystem(p).simulate(ConstantPolicy(rule), levels).drops @ weight
            for rule in (join_shortest_queue(p), random_choice(p))
        )
        rows.append({"objective": objective, **estimate_columns(Estimate.ratio(jsq - rnd, rnd))})
    return pd.DataFrame(rows)


def missing_return(discount: float) -> float:
    """Return the mean share of a return that is lost if an episode's end counts as the end of all.

    With equal drops in all epochs, γ^(T−t) of the return from epoch t comes after the episode's T
    epochs; this is its mean over the episode.
    """
    return float(np.mean(check_real("discount", discount) ** np.arange(1, EPISODE + 1)))


def _starting_at(delta_t: float, high: float) -> SystemParameters:
    paper = SystemParameters().arrivals
    arrivals = ArrivalProcess(paper.rates, paper.kernel, (high, 1.0 - high))
    return SystemParameters(delta_t=delta_t, arrivals=arrivals)


def _policies(delta_t: float) -> dict[str, Policy]:
    jsq = ConstantPolicy(join_shortest_queue(SystemParameters(delta_t=delta_t)))
    return {JSQ: jsq, MF: learned_policy(delta_t)}


def _totals(p: SystemParameters, policy: Policy, num_paths: int, seed: int) -> Floats:
    levels = rate_paths(p, num_paths, seed)
    return MeanFieldSystem(p).simulate(policy, levels).total_drops


def _row(estimate: Estimate, choice: str, policy: str) -> Row:
    return {"choice": choice, "policy": policy, **estimate_columns(estimate)}
