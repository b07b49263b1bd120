"""`mfc-lb simulate`: one policy in one system."""

import time
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import (
    SYSTEM,
    Command,
    combined,
    demand,
    effort,
    option,
    output,
    queues_and_servers,
    which_system,
)
from mfc_lb.cli.policies import DEFAULT_BETA, named_rule, rule_from_file
from mfc_lb.cli.settings import Given, read_effort, read_parameters, read_system
from mfc_lb.cli.table_file import Row, table_file
from mfc_lb.cli.values import NUMBERS, Real, Whole

if TYPE_CHECKING:
    from mfc_lb.cli.outcomes import Outcome
    from mfc_lb.model import DecisionRule, SystemParameters

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

    with naming_options():
        parameters = read_parameters(given, given["delta_t"])
        policy, rule = _read_policy(given, parameters)
        system = read_system(given, parameters, given["num_queues"])
        work = read_effort(given, system)
        with table_file(given["output"]) as table:
            start = time.perf_counter()
            outcome = simulate_policy(system, policy, rule, work)
            seconds = time.perf_counter() - start
            table.extend(_run_rows(outcome))
    _show(outcome, seconds)


def _read_policy(given: Given, parameters: "SystemParameters") -> tuple[str, "DecisionRule"]:
    """Return the policy's name and its rule, from the one option that gives it."""
    from mfc_lb.model import softmin

    ways = [name for name in ("policy", "scores", "decision_rule") if given[name] is not None]
    if len(ways) > 1:
        first, second = ("--" + way.replace("_", "-") for way in ways[:2])
        refuse(second, f"left out when {first} is given", given[ways[1]])
    beta, policy = given["beta"], given["policy"] or "jsq"
    if beta is not None and (policy != "softmin" or ways != ["policy"]):
        refuse("--beta", "left out except with --policy softmin", beta)
    if ways == ["scores"]:
        return "scores", _read_scores(given["scores"], parameters)
    if ways == ["decision_rule"]:
        path = given["decision_rule"]
        return path, rule_from_file(path, parameters, "--decision-rule")
    if policy == "softmin":
        beta = DEFAULT_BETA if beta is None else beta
        return f"softmin:{beta:g}", softmin(parameters, beta)
    return policy, named_rule(policy, parameters, "--policy")


def _read_scores(scores: tuple[float, ...], parameters: "SystemParameters") -> "DecisionRule":
    from mfc_lb.model import score_rule

    if len(scores) != parameters.num_states:
        refuse("--scores", f"one score for each of the {parameters.num_states} states", scores)
    return score_rule(parameters, scores)


def _run_rows(outcome: "Outcome") -> list[Row]:
    limit = outcome.limit
    expected = [""] * outcome.effort.num_runs if limit is None else limit.total_drops.tolist()
    drops, arrivals = outcome.result.total_drops.tolist(), outcome.arrivals.tolist()
    return [
        outcome.describe()
        | {"run": run, "expected_arrivals": arrivals[run], "drops": drops[run]}
        | {"mean_field_drops": expected[run]}
        for run in range(outcome.effort.num_runs)
    ]


def _show(outcome: "Outcome", seconds: float) -> None:
    from mfc_lb.cli.terminal import console, new_table, show_estimate

    table = new_table(
        _title(outcome), "per queue and run", "mean", "standard error", "95 % interval"
    )
    result, limit = outcome.result, outcome.limit
    table.add_row("drops", *show_estimate(result.estimate), style="bold")
    table.add_row("drops / arrivals", *show_estimate(outcome.drop_fraction, percent=True))
    if limit is not None:
        table.add_row("drops in the mean field", *show_estimate(limit.estimate))
        table.add_row("  drops minus those", *show_estimate(result.difference(limit)))
    console().print(table, _effort_line(outcome, seconds), sep="")


def _title(outcome: "Outcome") -> str:
    system, p = outcome.system, outcome.system.parameters
    queues, agents = getattr(system, "num_queues", None), getattr(system, "num_agents", None)
    number = f"{agents:,} agents" if agents else "infinitely many agents"
    where = f"{queues:,} queues" if queues else "infinitely many queues"
    return f"{outcome.policy} with d = {p.num_choices}, {number}, {where}, Δt = {p.delta_t:g}"


def _effort_line(outcome: "Outcome", seconds: float) -> str:
    runs, epochs = outcome.effort.num_runs, outcome.effort.num_epochs
    horizon = epochs * outcome.system.parameters.delta_t
    times = f"runs: {runs}, each of {epochs} epochs (time {horizon:g})"
    return f"{times}; seed: {outcome.effort.seed}; in {seconds:.1f} s"
