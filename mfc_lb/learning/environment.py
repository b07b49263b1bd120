"""The mean-field control problem as a Markov decision process for reinforcement learning.

State (ν, λ), action a decision rule, reward −D: section 2 of the paper. Episodes end because time
is up and for no other reason: that is truncation, never termination.

The space of actions is the box from −1 to 1, as libraries for reinforcement learning want it, and
an action times the environment's scale is what `mfc_lb.learning.actions` maps to a decision rule.
Nothing is clipped here: an action beyond the box means what the same mapping makes of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from mfc_lb.errors import as_float_array, check_int, check_real, check_seed, require
from mfc_lb.learning.actions import ActionKind, action_bound, action_size, decision_rule_of
from mfc_lb.learning.registration import ENVIRONMENT, SINGLE
from mfc_lb.model import ConstantPolicy, LevelPaths, SystemParameters, random_choice
from mfc_lb.systems import MeanFieldSystem

#: Epochs of the paper's training episodes.
EPISODE_EPOCHS = 500

Floats = NDArray[np.float64]
Spaces = tuple[gymnasium.Space[Floats], gymnasium.Space[Floats]]


class _Systems:
    """Mean-field systems side by side, each in an episode of its own.

    Its generators are one for all systems, or one for each.
    """

    def __init__(
        self,
        parameters: SystemParameters,
        count: int,
        kind: ActionKind | str,
        episode_epochs: int,
        reward_scale: float,
        action_scale: float | None,
    ) -> None:
        self.mean_field = MeanFieldSystem(parameters)
        self.kind = ActionKind(kind)
        self.episode_epochs = check_int("episode_epochs", episode_epochs, 1)
        self.reward_scale = check_real("reward_scale", reward_scale, strict=True)
        self.action_size = action_size(parameters, self.kind)
        scale = action_bound(parameters, self.kind) if action_scale is None else action_scale
        self.action_scale = check_real("action_scale", scale, strict=True)
        self.generators: list[np.random.Generator] = []
        self.empty = np.tile(parameters.empty_distribution, (count, 1))
        self.nu = self.empty.copy()
        self.arrivals = LevelPaths(parameters.arrivals, count, self.episode_epochs)
        self.ages = np.zeros(count, dtype=np.int64)

    def spaces(self) -> Spaces:
        """Return the spaces of a system's observations and actions."""
        p = self.mean_field.parameters
        length = p.num_states + p.arrivals.num_levels
        observations = gymnasium.spaces.Box(0.0, 1.0, (length,), np.float64)
        actions = gymnasium.spaces.Box(-1.0, 1.0, (self.action_size,), np.float32)
        return cast("Spaces", (observations, actions))

    def begin(self, which: NDArray[np.bool_], start: Floats) -> None:
        """Begin new episodes: queues as `start` says, arrival levels drawn."""
        self.nu[which] = start[which]
        self.arrivals.begin(which, self.generators)
        self.ages[which] = 0

    def checked_start(self, nu: Any) -> Floats:
        """Return distributions (n, S) with which episodes can begin: empty queues without any."""
        if nu is None:
            return self.empty
        shapes = self.nu.shape[1:], self.nu.shape
        fits = np.shape(as_float_array("nu", nu)) in shapes
        require(fits, "nu shape", np.shape(nu), " or ".join(map(str, shapes)))
        # A path of no epochs: what a simulation may begin with, an episode may.
        paths = np.zeros((len(self.nu), 0), dtype=np.int64)
        anything = ConstantPolicy(random_choice(self.mean_field.parameters))
        return self.mean_field.simulate(anything, paths, nu).distributions[:, 0]

    def advance(self, actions: Any) -> Floats:
        """Advance every system by one epoch and return the drops; actions have shape (n, A)."""
        p = self.mean_field.parameters
        scaled = self.action_scale * as_float_array("action", actions)
        rule = decision_rule_of(scaled, self.kind, p.num_states, p.num_choices)
        rates = np.asarray(p.arrivals.rates)[self.arrivals.levels]
        self.nu, drops = self.mean_field.step(self.nu, rates, rule)
        self.ages += 1
        self.arrivals.advance(self.ages, self.generators)
        return drops

    def observations(self) -> Floats:
        """Return [ν, one-hot arrival level] of every system."""
        one_hot = np.eye(self.mean_field.parameters.arrivals.num_levels)[self.arrivals.levels]
        # The space ends at 1, and a sum of probabilities may exceed it by rounding.
        return np.asarray(np.minimum(np.concatenate([self.nu, one_hot], axis=-1), 1.0))


class MeanFieldEnv(gymnasium.Env[Floats, Floats]):
    """One mean-field system as a gymnasium environment.

    Parameters
    ----------
    parameters : SystemParameters, optional
        The model; the paper's, with a delay of 1, when omitted.
    kind : ActionKind or str, optional
        What an action's numbers mean: ``score`` (S numbers) or ``table`` (S^d·d numbers).
    episode_epochs : int, optional
        After so many epochs an episode is truncated; the paper's training has 500.
    reward_scale : float, > 0, optional
        The reward of an epoch is minus its drops, times this.
    action_scale : float, > 0, optional
        What an action's numbers are multiplied by. By default the box of actions, from −1 to 1,
        leaves no decision rule out, see `mfc_lb.learning.actions.action_bound`; with a smaller
        scale, such as 5, more of the box are gentle rules.

    Notes
    -----
    After ``import mfc_lb.learning``, it is gymnasium's environment ``mfc_lb/MeanField-v0``, for
    ``gymnasium.make`` and ``gymnasium.make_vec`` with the parameters above.

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
        parameters: SystemParameters | None = None,
        kind: ActionKind | str = ActionKind.SCORE,
        episode_epochs: int = EPISODE_EPOCHS,
        reward_scale: float = 1.0,
        action_scale: float | None = None,
    ) -> None:
        given: dict[str, Any] = {
            "parameters": SystemParameters() if parameters is None else parameters,
            "kind": kind,
            "episode_epochs": episode_epochs,
            "reward_scale": reward_scale,
            "action_scale": action_scale,
        }
        self._systems = _Systems(count=1, **given)
        self.observation_space, self.action_space = self._systems.spaces()
        self.spec = EnvSpec(ENVIRONMENT, entry_point=SINGLE, kwargs=given)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Of the arrival levels from now on.
        options : dict, optional
            ``nu``, array_like of shape (S,), is how full the queues are; they are empty without it.
        """
        # First all that can be refused: then nothing has changed.
        start = self._systems.checked_start(_options(options, "nu").get("nu"))
        super().reset(seed=None if seed is None else check_seed(seed))
        self._systems.generators = [self.np_random]
        self._systems.begin(np.ones(1, dtype=bool), start)
        return self._systems.observations()[0], {}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
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
        systems = self._systems
        _require_reset(systems.generators and systems.ages[0] < systems.episode_epochs)
        drops = float(systems.advance(_checked(action, systems.action_size)[None])[0])
        truncated = bool(systems.ages[0] >= systems.episode_epochs)
        reward = -systems.reward_scale * drops
        return systems.observations()[0], reward, False, truncated, {"drops": drops}


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
    kind, episode_epochs, reward_scale, action_scale
        See `MeanFieldEnv`.
    """

    def __init__(
        self,
        parameters: SystemParameters | None = None,
        num_envs: int = 1,
        kind: ActionKind | str = ActionKind.SCORE,
        episode_epochs: int = EPISODE_EPOCHS,
        reward_scale: float = 1.0,
        action_scale: float | None = None,
    ) -> None:
        self.num_envs = check_int("num_envs", num_envs, 1)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        chosen = SystemParameters() if parameters is None else parameters
        self._systems = _Systems(
            chosen, self.num_envs, kind, episode_epochs, reward_scale, action_scale
        )
        spaces = self._systems.spaces()
        self.single_observation_space, self.single_action_space = spaces
        batches = (batch_space(space, self.num_envs) for space in spaces)
        self.observation_space, self.action_space = batches

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode in every system, or in some.

        Parameters
        ----------
        seed : int, or sequence of n ints or None, optional
            Of the arrival levels from now on: one for all systems together, if all begin anew; or
            one for each, which then draws what a `MeanFieldEnv` of that seed draws. A system whose
            own is None goes on with the numbers that it has; without any, it gets some that nobody
            can repeat.
        options : dict, optional
            ``nu``, array_like of shape (S,) or (n, S), is how full the queues are; they are empty
            without it. ``reset_mask``, array of n bools: in which systems an episode begins, all of
            them the first time; the others, and their seeds, stay as they are.
        """
        given = _options(options, "nu", "reset_mask")
        which = self._checked_mask(given.get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        # First all that can be refused: then nothing has changed.
        start = self._systems.checked_start(given.get("nu"))
        if isinstance(seed, (Sequence, np.ndarray)):
            self._systems.generators = self._seeded(seed, which)
        elif seed is not None or not self._systems.generators:
            alone = seed is None or bool(which.all())
            require(alone, "seed", seed, "one for each system where only some begin anew")
            super().reset(seed=None if seed is None else check_seed(seed))
            self._systems.generators = [self.np_random]
        self._systems.begin(which, start)
        return self._systems.observations(), {}

    def _checked_mask(self, mask: Any) -> NDArray[np.bool_]:
        array = np.asarray(mask)
        fits = array.dtype == np.bool_ and array.shape == (self.num_envs,) and bool(array.any())
        require(fits, "reset_mask", mask, f"{self.num_envs} bools, not all of them False")
        begun = bool(self._systems.generators) or bool(array.all())
        require(begun, "reset_mask", mask, "all True before the first episodes")
        return array

    def _seeded(
        self, seeds: Iterable[int | None], which: NDArray[np.bool_]
    ) -> list[np.random.Generator]:
        """Return a generator for each system."""
        listed = list(seeds)
        require(
            len(listed) == self.num_envs, "seed", listed, f"one, or one for each of {self.num_envs}"
        )
        before = self._systems.generators
        one_each = len(before) == self.num_envs
        parted = one_each or bool(which.all())
        require(parted, "seed", listed, "None where systems go on that were seeded together")
        own = before if one_each else [np_random()[0] for _ in listed]
        chosen = [None if one is None else check_seed(one) for one in listed]
        return [
            own[index] if one is None or not which[index] else np_random(one)[0]
            for index, one in enumerate(chosen)
        ]

    def step(self, actions: ArrayLike) -> tuple[Floats, Floats, Any, Any, dict[str, Any]]:
        """Advance every system by one epoch; arrays as in `MeanFieldEnv.step`, one row each."""
        systems = self._systems
        _require_reset(systems.generators)
        drops = systems.advance(_checked(actions, self.num_envs, systems.action_size))
        observations = systems.observations()
        ended = systems.ages >= systems.episode_epochs
        info: dict[str, Any] = {"drops": drops, "_drops": np.ones(self.num_envs, dtype=bool)}
        if ended.any():
            info |= {"final_obs": observations, "_final_obs": ended}
            systems.begin(ended, systems.empty)
            observations = systems.observations()
        rewards = -systems.reward_scale * drops
        return observations, rewards, np.zeros(self.num_envs, dtype=bool), ended, info

    def state(self) -> dict[str, Any]:
        """Return all that the future depends on, for an exact resume."""
        systems = self._systems
        arrivals = {"levels": systems.arrivals.levels, "paths": systems.arrivals.paths}
        position = {"nu": systems.nu, "ages": systems.ages, **arrivals}
        position = {name: array.copy() for name, array in position.items()}
        return {**position, "generators": [one.bit_generator.state for one in systems.generators]}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state` of an environment like this one."""
        given = self._checked_position(state)
        self._systems.nu, self._systems.ages = given["nu"], given["ages"]
        arrivals = self._systems.arrivals
        arrivals.levels, arrivals.paths = given["levels"], given["paths"]
        self._systems.generators = [np_random()[0] for _ in state["generators"]]
        for generator, one in zip(self._systems.generators, state["generators"], strict=True):
            generator.bit_generator.state = one

    def _checked_position(self, state: Any) -> dict[str, NDArray[Any]]:
        own = self.state()
        same_names = isinstance(state, Mapping) and state.keys() == own.keys()
        require(same_names, "state", state, f"a dict with the keys {', '.join(own)}")
        count = len(state["generators"])
        one_each = f"none, 1 or {self.num_envs}"
        require(count in (0, 1, self.num_envs), "number of generators", count, one_each)
        given = {name: np.array(state[name]) for name in own if name != "generators"}
        for name, array in given.items():
            fits = array.shape == own[name].shape
            require(fits, f"{name} shape", array.shape, str(own[name].shape))
        return given


def _require_reset(begun: Any) -> None:
    if not begun:
        raise ResetNeeded("an episode must begin with reset before step can go on with it")


def _options(options: Mapping[str, Any] | None, *known: str) -> Mapping[str, Any]:
    given = {} if options is None else options
    fits = isinstance(given, Mapping) and given.keys() <= set(known)
    require(fits, "options", options, f"a dict with no other keys than {', '.join(known)}")
    return given


def _checked(action: ArrayLike, *shape: int) -> Floats:
    array = as_float_array("action", action)
    require(array.shape == shape, "action shape", array.shape, str(shape))
    return array
