"""Peak memory of a few epochs, each in a process of its own.

``python -m benchmarks.memory ours|usual ROUTING N`` prints the peak in MiB.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.usual_finite import AgentLevelSystem
from mfc_lb import ConstantPolicy, FiniteSystem, SystemParameters, join_shortest_queue

NUM_QUEUES, NUM_EPOCHS = 1000, 3
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Peak:
    """Peak memory in MiB; NaN where it was not measured."""

    case: str
    usual: float
    ours: float


def measure(routing: str, num_agents: int, *, usual: bool) -> Peak:
    """Measure the library's way and, if asked to, the usual way."""
    case = f"{routing}, N = {num_agents:,}, M = {NUM_QUEUES:,}"
    theirs = _peak_of_process("usual", routing, num_agents) if usual else float("nan")
    return Peak(case, theirs, _peak_of_process("ours", routing, num_agents))


def _peak_of_process(way: str, routing: str, num_agents: int) -> float:
    command = [sys.executable, "-m", "benchmarks.memory", way, routing, str(num_agents)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def run_epochs(way: str, routing: str, num_agents: int) -> None:
    """Simulate a few epochs of one system."""
    p = SystemParameters()
    levels = np.zeros(NUM_EPOCHS, dtype=np.int64)
    if way == "ours":
        policy = ConstantPolicy(join_shortest_queue(p))
        system = FiniteSystem(p, num_agents, NUM_QUEUES, routing)
        system.simulate(policy, levels, np.random.SeedSequence(1))
    else:
        states = np.zeros(NUM_QUEUES, dtype=np.int64)
        rates = np.asarray(p.arrivals.rates)[levels]
        AgentLevelSystem(p, num_agents, NUM_QUEUES, routing).simulate(rates, states, seed=1)


def peak_memory() -> float:
    """Return the peak memory of this process, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        # The other way below would include the peak of the process that started this one.
        (line,) = (text for text in status.read_text().splitlines() if text.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    run_epochs(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(peak_memory())
