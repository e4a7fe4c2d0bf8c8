"""Sweeps: equal results whatever does the runs, and a store that loses none."""

from __future__ import annotations

import doctest
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import cost_per_call
import distributed
import numpy
import pytest
from conftest import two_paths
from cost_per_call import LowestRtt
from recipes import ROOT

import subflow
from subflow import _native, _sweep

# Where the modules of tests are found, for programs of their own.
IMPORTED = [str(Path(__file__).parent), str(ROOT / "docs")]
T = TypeVar("T")
OVER = {"flows.file.congestion": ["lia", "olia"], "links.slow.loss": ["0 %", "1 %"]}
RUNS = 12


def run(scenario: subflow.Scenario, **options: Any) -> subflow.Results:
    return subflow.sweep(scenario, OVER, repeat=3, **options)


def tables(results: subflow.Results) -> dict[str, dict[str, list[Any]]]:
    named = {name: getattr(results, name) for name in ("flows", "subflows", "links", "statistics")}
    named |= {metric: results.series(metric) for metric in results.metrics}
    return {name: table.to_dict() for name, table in named.items()}


def stored(store: Path) -> dict[Path, float]:
    return {path: path.stat().st_mtime for path in store.glob("*/*.run")}


@pytest.fixture
def expected(scenario: subflow.Scenario) -> dict[str, dict[str, list[Any]]]:
    return tables(scenario.with_overrides(sweep=OVER).run(repeat=3))


def test_a_sweep_is_a_run_of_the_swept_scenario(
    scenario: subflow.Scenario, expected: dict[str, dict[str, list[Any]]]
) -> None:
    shown: list[tuple[int, int]] = []
    results = run(scenario, progress=lambda done, total: shown.append((done, total)))
    assert len(results) == RUNS
    assert tables(results) == expected
    assert shown == [(done, RUNS) for done in range(RUNS + 1)]


def test_processes_give_equal_tables(
    scenario: subflow.Scenario, expected: dict[str, dict[str, list[Any]]], tmp_path: Path
) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert tables(run(scenario, executor=executor)) == expected
        assert tables(run(scenario, executor=executor, store=tmp_path / "store")) == expected
    assert len(stored(tmp_path / "store")) == RUNS


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_four_processes_gives_equal_tables(
    scenario: subflow.Scenario, expected: dict[str, dict[str, list[Any]]], tmp_path: Path
) -> None:
    cluster = distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        assert tables(run(scenario, executor=client.get_executor(), store=tmp_path)) == expected
    assert len(stored(tmp_path)) == RUNS


def test_the_example_of_the_docstring_runs() -> None:
    failed, tried = doctest.testmod(_sweep)
    assert failed == 0 and tried > 0


def test_a_store_holds_rows_for_queries(scenario: subflow.Scenario, tmp_path: Path) -> None:
    run(scenario, store=tmp_path)
    columns = subflow.stored_runs(tmp_path).to_dict()
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    assert {(row["flows.file.congestion"], row["links.slow.loss"], row["seed"]) for row in rows} == {
        (congestion, loss, seed) for congestion in ("lia", "olia") for loss in ("0 %", "1 %") for seed in (1, 2, 3)
    }
    assert all(row["goodput_mbps"] > 0 and row["error"] is None for row in rows)


def test_a_sweep_that_is_killed_goes_on_and_loses_nothing(
    expected: dict[str, dict[str, list[Any]]], scenario: subflow.Scenario, tmp_path: Path
) -> None:
    program = f"""
import subflow, sys, time
sys.path[:0] = {IMPORTED!r}
from conftest import two_paths
scenario = subflow.Scenario.from_dict(two_paths(), name="two-paths")
subflow.sweep(scenario, {OVER!r}, repeat=3, store="store", progress=lambda done, total: time.sleep(0.05))
"""
    store = tmp_path / "store"
    before: dict[Path, float] = {}
    for count in (1, 4, 6):
        child = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path)
        deadline = time.monotonic() + 60
        while len(stored(store)) < count and time.monotonic() < deadline:
            time.sleep(0.002)
        seen = stored(store)
        child.kill()
        child.wait()
        after = stored(store)
        assert len(seen) >= count and before.items() <= after.items() and seen.items() <= after.items()
        before = after
    # The store is moved to another machine.
    moved = store.rename(tmp_path / "moved")
    results = run(scenario, store=moved)
    assert tables(results) == expected
    assert len(stored(moved)) == RUNS
    unchanged = {moved / path.relative_to(store): time for path, time in before.items()}
    assert unchanged.items() <= stored(moved).items(), "no run was done twice"


class Local(Executor):
    """Does calls at once, and gives the wrong answer for some of them."""

    def __init__(self, answers: dict[int, Callable[[Any], Any]]) -> None:
        self.answers = answers
        self.calls: list[int] = []

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        source, number = args
        self.calls.append(number)
        try:
            future.set_result(self.answers[number](source) if number in self.answers else fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def fail(source: Any) -> Any:
    study = _native.Study.restore(*source)
    study.stop()
    return study.run(5)


def test_a_failed_run_is_kept_with_its_error_and_done_again(scenario: subflow.Scenario, tmp_path: Path) -> None:
    with pytest.raises(subflow.RunError, match=r"run 5 \(seed 3, .*olia.*|run 5 \(seed 3, .*lia.*: stopped"):
        run(scenario, executor=Local({5: fail}), store=tmp_path)
    assert len(list(tmp_path.glob("*/*.failed.run"))) == 1
    others = run(scenario, executor=Local({5: fail}), store=tmp_path, keep_going=True)
    assert len(others) == RUNS - 1 and 5 not in others.flows["run"]
    again = Local({})
    assert len(run(scenario, executor=again, store=tmp_path)) == RUNS
    assert again.calls == [5]
    assert not list(tmp_path.glob("*/*.failed.run"))


def test_a_worker_that_dies_loses_only_its_own_run(scenario: subflow.Scenario, tmp_path: Path) -> None:
    def die(source: Any) -> Any:
        raise OSError("the worker is gone")

    with pytest.raises(OSError, match="the worker is gone"):
        run(scenario, executor=Local({3: die}), store=tmp_path)
    assert len(stored(tmp_path)) == RUNS - 1
    assert len(run(scenario, store=tmp_path)) == RUNS


def test_workers_of_a_pool_may_be_killed(scenario: subflow.Scenario, tmp_path: Path) -> None:
    from concurrent.futures.process import BrokenProcessPool

    # Runs that take longer than to kill a process.
    scenario = scenario.with_overrides({"flows.file.send": "unlimited"}, duration="20 s")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:

        def kill_at_four(done: int, total: int) -> None:
            if done == 4:
                for process in executor._processes:
                    os.kill(process, signal.SIGKILL)
                # A worker that was killed while it sent a result has sent a part. The pool waits for the rest for as
                # long as this process has the end of the pipe that workers write to.
                executor._result_queue._writer.close()  # type: ignore[attr-defined]

        with pytest.raises(BrokenProcessPool):
            run(scenario, executor=executor, store=tmp_path, progress=kill_at_four)
    before = stored(tmp_path)
    assert 4 <= len(before) < RUNS
    assert len(run(scenario, store=tmp_path)) == RUNS
    assert before.items() <= stored(tmp_path).items()


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_does_the_runs_of_a_killed_worker_again(scenario: subflow.Scenario, tmp_path: Path) -> None:
    scenario = scenario.with_overrides({"flows.file.send": "unlimited"}, duration="20 s")
    expected = tables(run(scenario, series=False))
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        shown: list[int] = []

        def kill_at_three(done: int, total: int) -> None:
            shown.append(done)
            if done == 3:
                os.kill(victim, signal.SIGKILL)

        results = run(scenario, executor=client.get_executor(), store=tmp_path, series=False, progress=kill_at_three)
    assert tables(results) == expected
    assert shown == list(range(RUNS + 1)), "each run was done, and counted, once"
    assert len(stored(tmp_path)) == RUNS


def test_ctrl_c_keeps_what_is_done(scenario: subflow.Scenario, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(scenario, store=tmp_path, progress=interrupt)
    assert 3 <= len(stored(tmp_path)) < RUNS
    assert len(run(scenario, store=tmp_path)) == RUNS


def test_a_run_that_is_kept_with_metrics_over_time_is_not_done_again_without(
    scenario: subflow.Scenario, tmp_path: Path
) -> None:
    whole = run(scenario, store=tmp_path)
    before = stored(tmp_path)
    results = run(scenario, store=tmp_path, series=False)
    assert stored(tmp_path) == before and len(before) == RUNS
    assert results.metrics == [] and results.flows.to_dict() == whole.flows.to_dict()


def test_what_is_wrong_is_named(scenario: subflow.Scenario, tmp_path: Path) -> None:
    with pytest.raises(subflow.ScenarioError, match="lya"):
        subflow.sweep(scenario, {"flows.file.congestion": ["lya"]})
    with pytest.raises(subflow.ScenarioError, match="colour"):
        subflow.sweep(scenario, {"colour": ["red"]})
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "subflow-store.json").write_text('{"format":1,"version":"0.0.1"}')
    with pytest.raises(subflow.StoreError, match="0.0.1"):
        run(scenario, store=tmp_path / "old")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("x")
    with pytest.raises(subflow.StoreError, match="not empty"):
        run(scenario, store=tmp_path / "thesis")
    store = tmp_path / "store"
    run(scenario, store=store)
    damaged = next(store.glob("*/*.run"))
    damaged.write_bytes(b"subflow-run\n" + (48).to_bytes(8, "little") + bytes(80))
    with pytest.raises(subflow.StoreError, match=r"damaged .*remove it"):
        run(scenario, store=store)
    damaged.unlink()
    assert len(run(scenario, store=store)) == RUNS
    # One that was cut does not count: the run is done again.
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert len(run(scenario, store=store)) == RUNS


def test_a_full_disk_keeps_complete_runs_and_the_sweep_goes_on(
    expected: dict[str, dict[str, list[Any]]], scenario: subflow.Scenario, tmp_path: Path
) -> None:
    """The disk is a small tmpfs in namespaces of the test."""
    program = f"""
import os, subprocess, sys
sys.path[:0] = {[*IMPORTED, str(Path(cost_per_call.__file__).parent)]!r}
import pytest, subflow
from test_sweep import run, stored
from conftest import two_paths
from pathlib import Path
scenario = subflow.Scenario.from_dict(two_paths(), name="two-paths")
with pytest.raises(subflow.StoreError, match="No space left on device"):
    run(scenario, store="disk/store")
left = [path for path in Path("disk").rglob("*") if path.is_file()]
complete = stored(Path("disk/store"))
assert 0 < len(complete) < {RUNS} and len(left) == len(complete) + 1, left
subprocess.run(["mount", "-o", "remount,size=10m", "none", "disk"], check=True)
assert len(run(scenario, store="disk/store")) == {RUNS}
assert complete.items() <= stored(Path("disk/store")).items()
subprocess.run(["cp", "-r", "disk/store", "kept"], check=True)
"""
    (tmp_path / "disk").mkdir()
    namespaces = ["unshare", "--user", "--map-root-user", "--mount"]
    mounted = "mount -t tmpfs -o size=300k none disk"
    if subprocess.run([*namespaces, "sh", "-c", mounted], cwd=tmp_path, capture_output=True).returncode != 0:
        assert not {"all", "user-namespaces"} & set(os.environ.get("SUBFLOW_REQUIRE", "").split(","))
        pytest.skip("a file system of a test's own cannot be mounted")
    script = f'{mounted} && exec "$0" -c "$1"'
    subprocess.run([*namespaces, "sh", "-c", script, sys.executable, program], cwd=tmp_path, check=True)
    assert tables(run(scenario, store=tmp_path / "kept")) == expected


def test_a_study_reaches_another_process_with_its_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lte.up").write_text("".join(f"{ms}\n" for ms in range(1, 100, 2)))
    content = two_paths()
    content["links"]["slow"]["rate"] = "lte.up"
    monkeypatch.chdir(tmp_path)
    scenario = subflow.Scenario.from_dict(content, name="traced")
    source = _native.Study(scenario, None, None, None, None, False, "").source
    monkeypatch.chdir("/")
    record, error = _sweep._run(source, 0)
    assert error is None and record.startswith(b"subflow")


def with_lowest_rtt(scenario: subflow.Scenario) -> subflow.Scenario:
    own = scenario.with_algorithms(schedulers={"own": LowestRtt})
    return own.with_overrides({"flows.file.scheduler": "own"})


def test_algorithms_in_python_give_equal_results_in_threads_processes_and_stores(
    scenario: subflow.Scenario, tmp_path: Path
) -> None:
    own = with_lowest_rtt(scenario)
    expected = own.run(repeat=3).flows.to_dict()
    assert subflow.sweep(own, repeat=3).flows.to_dict() == expected
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert subflow.sweep(own, repeat=3, executor=executor, store=tmp_path).flows.to_dict() == expected
    calls = Local({})
    subflow.sweep(own, repeat=3, executor=calls, store=tmp_path)
    assert calls.calls == [], "the store knows the algorithm"


def test_a_store_knows_algorithms_by_their_source(scenario: subflow.Scenario, tmp_path: Path) -> None:
    class LowestRtt(cost_per_call.LowestRtt):
        """Another class of that name."""

    subflow.sweep(with_lowest_rtt(scenario), store=tmp_path)
    other = scenario.with_algorithms(schedulers={"own": LowestRtt})
    other = other.with_overrides({"flows.file.scheduler": "own"})
    subflow.sweep(other, store=tmp_path)
    assert len(stored(tmp_path)) == 2
    unknown = scenario.with_algorithms(schedulers={"own": partial(LowestRtt)})
    with pytest.raises(ValueError, match="schedulers: the source of 'own' cannot be found"):
        subflow.sweep(unknown, store=tmp_path)
    assert len(subflow.sweep(unknown)) == 1, "without a store it need not be known"


def test_ctrl_c_ends_the_workers_of_a_pool_within_their_runs(tmp_path: Path) -> None:
    program = f"""
import sys
sys.path[:0] = {IMPORTED!r}
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from conftest import two_paths
import signal, subflow
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    endless = two_paths() | {{"duration": "100000 s"}}
    endless["flows"]["file"]["send"] = "unlimited"
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as executor:
        show = lambda done, total: print("begun", flush=True)
        subflow.sweep(subflow.Scenario.from_dict(endless), repeat=4, executor=executor, series=False, progress=show)
"""
    (tmp_path / "endless.py").write_text(program)
    command = [sys.executable, "endless.py"]
    child = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    time.sleep(1)
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode != 0 and "KeyboardInterrupt" in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)


def test_arrays_and_ranges_can_be_swept(scenario: subflow.Scenario) -> None:
    seeds = [[1, 2, 3], range(1, 4), numpy.arange(1, 4), (1, 2, 3)]
    results = [subflow.sweep(scenario, {"seed": values}).flows.to_dict() for values in seeds]
    assert all(result == results[0] for result in results)
    with pytest.raises(TypeError, match="sweep.seed: found set"):
        subflow.sweep(scenario, {"seed": {1, 2}})
