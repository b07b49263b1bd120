"""A cluster as it is usually simulated: with SimPy, and with Ciw.

Both are written as their documentation teaches: a process for each job and a resource for each
worker; a network of nodes, one for the balancer and one for each worker. Both give the start and
the finish of every job, in the order of the trace.
"""

from collections.abc import Callable, Sequence
from typing import Any

import ciw
import numpy as np
import simpy
from numpy.typing import NDArray

from mfc_lb.cluster import Trace

Schedule = tuple[NDArray[np.int64], NDArray[np.int64]]
#: Given the numbers of jobs and of cores of the workers, and the number of decisions before.
Choose = Callable[[Sequence[int], Sequence[int], int], int]

#: After SimPy's own priorities at one instant, 0 and 1: jobs finish before others arrive.
ARRIVAL = 2


def round_robin(jobs: Sequence[int], _cores: Sequence[int], num_decided: int) -> int:
    """Pick the workers in turns."""
    return num_decided % len(jobs)


def least_loaded(jobs: Sequence[int], cores: Sequence[int], _num_decided: int) -> int:
    """Pick the first of the workers with the smallest number of jobs per core."""
    loads = [present / number for present, number in zip(jobs, cores, strict=True)]
    return loads.index(min(loads))


def simulate_with_simpy(trace: Trace, cores: Sequence[int], choose: Choose) -> Schedule:
    """Simulate with SimPy: a source of jobs, each a process that holds a core."""
    env = simpy.Environment()
    workers = [simpy.Resource(env, number) for number in cores]
    jobs = [0] * len(cores)
    start, finish = np.empty((2, len(trace)), dtype=np.int64)

    def serve(job: int, worker: int, service: int) -> Any:
        with workers[worker].request() as core:
            yield core
            start[job] = env.now
            yield env.timeout(service)
        jobs[worker] -= 1
        finish[job] = env.now

    def send() -> Any:
        for job, (_, arrival, service) in enumerate(trace):
            yield _later(env, arrival - env.now)
            worker = choose(jobs, cores, job)
            jobs[worker] += 1
            env.process(serve(job, worker, service))

    env.process(send())
    env.run()
    return start, finish


def _later(env: simpy.Environment, delay: int) -> simpy.Event:
    event = env.event()
    event._ok, event._value = True, None
    env.schedule(event, priority=ARRIVAL, delay=delay)
    return event


class _ServiceOfJob(ciw.dists.Distribution):  # type: ignore[misc]
    def __init__(self, times: list[int]) -> None:
        self.times = times

    def sample(self, t: Any = None, ind: Any = None) -> int:
        return self.times[ind.id_number - 1]


def simulate_with_ciw(trace: Trace, cores: Sequence[int]) -> Schedule:
    """Simulate least loaded workers of equally many cores with Ciw.

    Of tied workers the first is taken. What happens at one instant is served in random order.
    """
    n = len(cores)
    gaps = np.diff(trace.arrival_time_us, prepend=0).tolist()
    services = _ServiceOfJob(trace.service_time_us.tolist())
    leave = ciw.routing.Leave()
    balance = ciw.routing.LoadBalancing(list(range(2, n + 2)), tie_break="order")
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([*gaps, float("inf")]), *[None] * n],
        service_distributions=[ciw.dists.Deterministic(0), *[services] * n],
        number_of_servers=[float("inf"), *cores],
        routing=ciw.routing.NetworkRouting(routers=[balance, *[leave] * n]),
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(len(trace), method="Finish")
    start, finish = np.empty((2, len(trace)), dtype=np.int64)
    for record in simulation.get_all_records():
        if record.node > 1:
            start[record.id_number - 1] = record.service_start_date
            finish[record.id_number - 1] = record.exit_date
    return start, finish
