"""Learned policies beside a search that knows the future, and what each knowledge is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfc_lb.experiments.cases import (
    JSQ,
    MF,
    PAPER,
    RND,
    SOFTMIN,
    Limit,
    all_policies,
    learned_policy,
    mean_field_system,
    policy_digests,
    rate_paths,
)
from mfc_lb.model import Policy, SystemParameters
from mfc_lb.results.experiment import (
    ESTIMATE_COLUMNS,
    Cell,
    Experiment,
    Result,
    Row,
    cell_seed,
    estimate_columns,
)
from mfc_lb.systems import Estimate

#: Names of the policies that know less than the learned one, and of the one that knows more.
CONSTANT, PER_LEVEL, BLIND_TO_LEVEL = "constant scores", "scores per level", "network without λ"
CLAIRVOYANT = "clairvoyant"

#: What each policy knows when it chooses the rule of an epoch.
KNOWS = {
    JSQ: "nothing",
    RND: "nothing",
    SOFTMIN: "nothing",
    CONSTANT: "nothing",
    PER_LEVEL: "level",
    BLIND_TO_LEVEL: "distribution",
    MF: "both",
    CLAIRVOYANT: "future",
}

# What is left out in training for each of the policies that know less.
_SEES = {CONSTANT: (False, False), PER_LEVEL: (False, True), BLIND_TO_LEVEL: (True, False)}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CertificateSize:
    """Sizes of the study.

    Parameters
    ----------
    delta_ts : tuple of float
        Synchronisation delays.
    num_paths : int
        Paths on which the policies are compared.
    num_clairvoyant_paths : int
        How many of them, the first, are optimised with the future known.
    clairvoyant_steps : int
        Gradient steps of that.
    gradient_steps : tuple of int
        Gradient steps of the two stages of training the policies that know less.
    num_beta_paths : int
        Paths on which softmin's β is chosen.
    """

    delta_ts: tuple[float, ...]
    num_paths: int
    num_clairvoyant_paths: int
    clairvoyant_steps: int
    gradient_steps: tuple[int, int]
    num_beta_paths: int


def _levels(size: CertificateSize, seed: int, delta_t: float) -> NDArray[np.int64]:
    return rate_paths(SystemParameters(delta_t=delta_t), size.num_paths, cell_seed(seed, delta_t))


def _follow_simple(size: CertificateSize, seed: int, delta_t: float) -> Result:
    """Return the drops of the baselines and of the learned policy on each path."""
    cases = all_policies(delta_t, size.num_beta_paths)
    return {case.policy: _drops(size, seed, delta_t, case.make_policy()) for case in cases}


def _train_and_follow(size: CertificateSize, seed: int, delta_t: float, name: str) -> Result:
    """Train a policy that knows less and return its drops on each path."""
    from mfc_lb.learning.pathwise import PathwiseSettings, train_pathwise

    sees_distribution, sees_level = _SEES[name]
    constant, network = size.gradient_steps
    settings = PathwiseSettings(
        constant_steps=constant,
        network_steps=network,
        sees_distribution=sees_distribution,
        sees_level=sees_level,
    )
    trained = train_pathwise(SystemParameters(delta_t=delta_t), settings)
    return _drops(size, seed, delta_t, trained.policy)


def _drops(size: CertificateSize, seed: int, delta_t: float, policy: Policy) -> list[float]:
    levels = _levels(size, seed, delta_t)
    drops: list[float] = mean_field_system(delta_t).simulate(policy, levels).total_drops.tolist()
    return drops


def _certify(size: CertificateSize, seed: int, delta_t: float) -> Result:
    """Return what the search for the clairvoyant found on each path from either start."""
    from mfc_lb.learning.clairvoyant import certify

    levels = _levels(size, seed, delta_t)[: size.num_clairvoyant_paths]
    policy, parameters = learned_policy(delta_t), SystemParameters(delta_t=delta_t)
    found = certify(policy, parameters, levels=levels, num_steps=size.clairvoyant_steps)
    return {"from_policy": found.from_policy.tolist(), "from_random": found.from_random.tolist()}


def _cells(size: CertificateSize, seed: int) -> Sequence[Cell]:
    cells = []
    # The shorter the delay, the more epochs: longest last.
    for delta_t in sorted(size.delta_ts, reverse=True):
        given = (size, seed, delta_t)
        cells.append(Cell(_key("simple", delta_t), partial(_follow_simple, *given)))
        cells += [
            Cell(_key(name, delta_t), partial(_train_and_follow, *given, name)) for name in _SEES
        ]
        cells.append(Cell(_key(CLAIRVOYANT, delta_t), partial(_certify, *given)))
    return cells


def _key(name: str, delta_t: float) -> str:
    return f"{name.replace(' ', '-')}_dt={delta_t:g}"


def _rows(size: CertificateSize, results: Mapping[str, Result]) -> list[Row]:
    rows: list[Row] = []
    for delta_t in size.delta_ts:
        drops = {
            name: np.asarray(samples) for name, samples in _policy_drops(results, delta_t).items()
        }
        rows += _policy_rows(delta_t, drops)
        starts = results[_key(CLAIRVOYANT, delta_t)]
        from_policy, from_random = (np.asarray(one) for one in starts.values())
        rows += _clairvoyant_rows(delta_t, drops, from_policy, from_random)
    return rows


def _policy_drops(results: Mapping[str, Result], delta_t: float) -> dict[str, list[float]]:
    simple = dict(results[_key("simple", delta_t)])
    learned = simple.pop(MF)
    trained = {name: results[_key(name, delta_t)] for name in _SEES}
    return {**simple, **trained, MF: learned}


def _policy_rows(delta_t: float, drops: Mapping[str, Floats]) -> list[Row]:
    limit = Limit(SystemParameters(delta_t=delta_t), drops[RND])
    rows = []
    for name, samples in drops.items():
        rows.append(_row(delta_t, name, ("drops", "none"), limit.estimate(samples)))
        if name != MF:
            difference = Estimate.of(samples - drops[MF])
            rows.append(_row(delta_t, name, ("difference", MF), difference))
    return rows


def _clairvoyant_rows(
    delta_t: float, drops: Mapping[str, Floats], from_policy: Floats, from_random: Floats
) -> list[Row]:
    from mfc_lb.learning.clairvoyant import Certificate

    rows = [
        _row(delta_t, CLAIRVOYANT, ("drops", "from MF"), Estimate.of(from_policy)),
        _row(delta_t, CLAIRVOYANT, ("drops", "from RND"), Estimate.of(from_random)),
    ]
    for name, samples in drops.items():
        certificate = Certificate(samples[: from_policy.size], from_policy, from_random)
        rows.append(_row(delta_t, name, ("difference", CLAIRVOYANT), certificate.gap))
        rows.append(_row(delta_t, name, ("ratio", CLAIRVOYANT), certificate.ratio))
    starts = Estimate.of(from_random - from_policy)
    return [*rows, _row(delta_t, CLAIRVOYANT, ("difference", "starts"), starts)]


def _row(delta_t: float, policy: str, what: tuple[str, str], estimate: Estimate) -> Row:
    measure, reference = what
    row: Row = {"delta_t": delta_t, "policy": policy, "knows": KNOWS[policy]}
    return {**row, "measure": measure, "reference": reference, **estimate_columns(estimate)}


def _inputs(size: CertificateSize) -> dict[str, Any]:
    return policy_digests(size.delta_ts)


EXPERIMENT = Experiment(
    name="certificate",
    question="How far from optimal are the learned policies, and what is each knowledge worth?",
    seed=20227,
    sizes={
        "quick": CertificateSize(
            delta_ts=(5.0, 10.0),
            num_paths=50,
            num_clairvoyant_paths=4,
            clairvoyant_steps=300,
            gradient_steps=(40, 40),
            num_beta_paths=20,
        ),
        "paper": CertificateSize(
            delta_ts=tuple(float(delta_t) for delta_t in range(1, 11)),
            num_paths=500,
            num_clairvoyant_paths=64,
            clairvoyant_steps=400,
            gradient_steps=(100, 300),
            num_beta_paths=200,
        ),
    },
    constants=PAPER,
    cells=_cells,
    rows=_rows,
    columns={
        "delta_t": "synchronisation delay, in mean service times",
        "policy": "the policy; clairvoyant: each path's scores optimised with the path known",
        "knows": "what it acts on: nothing, the arrival level, the queues' distribution, both or "
        "the future",
        "measure": "drops, a paired difference of drops, or a ratio of mean drops",
        "reference": "what is subtracted or divided by; of the clairvoyant's drops, where the "
        "optimisation started, and starts: the difference from RND minus from MF",
        "estimate": "drops per queue over 500 mean service times in the mean field, or a "
        "difference or ratio of two such",
        **ESTIMATE_COLUMNS,
    },
    data=_inputs,
    # Training amplifies rounding errors, which differ between processors.
    tolerance=1e-2,
    # The gaps are differences of drops, of some 30, and may be as small as 1e-9.
    absolute_tolerance=1e-8,
)
