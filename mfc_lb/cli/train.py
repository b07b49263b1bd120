"""`mfc-lb train`: learn a policy in the mean-field limit."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mfc_lb.cli.mistakes import naming_options, refuse
from mfc_lb.cli.options import (
    OUTPUT,
    Command,
    combined,
    delta_t,
    demand,
    option,
    queues_and_servers,
    seed,
)
from mfc_lb.cli.settings import Given, read_parameters
from mfc_lb.cli.table_file import PolicyFile, try_writing
from mfc_lb.cli.values import INTEGERS, Whole

if TYPE_CHECKING:
    from mfc_lb.learning import PathwiseSettings, PPOSettings, TrainingResult
    from mfc_lb.model import SystemParameters

TRAINING = "How it is trained"
# Options that only one method has.
ONLY = {"pathwise": ("objective", "gradient_steps"), "ppo": ("action", "steps")}
# Runs of the comparison after PPO, which itself compares nothing.
COMPARED_RUNS = 200

how = combined(
    option(
        "--method",
        type=click.Choice(["pathwise", "ppo"]),
        default="pathwise",
        section=TRAINING,
        text="pathwise: gradients through the mean field; seconds. ppo: proximal policy "
        "optimisation with the paper's hyperparameters, by Stable-Baselines3; much longer.",
    ),
    option(
        "--objective",
        type=click.Choice(["evaluation", "discounted"]),
        section=TRAINING,
        otherwise="evaluation",
        text="What pathwise minimises. evaluation: drops over 500 units of time. discounted: drops "
        "of 500 epochs, each weighing 0.99 times the one before, as in the paper's training.",
    ),
    option(
        "--gradient-steps",
        type=INTEGERS,
        section=TRAINING,
        metavar="CONSTANTS,NETWORK",
        otherwise="100,300",
        text="Gradient steps of pathwise: on constant scores for each level, and on a network that "
        "sees how full the queues are; 0 of the latter leaves the network out.",
    ),
    option(
        "--action",
        type=click.Choice(["score", "table"]),
        section=TRAINING,
        otherwise="score",
        text="What the network of ppo gives. score: a number for each of the S queue states. "
        "table: the paper's d numbers for each of the S^d tuples of states.",
    ),
    option(
        "--steps",
        type=Whole(),
        section=TRAINING,
        otherwise="2000000",
        text="Epochs that ppo simulates, rounded up to whole batches of 4000.",
    ),
)

where_to = option(
    "--output",
    type=PolicyFile(),
    section=OUTPUT,
    metavar="FILE.safetensors",
    otherwise="mf-dt5.safetensors for Δt = 5",
    text="File for the policy; beside it, its card (.json) says for what and how it was trained, "
    "and what it reached. Files that exist are replaced only if --output names them.",
)


@click.command(cls=Command, epilog="\b\nExample:\n  mfc-lb train --delta-t 5")
@how
@delta_t()
@queues_and_servers()
@demand()
@seed
@where_to
def train(**given: Any) -> None:
    """Learn a policy in the mean-field limit.

    It serves any number of queues and agents. Needs the extra 'train': pip install 'mfc_lb[train]'.

    Prints what the trained policy and simpler ones drop, keeps the simplest than which none is
    clearly better (pathwise) or the trained one (ppo), and says how to evaluate it in a finite
    system.

    While it runs, its state is in a file beside the output (.checkpoint). If it is stopped or
    killed, the same command goes on from there and gives the same policy; remove that file to begin
    anew.
    """
    from mfc_lb.learning import train_with  # what is missing is told before anything else

    _refuse_other_methods(given)
    output = _read_output(given)
    steps = dict.fromkeys(("constant_steps", "network_steps"), "--gradient-steps")
    names = {"num_steps": "--steps", "checkpoint": "the checkpoint", "horizon": "a run"}
    with naming_options(**names, **steps):
        parameters = read_parameters(given, given["delta_t"])
        settings = _read_settings(given)
        result = train_with(parameters, settings, checkpoint=output.with_suffix(".checkpoint"))
        _save(result, output)
        if not result.candidates:
            result = _compared(result, parameters, given["seed"])
            _save(result, output)
    _show(result, output, _title(given, parameters))


def _refuse_other_methods(given: Given) -> None:
    method = given["method"]
    for other, names in ONLY.items():
        for name in names:
            if other != method and given[name] is not None:
                written = "--" + name.replace("_", "-")
                refuse(written, f"left out with --method {method}", given[name])


def _read_output(given: Given) -> Path:
    """Return where the policy goes; by default no file is replaced."""
    chosen: Path | None = given["output"]
    output = chosen or Path(f"mf-dt{given['delta_t']:g}.safetensors")
    existing = [path for path in (output, output.with_suffix(".json")) if path.exists()]
    if chosen is None and existing:
        refuse("--output", "given to replace a file that exists", str(existing[0]))
    try_writing(output)
    return output


def _read_settings(given: Given) -> "PathwiseSettings | PPOSettings":
    from mfc_lb.learning import ActionKind, Objective, PathwiseSettings, PPOSettings

    seed = given["seed"]
    if given["method"] == "ppo":
        num_steps = {} if given["steps"] is None else {"num_steps": given["steps"]}
        return PPOSettings(kind=ActionKind(given["action"] or "score"), seed=seed, **num_steps)
    objective = Objective(given["objective"] or "evaluation")
    steps = given["gradient_steps"]
    if steps is None:
        return PathwiseSettings(objective, seed=seed)
    if len(steps) != 2:
        refuse("--gradient-steps", "two integers CONSTANTS,NETWORK", steps)
    constant, network = steps
    return PathwiseSettings(objective, constant, network, seed=seed)


def _save(result: "TrainingResult", output: Path) -> None:
    from mfc_lb.learning import save_policy
    from mfc_lb.results.circumstances import circumstances

    about = {"training": result.settings, "results": result.results()}
    save_policy(result.policy, output, **about, computed=circumstances(1))


def _compared(
    result: "TrainingResult", parameters: "SystemParameters", seed: int
) -> "TrainingResult":
    """Return a result whose training compared nothing, beside the usual policies."""
    from mfc_lb.cli.policies import named_policy
    from mfc_lb.systems import MeanFieldSystem, evaluate

    system, effort = MeanFieldSystem(parameters), {"num_runs": COMPARED_RUNS, "seed": seed}
    simple = {name: named_policy(name, parameters, "--policy") for name in ("random", "jsq")}
    found = {
        name: evaluate(system, policy, num_epochs=parameters.num_epochs(), **effort)
        for name, policy in (simple | {result.chosen: result.policy}).items()
    }
    drops = {name: one.estimate for name, one in found.items()}
    excess = {name: one.difference(found[result.chosen]) for name, one in found.items()}
    return replace(result, candidates=drops, excess=excess)


def _title(given: Given, parameters: "SystemParameters") -> str:
    counted = "Discounted drops" if given["objective"] == "discounted" else "Drops"
    return f"{counted} per queue in the mean field, Δt = {parameters.delta_t:g}"


def _show(result: "TrainingResult", output: Path, title: str) -> None:
    from mfc_lb.cli.terminal import console, new_table, show_estimate

    table = new_table(title, "policy", "mean", "standard error", "minus the kept one's (95 %)")
    for name, estimate in result.candidates.items():
        mean, error, _ = show_estimate(estimate)
        kept = name == result.chosen
        difference = "" if kept else show_estimate(result.excess[name])[2]
        table.add_row(name, mean, error, difference, style="bold" if kept else None)
    console().print(
        table,
        f"Kept: {result.chosen}, after training for {result.seconds:.1f} s\n"
        f"Policy: {output}\n"
        f"Card:   {output.with_suffix('.json')}\n"
        f"Next:   mfc-lb evaluate {output} --num-agents 10000 --num-queues 100",
        sep="",
        soft_wrap=True,
    )
