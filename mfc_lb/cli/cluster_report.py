"""What is printed of a live run."""

from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.durations import show_duration
from mfc_lb.cli.terminal import NOT_KNOWN, console, new_table

if TYPE_CHECKING:
    from mfc_lb.cluster.rpc.outcome import LiveResult

MEASURES = ("mean", "p50", "p95", "p99", "largest")


def show_live(live: "LiveResult") -> None:
    """Print how fast a live run was, how late its actions were, and that its log is right."""
    import numpy as np

    scale = live.replay.time_scale
    title = f"{len(live.trace)} jobs, a second of the trace in {scale:g} s"
    table = new_table(
        title, "", *MEASURES, caption="Realised minus intended times, in absolute value."
    )
    table.add_row("response time, in the trace", *_measures(live.result.response_times_us))
    for name, lags in live.lags.columns.items():
        table.add_row(f"jitter of {name}, real", *_measures(np.abs(lags) * scale))
    empty = live.trace.service_time_us == 0
    if empty.any():
        trips = live.replay.round_trips[empty] * 1e6
        table.add_row("overhead of jobs of length 0, real", *_measures(trips))
    console().print(table)
    for line in _lines(live):
        click.echo(line)


def _lines(live: "LiveResult") -> list[str]:
    finished, dropped = int(live.result.finished.sum()), live.result.num_dropped
    took = show_duration(live.replay.seconds * 1e6)
    lines = [
        f"{finished} jobs finished and {dropped} dropped in {took}: "
        f"{live.jobs_per_second:.4g} jobs per second"
        if live.jobs_per_second > 0
        else "there were no jobs"
    ]
    if live.overhead >= 0:
        overhead = show_duration(live.overhead * 1e6)
        lines.append(f"median overhead per job (round trip of jobs of length 0): {overhead}")
    if live.num_lost:
        lines.append(f"workers lost: {live.num_lost}; jobs sent again: {live.num_returned}")
    late = show_duration(live.lags.largest * live.replay.time_scale)
    right = f"{len(live.log)} events are right; none is more than {late} of real time early or late"
    return [*lines, f"log: {right}"]


def _measures(microseconds: Any) -> list[str]:
    import numpy as np

    if len(microseconds) == 0:
        return [NOT_KNOWN] * len(MEASURES)
    values = (microseconds.mean(), *np.quantile(microseconds, [0.5, 0.95, 0.99, 1.0]))
    return [show_duration(float(value)) for value in values]
