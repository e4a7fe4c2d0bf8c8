"""Measure what a call of an algorithm in Python costs besides its own work: ``python cost_per_call.py``.

Runs a scenario with a built-in algorithm and with the same one in Python. Both give the same results, so the difference
in CPU time is the calls. What the method takes when Python calls it with the same arguments is its own work.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import subflow

SCENARIO = """
    duration = "20 s"
    [hosts]
    client = ["wifi", "lte"]
    server = ["one", "two"]
    [links]
    wifi = { between = ["client.wifi", "server.one"], rate = "50 Mbit/s", delay = "10 ms" }
    lte = { between = ["client.lte", "server.two"], rate = "20 Mbit/s", delay = "30 ms" }
    [flows.file]
    from = "client"
    to = "server"
    protocol = "mptcp"
    congestion = "reno"
    scheduler = "ll"
"""
KEPT = 2000


class Counted:
    """Counts calls and keeps some of their arguments, while it is told to."""

    calls = 0
    keep = False
    kept: list[tuple[Any, ...]] = []

    @classmethod
    def count(cls, arguments: tuple[Any, ...]) -> None:
        cls.calls += 1
        if cls.keep and len(cls.kept) < KEPT:
            cls.kept.append(arguments)


class LowestRtt(subflow.Scheduler):
    """What ll does."""

    def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
        best, lowest = None, float("inf")
        for index, view in enumerate(subflows):
            if view.eligible and (view.srtt or 0.0) < lowest:
                best, lowest = index, view.srtt or 0.0
        return best


class CountedLowestRtt(LowestRtt):
    def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
        Counted.count((subflows, queue))
        return super().next(subflows, queue)


class Reno(subflow.CongestionControl):
    """What reno does."""

    def on_ack(self, paths: tuple[subflow.Path, ...], path: int, ack: subflow.Ack) -> None:
        own, acked = paths[path], ack.acked
        if own.in_slow_start:
            acked = own.slow_start(acked)
        if acked > 0:
            own.additive_increase(own.cwnd, acked)

    def ssthresh_after_loss(self, paths: tuple[subflow.Path, ...], path: int, now: float) -> int:
        return max(paths[path].cwnd // 2, 2)


class CountedReno(Reno):
    def on_ack(self, paths: tuple[subflow.Path, ...], path: int, ack: subflow.Ack) -> None:
        Counted.count((paths, path, ack))
        super().on_ack(paths, path, ack)


def seconds(work: Callable[[], object], repeat: int) -> float:
    """The least CPU time of several, which other work on the machine has disturbed least."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def overhead(key: str, own: Callable[[], Any], counted: Callable[[], Any], repeat: int) -> tuple[int, float, float]:
    """Calls, microseconds of a call besides its own work, and of its own work."""
    base = subflow.Scenario.from_toml(SCENARIO)
    argument = {"scheduler": "schedulers", "congestion": "congestion"}[key]
    algorithms = {argument: {"own": own, "counted": counted}}
    python = base.with_algorithms(**algorithms)
    Counted.calls, Counted.keep, Counted.kept = 0, True, []
    python.with_overrides({f"flows.file.{key}": "counted"}).run(series=False, jobs=1)
    calls, kept = Counted.calls, Counted.kept
    scenario = python.with_overrides({f"flows.file.{key}": "own"})
    built_in = seconds(lambda: base.run(series=False, jobs=1), repeat)
    with_python = seconds(lambda: scenario.run(series=False, jobs=1), repeat)
    method = getattr(own(), {"scheduler": "next", "congestion": "on_ack"}[key])

    def work() -> None:
        for arguments in kept:
            method(*arguments)

    work_us = 1e6 * seconds(work, 5 * repeat) / len(kept)
    return calls, 1e6 * (with_python - built_in) / calls - work_us, work_us


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="measure so often and take the least")
    repeat = parser.parse_args(arguments).repeat
    measured = {
        "scheduler": overhead("scheduler", LowestRtt, CountedLowestRtt, repeat),
        "congestion": overhead("congestion", Reno, CountedReno, repeat),
    }
    for key, (calls, call_us, work_us) in measured.items():
        print(f"{key:>10}: {calls} calls, {call_us:.2f} us per call besides its own work of {work_us:.2f} us")


if __name__ == "__main__":
    main()
