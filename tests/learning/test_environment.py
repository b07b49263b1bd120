"""The Markov decision process as a gymnasium environment."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.env_checker import check_env as check_env_of_stable_baselines3

from mfc_lb import ArrivalProcess, InvalidInput, MeanFieldSystem, SystemParameters
from mfc_lb.learning import (
    ActionKind,
    MeanFieldEnv,
    MeanFieldVectorEnv,
    action_size,
    decision_rule_of,
)
from mfc_lb.learning.actions import action_bound
from mfc_lb.learning.training import isolated_torch
from mfc_lb.systems import random_routing_drops
from tests.learning.policies import random_policy

ROOT = Path(__file__).parent.parent.parent


def drawn_actions(parameters, kind, *batch, seed=0):
    return np.random.default_rng(seed).standard_normal((*batch, action_size(parameters, kind)))


def test_the_checkers_are_content(small, kind):
    """Both of them, with the environment as it is, and without a warning: warnings are errors."""
    made = gymnasium.make("mfc_lb/MeanField-v0", parameters=small, kind=kind, episode_epochs=5)
    for env in (MeanFieldEnv(small, kind, episode_epochs=5), made.unwrapped):
        check_env(env)
        check_env_of_stable_baselines3(env)


@pytest.mark.parametrize("method", [PPO, SAC])
def test_stable_baselines3_learns_in_it(method, small, kind):
    env = MeanFieldEnv(small, kind, episode_epochs=10)
    how = {"policy_kwargs": {"net_arch": [8]}, "seed": 0, "device": "cpu"}
    how |= {"n_steps": 20, "batch_size": 10} if method is PPO else {"buffer_size": 40}
    with isolated_torch():  # several threads wait for each other
        model = method("MlpPolicy", env, **how)
        model.learn(40)
        action, _ = model.predict(env.reset(seed=1)[0])
    assert model.num_timesteps == 40
    assert action in env.action_space


def test_gymnasium_makes_them(small, kind):
    how = {"parameters": small, "kind": kind, "action_scale": 2.0}
    actions = drawn_actions(small, kind, 3)
    one, many = gymnasium.make("mfc_lb/MeanField-v0", **how), MeanFieldEnv(**how)
    vector = gymnasium.make_vec("mfc_lb/MeanField-v0", num_envs=3, **how)
    assert isinstance(vector.unwrapped, MeanFieldVectorEnv)
    vector.reset(seed=1)
    assert vector.step(actions)[0].shape == (3, 9)
    assert np.array_equal(one.reset(seed=2)[0], many.reset(seed=2)[0])
    assert np.array_equal(one.step(actions[0])[0], many.step(actions[0])[0])
    again = many.spec.make()
    again.reset(seed=2)
    assert np.array_equal(again.step(actions[0])[0], many._systems.observations()[0])
    assert gymnasium.make("mfc_lb/MeanField-v0").unwrapped.observation_space.shape == (8,)


@pytest.mark.parametrize(
    "words",
    ["import gymnasium, mfc_lb.learning", "import mfc_lb.learning, gymnasium"],
)
def test_it_is_known_whichever_is_imported_first(words):
    made = f"{words}; print(gymnasium.make('mfc_lb/MeanField-v0').spec.id)"
    done = subprocess.run(
        [sys.executable, "-c", made],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "mfc_lb/MeanField-v0\n"


def inside_the_box(wild, kind):
    """Return an action that means the same, to rounding: gaps and ratios up to 2^53 are enough."""
    if kind is ActionKind.SCORE:
        order = np.argsort(wild)
        gaps = np.diff(wild[order], prepend=wild.min())
        near = np.cumsum(np.minimum(gaps, 53 * np.log(2)))
        return (near - near[-1] / 2.0)[np.argsort(order)]
    chances = np.asarray(decision_rule_of(wild, kind, 6, 3))
    ratios = chances / chances.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        numbers = np.log(ratios) - np.log1p(-ratios)
    return np.clip(numbers.ravel(), -53 * np.log(2), 53 * np.log(2))


@pytest.mark.parametrize("spread", [1.0, 10.0, 1e3, 1e6])
def test_the_box_of_actions_leaves_no_rule_out(spread, small, kind):
    scale, size = action_bound(small, kind), action_size(small, kind)
    env = MeanFieldEnv(small, kind)
    assert env.action_space == gymnasium.spaces.Box(-1.0, 1.0, (size,), np.float32)
    assert env._systems.action_scale == scale
    wild = spread * drawn_actions(small, kind)
    tame = inside_the_box(wild, kind)
    assert np.abs(tame).max() <= scale * (1 + 1e-12)
    first, second = (np.asarray(decision_rule_of(one, kind, 6, 3)) for one in (wild, tame))
    assert first == pytest.approx(second, abs=1e-13)


def test_an_action_is_scaled_and_never_clipped(small, kind):
    plain, scaled = MeanFieldEnv(small, kind, action_scale=1.0), MeanFieldEnv(small, kind)
    scale = scaled._systems.action_scale
    for action in (drawn_actions(small, kind), 50.0 * drawn_actions(small, kind, seed=1)):
        ends = []
        for env, given in ((plain, action), (scaled, action / scale)):
            env.reset(seed=1)
            ends.append(env.step(given)[0])
        assert ends[0] == pytest.approx(ends[1], abs=1e-14)


FULL = np.array([0.0, 0.0, 0.4, 0.0, 0.0, 0.6])


def test_an_episode_may_begin_with_other_queues(small, kind):
    env, many = MeanFieldEnv(small, kind), MeanFieldVectorEnv(small, 3, kind)
    assert np.array_equal(env.reset(options={"nu": FULL.tolist()})[0][:6], FULL)
    assert np.array_equal(env.reset(options={})[0][:6], small.empty_distribution)
    assert (many.reset(options={"nu": FULL})[0][:, :6] == FULL).all()
    each = np.stack([FULL, small.empty_distribution, FULL])
    observations, _ = many.reset(options={"nu": each})
    assert np.array_equal(observations[:, :6], each)
    many._systems.nu[:] = 0.5
    assert FULL.tolist() == [0.0, 0.0, 0.4, 0.0, 0.0, 0.6]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"mu": FULL}, "options"),
        ({"reset_mask": np.array([True])}, "options"),
        ("nu", "options"),
        ([("nu", FULL)], "options"),
        ({"nu": FULL[1:]}, "nu shape"),
        ({"nu": FULL[None, None]}, "nu shape"),
        ({"nu": 2.0 * FULL}, "nu"),
        ({"nu": -FULL}, "nu"),
        ({"nu": "full"}, "nu"),
        ({"nu": np.full(6, np.nan)}, "nu"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options, field, small):
    env = MeanFieldEnv(small)
    with pytest.raises(InvalidInput, match=f"{field} must"):
        env.reset(options=options)
    if "reset_mask" not in options and "shape" not in field:
        with pytest.raises(InvalidInput, match=f"{field} must"):
            MeanFieldVectorEnv(small, 2).reset(options=options)


def test_a_refused_reset_changes_nothing(small):
    env, many = MeanFieldEnv(small), MeanFieldVectorEnv(small, 2)
    env.reset(seed=1)
    many.reset(seed=[1, 2])
    before = many.state(), env.np_random.bit_generator.state
    for bad in ({"nu": 2.0 * FULL}, {"nu": "full"}):
        for seed in (5, [5, 6]):
            with pytest.raises(InvalidInput):
                many.reset(seed=seed, options=bad)
        with pytest.raises(InvalidInput):
            env.reset(seed=5, options=bad)
    assert repr((many.state(), env.np_random.bit_generator.state)) == repr(before)


def test_a_state_is_nobody_elses(small):
    env = MeanFieldVectorEnv(small, 2)
    env.reset(seed=1)
    kept = repr(env.state())
    for array in (one for one in env.state().values() if isinstance(one, np.ndarray)):
        array[...] = 0
    assert repr(env.state()) == kept


def test_systems_that_go_on_keep_their_numbers(small):
    """Where they share them with those that begin anew, these cannot be seeded alone."""
    mask = {"reset_mask": np.array([True, False])}
    env = MeanFieldVectorEnv(small, 2)
    env.reset(seed=[1, 2])
    with pytest.raises(InvalidInput, match="seed must be one for each system where only some"):
        env.reset(seed=3, options=mask)
    env.reset(seed=1)
    with pytest.raises(InvalidInput, match="seed must be None where systems go on"):
        env.reset(seed=[3, None], options=mask)
    env.reset(options=mask)


@pytest.mark.parametrize("seed", [None, [1, 2]], ids=str)
def test_no_system_goes_on_that_never_began(seed, small):
    env = MeanFieldVectorEnv(small, 2)
    with pytest.raises(InvalidInput, match="reset_mask must be all True before the first"):
        env.reset(seed=seed, options={"reset_mask": np.array([True, False])})
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((2, 6)))


def test_seeds_may_be_any_sequence(small):
    one, other = MeanFieldVectorEnv(small, 3), MeanFieldVectorEnv(small, 3)
    one.reset(seed=range(3))
    other.reset(seed=[0, 1, 2])
    assert repr(one.state()) == repr(other.state())


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"nu": FULL[None]}, r"nu shape must be \(3, 6\)"),
        ({"ages": [0]}, r"ages shape must be \(3,\)"),
        ({"generators": [1, 2]}, "number of generators must be none, 1 or 3"),
        ({"more": 1}, "state must be a dict with the keys nu, ages"),
    ],
    ids=str,
)
def test_a_state_of_another_environment_is_refused(edit, field, small):
    """NumPy would repeat its one row for every system."""
    env = MeanFieldVectorEnv(small, 3)
    env.reset(seed=1)
    before = repr(env.state())
    with pytest.raises(InvalidInput, match=field):
        env.restore(env.state() | edit)
    assert repr(env.state()) == before


def test_a_step_needs_an_episode(small):
    action = np.zeros(6)
    env = MeanFieldEnv(small, episode_epochs=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset before step"):
        env.step(action)
    env.reset(seed=1)
    env.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)
    env.reset()
    env.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded):
        MeanFieldVectorEnv(small, 2).step(np.zeros((2, 6)))


MASKS = [[], [True], [False, False, False], [1, 0, 1], [[True, False, True]], "all", None]


@pytest.mark.parametrize("mask", MASKS, ids=repr)
def test_bad_masks_are_refused(mask, small):
    env = MeanFieldVectorEnv(small, 3)
    with pytest.raises(InvalidInput, match="reset_mask must be 3 bools, not all of them False"):
        env.reset(options={"reset_mask": mask})


def test_a_mask_begins_anew_what_it_marks(small, kind):
    env, actions = MeanFieldVectorEnv(small, 3, kind), drawn_actions(small, kind, 4, 3)
    env.reset(seed=[1, 2, 3])
    before, *_ = env.step(actions[0])
    given = {"reset_mask": np.array([False, True, False]), "nu": FULL}
    after, _ = env.reset(options=given, seed=[8, 2, None])
    assert np.array_equal(after[[0, 2]], before[[0, 2]])
    assert (
        after[1].tolist()
        == MeanFieldEnv(small, kind).reset(seed=2, options={"nu": FULL})[0].tolist()
    )
    assert env._systems.ages.tolist() == [1, 0, 1]
    assert list(given) == ["reset_mask", "nu"]
    singles = [MeanFieldEnv(small, kind) for _ in range(3)]
    for index, (single, seed) in enumerate(zip(singles, (1, 2, 3), strict=True)):
        single.reset(seed=seed, options={"nu": FULL} if index == 1 else None)
        if index != 1:
            single.step(actions[0, index])
    for action in actions[1:]:
        together, *_ = env.step(action)
        alone = [single.step(one)[0] for single, one in zip(singles, action, strict=True)]
        assert together == pytest.approx(np.array(alone), abs=1e-15)


def test_a_list_of_seeds_gives_each_system_its_own(small, kind):
    """Each draws what the single environment of its seed draws, and begins anew with it, too."""
    seeds, actions = [5, 0, 2**40], drawn_actions(small, kind, 6, 3)
    env, singles = (
        MeanFieldVectorEnv(small, 3, kind, 3),
        [MeanFieldEnv(small, kind, 3) for _ in range(3)],
    )
    first = [single.reset(seed=seed)[0] for single, seed in zip(singles, seeds, strict=True)]
    assert np.array_equal(env.reset(seed=seeds)[0], first)
    for action in actions:
        together, *_ = env.step(action)
        for index, single in enumerate(singles):
            alone, _, _, ended, _ = single.step(action[index])
            alone = single.reset()[0] if ended else alone
            assert together[index] == pytest.approx(alone, abs=1e-15)
    levels = env.reset(seed=[None, 0, None])[0][:, 6:]
    assert np.array_equal(levels[1], first[1][6:])
    assert np.array_equal(levels[0], singles[0].reset()[0][6:])


def test_a_restored_vector_of_many_seeds_goes_on(small, kind):
    whole, resumed = (MeanFieldVectorEnv(small, 3, kind, 5) for _ in range(2))
    whole.reset(seed=[1, 2, 3])
    resumed.reset(seed=2)
    resumed.restore(whole.state())
    for action in drawn_actions(small, kind, 8, 3):
        assert np.array_equal(whole.step(action)[0], resumed.step(action)[0])


@pytest.mark.parametrize("seed", [[1], [1, 2, 3, 4], [], [1, 2, -3], [1, 2, "3"], [1, 2, 0.5], -1])
def test_bad_seeds_are_refused(seed, small):
    with pytest.raises(InvalidInput, match=r"seed must"):
        MeanFieldVectorEnv(small, 3).reset(seed=seed)


@pytest.mark.parametrize("shape", [(), (5,), (7,), (1, 6), (2, 6), (6, 1), (0,)])
def test_an_action_of_another_shape_is_refused(shape, small):
    env, many = MeanFieldEnv(small), MeanFieldVectorEnv(small, 2)
    for one in (env, many):
        one.reset(seed=0)
    before = many.state()
    if shape != (2, 6):
        with pytest.raises(InvalidInput, match=r"action shape must be \(2, 6\)"):
            many.step(np.zeros(shape))
    with pytest.raises(InvalidInput, match=r"action shape must be \(6,\)"):
        env.step(np.zeros(shape))
    assert many.state()["ages"].tolist() == before["ages"].tolist() == [0, 0]


@pytest.mark.parametrize("entry", [np.nan, np.inf, "x", None, 1j])
def test_an_action_that_is_no_numbers_is_refused(entry, small, kind):
    size = action_size(small, kind)
    for env, action in (
        (MeanFieldEnv(small, kind), [entry] * size),
        (MeanFieldVectorEnv(small, 1, kind), [[entry] * size]),
    ):
        env.reset(seed=0)
        with pytest.raises(InvalidInput, match="must be"):
            env.step(action)


def test_a_step_is_the_mean_fields(small, kind):
    env = MeanFieldEnv(small, kind, reward_scale=10.0, action_scale=1.0)
    observation, _ = env.reset(seed=4)
    system = MeanFieldSystem(small)
    for action in drawn_actions(small, kind, 6):
        nu, level = observation[:6], int(observation[6:].argmax())
        rule = decision_rule_of(action, kind, 6, 3)
        expected, drops = system.step(nu, small.arrivals.rates[level], rule)
        observation, reward, _, _, info = env.step(action)
        assert observation[:6] == pytest.approx(expected, abs=1e-15)
        assert sorted(observation[6:]) == [0.0, 0.0, 1.0]
        assert info["drops"] == pytest.approx(float(drops), rel=1e-14)
        assert reward == -10.0 * info["drops"]


def test_the_time_limit_truncates_and_never_terminates(small, kind):
    env = MeanFieldEnv(small, kind, episode_epochs=3)
    env.reset(seed=0)
    ends = [env.step(action)[2:4] for action in drawn_actions(small, kind, 3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_the_vector_returns_the_last_observation_when_it_begins_anew(small, kind):
    env = MeanFieldVectorEnv(small, 4, kind, episode_epochs=3, action_scale=1.0)
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    env.reset(seed=0)
    system, rates = MeanFieldSystem(small), np.asarray(small.arrivals.rates)
    for epoch, action in enumerate(drawn_actions(small, kind, 7, 4)):
        before = env._systems.observations()
        observations, _, terminated, truncated, info = env.step(action)
        assert not terminated.any()
        assert truncated.tolist() == [epoch % 3 == 2] * 4
        last = info["final_obs"] if truncated.any() else observations
        rule = decision_rule_of(action, kind, 6, 3)
        expected, _ = system.step(before[:, :6], rates[before[:, 6:].argmax(axis=1)], rule)
        assert last[:, :6] == pytest.approx(expected, abs=1e-15)
        if truncated.any():
            assert info["_final_obs"].all()
            assert (observations[:, :6] == small.empty_distribution).all()


def test_each_system_of_a_vector_has_its_own_age(small, kind):
    env = MeanFieldVectorEnv(small, 3, kind, episode_epochs=4)
    env.reset(seed=0)
    env.restore(env.state() | {"ages": [3, 0, 1]})
    _, _, _, truncated, info = env.step(drawn_actions(small, kind, 3))
    assert truncated.tolist() == info["_final_obs"].tolist() == [True, False, False]
    assert env._systems.ages.tolist() == [0, 1, 2]


def test_a_vector_of_one_is_the_single_environment(small, kind):
    one, many = MeanFieldEnv(small, kind, 4), MeanFieldVectorEnv(small, 1, kind, 4)
    first, _ = one.reset(seed=9)
    assert np.array_equal(many.reset(seed=9)[0][0], first)
    for action in drawn_actions(small, kind, 4):
        single, reward, _, truncated, _ = one.step(action)
        batch, rewards, _, ended, info = many.step(action[None])
        assert (rewards[0], ended[0]) == (reward, truncated)
        last = info["final_obs"] if truncated else batch
        assert np.array_equal(last[0], single)


def test_actions_and_observations_are_in_their_spaces(small, kind):
    env = MeanFieldEnv(small, kind)
    observation, _ = env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(20):
        assert observation in env.observation_space
        observation, reward, *_ = env.step(env.action_space.sample())
        assert np.isfinite(reward)


def test_one_seed_one_episode(small, kind):
    def episode(seed):
        env = MeanFieldVectorEnv(small, 3, kind, 5)
        first, _ = env.reset(seed=seed)
        actions = drawn_actions(small, kind, 8, 3)
        return np.concatenate([first, *(env.step(action)[0] for action in actions)])

    assert np.array_equal(episode(1), episode(1))
    assert not np.array_equal(episode(1), episode(2))


def test_a_restored_vector_goes_on_as_if_never_stopped(small, kind):
    whole, resumed = (MeanFieldVectorEnv(small, 3, kind, 5) for _ in range(2))
    whole.reset(seed=1)
    resumed.reset(seed=2)
    actions = drawn_actions(small, kind, 12, 3)
    for action in actions[:4]:
        whole.step(action)
    resumed.restore(whole.state())
    for action in actions[4:]:
        for first, second in zip(whole.step(action)[:4], resumed.step(action)[:4], strict=True):
            assert np.array_equal(first, second)


def test_the_environment_and_the_evaluation_drop_the_same(small, kind):
    """One mapping: a policy drops in training what it drops when it is evaluated."""
    policy = random_policy(small, kind)
    env = MeanFieldVectorEnv(small, 5, kind, 100, action_scale=1.0)
    observations, _ = env.reset(seed=3)
    levels, drops = [], []
    for _ in range(20):
        levels.append(observations[:, 6:].argmax(axis=1))
        action = policy.action(observations[:, :6], levels[-1])
        observations, _, _, _, info = env.step(action)
        drops.append(info["drops"])
    evaluated = MeanFieldSystem(small).simulate(policy, np.stack(levels, axis=1)).drops
    assert np.stack(drops, axis=1) == pytest.approx(evaluated, abs=1e-13)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_routing_drops_what_the_linear_chain_says(seed, kind):
    p = SystemParameters(delta_t=5.0)
    env, action = MeanFieldVectorEnv(p, 2000, kind, 20), np.zeros((2000, action_size(p, kind)))
    env.reset(seed=seed)
    totals = sum(env.step(action)[4]["drops"] for _ in range(20))
    error = totals.std(ddof=1) / np.sqrt(2000)
    assert abs(totals.mean() - random_routing_drops(p, 20).sum()) < 5.0 * error


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "simplex"}, "kind"),
        ({"episode_epochs": 0}, "episode_epochs"),
        ({"reward_scale": 0.0}, "reward_scale"),
        ({"reward_scale": float("nan")}, "reward_scale"),
        ({"action_scale": 0.0}, "action_scale"),
        ({"action_scale": float("inf")}, "action_scale"),
    ],
    ids=str,
)
def test_bad_settings_are_refused(given, field, small):
    for make in (MeanFieldEnv, lambda p, **more: MeanFieldVectorEnv(p, 2, **more)):
        with pytest.raises(InvalidInput, match=f"{field} must be"):
            make(small, **given)
    with pytest.raises(InvalidInput, match="num_envs must be"):
        MeanFieldVectorEnv(small, 0)


class Alternating(ArrivalProcess):
    """High, low, high, low, ..."""

    def sample_levels(self, num_epochs, generator):
        return np.arange(num_epochs) % 2


@pytest.mark.parametrize("seed", [1, [1, 2, 3]])
def test_environments_follow_the_levels_that_a_subclass_draws(seed):
    p = SystemParameters(arrivals=Alternating())
    env, many = MeanFieldEnv(p, episode_epochs=4), MeanFieldVectorEnv(p, 3, episode_epochs=4)
    first, rows = env.reset(seed=1)[0], many.reset(seed=seed)[0]
    low, lows = [first[-1]], [rows[:, -1].tolist()]
    for _ in range(5):
        rows = many.step(np.zeros((3, 6), dtype=np.float32))[0]
        lows.append(rows[:, -1].tolist())
    low += [env.step(np.zeros(6, dtype=np.float32))[0][-1] for _ in range(4)]
    assert low == [0, 1, 0, 1, 0]
    # After four epochs an episode begins anew.
    assert lows == [[0] * 3, [1] * 3, [0] * 3, [1] * 3, [0] * 3, [1] * 3]
