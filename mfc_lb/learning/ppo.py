"""Proximal policy optimisation of the mean-field problem, the paper's way of training.

The algorithm is Stable-Baselines3's. The defaults are the paper's hyperparameters, for which the
paper used another implementation (RLlib). What differs:

* RLlib penalises the Kullback-Leibler divergence with a coefficient that adapts to the target;
  Stable-Baselines3 stops an update's epochs when the divergence exceeds 1.5 times the target.
* RLlib's Gaussian has a standard deviation that depends on the state; here it is one number for
  each entry of the action.
* RLlib clips the value function's loss; here it is not clipped. Neither clips gradients.
* The paper's actions are S^d·d numbers in [0, 1]; here the ``table`` action maps unbounded numbers
  there through a sigmoid, and the default is the S scores of `ActionKind.SCORE`.
"""

import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any, cast

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv
from tqdm import tqdm

from mfc_lb.errors import check_int, check_real, require
from mfc_lb.learning.actions import ActionKind
from mfc_lb.learning.checkpoints import Checkpoint, File
from mfc_lb.learning.environment import EPISODE_EPOCHS, MeanFieldVectorEnv
from mfc_lb.learning.networks import NetworkPolicy
from mfc_lb.learning.training import (
    CurvePoint,
    Evaluate,
    TrainingResult,
    check_run,
    isolated_torch,
)
from mfc_lb.model import SystemParameters

# Stable-Baselines3 asks for finite bounds; no action comes near these.
_ACTION_BOUND = 1e6
# Batches between two points of the curve.
_CURVE_BATCHES = 10


@dataclass(frozen=True)
class PPOSettings:
    """Settings of PPO; the defaults are the paper's, see the module for what differs.

    Parameters
    ----------
    num_steps : int
        Environment steps, rounded up to whole batches.
    kind : ActionKind or str
        What the network's actions mean.
    num_envs : int
        Systems that advance side by side; a batch takes whole episodes of 500 epochs of each.
    batch_size, minibatch_size, num_passes : int
        Steps of a batch, of a minibatch, and passes over a batch.
    learning_rate, discount, gae_lambda, clip_range, target_divergence : float
        As usual in PPO.
    width : int
        Width of the two tanh layers of the policy's and of the value's network.
    episode_epochs : int
        Length of an episode.
    reward_scale : float
        Multiplies the rewards.
    seed : int
        Of everything random.
    """

    num_steps: int = 2_000_000
    kind: ActionKind | str = ActionKind.SCORE
    num_envs: int = 8
    batch_size: int = 4000
    minibatch_size: int = 128
    num_passes: int = 30
    learning_rate: float = 5e-5
    discount: float = 0.99
    gae_lambda: float = 1.0
    clip_range: float = 0.3
    target_divergence: float = 0.01
    width: int = 256
    episode_epochs: int = EPISODE_EPOCHS
    reward_scale: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every field and keep it as Python's own, as checkpoints and cards write it."""
        kept: dict[str, Any] = {"kind": ActionKind(self.kind)}
        counts = "num_steps", "num_envs", "minibatch_size", "num_passes", "width", "episode_epochs"
        for name in counts:
            kept[name] = check_int(name, getattr(self, name), 1)
        kept["batch_size"] = check_int("batch_size", self.batch_size, 2 * self.num_envs)
        kept["seed"] = check_int("seed", self.seed, 0, 2**32 - 1)
        for name in ("learning_rate", "clip_range", "target_divergence", "reward_scale"):
            kept[name] = check_real(name, getattr(self, name), strict=True)
        for name in ("discount", "gae_lambda"):
            kept[name] = check_real(name, getattr(self, name))
            require(kept[name] <= 1.0, name, kept[name], "between 0 and 1")
        vars(self).update(kept)


class _VectorEnvForPPO(VecEnv):
    """`MeanFieldVectorEnv` as Stable-Baselines3 wants it."""

    def __init__(self, env: MeanFieldVectorEnv) -> None:
        self.env = env
        self.render_mode = None
        bound = np.full(env.single_action_space.shape or (), _ACTION_BOUND)
        actions = gymnasium.spaces.Box(-bound, bound, dtype=np.float64)
        super().__init__(env.num_envs, env.single_observation_space, actions)

    def reset(self) -> Any:
        seed = self._seeds[0]
        self._reset_seeds()
        return self.env.reset(seed=seed)[0]

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        observations, rewards, _, ended, info = self.env.step(self._actions.astype(np.float64))
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(ended):
            # PPO adds the value of the last observation: an episode that is cut off goes on.
            last = {"terminal_observation": info["final_obs"][index]}
            infos[index] = {**last, "TimeLimit.truncated": True}
        return observations, rewards, ended, infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


def train_ppo(
    parameters: SystemParameters,
    settings: PPOSettings | None = None,
    *,
    evaluate: Evaluate | None = None,
    checkpoint: File | None = None,
) -> TrainingResult:
    """Train a policy of the mean-field system by proximal policy optimisation.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    settings : PPOSettings, optional
        Hyperparameters and seed.
    evaluate : callable, optional
        From a policy to its drops: asked every ten batches, for the learning curve.
    checkpoint : str or Path, optional
        File that keeps the state, so that a run that was killed goes on and ends with the same
        weights; removed in the end.

    Returns
    -------
    TrainingResult
        The policy of mean actions and what is known of it.

    Raises
    ------
    InvalidInput
        If the checkpoint belongs to another run.
    """
    chosen = settings or PPOSettings()
    check_run(parameters, chosen, PPOSettings)
    kept = Checkpoint(checkpoint, parameters, chosen)
    with isolated_torch():
        return _Trainer(parameters, chosen).run(evaluate, kept)


class _Trainer:
    """A run: Stable-Baselines3's model and what it does not keep."""

    def __init__(self, parameters: SystemParameters, settings: PPOSettings) -> None:
        self.parameters, self.settings, s = parameters, settings, settings
        self.curve: list[CurvePoint] = []
        self.seconds = 0.0
        self.env = MeanFieldVectorEnv(
            parameters, s.num_envs, s.kind, s.episode_epochs, s.reward_scale, action_scale=1.0
        )
        self.model = self._new_model()

    def run(self, evaluate: Evaluate | None, kept: Checkpoint) -> TrainingResult:
        self._restore(kept.read())
        remaining = self.settings.num_steps - self.model.num_timesteps
        if remaining > 0:
            with self._bar() as bar:
                watch = _Watch(self, kept, evaluate, bar)
                self.model.learn(remaining, callback=watch, reset_num_timesteps=False)
            watch.finish()
        kept.remove()
        settings = {"method": "ppo", **asdict(self.settings)}
        return TrainingResult(self.policy(), settings, self.seconds, self.curve)

    def _bar(self) -> "tqdm[Any]":
        total, done = self.settings.num_steps, self.model.num_timesteps
        return tqdm(total=total, initial=done, unit="step", delay=2, disable=None)

    def _new_model(self) -> PPO:
        s = self.settings
        layers = [s.width, s.width]
        network = {"net_arch": {"pi": layers, "vf": layers}, "activation_fn": torch.nn.Tanh}
        with warnings.catch_warnings():
            # The last minibatch of a pass is smaller where the sizes do not divide; so it may be.
            warnings.filterwarnings("ignore", message="You have specified a mini-batch size")
            return self._made(network)

    def _made(self, network: dict[str, Any]) -> PPO:
        s = self.settings
        model = PPO(
            "MlpPolicy",
            _VectorEnvForPPO(self.env),
            learning_rate=s.learning_rate,
            n_steps=s.batch_size // s.num_envs,
            batch_size=s.minibatch_size,
            n_epochs=s.num_passes,
            gamma=s.discount,
            gae_lambda=s.gae_lambda,
            clip_range=s.clip_range,
            target_kl=s.target_divergence,
            max_grad_norm=float("inf"),
            policy_kwargs=network,
            seed=s.seed,
            device="cpu",
        )
        # Its own logger would leave an empty folder among the temporary files of each run.
        model.set_logger(Logger(folder=None, output_formats=[]))
        return model

    def policy(self) -> NetworkPolicy:
        """Return the policy of the model's mean actions."""
        tensors = self.model.policy.state_dict()
        array = {name: value.double().numpy() for name, value in tensors.items()}
        states, levels = self.parameters.num_states, self.parameters.arrivals.num_levels
        first = array["mlp_extractor.policy_net.0.weight"].T
        weights = {
            "base": np.tile(array["action_net.bias"], (levels, 1)),
            "from_distribution": first[:states],
            "from_level": first[states:] + array["mlp_extractor.policy_net.0.bias"],
            "hidden": array["mlp_extractor.policy_net.2.weight"].T,
            "hidden_bias": array["mlp_extractor.policy_net.2.bias"],
            "out": array["action_net.weight"].T,
        }
        return NetworkPolicy(weights, self.parameters, ActionKind(self.settings.kind))

    def state(self) -> dict[str, Any]:
        """Return all that the rest of the run depends on."""
        model: Any = self.model
        kind, keys, *rest = cast("tuple[Any, ...]", np.random.get_state())  # noqa: NPY002
        return {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "num_timesteps": model.num_timesteps,
            "observations": model._last_obs.tolist(),  # noqa: SLF001
            "starts": model._last_episode_starts.tolist(),  # noqa: SLF001
            "torch": torch.get_rng_state(),
            "numpy": [kind, keys.tolist(), *rest],
            "env": _plain(self.env.state()),
            "curve": [asdict(point) for point in self.curve],
            "seconds": self.seconds,
        }

    def _restore(self, state: dict[str, Any] | None) -> None:
        if state is None:
            return
        model: Any = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        model.num_timesteps = state["num_timesteps"]
        model._last_obs = np.array(state["observations"])  # noqa: SLF001
        model._last_episode_starts = np.array(state["starts"])  # noqa: SLF001
        torch.set_rng_state(state["torch"])
        np.random.set_state(tuple(state["numpy"]))  # noqa: NPY002
        self.env.restore(state["env"])
        self.curve = [CurvePoint.from_dict(point) for point in state["curve"]]
        self.seconds = state["seconds"]


class _Watch(BaseCallback):
    """Keeps the time, the curve and the checkpoint between two batches."""

    def __init__(
        self,
        trainer: _Trainer,
        kept: Checkpoint,
        evaluate: Evaluate | None,
        bar: "tqdm[Any]",
    ) -> None:
        super().__init__()
        self._bar = bar
        self._trainer, self._evaluate, self._write = trainer, evaluate, kept.writer()
        self._clock = time.perf_counter()

    def _on_rollout_start(self) -> None:
        # Everything between two batches: the model is as its last update left it.
        self._stop_clock()
        settings = self._trainer.settings
        if self.model.num_timesteps // settings.batch_size % _CURVE_BATCHES == 0:
            self._add_point()
        self._write(self._trainer.state)
        self._bar.update(self.model.num_timesteps - self._bar.n)
        self._clock = time.perf_counter()

    def finish(self) -> None:
        """Add the last point."""
        self._stop_clock()
        self._add_point()

    def _stop_clock(self) -> None:
        self._trainer.seconds += time.perf_counter() - self._clock

    def _add_point(self) -> None:
        trainer, steps = self._trainer, self.model.num_timesteps
        new = not trainer.curve or trainer.curve[-1].environment_steps < steps
        if self._evaluate is not None and new:
            drops = self._evaluate(trainer.policy())
            trainer.curve.append(CurvePoint(steps, trainer.seconds, drops))

    def _on_step(self) -> bool:
        return True


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value
