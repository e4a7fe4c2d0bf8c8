"""Runs: equal results, progress, and their end by a signal or an exception."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import subflow


def test_the_number_of_jobs_does_not_change_results(scenario: subflow.Scenario) -> None:
    one, two = (scenario.run(seed=3, repeat=4, jobs=jobs) for jobs in (1, 2))
    assert one.flows["seed"] == [3, 4, 5, 6]
    assert one.flows.to_dict() == two.flows.to_dict()
    assert one.links.to_dict() == two.links.to_dict()
    assert len(set(one.flows["retransmissions"])) > 1, "the seeds make a difference"


def test_progress_ends_with_all_runs(scenario: subflow.Scenario) -> None:
    shown: list[tuple[int, int]] = []
    scenario.run(repeat=5, progress=lambda done, total: shown.append((done, total)))
    assert shown[-1] == (5, 5)
    assert shown == sorted(set(shown)), "it only grows"


def test_an_exception_in_progress_ends_the_runs(scenario: subflow.Scenario) -> None:
    def fail(done: int, total: int) -> None:
        raise LookupError("enough")

    begin = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        scenario.with_overrides({"flows.file.send": "unlimited"}, duration="10000 s").run(progress=fail)
    assert time.monotonic() - begin < 10


def test_ctrl_c_ends_a_long_run(scenario: subflow.Scenario) -> None:
    long = scenario.with_overrides({"flows.file.send": "unlimited"}, duration="10000 s")
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    # A process that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            long.run(series=False)
    finally:
        signal.signal(signal.SIGINT, before)
    elapsed = time.monotonic() - sent[0]
    # Fractions of a second; a busy machine may take its time.
    assert elapsed < 5, elapsed


def test_other_threads_go_on_during_a_run(scenario: subflow.Scenario) -> None:
    counted = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    scenario.with_overrides({"flows.file.send": "unlimited"}, duration="600 s").run(repeat=2)
    ended.set()
    thread.join()
    assert counted > 3


@pytest.mark.parametrize("jobs", [0, -1, 65536])
def test_jobs_out_of_range_are_refused(scenario: subflow.Scenario, jobs: int) -> None:
    with pytest.raises((ValueError, OverflowError)):
        scenario.run(jobs=jobs)


def test_a_wrong_seed_is_named(scenario: subflow.Scenario) -> None:
    with pytest.raises(subflow.ScenarioError, match="seed"):
        scenario.run(seed=-1)
    with pytest.raises(subflow.ScenarioError, match="repeat"):
        scenario.run(repeat=0)
