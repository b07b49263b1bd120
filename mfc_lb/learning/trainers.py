"""One way in to both ways of training."""

from typing import TYPE_CHECKING

from mfc_lb.learning.checkpoints import File
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.learning.pathwise import PathwiseSettings, train_pathwise
from mfc_lb.learning.training import Evaluate, TrainingResult
from mfc_lb.model import SystemParameters

if TYPE_CHECKING:
    from mfc_lb.learning.ppo import PPOSettings


def train(
    parameters: SystemParameters,
    settings: "PathwiseSettings | PPOSettings | None" = None,
    *,
    checkpoint: File | None = None,
) -> NetworkPolicy:
    """Learn a policy in the mean field, for any number of queues and agents; needs torch.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    settings : PathwiseSettings or PPOSettings, optional
        The method, its settings and the seed, see `mfc_lb.learning`. By default pathwise gradients,
        as ``mfc-lb train`` does by default: seconds, and the same policy to the byte.
    checkpoint : str or Path, optional
        File that keeps the state, so that a run that was killed goes on and ends with the same
        weights; removed in the end.

    Returns
    -------
    NetworkPolicy
        For `mfc_lb.evaluate` and `mfc_lb.save_policy`. Pathwise training gives the simplest policy
        than which none that it compared is clearly better; `mfc_lb.learning.train_with` says also
        what the others drop.

    Raises
    ------
    InvalidInput
        If the parameters are too large to train for, or the checkpoint belongs to another run.

    Examples
    --------
    >>> from mfc_lb.learning import PathwiseSettings
    >>> few = PathwiseSettings(constant_steps=20, network_steps=0, num_validation_paths=10)
    >>> train(SystemParameters(delta_t=10.0), few)
    NetworkPolicy(score, constant, delta_t=10)
    """
    return train_with(parameters, settings, checkpoint=checkpoint).policy


def train_with(
    parameters: SystemParameters,
    settings: "PathwiseSettings | PPOSettings | None" = None,
    *,
    evaluate: Evaluate | None = None,
    checkpoint: File | None = None,
) -> TrainingResult:
    """Learn a policy as `train` does, and return all that is known of it.

    Parameters
    ----------
    parameters, settings, checkpoint
        As for `train`.
    evaluate : callable, optional
        From a policy to its drops, for a learning curve.

    Returns
    -------
    TrainingResult
        The policy and, for its card, how it was trained and what it reached.
    """
    if settings is None or isinstance(settings, PathwiseSettings):
        return train_pathwise(parameters, settings, evaluate=evaluate, checkpoint=checkpoint)
    from mfc_lb.learning.ppo import train_ppo

    return train_ppo(parameters, settings, evaluate=evaluate, checkpoint=checkpoint)
