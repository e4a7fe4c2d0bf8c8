"""Sweeps on any executor, with a store of the runs that are done."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import Any, Literal

from subflow import algorithms
from subflow._native import Precision, Results, RunError, Scenario, Store, Study
from subflow._progress import Bar

# An algorithm in Python: argument of with_algorithms, name, and class.
_Algorithm = tuple[str, str, Callable[[], object]]
# Path, text, name and algorithms of a scenario.
_ScenarioSource = tuple[str, str, str, tuple[_Algorithm, ...]]
# What another process needs to make the same study: the scenario, whether to keep series, and what identifies the
# algorithms.
_Source = tuple[_ScenarioSource, bool | Literal["all"], str]
# The record of a run, and the error if it failed.
_Outcome = tuple[bytes, str | None]


def sweep(
    scenario: Scenario,
    over: Mapping[str, Any] | None = None,
    *,
    design: Mapping[str, Any] | str | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    until: str | None = None,
    max_repeat: int = 100,
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    series: bool | Literal["all"] = True,
    keep_going: bool = False,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Results:
    """Run a scenario with combinations of values, on any executor.

    The results depend neither on the executor nor on the order of the runs. With a store, a sweep that was cut goes on
    where it stopped when it is called again, also on another machine with this store.

    Parameters
    ----------
    scenario : Scenario
        The scenario. Traces that it names have to be at the same path wherever runs are done. Algorithms in Python
        have to be classes that the executor can bring there: for processes, classes of a module.
    over : mapping, optional
        Lists of values by path, as in ``[sweep]`` of a scenario, which they replace.
    design : mapping or str, optional
        Which combinations have runs, as ``design`` in ``[sweep]``, such as
        ``{"name": "latin-hypercube", "points": 50}``. Default: that of the scenario or of ``over``, or else all.
    seed, repeat : int, optional
        Seed of the first run, and runs for each combination. Default: the scenario's.
    until : str, optional
        Repeat each combination with further seeds until the 95 % interval of each mean is narrow, such as
        ``"goodput ± 2 %"`` (or ``+-``): 10 runs or ``repeat`` if that is more, then a quarter more each time.
    max_repeat : int, optional
        With ``until``, the most runs for each combination. A RuntimeWarning says that it was reached before the
        intervals were narrow enough.
    executor : concurrent.futures.Executor, optional
        Where runs are done. Default: one thread of this process for each core.
    store : str or os.PathLike, optional
        Folder in which each run is kept as it ends. Runs that it has are not done again.
    series : bool or "all", optional
        Whether to keep metrics over time: of the first run of each point and of at most 100 points, or of all runs.
    keep_going : bool, optional
        Whether to go on after a run has failed, and to return results without such runs. Their errors are kept in the
        store; they are done again when the sweep is.
    progress : callable or bool, optional
        Called with the runs that are done and the runs in all. True: a bar of tqdm, or lines on standard error if tqdm
        is not installed.

    Returns
    -------
    Results

    Raises
    ------
    ValueError
        There is a store, and the source of an algorithm in Python cannot be found. The store knows algorithms by the
        sources of their classes, without what these call. Or ``until`` is no metric with a width, ``max_repeat`` is
        less than the first number of runs, or ``repeat`` is swept.
    ScenarioError
        The scenario is not valid; nothing was run.
    RunError
        A run failed. With a store, the runs that were done are kept.
    StoreError
        The store cannot be read or written, or is one of another version.

    Examples
    --------
    >>> import subflow
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> scenario = subflow.Scenario.from_toml('''
    ... duration = "1 s"
    ... [hosts]
    ... client = ["eth"]
    ... server = ["eth"]
    ... [links.wire]
    ... between = ["client.eth", "server.eth"]
    ... rate = "8 Mbit/s"
    ... delay = "10 ms"
    ... [flows.file]
    ... from = "client"
    ... to = "server"
    ... send = "100 kB"
    ... ''')
    >>> results = subflow.sweep(scenario, over={"links.wire.delay": ["10 ms", "20 ms"]}, repeat=3)
    >>> len(results)
    6
    """
    own = scenario._algorithms
    identity = "" if store is None else "".join(map(_identity, own))
    show: Callable[[int, int], object] | None = Bar() if progress is True else progress or None
    # Algorithms in Python take turns.
    threads = 1 if own else os.cpu_count()

    def study(runs: int | None) -> Study:
        return Study(scenario, None if over is None else dict(over), _plain(design), seed, runs, series, identity)

    def results(study: Study, kept: Store | None) -> Results:
        missing = [run for run in range(len(study)) if kept is None or not kept.contains(study, run)]
        records: dict[int, bytes] = {}

        def keep(run: int, record: bytes) -> None:
            if kept is None:
                records[run] = record
            else:
                kept.save(study, run, record)

        _do(study, missing, executor, threads, keep, keep_going, show)
        return study.results(kept, records, keep_going)

    if until is None:
        return results(study(repeat), None if store is None else Store(store))
    precision = Precision(until)
    # The runs of one round are kept for the next.
    place: AbstractContextManager[str | os.PathLike[str]]
    place = tempfile.TemporaryDirectory() if store is None else nullcontext(store)
    with place as folder:
        return _repeated(precision, max_repeat, study, partial(results, kept=Store(folder)), repeat)


def _repeated(
    precision: Precision,
    max_repeat: int,
    study: Callable[[int | None], Study],
    results: Callable[[Study], Results],
    repeat: int | None,
) -> Results:
    """Do runs until the intervals are narrow, or there are as many as are allowed."""
    first = study(repeat)
    if "repeat" in first.parameters:
        raise ValueError("until: the scenario sweeps over `repeat`; drop that sweep, until chooses the number of runs")
    runs = max(len(first) // first.points, Precision.FEWEST_RUNS)
    if max_repeat < runs:
        raise ValueError(f"max_repeat: found {max_repeat}, expected at least {runs}, the first number of runs")
    while True:
        found = results(study(runs))
        percent, _, _ = found.widest_interval(precision.metric, Precision.FEWEST_RUNS)
        if percent <= precision.percent:
            return found
        if runs >= max_repeat:
            so = f"max_repeat is reached: after {runs} runs of each point the widest interval is ± {percent:.2f} %"
            warnings.warn(so, RuntimeWarning, stacklevel=3)
            return found
        runs = min(Precision.more(runs), max_repeat)


def _plain(design: Mapping[str, Any] | str | None) -> dict[str, Any] | str | None:
    return dict(design) if isinstance(design, Mapping) else design


def _do(
    study: Study,
    missing: list[int],
    executor: Executor | None,
    threads: int | None,
    keep: Callable[[int, bytes], None],
    keep_going: bool,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Do the missing runs and keep each as it ends."""
    done = len(study) - len(missing)
    errors: dict[int, Exception] = {}
    pool: AbstractContextManager[Executor]
    pool = ThreadPoolExecutor(threads) if executor is None else nullcontext(executor)
    with pool as workers:
        futures: dict[Future[_Outcome], int] = {}
        try:
            for run in missing:
                if executor is None:
                    futures[workers.submit(study.run, run)] = run
                else:
                    futures[workers.submit(_run, study.source, run)] = run
            if progress is not None:
                progress(done, len(study))
            for future in as_completed(futures):
                run = futures[future]
                try:
                    record, error = future.result()
                except CancelledError:
                    continue
                except Exception as lost:  # A worker has died: what others have done is kept nevertheless.
                    errors[run] = lost
                    _cancel(futures)
                    continue
                keep(run, record)
                if error is not None and not keep_going:
                    errors[run] = RunError(error)
                    _cancel(futures)
                elif error is None:
                    done += 1
                    if progress is not None:
                        progress(done, len(study))
        except BaseException:
            study.stop()
            _cancel(futures)
            raise
    if errors:
        raise errors[min(errors)]


def _identity(algorithm: _Algorithm) -> str:
    """What a store knows an algorithm by: its names, and the sources of its class and of those that it is derived from."""
    argument, name, made_by = algorithm
    derived = inspect.getmro(made_by) if inspect.isclass(made_by) else (made_by,)
    own = [part for part in derived if part is not object and getattr(part, "__module__", "") != algorithms.__name__]
    try:
        sources = [inspect.getsource(part) for part in own]
    except (OSError, TypeError) as missing:
        raise ValueError(
            f"{argument}: the source of {name!r} cannot be found, by which a store knows its runs; define it as a class "
            "in a file or in a cell of a notebook, or sweep without a store"
        ) from missing
    return "\0".join([argument, name, getattr(made_by, "__qualname__", ""), *sources, ""])


def _cancel(futures: Mapping[Future[_Outcome], int]) -> None:
    for future in futures:
        future.cancel()


def _run(source: _Source, run: int) -> _Outcome:
    """Do a run in a worker."""
    try:
        return _study(source).run(run)
    except KeyboardInterrupt:
        if multiprocessing.parent_process() is None:
            raise
        # A pool of processes has given its workers further runs, which nobody can cancel. The worker ends instead.
        os._exit(128 + signal.SIGINT)


@lru_cache(maxsize=4)
def _study(source: _Source) -> Study:
    return Study.restore(*source)
