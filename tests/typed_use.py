"""What a user writes who has types checked: mypy reads it, nobody runs it."""

# ruff: noqa: F841, RUF059 (types are all that is asked for)

from pathlib import Path

import numpy as np

import mfc_lb
from mfc_lb.learning import (
    MeanFieldEnv,
    MeanFieldVectorEnv,
    NetworkPolicy,
    PathwiseSettings,
    PPOSettings,
    action_size,
    best_softmin,
    clairvoyant_drops,
    decision_rule_of,
)


def use() -> None:
    arrivals = [
        mfc_lb.ArrivalProcess([0.9, 0.6], [[0.8, 0.2], [0.5, 0.5]], [0.5, 0.5]),
        mfc_lb.ArrivalProcess(np.array([0.9]), np.ones((1, 1)), np.ones(1)),
        mfc_lb.ArrivalProcess(kernel=np.full((2, 2), 0.5), initial=(1, 0)),
        mfc_lb.ArrivalProcess.from_generator(
            np.array([0.9, 0.6]), np.zeros((2, 2)), 1.0, [1.0, 0.0]
        ),
        mfc_lb.ArrivalProcess.from_generator([0.9], [[0.0]], 1.0, initial=np.ones(1)),
    ]
    parameters = mfc_lb.SystemParameters(
        service_rates=[1.0, 2.0],
        class_fractions=np.array([0.5, 0.5]),
        arrivals=arrivals[0],
        delta_t=5,
    )
    rates: tuple[float, ...] = parameters.service_rates
    kernel: tuple[tuple[float, ...], ...] = parameters.arrivals.kernel
    changed: mfc_lb.SystemParameters = parameters.replace(service_rates=[1, 2])

    rule: mfc_lb.DecisionRule = mfc_lb.score_rule(parameters, [0.0] * 12)
    policies: list[mfc_lb.Policy] = [
        mfc_lb.ConstantPolicy(rule),
        mfc_lb.ConstantPolicy(np.full((12, 12, 2), 0.5)),
        mfc_lb.ConstantPolicy([[[0.5, 0.5]]]),
        mfc_lb.train(parameters, PathwiseSettings(objective="discounted"), checkpoint="here"),
        mfc_lb.train(parameters, PPOSettings(kind="table"), checkpoint=Path("here")),
        NetworkPolicy({"base": [[0.0] * 12] * 2}, parameters, "score"),
        mfc_lb.load_policy("here", parameters),
        lambda _, __: mfc_lb.softmin(parameters, 1.0),
    ]
    system = mfc_lb.MeanFieldSystem(parameters)
    nu, drops = system.step([1.0] + [0.0] * 11, [0.9, 0.6], rule)
    result = mfc_lb.evaluate(system, policies[0], num_epochs=9, num_runs=2, seed=1, nu=[1.0])
    certificate = mfc_lb.certify(policies[0], parameters, levels=[[0, 1]])
    gap: float = certificate.gap.mean
    mfc_lb.save_policy(mfc_lb.train(parameters), "here", training={"method": "by hand"})
    mfc_lb.learning.save_policy(mfc_lb.load_policy(Path("here")), Path("there"))
    best: float = best_softmin(system, result.levels, largest=10.0, keys=[0.0, 1.0])
    lowest: float = clairvoyant_drops(system, [[0, 1]], np.zeros((1, 2, 12)), 10).mean()
    decision_rule_of([0.0] * action_size(parameters, "score"), "score", 12, 2)

    one, many = MeanFieldEnv(parameters, "table"), MeanFieldVectorEnv(parameters, 2)
    one.step([0.0] * 12)
    many.reset(seed=[1, None], options={"reset_mask": np.array([True, False])})
    many.step([[0.0] * 12] * 2)

    packages = [mfc_lb.cluster, mfc_lb.experiments, mfc_lb.learning, mfc_lb.model, mfc_lb.systems]
