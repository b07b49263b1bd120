"""What `simulate` and `evaluate` say of one policy: a table, and rows for a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfc_lb.cli.outcomes import Outcome
    from mfc_lb.cli.table_file import Row


def run_rows(outcome: "Outcome", rivals: Sequence["Outcome"] = ()) -> list["Row"]:
    """Return a row for each run; `rivals` are other policies on the same arrival rates."""
    limit, runs = outcome.limit, range(outcome.effort.num_runs)
    columns = {
        "expected_arrivals": outcome.arrivals.tolist(),
        "drops": outcome.result.total_drops.tolist(),
        "mean_field_drops": [""] * len(runs) if limit is None else limit.total_drops.tolist(),
    } | {f"{rival.policy}_drops": rival.result.total_drops.tolist() for rival in rivals}
    described = outcome.describe()
    return [
        described | {"run": run} | {name: values[run] for name, values in columns.items()}
        for run in runs
    ]


def show(outcome: "Outcome", seconds: float, rivals: Sequence["Outcome"] = ()) -> None:
    """Print drops, what they are compared with, and how they were found."""
    from mfc_lb.cli.terminal import console, new_table, show_estimate

    table = new_table(
        _title(outcome), "per queue and run", "mean", "standard error", "95 % interval"
    )
    result, limit = outcome.result, outcome.limit
    table.add_row("drops", *show_estimate(result.estimate), style="bold")
    table.add_row("drops / arrivals", *show_estimate(outcome.drop_fraction, percent=True))
    others = [] if limit is None else [("in the mean field", limit)]
    for name, other in others + [(f"of {rival.policy}", rival.result) for rival in rivals]:
        table.add_row(f"drops {name}", *show_estimate(other.estimate))
        table.add_row("  drops minus those", *show_estimate(result.difference(other)))
    console().print(table, _effort_line(outcome, seconds), sep="")


def _title(outcome: "Outcome") -> str:
    from mfc_lb.cli.terminal import counted

    system, p = outcome.system, outcome.system.parameters
    queues, agents = getattr(system, "num_queues", None), getattr(system, "num_agents", None)
    number = counted(agents, "agent") if agents else "infinitely many agents"
    where = counted(queues, "queue") if queues else "infinitely many queues"
    return f"{outcome.policy} with d = {p.num_choices}, {number}, {where}, Δt = {p.delta_t:g}"


def _effort_line(outcome: "Outcome", seconds: float) -> str:
    from mfc_lb.cli.terminal import counted

    runs, epochs = outcome.effort.num_runs, outcome.effort.num_epochs
    horizon = epochs * outcome.system.parameters.delta_t
    times = f"runs: {runs}, each of {counted(epochs, 'epoch')} (time {horizon:g})"
    return f"{times}; seed: {outcome.effort.seed}; in {seconds:.1f} s"
