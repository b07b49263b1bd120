"""Mean-field steps: one matrix exponential per state, or the spectral propagator."""

from collections.abc import Iterator

import numpy as np

from benchmarks import usual_mean_field
from benchmarks.timing import Measured, measure_pair
from mfc_lb import MeanFieldSystem, SystemParameters, join_shortest_queue
from mfc_lb.systems import EpochPropagator

#: Targets by batch size.
TARGETS = {1: 10.0, 1024: 100.0}
# The usual way takes batches row by row: a part of a large batch tells how long all of it takes.
MEASURED_ROWS = 32
NOTE = f"the usual step was measured on up to {MEASURED_ROWS} rows of a batch"


class MeanFieldCase:
    """A batch of distributions, with their arrival rates and a decision rule each.

    Parameters
    ----------
    batch : int
        Number of distributions.
    delta_t : float
        Length of the epoch.
    """

    def __init__(self, batch: int, delta_t: float) -> None:
        self.parameters = SystemParameters(delta_t=delta_t)
        self.system = MeanFieldSystem(self.parameters)
        generator = np.random.default_rng(1)
        size = self.parameters.num_states
        self.nu = generator.dirichlet(np.ones(size), batch)
        self.rates = generator.choice(self.parameters.arrivals.rates, batch)
        self.jsq = join_shortest_queue(self.parameters)
        self.tables = generator.dirichlet(np.ones(2), (batch, size, size))

    def usual_steps(self, rows: int, tables: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Advance the first `rows` distributions."""
        (service_rate,), delta_t = self.parameters.service_rates, self.parameters.delta_t
        given = zip(self.nu[:rows], self.rates, tables, strict=False)
        return [
            usual_mean_field.step(nu, rate, table, service_rate, delta_t)
            for nu, rate, table in given
        ]

    def usual_propagation(self, matrices: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Advance as many distributions as there are matrices, one for each state of each."""
        delta_t = self.parameters.delta_t
        return [
            usual_mean_field.propagate(nu, of_row, delta_t)
            for nu, of_row in zip(self.nu, matrices, strict=False)
        ]


def measure(batch: int, pairs: int, delta_t: float = 1.0) -> Iterator[Measured]:
    """Yield the measurements of one batch size."""
    case = MeanFieldCase(batch, delta_t)
    rows = min(batch, MEASURED_ROWS)
    where = f"batch {batch}, Δt = {delta_t:g}"
    same = np.broadcast_to(np.asarray(case.jsq), case.tables.shape)
    common = {"pairs": pairs, "units": (rows, batch), "target": TARGETS.get(batch)}
    yield measure_pair(
        f"step, JSQ(2), {where}",
        lambda: case.usual_steps(rows, same),
        lambda: case.system.step(case.nu, case.rates, case.jsq),
        **common,
    )
    yield measure_pair(
        f"step, an array h for each row, {where}",
        lambda: case.usual_steps(rows, case.tables),
        lambda: case.system.step(case.nu, case.rates, case.tables),
        **common,
    )
    yield _measure_propagation(case, f"propagation alone, {where}", rows, common)


def _measure_propagation(case: MeanFieldCase, name: str, rows: int, common: dict) -> Measured:
    """Leave the decision rule out: rates and matrices are there already."""
    rates = case.jsq.arrival_rates(case.nu, case.rates)
    matrices = np.stack([usual_mean_field.rate_matrices(row, 1.0) for row in rates[:rows]])
    propagator = EpochPropagator(case.parameters)
    return measure_pair(
        name,
        lambda: case.usual_propagation(matrices),
        lambda: propagator.push_forward(case.nu, rates),
        **common,
    )
