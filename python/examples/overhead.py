"""Measure what Python adds to runs, tables and processes: ``python overhead.py path/to/subflow``.

Prints CPU times, which other work on the machine changes less than the time that passes:

- many short runs from Python, and the same by the command;
- a table of ten million rows to pandas;
- the same number of runs for each of one and of two processes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import subflow

SHORT = """
    duration = "10 s"
    [hosts]
    phone = ["wifi", "lte"]
    server = ["eth"]
    [routers]
    internet = {}
    [links]
    wifi = { between = ["phone.wifi", "internet"], rate = "50 Mbit/s", delay = "10 ms", loss = "0.1 %" }
    lte = { between = ["phone.lte", "internet"], rate = "20 Mbit/s", delay = "35 ms", loss = "0.1 %" }
    core = { between = ["internet", "server"], rate = "1 Gbit/s" }
    [flows.file]
    from = "phone"
    to = "server"
    protocol = "mptcp"
    send = "16 MB"
"""


def cpu_s() -> float:
    """CPU time of this process and of the children that have ended, in seconds."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(call: Callable[[], Any]) -> tuple[float, float]:
    """CPU time and time that passed while `call` was done, in seconds."""
    cpu, passed = cpu_s(), time.perf_counter()
    call()
    return cpu_s() - cpu, time.perf_counter() - passed


def python_and_command(command: str, runs: int, rounds: int) -> None:
    """Each in a process of its own, with the start of the interpreter; in turn, the least of all rounds."""
    program = f"import subflow; subflow.Scenario.read('short.toml').run(repeat={runs}, jobs=1).flows.to_dict()"
    calls = {
        "command": [command, "run", "short.toml", "--repeat", str(runs), "--jobs", "1", "--format", "csv"],
        "python": [sys.executable, "-c", program],
    }
    best = dict.fromkeys(calls, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "short.toml").write_text(SHORT)
        for _ in range(rounds):
            for name, call in calls.items():
                cpu, _ = measured(lambda: subprocess.run(call, cwd=folder, stdout=subprocess.DEVNULL, check=True))
                best[name] = min(best[name], cpu)
    of_command, of_python = best["command"], best["python"]
    more, each = 100 * (of_python / of_command - 1), 1000 * of_command / runs
    print(f"{runs} runs of {each:.1f} ms: command {of_command:.2f} s, Python {of_python:.2f} s ({more:+.1f} %)")


def many_rows() -> None:
    """2048 samples of the goodput of 50 flows in 100 runs."""
    import pandas

    flow = {"from": "a", "to": "b", "protocol": "udp", "on_off": {"rate": "10 kbit/s", "packet": "100 bytes"}}
    scenario = subflow.Scenario.from_dict(
        {
            "duration": "10240 ms",
            "sample_interval": "1 ms",
            "hosts": {"a": ["eth"], "b": ["eth"]},
            "links": {"wire": {"between": ["a.eth", "b.eth"], "rate": "1 Gbit/s"}},
            "flows": {f"f{number}": flow for number in range(50)},
            "sweep": {"links.wire.delay": [f"{ms} ms" for ms in range(1, 101)]},
        }
    )
    table = scenario.run().series("goodput")
    frames: list[pandas.DataFrame] = []
    cpu, _ = measured(lambda: frames.append(pandas.DataFrame.from_arrow(table)))
    print(f"{len(frames[0])} rows with {len(frames[0].columns)} columns to pandas: {cpu:.2f} s")


def one_and_two_processes(runs: int, rounds: int) -> None:
    """`runs` runs by one process, and twice as many by two; in turn, the least of all rounds."""
    scenario = subflow.Scenario.from_toml(SHORT, name="short")

    def sweep(workers: int) -> None:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as executor:
            subflow.sweep(scenario, repeat=runs * workers, executor=executor)

    took = {1: (float("inf"), float("inf")), 2: (float("inf"), float("inf"))}
    for _ in range(rounds):
        for workers, least in took.items():
            cpu, passed = measured(lambda: sweep(workers))
            took[workers] = (min(least[0], cpu), min(least[1], passed))
    for workers, (cpu, passed) in took.items():
        print(f"{workers} process(es), {runs * workers} runs: {cpu:.2f} s of CPU time in {passed:.2f} s")
    print(f"speedup by CPU time {4 * took[1][0] / took[2][0]:.2f}, by time {2 * took[1][1] / took[2][1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="the command subflow, built as the package is: --release")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
    python_and_command(os.path.abspath(options.command), options.runs, options.rounds)
    many_rows()
    one_and_two_processes(options.runs // 2, options.rounds)


if __name__ == "__main__":
    main()
