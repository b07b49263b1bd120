"""The Markov decision process as a gymnasium environment."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mfc_lb import InvalidInput, MeanFieldSystem, SystemParameters
from mfc_lb.learning import MeanFieldEnv, MeanFieldVectorEnv, action_size, decision_rule_of
from mfc_lb.systems import random_routing_drops
from tests.learning.policies import random_policy


def drawn_actions(parameters, kind, *batch, seed=0):
    return np.random.default_rng(seed).standard_normal((*batch, action_size(parameters, kind)))


def test_the_checker_is_content(small, kind):
    with warnings.catch_warnings():
        # Recommendations for those who clip; nothing here does.
        warnings.filterwarnings("ignore", message=r".*Box action space (maximum|minimum) value is")
        warnings.filterwarnings(
            "ignore", message=r".*we recommend using a symmetric and normalized"
        )
        check_env(MeanFieldEnv(small, kind, episode_epochs=5), skip_render_check=True)


def test_a_step_is_the_mean_fields(small, kind):
    env = MeanFieldEnv(small, kind, reward_scale=10.0)
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
    env = MeanFieldVectorEnv(small, 4, kind, episode_epochs=3)
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
    assert not np.isfinite(env.action_space.low).any()
    assert np.array_equal(-env.action_space.low, env.action_space.high)
    observation, _ = env.reset(seed=1)
    for action in 1e3 * drawn_actions(small, kind, 20):
        assert observation in env.observation_space
        assert action in env.action_space
        observation, reward, *_ = env.step(action)
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
    policy, env = random_policy(small, kind), MeanFieldVectorEnv(small, 5, kind, 100)
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
    ],
    ids=str,
)
def test_bad_settings_are_refused(given, field, small):
    for make in (MeanFieldEnv, lambda p, **more: MeanFieldVectorEnv(p, 2, **more)):
        with pytest.raises(InvalidInput, match=f"{field} must be"):
            make(small, **given)
    with pytest.raises(InvalidInput, match="num_envs must be"):
        MeanFieldVectorEnv(small, 0)
