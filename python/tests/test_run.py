"""Runs: equal results, progress, and their end by a signal or an exception."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import subflow
from subflow import _progress


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


def runs_of(scenario: subflow.Scenario) -> list[Callable[[], object]]:
    return [scenario.run, lambda: subflow.sweep(scenario)]


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Sends SIGINT to this process once."""
    # A process that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_long_run(scenario: subflow.Scenario) -> None:
    long = scenario.with_overrides({"flows.file.send": "unlimited"}, duration="10000 s")
    for run in runs_of(long.with_overrides(sample_interval="1 s")):
        with interrupted_after(0.5), pytest.raises(KeyboardInterrupt):
            run()


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


def test_the_number_of_threads_does_not_change_results(scenario: subflow.Scenario) -> None:
    one, two = (scenario.run(seed=3, threads=threads) for threads in (1, 2))
    assert one.subflows.to_dict() == two.subflows.to_dict()
    assert one.series("cwnd").to_dict() == two.series("cwnd").to_dict()


@pytest.mark.parametrize("argument", ["jobs", "threads"])
@pytest.mark.parametrize("number", [0, -1, 65536])
def test_numbers_of_threads_out_of_range_are_refused(scenario: subflow.Scenario, argument: str, number: int) -> None:
    with pytest.raises(ValueError, match=f"{argument}: found {number}, expected an integer from 1 to 65535"):
        scenario.run(**{argument: number})  # type: ignore[arg-type]


def test_progress_is_a_bar_or_lines(
    scenario: subflow.Scenario, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.run(repeat=2, progress=True)
    assert "2/2" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_progress, "PAUSE_S", 0.0)
    subflow.sweep(scenario, repeat=2, progress=True)
    assert "2 of 2 runs\n" in capfd.readouterr().err


def test_ctrl_c_ends_an_algorithm_that_does_not_return(scenario: subflow.Scenario) -> None:
    class Endless(subflow.Scheduler):
        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
            while True:
                pass

    own = scenario.with_algorithms(schedulers={"endless": Endless}).with_overrides({"flows.file.scheduler": "endless"})
    for run in runs_of(own):
        with interrupted_after(0.3), pytest.raises(KeyboardInterrupt):
            run()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_more_than_a_run_passes(scenario: subflow.Scenario, error: type[BaseException]) -> None:
    class Ending(subflow.Scheduler):
        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
            raise error

    own = scenario.with_algorithms(schedulers={"ending": Ending}).with_overrides({"flows.file.scheduler": "ending"})
    for run in runs_of(own):
        with pytest.raises(error):
            run()


def test_a_wrong_seed_is_named(scenario: subflow.Scenario) -> None:
    with pytest.raises(subflow.ScenarioError, match="seed"):
        scenario.run(seed=-1)
    with pytest.raises(subflow.ScenarioError, match="repeat"):
        scenario.run(repeat=0)
