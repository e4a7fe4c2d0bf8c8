"""Gymnasium environments: the checks of Gymnasium, seeds, rewards, and ends in the middle."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import train_scheduler
from conftest import two_paths
from gymnasium.utils.env_checker import check_env

import subflow
from subflow.gym import CongestionEnv, SchedulerEnv


Env = SchedulerEnv | CongestionEnv


def small() -> subflow.Scenario:
    return subflow.Scenario.from_dict(two_paths()).with_overrides({"flows.file.send": "100 kB"})


ENVS: list[Callable[[], Env]] = [
    lambda: SchedulerEnv(small()),
    lambda: SchedulerEnv(small(), reward="goodput", subflows=5),
    lambda: CongestionEnv(small()),
]


@pytest.mark.parametrize("make", ENVS)
def test_gymnasium_finds_nothing_wrong(make: Callable[[], Env]) -> None:
    env: Any = make()
    check_env(env, skip_render_check=True)
    env.close()


def episode(env: Any, seed: int, limit: int = 10**6) -> list[Any]:
    """Everything that is seen in an episode with random actions."""
    env.action_space.seed(seed)
    seen: list[Any] = [env.reset(seed=seed)[0].tolist()]
    for _ in range(limit):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert not truncated
        seen.append((observation.tolist(), reward))
        if terminated:
            break
    return seen


@pytest.mark.parametrize("make", ENVS)
def test_equal_seeds_give_equal_episodes(make: Callable[[], Env]) -> None:
    one, other = make(), make()
    assert episode(one, 3) == episode(other, 3) == episode(one, 3)
    assert episode(one, 3) != episode(one, 4)
    assert one.reset()[1]["run_seed"] != one.reset()[1]["run_seed"], "the sequence of runs goes on"
    for env in (one, other):
        env.close()


def test_lowest_rtt_as_an_agent_is_ll() -> None:
    scenario = small()
    env = SchedulerEnv(scenario)
    for run_seed in (1, 2):
        observation, info = env.reset(options={"run_seed": run_seed})
        total, ended = 0.0, False
        while not ended:
            rtt = [observation[5 * index + 2] if info["action_mask"][index] else np.inf for index in range(2)]
            observation, reward, ended, _, info = env.step(np.int64(np.argmin(rtt)))
            total += reward
        completed = scenario.run(seed=run_seed, series=False).flows["completion_s"][0]
        assert info["completion_s"] == pytest.approx(completed, abs=1e-6)
        assert total == pytest.approx(-completed, abs=1e-6), "rewards add up to the completion time"
    env.close()


def test_an_agent_that_sends_nothing_pays_for_the_whole_run() -> None:
    env = SchedulerEnv(small())
    env.reset(seed=1)
    total, ended, steps = 0.0, False, 0
    while not ended:
        _, reward, ended, _, info = env.step(np.int64(env.subflows))
        total, steps = total + reward, steps + 1
    assert info["completion_s"] is None and info["goodput_mbps"] == 0.0
    assert total == pytest.approx(-3.0) and steps < 100
    env.close()


def test_rewards_of_goodput_add_up_to_what_was_acknowledged() -> None:
    env = SchedulerEnv(small(), reward="goodput")
    env.reset(seed=1)
    total, ended = 0.0, False
    while not ended:
        _, reward, ended, _, _ = env.step(np.int64(0))
        total += reward
    assert total == pytest.approx(0.8), "100 kB"
    env.close()


def requests() -> subflow.Scenario:
    """Files of 50 kB, one after the other, with pauses, for as long as the run lasts."""
    flow = {"from": "client", "to": "server", "protocol": "mptcp", "path_manager": "full-mesh"}
    return small().with_overrides({"flows.file": flow | {"requests": {"response": "50 kB", "think": "200 ms"}}})


def test_rewards_of_exchanges_add_up_to_their_durations() -> None:
    """The durations are those that the run's results have: their mean times their number."""
    env = SchedulerEnv(requests())
    assert env.reward == "exchange"
    observation, info = env.reset(options={"run_seed": 4})
    total, ended = 0.0, False
    while not ended:
        rtt = np.where(env.action_masks()[:-1], observation[2 :: 5][: env.subflows], np.inf)
        observation, reward, ended, _, info = env.step(np.int64(np.argmin(rtt)))
        total += reward
    flows = requests().with_overrides({"flows.file.scheduler": "ll"}).run(seed=4, series=False).flows
    assert info["exchange_mean_ms"] == pytest.approx(flows["exchange_mean_ms"][0], abs=1e-6)
    assert info["exchange_p95_ms"] == pytest.approx(flows["exchange_p95_ms"][0], abs=1e-6)
    assert info["exchange_p95_ms"] > info["exchange_median_ms"]
    finished = 1e-3 * flows["exchange_mean_ms"][0] * flows["exchanges"][0]
    # The last exchange may be cut off by the end of the run.
    assert finished - 1e-4 <= -total < finished + 1.0
    env.close()


def test_all_subflows_are_shown_and_more_than_were_asked_for_are_told_of() -> None:
    env = SchedulerEnv(requests())
    assert env.subflows == 4, "a full mesh of two and two interfaces"
    env.close()
    few = SchedulerEnv(requests(), subflows=1)
    with pytest.warns(UserWarning, match="sees 1 of the flow's subflows, and number . is established, too; pass subflows="):
        episode(few, 1)
    few.close()


def test_gymnasium_makes_them_by_their_ids() -> None:
    env = gymnasium.make("subflow.gym:subflow/Scheduler-v0", scenario=small(), subflows=2)
    assert isinstance(env.unwrapped, SchedulerEnv)
    assert env.reset(seed=1)[0].shape == (12,)
    env.close()
    paths = gymnasium.make("subflow/Congestion-v0", scenario=small())
    assert isinstance(paths.unwrapped, CongestionEnv)


def test_larger_windows_carry_more() -> None:
    no_loss = {"links.fast.loss": "0 %", "links.slow.loss": "0 %"}
    scenario = small().with_overrides({"flows.file.send": "unlimited"} | no_loss)
    goodput = []
    for exponent in (-1.0, 1.0):
        env = CongestionEnv(scenario, paths=4)
        env.reset(seed=1)
        ended = False
        while not ended:
            action = np.array([exponent], dtype=np.float32)
            _, _, ended, _, info = env.step(action)
        goodput.append(info["goodput_mbps"])
        env.close()
    assert goodput[0] < goodput[1] / 2


def threads_become(expected: int) -> bool:
    """Whether there are so many threads in the end: Linux lists one for a moment after it was joined."""
    deadline = time.monotonic() + 10
    while (count := len(list(Path("/proc/self/task").iterdir()))) != expected and time.monotonic() < deadline:
        time.sleep(0.001)
    return count == expected


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads")
def test_an_end_in_the_middle_leaves_no_thread() -> None:
    before = len(list(Path("/proc/self/task").iterdir()))
    for make in ENVS:
        env = make()
        for _ in range(20):
            episode(env, 1, limit=3)
        assert threads_become(before + 1), "one run at a time"
        env.close()
        assert threads_become(before)
        env.close()
    forgotten = SchedulerEnv(small())
    forgotten.reset(seed=1)
    assert threads_become(before + 1)
    del forgotten
    gc.collect()
    assert threads_become(before)
    assert threading.active_count() == 1


def test_a_step_before_reset_or_after_close_is_refused() -> None:
    env = SchedulerEnv(small())
    with pytest.raises(RuntimeError, match="expected reset"):
        env.step(np.int64(0))
    env.reset(seed=1)
    env.close()
    with pytest.raises(RuntimeError, match="expected reset"):
        env.step(np.int64(0))


def test_what_cannot_be_an_environment_is_refused() -> None:
    udp = small().with_overrides(
        {"flows.file": {"from": "client", "to": "server", "protocol": "udp", "on_off": {"rate": "1 Mbit/s"}}}
    )
    swept = small().with_overrides(sweep={"flows.file.congestion": ["lia", "olia"]})
    unlimited = small().with_overrides({"flows.file.send": "unlimited"})
    cases: list[tuple[Callable[[], Env], str]] = [
        (lambda: SchedulerEnv(udp), "expected a flow with a scheduler"),
        (lambda: SchedulerEnv(small(), flow="other"), "found \"other\""),
        (lambda: SchedulerEnv(swept), "found a sweep of 2 points"),
        (lambda: SchedulerEnv(small(), reward="speed"), "reward: found 'speed'"),  # type: ignore[arg-type]
        (lambda: SchedulerEnv(small(), reward="exchange"), "is for flows of requests"),
        (lambda: SchedulerEnv(unlimited, reward="completion"), "has no last byte; use 'goodput'"),
        (lambda: SchedulerEnv(requests(), reward="completion"), "use 'exchange' or 'goodput'"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()


def test_an_exception_in_another_algorithm_reaches_the_agent() -> None:
    class Broken(subflow.PathManager):
        def on_event(self, event: Any) -> None:
            raise LookupError("no way on")

    scenario = small().with_overrides({"flows.file.path_manager": "broken"})
    # A number of subflows that is given is not looked for in a run.
    env = SchedulerEnv(scenario.with_algorithms(path_managers={"broken": Broken}), subflows=2)
    with pytest.raises(subflow.RunError, match="no way on") as caught:
        episode(env, 1)
    assert isinstance(caught.value.__cause__, LookupError)
    env.close()


def make_env() -> gymnasium.Env[Any, Any]:
    return SchedulerEnv(small())


def test_vector_environments_run_in_processes() -> None:
    envs = gymnasium.vector.AsyncVectorEnv([make_env, make_env], context="spawn")
    try:
        first, _ = envs.reset(seed=[1, 2])
        for _ in range(10):
            observations, *_ = envs.step(np.array([0, 1]))
        alone = make_env()
        assert alone.reset(seed=1)[0].tolist() == first[0].tolist()
        for _ in range(10):
            observation, *_ = alone.step(np.int64(0))
        assert observation.tolist() == observations[0].tolist()
        alone.close()
    finally:
        envs.close()


def test_the_trained_scheduler_is_faster_than_ll() -> None:
    times = train_scheduler.main(["--iterations", "2", "--population", "8", "--runs", "5"])
    small, large = (times[size] for size in train_scheduler.SIZES)
    assert small["trained"].mean() < 0.8 * small["ll"].mean()
    assert large["trained"].mean() < 1.5 * large["ll"].mean()
