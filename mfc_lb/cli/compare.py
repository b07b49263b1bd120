"""`mfc-lb compare`: several policies on the same arrival rates."""

from collections.abc import Iterator
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
from mfc_lb.cli.policies import named_policy
from mfc_lb.cli.settings import Effort, Given, read_effort, read_parameters, read_system
from mfc_lb.cli.table_file import Row, table_file
from mfc_lb.cli.values import INTEGERS, NUMBERS

if TYPE_CHECKING:
    from mfc_lb.cli.outcomes import Outcome
    from mfc_lb.model import Policy
    from mfc_lb.systems import Estimate
    from mfc_lb.systems.evaluation import System

    Cell = tuple[System, Effort, list[Policy]]

what_is_compared = combined(
    option(
        "--policies",
        default="random,jsq,softmin:1",
        section="How agents choose",
        metavar="POLICY,...",
        text="Policies, separated by commas: random, jsq, sed, softmin:BETA, or the name of a "
        ".npy, .csv or .json file with a decision rule or of a .safetensors file with a trained "
        "policy. The others are compared with the first.",
    ),
    option(
        "--delta-t",
        type=NUMBERS,
        default="1,2,5,10",
        section=SYSTEM,
        text="Delays Δt: the time between two looks at the queues (an epoch), in units of time, of "
        "which 1 is the mean service time at rate 1; each > 0.",
    ),
    option(
        "--num-queues",
        type=INTEGERS,
        section=SYSTEM,
        otherwise="100",
        text="Numbers M of queues; each at least 1.",
    ),
)


@click.command(
    cls=Command,
    epilog="\b\nExample:\n  mfc-lb compare --policies random,jsq,softmin:0.5 --delta-t 1,5,10 "
    "--output comparison.csv",
)
@what_is_compared
@which_system
@queues_and_servers()
@demand()
@effort
@output
def compare(**given: Any) -> None:
    """Compare policies, delays and sizes in one table.

    All policies meet the same arrival rates, so that differences are much more precise than the
    drops themselves. A difference whose interval leaves out 0 is no accident of the runs.
    The file of --output has one line per row of the table.
    """
    names = [name.strip() for name in given["policies"].split(",")]
    if len(set(names)) < len(names):
        refuse("--policies", "made of different policies", given["policies"])
    with naming_options(policy="--policies"):
        cells = list(_read_cells(given, names))
        with table_file(given["output"]) as table:
            outcomes = _simulate(cells, names)
            table.extend([_row(outcome, group[0]) for group in outcomes for outcome in group])
    _show(outcomes)


def _read_cells(given: Given, names: list[str]) -> Iterator["Cell"]:
    """Yield each system, with how much to simulate of it and the policies in it."""
    for delta_t in given["delta_t"]:
        for num_queues in given["num_queues"] or (None,):
            parameters = read_parameters(given, delta_t)
            system = read_system(given, parameters, num_queues)
            policies = [named_policy(name, parameters, "--policies") for name in names]
            yield system, read_effort(given, system), policies


def _simulate(cells: list["Cell"], names: list[str]) -> list[list["Outcome"]]:
    """Return the outcomes of each system, policy by policy."""
    from tqdm import tqdm

    from mfc_lb.cli.outcomes import simulate_policy

    with tqdm(total=len(cells) * len(names), unit="row", delay=2, disable=None) as bar:

        def simulated(system: "System", name: str, policy: "Policy", work: Effort) -> "Outcome":
            outcome = simulate_policy(system, name, policy, work)
            bar.update()
            return outcome

        return [
            [simulated(system, *named, work) for named in zip(names, policies, strict=True)]
            for system, work, policies in cells
        ]


def _row(outcome: "Outcome", first: "Outcome") -> Row:
    limit = outcome.limit
    return (
        outcome.describe()
        | {"num_runs": outcome.effort.num_runs}
        | _columns("drops", outcome.result.estimate)
        | _columns("drop_fraction", outcome.drop_fraction)
        | _columns("difference", outcome.result.difference(first.result))
        | {"mean_field_drops": "" if limit is None else limit.mean}
    )


def _columns(name: str, estimate: "Estimate") -> Row:
    low, high = estimate.interval(0.95)
    error = estimate.standard_error
    ends = {f"{name}_standard_error": error, f"{name}_low": low, f"{name}_high": high}
    return {name: estimate.mean} | ends


def _show(outcomes: list[list["Outcome"]]) -> None:
    from mfc_lb.cli.terminal import console, new_table

    first = outcomes[0][0]
    nums_runs = sorted({group[0].effort.num_runs for group in outcomes})
    runs = " or ".join(map(str, nums_runs))
    table = new_table(
        "Drops per queue",
        "policy",
        "Δt",
        "M",
        "drops",
        "± s.e.",
        f"minus {first.policy}",
        "95 % interval",
        "mean field",
        caption=f"runs: {runs}; seed {first.effort.seed}; bold: fewest drops; "
        "s.e.: standard error of the drops; the interval is that of the difference",
    )
    for group in outcomes:
        fewest = min(outcome.result.mean for outcome in group)
        for outcome in group:
            best = outcome.result.mean == fewest and len(group) > 1
            table.add_row(*_cells_of(outcome, group[0]), style="bold" if best else None)
        table.add_section()
    console().print(table)


def _cells_of(outcome: "Outcome", first: "Outcome") -> list[str]:
    from mfc_lb.cli.terminal import NOT_KNOWN, grouped, show_estimate

    queues = getattr(outcome.system, "num_queues", None)
    mean, error, _ = show_estimate(outcome.result.estimate)
    difference, _, interval = show_estimate(outcome.result.difference(first.result))
    is_first = outcome is first
    return [
        outcome.policy,
        f"{outcome.system.parameters.delta_t:g}",
        grouped(queues) if queues else "∞",
        mean,
        error,
        NOT_KNOWN if is_first else difference,
        NOT_KNOWN if is_first else interval,
        NOT_KNOWN if outcome.limit is None else show_estimate(outcome.limit.estimate)[0],
    ]
