"""What `mfc-lb cluster compare` prints."""

import math
from typing import TYPE_CHECKING, Any

from mfc_lb.cli.cluster_comparison import OTHERS, TIMES, Group, Outcome, short_name
from mfc_lb.cli.durations import UNITS, show_duration
from mfc_lb.cli.terminal import (
    NOT_KNOWN,
    console,
    counted,
    new_table,
    number_format,
    show_estimate,
)
from mfc_lb.systems import Estimate

if TYPE_CHECKING:
    from rich.table import Table

    from mfc_lb.cluster import Trace

COLUMNS = ("balancer", "refresh", "mean", "± 95 %", "p50", "p95", "p99", "drops", "load", "s.d.")


def show(given: dict[str, Any], trace: "Trace", groups: list[Group]) -> None:
    """Print the tables, and what was written."""
    unit = _unit(groups)
    tables = [_table(given, trace, groups, unit)]
    if len(groups[0]) > 1:
        tables.append(_differences(groups, unit))
    console().print(*tables)
    for name, what in (("output", "the table"), ("picture", "the picture")):
        if given[name] is not None:
            console().print(f"{given[name]}: {what}", soft_wrap=True)


def _table(given: dict[str, Any], trace: "Trace", groups: list[Group], unit: str) -> "Table":
    title = f"{_title(given, trace, groups)}; response times in {unit}"
    table = new_table(title, *COLUMNS, caption=_caption(given))
    for group in groups:
        best = _best(group) if len(group) > 1 else None
        for name, outcome in group.items():
            style = "bold" if name == best else None
            table.add_row(short_name(name), *_cells(outcome, unit), style=style)
        table.add_section()
    return table


def _title(given: dict[str, Any], trace: "Trace", groups: list[Group]) -> str:
    cores = next(iter(groups[0].values())).cluster.cores
    alike = len(set(cores)) == 1
    each = f"{counted(cores[0], 'core')} each" if alike else f"{counted(sum(cores), 'core')} in all"
    jobs, workers = counted(len(trace), "job"), counted(len(cores), "worker")
    return f"{given['trace']}: {jobs}, {workers}, {each}"


def _caption(given: dict[str, Any]) -> str:
    return (
        f"{counted(given['runs'], 'run')} of each random balancer, on the same jobs; "
        f"seed {given['seed']}; "
        "± 95 %: half the width of the 95 % interval of the mean over runs; load: jobs per core, "
        "mean over workers and time; s.d.: its standard deviation over workers, mean over time; "
        "bold: fewest drops, then shortest mean"
    )


def _best(group: Group) -> str:
    def badness(name: str) -> tuple[float, float]:
        mean = group[name].estimate("response_time").mean
        return group[name].estimate("drops").mean, math.inf if math.isnan(mean) else mean

    return min(group, key=badness)


def _cells(outcome: Outcome, unit: str) -> list[str]:
    scale = UNITS[unit]
    response = _scaled(outcome.estimate("response_time"), scale)
    return [
        _refresh(outcome),
        *_mean_and_width(response),
        *(_rounded(_scaled(outcome.estimate(name), scale)) for name in list(TIMES)[1:]),
        *(_rounded(outcome.estimate(name)) for name in OTHERS),
    ]


def _mean_and_width(estimate: Estimate) -> tuple[str, str]:
    """Return the mean and half the width of its 95 % interval."""
    low, high = estimate.interval(0.95)
    if math.isnan(high) or high == low:
        return _shown(estimate)[0], NOT_KNOWN
    half = (high - low) / 2
    form = number_format(estimate.mean, half)
    return f"{estimate.mean:{form}}", f"{half:{form}}"


def _differences(groups: list[Group], unit: str) -> "Table":
    first = next(iter(groups[0]))
    title = f"Mean response time minus that of {short_name(first)}, in {unit}"
    table = new_table(title, "balancer", "refresh", "difference", "95 % interval")
    for group in groups:
        for name, outcome in list(group.items())[1:]:
            estimate = _scaled(outcome.difference(group[first], "response_time"), UNITS[unit])
            difference, _, interval = _shown(estimate)
            table.add_row(short_name(name), _refresh(outcome), difference, interval)
        table.add_section()
    return table


def _refresh(outcome: Outcome) -> str:
    interval = outcome.cluster.refresh_interval_us
    return show_duration(interval) if interval else "0"


def _shown(estimate: Estimate) -> tuple[str, str, str]:
    """Return mean, standard error and interval; of a mean without error, four digits."""
    if math.isnan(estimate.mean):
        return NOT_KNOWN, NOT_KNOWN, NOT_KNOWN
    if math.isnan(estimate.standard_error) or estimate.standard_error == 0:
        return f"{estimate.mean:{number_format(estimate.mean, 0.0)}}", NOT_KNOWN, NOT_KNOWN
    return show_estimate(estimate)


def _rounded(estimate: Estimate) -> str:
    """Return the mean in as many digits as its error allows, but three at most of small ones."""
    mean, error = estimate.mean, estimate.standard_error
    if math.isnan(mean):
        return NOT_KNOWN
    coarse = 0.0 if math.isnan(error) else error
    return f"{mean:{number_format(mean, max(coarse, 0.1 * abs(mean)))}}"


def _scaled(estimate: Estimate, scale: float) -> Estimate:
    return Estimate(estimate.mean / scale, estimate.standard_error / scale, estimate.num_samples)


def _unit(groups: list[Group]) -> str:
    """Return the largest unit in which every mean response time is at least 1."""
    means = [o.estimate("response_time").mean for group in groups for o in group.values()]
    least = min((mean for mean in means if mean > 0), default=UNITS["ms"])
    return [unit for unit, length in UNITS.items() if length <= least or unit == "us"][-1]
