"""`mfc-lb evaluate`: a trained policy in one system."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import (
    Command,
    delta_t,
    demand,
    effort,
    num_queues,
    output,
    queues_and_servers,
    which_system,
)
from mfc_lb.cli.settings import Effort, Given, read_effort, read_parameters, read_system
from mfc_lb.cli.table_file import table_file

if TYPE_CHECKING:
    from mfc_lb.cli.outcomes import Outcome
    from mfc_lb.learning import NetworkPolicy
    from mfc_lb.systems.evaluation import System

RIVALS = ("jsq", "random")


@click.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb evaluate mf-dt5.safetensors --num-agents 10000 --num-queues 100",
)
@click.argument("policy")
@delta_t("the policy's")
@num_queues
@which_system
@queues_and_servers("the policy's")
@demand("the policy's")
@effort
@output
def evaluate(policy: str, **given: Any) -> None:
    """Evaluate the trained policy in the file POLICY.

    POLICY is a file that mfc-lb train wrote, or its card; torch is not needed. Prints drops per
    queue over a run as mfc-lb simulate does, and beside them those of jsq and of random routing on
    the same arrival rates. The policy runs at any delay and any change of the demand, but only with
    the buffers, servers, number of choices and arrival rates for which it was trained. The file of
    --output has one line per run.
    """
    from mfc_lb import load_policy
    from mfc_lb.cli.report import run_rows, show

    with naming_options(policy="POLICY"):
        trained = load_policy(policy)
        system = _read_system(given, trained)
        work = read_effort(given, system)
        with table_file(given["output"]) as table:
            start = time.perf_counter()
            outcome, *rivals = _outcomes(Path(policy).stem, trained, system, work)
            seconds = time.perf_counter() - start
            table.extend(run_rows(outcome, rivals))
    show(outcome, seconds, rivals)


def _read_system(given: Given, policy: "NetworkPolicy") -> "System":
    """Return the system, whose parameters are the policy's where no option says otherwise."""
    p = policy.parameters
    own: dict[str, Any] = {
        "buffer_size": p.buffer_size,
        "num_choices": p.num_choices,
        "service_rates": p.service_rates,
        "class_fractions": p.class_fractions,
        "arrival_rates": p.arrivals.rates,
        "arrival_kernel": p.arrivals.kernel,
        "arrival_initial": p.arrivals.initial,
        "delta_t": p.delta_t,
    }
    wanted = given | {name: value for name, value in own.items() if given[name] is None}
    for name in ("service_rates", "arrival_rates"):
        # Else only the policy's own fractions or kernel would be found not to go with them.
        if len(wanted[name]) != len(own[name]):
            option = "--" + name.replace("_", "-")
            refuse(option, f"{own[name]}, for which the policy was trained", given[name])
    parameters = read_parameters(wanted, wanted["delta_t"])
    policy.require_fit(parameters)
    return read_system(given, parameters, given["num_queues"])


def _outcomes(
    name: str, policy: "NetworkPolicy", system: "System", work: Effort
) -> list["Outcome"]:
    from mfc_lb.cli.outcomes import simulate_policy
    from mfc_lb.cli.policies import named_policy

    named = {rival: named_policy(rival, system.parameters, "POLICY") for rival in RIVALS}
    policies = {name: policy} | named
    return [simulate_policy(system, *one, work) for one in policies.items()]
