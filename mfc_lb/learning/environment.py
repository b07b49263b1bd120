"""The mean-field control problem as a Markov decision process for reinforcement learning.

State (ν, λ), action a decision rule, reward −D: section 2 of the paper. Episodes end because time
is up and for no other reason: that is truncation, never termination.
"""

from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mfc_lb.errors import check_int, check_real
from mfc_lb.learning.actions import ActionKind, action_size, decision_rule_of
from mfc_lb.model import SystemParameters
from mfc_lb.systems import MeanFieldSystem

#: Epochs of the paper's training episodes.
EPISODE_EPOCHS = 500

Floats = NDArray[np.float64]


class _Systems:
    """Mean-field systems side by side, each in an episode of its own."""

    def __init__(self, parameters: SystemParameters, kind: ActionKind, count: int) -> None:
        self.mean_field = MeanFieldSystem(parameters)
        self.kind = kind
        self.nu = np.tile(parameters.empty_distribution, (count, 1))
        self.levels = np.zeros(count, dtype=np.int64)
        self.ages = np.zeros(count, dtype=np.int64)

    def begin(self, which: NDArray[np.bool_], generator: np.random.Generator) -> None:
        """Begin new episodes: queues empty, arrival levels drawn."""
        p = self.mean_field.parameters
        self.nu[which] = p.empty_distribution
        self.levels[which] = p.arrivals.first_levels(int(which.sum()), generator)
        self.ages[which] = 0

    def advance(self, actions: Floats, generator: np.random.Generator) -> Floats:
        """Advance every system by one epoch and return the drops."""
        p = self.mean_field.parameters
        rule = decision_rule_of(actions, self.kind, p.num_states, p.num_choices)
        rates = np.asarray(p.arrivals.rates)[self.levels]
        self.nu, drops = self.mean_field.step(self.nu, rates, rule)
        self.levels = p.arrivals.next_levels(self.levels, generator)
        self.ages += 1
        return drops

    def observations(self) -> Floats:
        """Return [ν, one-hot arrival level] of every system."""
        one_hot = np.eye(self.mean_field.parameters.arrivals.num_levels)[self.levels]
        # The space ends at 1, and a sum of probabilities may exceed it by rounding.
        return np.asarray(np.minimum(np.concatenate([self.nu, one_hot], axis=-1), 1.0))


class MeanFieldEnv(gymnasium.Env[Floats, Floats]):
    """One mean-field system as a gymnasium environment.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    kind : ActionKind or str, optional
        What an action's numbers mean: ``score`` (S numbers) or ``table`` (S^d·d numbers).
    episode_epochs : int, optional
        After so many epochs an episode is truncated; the paper's training has 500.
    reward_scale : float, > 0, optional
        The reward of an epoch is minus its drops, times this.

    Notes
    -----
    An observation is ν (S numbers) followed by the arrival level as a one-hot vector.
    ``info["drops"]`` holds the drops per queue, unscaled.

    Examples
    --------
    >>> env = MeanFieldEnv(SystemParameters(delta_t=5.0))
    >>> observation, _ = env.reset(seed=1)
    >>> observation.tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    >>> _, reward, terminated, truncated, info = env.step(np.zeros(6))
    >>> reward == -info["drops"], terminated, truncated
    (True, False, False)
    """

    def __init__(
        self,
        parameters: SystemParameters,
        kind: ActionKind | str = ActionKind.SCORE,
        episode_epochs: int = EPISODE_EPOCHS,
        reward_scale: float = 1.0,
    ) -> None:
        kind = ActionKind(kind)
        self._systems = _Systems(parameters, kind, 1)
        self._episode_epochs = check_int("episode_epochs", episode_epochs, 1)
        self._reward_scale = check_real("reward_scale", reward_scale, strict=True)
        self.observation_space, self.action_space = _spaces(parameters, kind)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode: all queues empty."""
        super().reset(seed=seed)
        self._systems.begin(np.ones(1, dtype=bool), self.np_random)
        return self._systems.observations()[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Advance by one epoch.

        Parameters
        ----------
        action : array_like, shape (A,)
            See `mfc_lb.learning.actions.ActionKind`.

        Returns
        -------
        observation : ndarray, shape (S + L,)
            Distribution and one-hot level.
        reward : float
            Minus the drops per queue, scaled.
        terminated : bool
            False, always.
        truncated : bool
            Whether the episode's time is up.
        info : dict
            ``drops`` per queue.
        """
        drops = float(self._systems.advance(np.asarray(action)[None], self.np_random)[0])
        truncated = bool(self._systems.ages[0] >= self._episode_epochs)
        reward = -self._reward_scale * drops
        return self._systems.observations()[0], reward, False, truncated, {"drops": drops}


class MeanFieldVectorEnv(VectorEnv[Floats, Floats, Floats]):
    """Many mean-field systems that advance as one batch.

    A system whose time is up begins anew within the same step; its last observation is not lost but
    in ``info["final_obs"]``, in the rows that ``info["_final_obs"]`` marks.

    Parameters
    ----------
    parameters : SystemParameters
        The model.
    num_envs : int
        Number n of systems.
    kind, episode_epochs, reward_scale
        See `MeanFieldEnv`.
    """

    def __init__(
        self,
        parameters: SystemParameters,
        num_envs: int,
        kind: ActionKind | str = ActionKind.SCORE,
        episode_epochs: int = EPISODE_EPOCHS,
        reward_scale: float = 1.0,
    ) -> None:
        kind = ActionKind(kind)
        self.num_envs = check_int("num_envs", num_envs, 1)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self._systems = _Systems(parameters, kind, self.num_envs)
        self._episode_epochs = check_int("episode_epochs", episode_epochs, 1)
        self._reward_scale = check_real("reward_scale", reward_scale, strict=True)
        spaces = _spaces(parameters, kind)
        self.single_observation_space, self.single_action_space = spaces
        batches = (batch_space(space, self.num_envs) for space in spaces)
        self.observation_space, self.action_space = batches

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode in every system; one seed for all of them."""
        super().reset(seed=seed, options=options)
        self._systems.begin(np.ones(self.num_envs, dtype=bool), self.np_random)
        return self._systems.observations(), {}

    def step(self, actions: Floats) -> tuple[Floats, Floats, Any, Any, dict[str, Any]]:
        """Advance every system by one epoch; arrays as in `MeanFieldEnv.step`, one row each."""
        drops = self._systems.advance(np.asarray(actions), self.np_random)
        observations = self._systems.observations()
        ended = self._systems.ages >= self._episode_epochs
        info: dict[str, Any] = {"drops": drops}
        if ended.any():
            info |= {"final_obs": observations, "_final_obs": ended}
            self._systems.begin(ended, self.np_random)
            observations = self._systems.observations()
        rewards = -self._reward_scale * drops
        return observations, rewards, np.zeros(self.num_envs, dtype=bool), ended, info

    def state(self) -> dict[str, Any]:
        """Return all that the future depends on, for an exact resume."""
        systems = self._systems
        position = {"nu": systems.nu, "levels": systems.levels, "ages": systems.ages}
        return {**position, "generator": self.np_random.bit_generator.state}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        for name in ("nu", "levels", "ages"):
            setattr(self._systems, name, np.array(state[name]))
        self.np_random.bit_generator.state = state["generator"]


def _spaces(
    parameters: SystemParameters, kind: ActionKind
) -> tuple[gymnasium.Space[Floats], gymnasium.Space[Floats]]:
    length = parameters.num_states + parameters.arrivals.num_levels
    size = action_size(parameters, kind)
    observations = gymnasium.spaces.Box(0.0, 1.0, (length,), np.float64)
    actions = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
    return cast("tuple[gymnasium.Space[Floats], gymnasium.Space[Floats]]", (observations, actions))
