"""Train a packet scheduler and compare it with the built-in ones: ``python train_scheduler.py``.

A phone asks for small files over a fast and a slow path. ``ll`` uses the slow path as soon as the window of the fast
one is full, and the end of the file then waits for the slow path: there is room, as the authors of ECF (Lim et al.,
CoNEXT 2017) and BLEST (Ferlin et al., IFIP Networking 2016) say.

The agent is a linear rule with three weights, trained with the cross-entropy method (Rubinstein, 1999): draw rules from
a normal distribution, keep the best fifth, fit the distribution to them, repeat. It needs numpy only and some seconds;
a library of deep reinforcement learning would be some hundred megabytes for three numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import subflow
from subflow.gym import SchedulerEnv

Weights: TypeAlias = NDArray[np.float64]

SIZES = ["50 kB", "2 MB"]
BUILT_IN = ["ll", "rr", "blest", "ecf"]
MSS = 1448


def scenario(size: str) -> subflow.Scenario:
    """Files of this size, one after the other, over two paths whose RTTs differ by a factor of ten."""
    return subflow.Scenario.from_toml(
        f"""
        duration = "10 s"
        [hosts]
        phone = ["wifi", "lte"]
        server = ["eth"]
        [routers]
        internet = {{}}
        [links]
        wifi = {{ between = ["phone.wifi", "internet"], rate = "10 Mbit/s", delay = "10 ms", loss = "0.1 %" }}
        lte = {{ between = ["phone.lte", "internet"], rate = "10 Mbit/s", delay = "100 ms", loss = "0.1 %" }}
        core = {{ between = ["internet", "server"], rate = "1 Gbit/s" }}
        [flows.web]
        from = "phone"
        to = "server"
        protocol = "mptcp"
        requests = {{ response = "{size}", think = "200 ms" }}
        """
    )


def action(weights: Weights, observation: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
    """The faster subflow if it is eligible; else the slower one if the rule says so; else none."""
    rows = observation[:10].reshape(2, 5)
    backlog = float(observation[10])
    wait = len(rows)
    eligible = [index for index in range(wait) if mask[index]]
    fast = int(np.argmin([row[2] if row[0] else np.inf for row in rows]))
    if fast in eligible or not eligible:
        return fast if eligible else wait
    slow = eligible[0]
    rounds = backlog * 1e6 / MSS / max(float(rows[fast][3]), 1.0)
    ratio = float(rows[slow][2]) / max(float(rows[fast][2]), 1e-3)
    return slow if float(weights @ np.array([1.0, rounds, ratio])) > 0.0 else wait


def episode(env: SchedulerEnv, weights: Weights, run_seed: int) -> tuple[float, float]:
    """The sum of rewards and the mean time of a download in milliseconds, with this rule."""
    observation, info = env.reset(options={"run_seed": run_seed})
    total, ended = 0.0, False
    while not ended:
        chosen = action(weights, observation, info["action_mask"])
        observation, reward, ended, _, info = env.step(np.int64(chosen))
        total += reward
    return total, info["exchange_mean_ms"]


def train(envs: Sequence[SchedulerEnv], iterations: int, population: int, seed: int = 1) -> Weights:
    """The mean of the last distribution."""
    generator = np.random.default_rng(seed)
    mean, deviation = np.zeros(3), np.ones(3)
    for iteration in range(iterations):
        rules = generator.normal(mean, deviation, (population, 3))
        seeds = [int(number) for number in generator.integers(1_000_000, 2**31, 2)]
        rewards = np.array([[[episode(env, rule, run)[0] for run in seeds] for env in envs] for rule in rules])
        # A large file earns more than a small one: each counts by how far it is above the mean of its kind.
        scores = (rewards / rewards.mean(axis=(0, 2), keepdims=True)).mean(axis=(1, 2))
        best = rules[np.argsort(-scores)[: max(population // 5, 2)]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.05
        print(f"iteration {iteration + 1}: mean reward {rewards.mean():.3f}, best {scores.max():.3f} times the mean")
    return mean


def compare(weights: Weights, runs: int) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Mean times of a download by size and scheduler, in runs with the seeds from 1, which training has not seen."""
    times: dict[str, dict[str, NDArray[np.float64]]] = {}
    for size in SIZES:
        sweep = scenario(size).with_overrides(sweep={"flows.web.scheduler": BUILT_IN})
        flows = sweep.run(seed=1, repeat=runs, series=False).flows
        built_in = np.array(flows["exchange_mean_ms"], dtype=np.float64).reshape(len(BUILT_IN), runs)
        env = SchedulerEnv(scenario(size), reward="goodput")
        own = np.array([episode(env, weights, seed)[1] for seed in range(1, runs + 1)])
        env.close()
        times[size] = dict(zip(BUILT_IN, built_in, strict=True)) | {"trained": own}
    return times


def main(arguments: Sequence[str] | None = None) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Train, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--population", type=int, default=20)
    parser.add_argument("--runs", type=int, default=30, help="runs of each scheduler in the comparison")
    options = parser.parse_args(arguments)
    envs = [SchedulerEnv(scenario(size), reward="goodput") for size in SIZES]
    weights = train(envs, options.iterations, options.population)
    for env in envs:
        env.close()
    print(f"use the slower subflow if {weights[0]:+.2f} {weights[1]:+.2f} rounds {weights[2]:+.2f} ratio > 0")
    times = compare(weights, options.runs)
    for size, by_scheduler in times.items():
        for name, milliseconds in by_scheduler.items():
            saved = by_scheduler["ll"] - milliseconds
            half = 1.96 * saved.std(ddof=1) / np.sqrt(len(saved))
            print(f"{size:>7} {name:>8}: {milliseconds.mean():6.1f} ms, {saved.mean():+6.1f} ± {half:.1f} ms before ll")
    return times


if __name__ == "__main__":
    main()
