"""From options to the library's objects."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfc_lb.cli.mistakes import refuse

if TYPE_CHECKING:
    from mfc_lb.model import ArrivalProcess, SystemParameters
    from mfc_lb.systems.evaluation import System

Given = dict[str, Any]

DEFAULT_QUEUES, DEFAULT_HORIZON, DEFAULT_RUNS = 100, 500.0, 100
# Up to this many queues, as many runs as in the paper; together they take seconds.
MANY_QUEUES = 1000
# A queue's epoch takes up to half a microsecond: so much work takes longer than starting processes.
LONG_WORK = 20_000_000


@dataclass(frozen=True)
class Effort:
    """How much is simulated of each system."""

    num_epochs: int
    num_runs: int
    seed: int
    processes: int


def read_parameters(given: Given, delta_t: float) -> "SystemParameters":
    """Return the model's parameters; InvalidInput if a value is not allowed."""
    from mfc_lb.model import SystemParameters

    service_rates = given["service_rates"]
    fractions = given["class_fractions"]
    return SystemParameters(
        buffer_size=given["buffer_size"],
        num_choices=given["num_choices"],
        service_rates=service_rates,
        class_fractions=_equal(len(service_rates)) if fractions is None else fractions,
        arrivals=_read_arrivals(given),
        delta_t=delta_t,
    )


def read_system(given: Given, parameters: "SystemParameters", num_queues: int | None) -> "System":
    """Return the system; options that mean nothing for it are refused."""
    from mfc_lb.systems import FiniteSystem, InfiniteAgentSystem, MeanFieldSystem

    kind, distinct = given["system"], given["distinct_queues"]
    if kind == "mean-field":
        _refuse_idle(given, kind, ("num_queues", "num_agents", "routing", "distinct_queues"))
        return MeanFieldSystem(parameters)
    size = DEFAULT_QUEUES if num_queues is None else num_queues
    if kind == "infinite-agents":
        _refuse_idle(given, kind, ("num_agents", "routing"))
        return InfiniteAgentSystem(parameters, size, distinct_queues=distinct)
    agents = size * size if given["num_agents"] is None else given["num_agents"]
    routing: Any = (given["routing"] or "per-packet").replace("-", "_")
    return FiniteSystem(parameters, agents, size, routing, distinct_queues=distinct)


def read_effort(given: Given, system: "System") -> Effort:
    """Return how much to simulate of a system."""
    from mfc_lb.errors import check_int

    num_epochs = _read_epochs(given, system.parameters)
    num_queues = getattr(system, "num_queues", 1)
    fewer = max(10, DEFAULT_RUNS * MANY_QUEUES // num_queues)
    num_runs = min(DEFAULT_RUNS, fewer) if given["runs"] is None else given["runs"]
    check_int("runs", num_runs, 1)
    processes = given["processes"]
    if processes is None:
        processes = -1 if num_queues * num_epochs * num_runs > LONG_WORK else 1
    # More processes than runs would have nothing to do.
    return Effort(num_epochs, num_runs, given["seed"], min(processes, num_runs))


def _read_epochs(given: Given, parameters: "SystemParameters") -> int:
    if given["num_epochs"] is None:
        horizon = given["horizon"]
        return parameters.num_epochs(DEFAULT_HORIZON if horizon is None else horizon)
    if given["horizon"] is not None:
        refuse("--num-epochs", "left out when --horizon is given", given["num_epochs"])
    return int(given["num_epochs"])


def _read_arrivals(given: Given) -> "ArrivalProcess":
    from mfc_lb.model import ArrivalProcess

    rates, kernel, initial = (given[f"arrival_{name}"] for name in ("rates", "kernel", "initial"))
    if kernel is None:
        kernel = ((1.0,),) if len(rates) == 1 else ArrivalProcess().kernel
    return ArrivalProcess(rates, kernel, _equal(len(rates)) if initial is None else initial)


def _equal(count: int) -> tuple[float, ...]:
    return (1.0 / count,) * count


def _refuse_idle(given: Given, kind: str, names: tuple[str, ...]) -> None:
    for name in names:
        if given[name] is not None and given[name] is not False:
            refuse("--" + name.replace("_", "-"), f"left out with --system {kind}", given[name])
