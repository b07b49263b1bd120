"""Trainings, searches and looks into policies that a notebook computes where it shows them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfc_lb.errors import check_int, require
from mfc_lb.experiments.cases import LARGEST_BETA, MF, RND, SOFTMIN, Limit, rate_paths
from mfc_lb.experiments.certificate import CLAIRVOYANT
from mfc_lb.experiments.illustrations import rates_by_filling
from mfc_lb.experiments.training import NONE
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.learning.pathwise import PathwiseSettings, train_pathwise
from mfc_lb.learning.softmin import best_softmin
from mfc_lb.learning.training import TrainingResult
from mfc_lb.model import (
    ArrivalProcess,
    ConstantPolicy,
    DecisionRule,
    Policy,
    SystemParameters,
    join_shortest_queue,
    random_choice,
    softmin,
)
from mfc_lb.results.experiment import Row, estimate_columns
from mfc_lb.systems import Estimate, MeanFieldSystem

Floats = NDArray[np.float64]


def two_levels(
    high_rate: float, low_rate: float, *, buffer_size: int, num_choices: int, delta_t: float
) -> SystemParameters:
    """Return the paper's parameters with other levels of arrivals, buffers, choices and delay."""
    paper = SystemParameters().arrivals
    arrivals = ArrivalProcess((high_rate, low_rate), paper.kernel, paper.initial)
    return SystemParameters(
        buffer_size=buffer_size, num_choices=num_choices, arrivals=arrivals, delta_t=delta_t
    )


class CommonPaths:
    """Paths of arrival levels on which policies are compared in the mean field.

    Parameters
    ----------
    parameters : SystemParameters
        The model; its arrival rates differ, so that paths do.
    num_paths : int, >= 3
        Number of paths, each of 500 mean service times.
    seed : int
        Their seed.
    """

    def __init__(self, parameters: SystemParameters, num_paths: int, seed: int) -> None:
        self.parameters, self.system = parameters, MeanFieldSystem(parameters)
        self.levels = rate_paths(parameters, check_int("num_paths", num_paths, 3), seed)
        self._random = self.drops(ConstantPolicy(random_choice(parameters)))
        self._limit = Limit(parameters, self._random)

    def drops(self, policy: Policy) -> Floats:
        """Return a policy's total drops per queue on each path."""
        return self.system.simulate(policy, self.levels).total_drops

    def estimate(self, policy: Policy) -> Estimate:
        """Return a policy's expected drops; random routing's, which are known, are the control."""
        return self._limit.estimate(self.drops(policy))

    def baselines(self) -> dict[str, Policy]:
        """Return JSQ(d), random routing and the softmin that is best on these paths."""
        p = self.parameters
        beta = best_softmin(self.system, self.levels, largest=LARGEST_BETA)
        return {
            f"JSQ({p.num_choices})": ConstantPolicy(join_shortest_queue(p)),
            RND: ConstantPolicy(random_choice(p)),
            SOFTMIN: ConstantPolicy(softmin(p, beta)),
        }


def train_on(paths: CommonPaths, settings: PathwiseSettings) -> tuple[TrainingResult, pd.DataFrame]:
    """Train a policy by pathwise gradients and follow what it learns.

    Parameters
    ----------
    paths : CommonPaths
        On which the policy so far is evaluated; no gradient step sees them.
    settings : PathwiseSettings
        Of the training.

    Returns
    -------
    TrainingResult
        The policy and what is known of it.
    DataFrame
        The curve, with the baselines, in the columns of the experiment ``training``.
    """
    result = train_pathwise(paths.parameters, settings, evaluate=paths.estimate)
    rows = [
        _curve_row(name, NONE, 0, paths.estimate(policy))
        for name, policy in paths.baselines().items()
    ]
    rows += [
        _curve_row("pathwise", "score", point.environment_steps, point.drops)
        for point in result.curve
    ]
    return result, pd.DataFrame(rows)


def _curve_row(method: str, kind: str, steps: int, drops: Estimate) -> Row:
    seed = {"training_seed": -1 if kind == NONE else 0}
    row: Row = {"method": method, "kind": kind, **seed, "environment_steps": steps}
    return {**row, **estimate_columns(drops)}


def comparison(policies: Mapping[str, Policy], paths: CommonPaths) -> pd.DataFrame:
    """Return the drops of policies and how they differ from the learned one, path by path.

    Parameters
    ----------
    policies : mapping from str to Policy
        Policies by name; ``MF`` among them.
    paths : CommonPaths
        The paths.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``reference`` (``none``, or ``MF`` for a difference from it) and those
        of an estimate.
    """
    drops = {name: paths.drops(policy) for name, policy in policies.items()}
    rows = []
    for name, policy in policies.items():
        compared = {"none": paths.estimate(policy), MF: Estimate.of(drops[name] - drops[MF])}
        rows += [
            {"policy": name, "reference": reference, **estimate_columns(estimate)}
            for reference, estimate in compared.items()
        ]
    return pd.DataFrame(rows)


def certificate(
    policies: Mapping[str, Policy],
    system: MeanFieldSystem,
    levels: NDArray[np.int64],
    num_steps: int,
) -> pd.DataFrame:
    """Return how much more policies drop than a search found that knows each of a few paths.

    Parameters
    ----------
    policies : mapping from str to Policy
        Policies by name; from the one named ``MF``, whose rules are score rules, the
        optimisation starts.
    system : MeanFieldSystem
        The system.
    levels : ndarray of int, shape (R, E)
        Paths of arrival levels.
    num_steps : int
        Gradient steps from either start.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``measure``, ``reference`` and those of an estimate, with the meaning
        that they have in the experiment ``certificate``.
    """
    from mfc_lb.learning.clairvoyant import Certificate, certify

    found = certify(policies[MF], system.parameters, levels=levels, num_steps=num_steps)
    rows = [
        _certificate_row(CLAIRVOYANT, "drops", "from MF", Estimate.of(found.from_policy)),
        _certificate_row(CLAIRVOYANT, "drops", "from RND", Estimate.of(found.from_random)),
        _certificate_row(CLAIRVOYANT, "difference", "starts", found.difference_of_starts),
    ]
    for name, policy in policies.items():
        drops = system.simulate(policy, levels).total_drops
        compared = Certificate(drops, found.from_policy, found.from_random)
        rows.append(_certificate_row(name, "drops", "none", Estimate.of(drops)))
        rows.append(_certificate_row(name, "ratio", CLAIRVOYANT, compared.ratio))
    return pd.DataFrame(rows)


def _certificate_row(policy: str, measure: str, reference: str, estimate: Estimate) -> Row:
    row: Row = {"policy": policy, "measure": measure, "reference": reference}
    return {**row, **estimate_columns(estimate)}


def typical_distributions(
    policy: Policy, system: MeanFieldSystem, levels: NDArray[np.int64]
) -> Floats:
    """Return the mean distribution that a policy meets at each arrival level.

    Parameters
    ----------
    policy : Policy
        The policy.
    system : MeanFieldSystem
        The system.
    levels : ndarray of int, shape (R, E)
        Paths of arrival levels; of each, the first half is left out, in which queues fill up.

    Returns
    -------
    ndarray, shape (L, S)
        Means of ν at the beginning of the epochs of each level.

    Raises
    ------
    InvalidInput
        If some level does not occur.
    """
    late = levels.shape[1] // 2
    met = system.simulate(policy, levels).distributions[:, late:-1]
    kept, count = levels[:, late:], system.parameters.arrivals.num_levels
    absent = sorted(set(range(count)) - set(np.unique(kept).tolist()))
    require(not absent, "levels", f"paths without the levels {absent}", "paths with all of them")
    return np.stack([met[kept == level].mean(axis=0) for level in range(count)])


def decisions(policy: Policy, parameters: SystemParameters, distributions: Floats) -> pd.DataFrame:
    """Return how a policy chooses between two kinds of queues.

    Parameters
    ----------
    policy : Policy
        The policy.
    parameters : SystemParameters
        With one server class and at least two choices.
    distributions : ndarray, shape (L, S)
        Distribution ν for each arrival level.

    Returns
    -------
    DataFrame
        Columns ``level_rate`` (λ), ``first``, ``others`` (fillings) and ``probability``: that an
        agent chooses its first sampled queue, if that holds ``first`` packets and each of the
        others ``others``.
    """
    _require_one_class(parameters)
    require(parameters.num_choices > 1, "num_choices", parameters.num_choices, "at least 2")
    states, others = np.indices((parameters.num_states,) * 2).reshape(2, -1)
    tables = []
    for level, rate in enumerate(parameters.arrivals.rates):
        rule = np.asarray(policy(distributions[level], level))
        tuples = (states, *(others,) * (parameters.num_choices - 1))
        columns = {"first": states, "others": others, "probability": rule[tuples][:, 0]}
        tables.append(pd.DataFrame({"level_rate": rate, **columns}))
    return pd.concat(tables, ignore_index=True)


def rates_by_level(
    policies: Mapping[str, Policy], parameters: SystemParameters, distributions: Floats
) -> pd.DataFrame:
    """Return the arrival rate of a queue by its filling, at each arrival level.

    Parameters
    ----------
    policies : mapping from str to Policy
        Policies by name.
    parameters : SystemParameters
        With one server class.
    distributions : ndarray, shape (L, S)
        Distribution ν for each arrival level, the same for all policies.

    Returns
    -------
    DataFrame
        Columns ``level_rate`` (λ), ``policy``, ``filling``, ``fraction`` (of the queues) and
        ``arrival_rate`` (λ(z)).
    """
    _require_one_class(parameters)
    tables = []
    for level, rate in enumerate(parameters.arrivals.rates):
        rules = {
            name: _rule(policy, distributions[level], level) for name, policy in policies.items()
        }
        table = rates_by_filling(rules, distributions[level], rate)
        tables.append(table.assign(level_rate=rate))
    return pd.concat(tables, ignore_index=True)


def _rule(policy: Policy, nu: Floats, level: int) -> DecisionRule:
    return ConstantPolicy(policy(nu, level)).rule


def scores_along_path(
    policy: NetworkPolicy, system: MeanFieldSystem, levels: NDArray[np.int64]
) -> pd.DataFrame:
    """Return how a policy's scores move with the system.

    Parameters
    ----------
    policy : NetworkPolicy
        Its actions are scores.
    system : MeanFieldSystem
        The system, with one server class.
    levels : ndarray of int, shape (E,)
        Arrival level in each epoch.

    Returns
    -------
    DataFrame
        Columns ``time`` (of the beginning of the epoch), ``arrival_rate``, ``filling`` and
        ``score``: that of the filling minus that of an empty queue.
    """
    p = system.parameters
    _require_one_class(p)
    met = system.simulate(policy, levels).distributions[:-1]
    scores = policy.action(met, levels)
    epochs, fillings = np.indices(scores.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "time": p.delta_t * epochs,
            "arrival_rate": np.asarray(p.arrivals.rates)[levels][epochs],
            "filling": fillings,
            "score": (scores - scores[:, :1]).ravel(),
        }
    )


def shares_of_level(scores: pd.DataFrame) -> "pd.Series[float]":
    """Return how much of the movement of a policy's scores the arrival level alone explains.

    Parameters
    ----------
    scores : DataFrame
        Of `scores_along_path`.

    Returns
    -------
    Series
        By filling, one minus the variance within the levels over the whole variance, and one where
        the score does not move; as ``"all"``, the same with the variances summed over the fillings.
    """
    means = scores.groupby(["filling", "arrival_rate"]).score.transform("mean")
    parts = scores.assign(within=scores.score - means).groupby("filling")[["score", "within"]]
    variances = parts.var(ddof=0)
    variances.loc["all"] = variances.sum()
    return (1.0 - variances.within / variances.score).where(variances.score > 0.0, 1.0)


def _require_one_class(parameters: SystemParameters) -> None:
    rates = parameters.service_rates
    require(len(rates) == 1, "service_rates", rates, "those of one server class")
