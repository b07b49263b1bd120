"""Small experiments that a notebook runs where it shows them, with its reader's parameters."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import check_int, require
from mfc_lb.experiments import find
from mfc_lb.experiments.cases import HORIZON, JSQ, RND, learned_policy, policy_path
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.model import (
    ArrivalProcess,
    ConstantPolicy,
    DecisionRule,
    Policy,
    ScoreRule,
    SystemParameters,
    join_shortest_queue,
    random_choice,
)
from mfc_lb.results.experiment import estimate_columns
from mfc_lb.systems import FiniteSystem, MeanFieldSystem, QueueSystem, epoch_by_expm, evaluate

if TYPE_CHECKING:
    from mfc_lb.learning.pathwise import PathwiseSettings

#: Epochs after which the mean field at a constant arrival rate repeats itself.
NUM_SETTLING_EPOCHS = 300


def compute(name: str, size: Any, seed: int | None = None) -> pd.DataFrame:
    """Return an experiment's table at any size, computed here and now.

    Parameters
    ----------
    name : str
        One of `mfc_lb.experiments.EXPERIMENTS`.
    size : a frozen dataclass
        Of the experiment's kind, such as ``ComparisonSize``.
    seed : int, optional
        By default the experiment's own: then runs are those of the stored tables.

    Returns
    -------
    DataFrame
        The same columns as the stored tables have.
    """
    experiment = find(name)
    cells = experiment.cells(size, experiment.seed if seed is None else seed)
    return pd.DataFrame(experiment.rows(size, {cell.key: cell.compute() for cell in cells}))


def stale_news(
    parameters: SystemParameters,
    rules: Mapping[str, DecisionRule],
    arrival_rate: float,
    num_times: int = 41,
) -> pd.DataFrame:
    """Return what becomes of the queues until the next news, by what the last news said of them.

    Parameters
    ----------
    parameters : SystemParameters
        With one server class.
    rules : mapping from str to DecisionRule
        Rules by the policies' names.
    arrival_rate : float
        Constant arrival rate λ; ν is the mean field's, once it repeats itself from epoch to epoch.
    num_times : int, >= 2
        Number of points in time.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``reported`` (filling at the news), ``fraction`` (of the queues),
        ``arrival_rate`` (λ(z)), ``time`` (since the news, 0 to Δt) and ``mean_filling``.
    """
    one_class = parameters.num_classes == 1
    require(one_class, "service_rates", parameters.service_rates, "those of one server class")
    times = np.linspace(0.0, parameters.delta_t, check_int("num_times", num_times, 2))
    tables = []
    for name, rule in rules.items():
        nu = settled_distribution(parameters, rule, arrival_rate)
        rates = rule.arrival_rates(nu, arrival_rate)
        states = {"reported": parameters.fillings, "fraction": nu, "arrival_rate": rates}
        for time in times:
            means = _mean_fillings(parameters, rates, float(time))
            tables.append(
                pd.DataFrame({"policy": name, **states, "time": time, "mean_filling": means})
            )
    return pd.concat(tables, ignore_index=True)


def settled_distribution(
    parameters: SystemParameters, rule: DecisionRule, arrival_rate: float
) -> NDArray[np.float64]:
    """Return ν at the beginning of an epoch, long after a start at a constant arrival rate.

    Parameters
    ----------
    parameters : SystemParameters
        Its arrival process is replaced.
    rule : DecisionRule
        The rule of every epoch.
    arrival_rate : float
        The constant rate λ.

    Returns
    -------
    ndarray, shape (S,)
        The distribution.
    """
    constant = parameters.replace(arrivals=ArrivalProcess.constant(arrival_rate))
    levels = np.zeros(NUM_SETTLING_EPOCHS, dtype=np.int64)
    run = MeanFieldSystem(constant).simulate(ConstantPolicy(rule), levels)
    return np.asarray(run.distributions[-1])


def _mean_fillings(
    parameters: SystemParameters, rates: NDArray[np.float64], time: float
) -> NDArray[np.float64]:
    p = parameters
    epochs = epoch_by_expm(rates, p.service_rates[0], p.buffer_size, time)
    # Column z of each state's own matrix: where a queue that began with z is at that time.
    return np.asarray(np.einsum("zez,e->z", epochs[:, :-1, :-1], p.fillings))


def delay_sweep(
    parameters: SystemParameters,
    delays: Sequence[float],
    *,
    num_agents: int,
    num_queues: int,
    num_runs: int,
    seed: int,
) -> pd.DataFrame:
    """Return the simulated drops of JSQ(2) and random routing against the delay.

    Parameters
    ----------
    parameters : SystemParameters
        Its delay is replaced; with two choices.
    delays : sequence of float
        Values of Δt.
    num_agents, num_queues : int
        Sizes N and M of the finite system; its agents choose per packet.
    num_runs, seed : int
        Of the evaluation, see `mfc_lb.evaluate`.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``delta_t``, those that say which system it is (``num_queues``,
        ``num_agents``, ``routing``) and those of an estimate: drops per queue over the 500 mean
        service times of the paper's evaluation.
    """
    rows = []
    names = {"num_queues": num_queues, "num_agents": num_agents, "routing": "per_packet"}
    for delay in delays:
        p = parameters.replace(delta_t=delay)
        system = FiniteSystem(p, num_agents, num_queues, "per_packet")
        for name, rule in ((JSQ, join_shortest_queue(p)), (RND, random_choice(p))):
            runs = {"num_epochs": p.num_epochs(), "num_runs": num_runs, "seed": seed}
            result = evaluate(system, ConstantPolicy(rule), **runs)
            estimate = estimate_columns(result.estimate)
            rows.append({"policy": name, "delta_t": delay, **names, **estimate})
    return pd.DataFrame(rows)


def one_run(
    system: QueueSystem, policies: Mapping[str, Policy], levels: NDArray[np.int64], seed: int
) -> pd.DataFrame:
    """Return one simulated run of each policy, all on the same path of arrival levels.

    Parameters
    ----------
    system : QueueSystem
        The system.
    policies : mapping from str to Policy
        Policies by name.
    levels : ndarray of int, shape (E,)
        Arrival level in each epoch.
    seed : int
        Seed of sampling and service.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``time``, ``arrival_rate`` (of the epoch that begins; at the end, of the
        last one), ``mean_filling`` and ``drops`` (per queue, since the start).
    """
    p = system.parameters
    path = {
        "time": p.delta_t * np.arange(len(levels) + 1),
        "arrival_rate": np.asarray(p.arrivals.rates)[np.append(levels, levels[-1])],
    }
    tables = []
    for name, policy in policies.items():
        run = system.simulate(policy, levels, np.random.SeedSequence(seed))
        found = {
            "mean_filling": run.distributions @ p.fillings,
            "drops": np.append(0.0, np.cumsum(run.drops)),
        }
        tables.append(pd.DataFrame({"policy": name, **path, **found}))
    return pd.concat(tables, ignore_index=True)


def score_match(rule: DecisionRule, scores: ScoreRule, nu: ArrayLike) -> pd.DataFrame:
    """Return the rates of a decision rule beside those of a score rule.

    Parameters
    ----------
    rule : DecisionRule
        The rule whose rates were wanted.
    scores : ScoreRule
        The rule of `mfc_lb.model.matching_score_rule`.
    nu : array_like, shape (S,)
        The distribution at which they match; of one server class.

    Returns
    -------
    DataFrame
        Columns ``filling``, ``wanted_rate`` and ``rate`` (λ(z)/λ of the rule and of the scores) and
        ``score``.
    """
    fractions = np.asarray(nu, dtype=np.float64)
    return pd.DataFrame(
        {
            "filling": np.arange(fractions.size),
            "wanted_rate": rule.arrival_rates(fractions, 1.0),
            "rate": scores.arrival_rates(fractions, 1.0),
            "score": scores.scores,
        }
    )


def paths_to_limit(
    parameters: SystemParameters,
    rule: DecisionRule,
    nums_queues: Sequence[int],
    horizon: float,
    seed: int,
) -> pd.DataFrame:
    """Return the mean filling on one path of arrival levels, in growing systems and the limit.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    rule : DecisionRule
        The rule of every epoch.
    nums_queues : sequence of int
        Numbers M of queues; there are N = M² agents, which choose once per epoch.
    horizon : float
        Simulated time.
    seed : int
        Of the path, and of the runs.

    Returns
    -------
    DataFrame
        Columns ``num_queues`` (inf is the mean field), ``time`` and ``mean_filling``, at the
        beginning of each epoch and at the end.
    """
    p, policy = parameters, ConstantPolicy(rule)
    levels = p.arrivals.sample_levels(p.num_epochs(horizon), np.random.default_rng(seed))
    runs = {float("inf"): MeanFieldSystem(p).simulate(policy, levels)}
    for number in nums_queues:
        system = FiniteSystem(p, number**2, number, "per_epoch")
        runs[number] = system.simulate(policy, levels, np.random.SeedSequence(seed))
    times = p.delta_t * np.arange(levels.size + 1)
    tables = [
        pd.DataFrame(
            {"num_queues": number, "time": times, "mean_filling": run.distributions @ p.fillings}
        )
        for number, run in runs.items()
    ]
    return pd.concat(tables, ignore_index=True)


def stored_or_trained(
    parameters: SystemParameters, settings: "PathwiseSettings | None" = None
) -> tuple[NetworkPolicy, bool]:
    """Return a policy that was learned for the parameters.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    settings : PathwiseSettings, optional
        Of the training, if there has to be one.

    Returns
    -------
    NetworkPolicy
        The one of ``data/policies`` if these are the paper's parameters and it has one for their
        delay, or else one that is trained now.
    bool
        Whether it was stored.
    """
    delta_t = parameters.delta_t
    if parameters == SystemParameters(delta_t=delta_t) and policy_path(delta_t).is_file():
        return learned_policy(delta_t), True
    from mfc_lb.learning.pathwise import train_pathwise

    return train_pathwise(parameters, settings).policy, False


def paired_drops(
    system: QueueSystem, policies: Mapping[str, Policy], num_runs: int, seed: int
) -> pd.DataFrame:
    """Return the drops of policies on the same paths of arrival levels, and their differences.

    Parameters
    ----------
    system : QueueSystem
        The system.
    policies : mapping from str to Policy
        Policies by name.
    num_runs, seed : int
        Of the evaluation, see `mfc_lb.evaluate`.

    Returns
    -------
    DataFrame
        Columns ``policy``, ``reference`` and those of an estimate, over the 500 mean service times
        of the paper's evaluation. Reference ``none``: drops per queue; ``mean_field``: the paired
        difference from the same policy in the mean field; a policy: that from it.
    """
    p = system.parameters
    runs = {"num_epochs": p.num_epochs(HORIZON), "num_runs": num_runs, "seed": seed}
    limit = MeanFieldSystem(p)
    found = {name: evaluate(system, policy, **runs) for name, policy in policies.items()}
    estimates = {(name, "none"): result.estimate for name, result in found.items()}
    for name, policy in policies.items():
        estimates[name, "mean_field"] = found[name].difference(evaluate(limit, policy, **runs))
    for name, other in permutations(policies, 2):
        estimates[name, other] = found[name].difference(found[other])
    return pd.DataFrame(
        [
            {"policy": name, "reference": reference, **estimate_columns(estimate)}
            for (name, reference), estimate in estimates.items()
        ]
    )
