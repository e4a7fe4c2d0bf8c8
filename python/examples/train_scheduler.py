"""Train a packet scheduler and compare it with the built-in ones: ``python train_scheduler.py``.

A phone downloads small files over a fast and a slow path. ``ll`` uses the slow path as soon as the window of the fast
one is full, and the end of the file then waits for the slow path: there is room, as the authors of ECF (Lim et al.,
CoNEXT 2017) and BLEST (Ferlin et al., IFIP Networking 2016) say.

The agent is a linear rule with three weights, trained with the cross-entropy method: draw rules from a normal
distribution, keep the best fifth, fit the distribution to them, repeat. It needs numpy only, and some seconds. Deep
reinforcement learning would need a library of some hundred megabytes for a rule of three numbers.
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

SIZES = ["50 kB", "200 kB"]
BUILT_IN = ["ll", "rr", "blest", "ecf"]
MSS = 1448


def scenario(size: str) -> subflow.Scenario:
    """A file of this size over two paths, whose RTTs differ by a factor of ten."""
    return subflow.Scenario.from_toml(
        f"""
        duration = "20 s"
        [hosts]
        server = ["one", "two"]
        phone = ["wifi", "lte"]
        [links]
        wifi = {{ between = ["server.one", "phone.wifi"], rate = "10 Mbit/s", delay = "10 ms", loss = "0.2 %" }}
        lte = {{ between = ["server.two", "phone.lte"], rate = "10 Mbit/s", delay = "100 ms", loss = "0.2 %" }}
        [flows.file]
        from = "server"
        to = "phone"
        protocol = "mptcp"
        send = "{size}"
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


def completion(env: SchedulerEnv, weights: Weights, run_seed: int) -> float:
    """Seconds to the last byte of the file, with this rule."""
    observation, info = env.reset(options={"run_seed": run_seed})
    total, ended = 0.0, False
    while not ended:
        chosen = action(weights, observation, info["action_mask"])
        observation, reward, ended, _, info = env.step(np.int64(chosen))
        total -= reward
    return total


def train(envs: Sequence[SchedulerEnv], iterations: int, population: int, seed: int = 1) -> Weights:
    """The mean of the last distribution."""
    generator = np.random.default_rng(seed)
    mean, deviation = np.zeros(3), np.ones(3)
    for iteration in range(iterations):
        rules = generator.normal(mean, deviation, (population, 3))
        seeds = [int(number) for number in generator.integers(1_000_000, 2**31, 2)]
        times = [np.mean([completion(env, rule, run) for env in envs for run in seeds]) for rule in rules]
        best = rules[np.argsort(times)[: max(population // 5, 2)]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.05
        print(f"iteration {iteration + 1}: mean {np.mean(times):.3f} s, best {np.min(times):.3f} s")
    return mean


def compare(weights: Weights, runs: int) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Completion times by size and scheduler, in runs with the seeds from 1, which training has not seen."""
    times: dict[str, dict[str, NDArray[np.float64]]] = {}
    for size in SIZES:
        sweep = scenario(size).with_overrides(sweep={"flows.file.scheduler": BUILT_IN})
        flows = sweep.run(seed=1, repeat=runs, series=False).flows
        completed = np.array(flows["completion_s"], dtype=np.float64).reshape(len(BUILT_IN), runs)
        env = SchedulerEnv(scenario(size))
        own = np.array([completion(env, weights, seed) for seed in range(1, runs + 1)])
        env.close()
        times[size] = dict(zip(BUILT_IN, completed, strict=True)) | {"trained": own}
    return times


def main(arguments: Sequence[str] | None = None) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Train, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--population", type=int, default=20)
    parser.add_argument("--runs", type=int, default=30, help="runs of each scheduler in the comparison")
    options = parser.parse_args(arguments)
    envs = [SchedulerEnv(scenario(size)) for size in SIZES]
    weights = train(envs, options.iterations, options.population)
    for env in envs:
        env.close()
    print(f"use the slower subflow if {weights[0]:+.2f} {weights[1]:+.2f} rounds {weights[2]:+.2f} ratio > 0")
    times = compare(weights, options.runs)
    for size, by_scheduler in times.items():
        for name, seconds in by_scheduler.items():
            saved = by_scheduler["ll"] - seconds
            half = 1.96 * saved.std(ddof=1) / np.sqrt(len(saved))
            print(f"{size:>7} {name:>8}: {seconds.mean():.3f} s, {saved.mean():+.3f} ± {half:.3f} s before ll")
    return times


if __name__ == "__main__":
    main()
