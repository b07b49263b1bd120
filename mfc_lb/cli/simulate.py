"""`mfc-lb simulate`: one policy in one system."""

import time
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import (
    Command,
    combined,
    delta_t,
    demand,
    effort,
    num_queues,
    option,
    output,
    queues_and_servers,
    which_system,
)
from mfc_lb.cli.policies import DEFAULT_BETA, named_policy, rule_from_file
from mfc_lb.cli.settings import Given, read_effort, read_parameters, read_system
from mfc_lb.cli.table_file import table_file
from mfc_lb.cli.values import NUMBERS, Real

if TYPE_CHECKING:
    from mfc_lb.model import DecisionRule, Policy, SystemParameters

which_policy = combined(
    option(
        "--policy",
        section="How agents choose",
        otherwise="jsq",
        text="random, jsq, sed or softmin: see mfc-lb --help.",
    ),
    option(
        "--beta",
        type=Real(),
        section="How agents choose",
        otherwise="1",
        text="Sharpness β of softmin: 0 is random, large is jsq; >= 0.",
    ),
    option(
        "--scores",
        type=NUMBERS,
        section="How agents choose",
        text="Instead of a policy: one score g for each queue state (fillings 0 to B of the first "
        "class, then of the next); a queue is chosen with probability proportional to exp(g).",
    ),
    option(
        "--decision-rule",
        section="How agents choose",
        metavar="FILE",
        text="Instead of a policy: any decision rule, for each of the S^d tuples of states the "
        "probabilities of the d queues. In .npy or .json an array of shape S x ... x S x d; in "
        ".csv a line for each tuple.",
    ),
)


@click.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb simulate --policy softmin --beta 0.5 --delta-t 5",
)
@which_policy
@delta_t()
@num_queues
@which_system
@queues_and_servers()
@demand()
@effort
@output
def simulate(**given: Any) -> None:
    """Simulate one policy, and say how many packets are lost.

    Prints drops per queue over a run and the fraction of packets dropped, each with its standard
    error and a 95 % interval, and beside it the mean-field limit of infinitely many queues on the
    same arrival rates. The file of --output has one line per run.
    """
    from mfc_lb.cli.outcomes import simulate_policy
    from mfc_lb.cli.report import run_rows, show

    with naming_options():
        parameters = read_parameters(given, given["delta_t"])
        name, policy = _read_policy(given, parameters)
        system = read_system(given, parameters, given["num_queues"])
        work = read_effort(given, system)
        with table_file(given["output"]) as table:
            start = time.perf_counter()
            outcome = simulate_policy(system, name, policy, work)
            seconds = time.perf_counter() - start
            table.extend(run_rows(outcome))
    show(outcome, seconds)


def _read_policy(given: Given, parameters: "SystemParameters") -> tuple[str, "Policy"]:
    """Return the policy and its name, from the one option that gives it."""
    from mfc_lb.model import ConstantPolicy, softmin

    ways = [name for name in ("policy", "scores", "decision_rule") if given[name] is not None]
    if len(ways) > 1:
        first, second = ("--" + way.replace("_", "-") for way in ways[:2])
        refuse(second, f"left out when {first} is given", given[ways[1]])
    beta, policy = given["beta"], given["policy"] or "jsq"
    if beta is not None and (policy != "softmin" or ways != ["policy"]):
        refuse("--beta", "left out except with --policy softmin", beta)
    if ways == ["scores"]:
        return "scores", ConstantPolicy(_read_scores(given["scores"], parameters))
    if ways == ["decision_rule"]:
        path = given["decision_rule"]
        return path, ConstantPolicy(rule_from_file(path, parameters, "--decision-rule"))
    if policy == "softmin":
        beta = DEFAULT_BETA if beta is None else beta
        return f"softmin:{beta:g}", ConstantPolicy(softmin(parameters, beta))
    return policy, named_policy(policy, parameters, "--policy")


def _read_scores(scores: tuple[float, ...], parameters: "SystemParameters") -> "DecisionRule":
    from mfc_lb.model import score_rule

    if len(scores) != parameters.num_states:
        refuse("--scores", f"one score for each of the {parameters.num_states} states", scores)
    return score_rule(parameters, scores)
