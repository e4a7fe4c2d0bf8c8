"""Networks that stay, built by the command of this repository."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import subflow

needs = set(os.environ.get("SUBFLOW_REQUIRE", "").split(","))


def machine_serves() -> bool:
    return (
        sys.platform == "linux"
        and os.geteuid() == 0
        and Path("/proc/sys/net/mptcp/enabled").exists()
        and subprocess.run(["unshare", "--net", "--mount", "true"], check=False, capture_output=True).returncode == 0
        and bool(os.environ.get("SUBFLOW_COMMAND") or shutil.which("subflow"))
    )


takes_root = pytest.mark.skipif(
    not machine_serves() and not {"all", "kernel"} & needs, reason="it takes root, a kernel with MPTCP and the command"
)


@takes_root
def test_programs_run_in_hosts_and_links_change(scenario: subflow.Scenario) -> None:
    with scenario.network() as net:
        server = net["server"].popen(["python3", "-u", "-c", "print(input())"], stdin=-1, stdout=-1, text=True)
        assert server.communicate("hello\n")[0] == "hello\n"
        assert server.returncode == 0
        assert net["client"].run(["sh", "-c", "exit 5"]).returncode == 5
        names = net["client"].run(["grep", "-c", "server", "/etc/hosts"], capture_output=True, text=True, check=True)
        assert names.stdout.strip() == "2"
        net.link("fast").down()
        assert net.status()["links"] == {"fast": False, "slow": True}
        net.link("fast").up()
        net.set("links.slow.rate", "5 Mbit/s")
        assert net.status()["changes"] == ["links.slow.rate = 5 Mbit/s"]
        with pytest.raises(ValueError, match="links.LINK.rate"):
            net.set("links.slow.queue", "5 packets")
        with pytest.raises(TypeError, match="links.slow.rate: found 5, expected a str as in a scenario"):
            net.set("links.slow.rate", 5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="path: found 5, expected a str"):
            net.set(5, "5 Mbit/s")  # type: ignore[arg-type]
        with pytest.raises(KeyError, match="expected one of fast, slow"):
            net.link("slwo")
        with pytest.raises(KeyError, match="expected one of client, server"):
            net["router"]
        waiting = net["server"].popen(["sleep", "1000"])
        while not [program for host in net.status()["hosts"] for program in host["programs"]]:
            time.sleep(0.05)
        waiting.terminate()
        assert waiting.wait(60) == 143
    assert not (Path("/run/subflow") / f"network-{net.name}").exists()
    net.down()
    with pytest.raises(subflow.RunError, match="does not run"):
        net.status()


@takes_root
def test_signals_reach_programs_unless_they_are_to_be_ignored(scenario: subflow.Scenario) -> None:
    waits = "import signal; print('ready', flush=True); signal.pause()"

    def started(prepare: Callable[[], Any]) -> subprocess.Popen[str]:
        program = net["client"].popen([sys.executable, "-c", waits], stdout=-1, text=True, preexec_fn=prepare)
        assert program.stdout
        with program.stdout as said:
            assert said.readline() == "ready\n"
        return program

    with scenario.network() as net:
        # What the tests were started with may ignore SIGINT.
        interrupted = started(lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        interrupted.send_signal(signal.SIGINT)
        assert interrupted.wait(60) == 130
        deaf = started(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        deaf.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            deaf.wait(1)
        deaf.terminate()
        assert deaf.wait(60) == 143


@takes_root
def test_what_runs_ends_with_its_network(scenario: subflow.Scenario) -> None:
    with scenario.network(name=f"ended-{os.getpid()}") as net:
        assert net.name == f"ended-{os.getpid()}"
        sleeping = net["server"].popen(["sleep", "1000"])
        with pytest.raises(subflow.RunError, match="there is a network"):
            scenario.network(name=net.name)
    assert sleeping.wait(60) != 0


@takes_root
def test_connections_of_what_runs_are_tables_during_the_network_and_after_it(scenario: subflow.Scenario) -> None:
    serve = "import socket as s; c = s.create_server(('0.0.0.0', 9)).accept()[0]; print(len(c.makefile('rb').read()))"
    fetch = "import socket as s, time; c = s.create_connection(('server', 9)); c.sendall(b'x' * 200000); time.sleep(0.3)"
    with scenario.network() as net:
        server = net["server"].popen([sys.executable, "-c", serve], stdout=-1, text=True)
        while not net["server"].run(["grep", "-q", ":0009 ", "/proc/net/tcp"]).returncode == 0:
            time.sleep(0.05)
        net["client"].run([sys.executable, "-c", fetch], check=True)
        assert server.communicate()[0] == "200000\n"
        during = net.results()
    table = net.results().connections
    assert len(during) == 1
    flows = json.loads(net.results().to_json())["runs"][0]["flows"]
    assert [flow["bytes_delivered"] for flow in flows] == [200000]
    assert flows[0]["connection"]["remote"].endswith(":9")
    assert len(table) == 1 and "cwnd" in net.results().metrics


def test_a_scenario_that_is_not_valid_is_not_built(scenario: subflow.Scenario) -> None:
    with pytest.raises(subflow.ScenarioError):
        scenario.with_overrides({"links.fast.rate": "quick"}).network()


def test_a_missing_command_is_named(scenario: subflow.Scenario, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SUBFLOW_COMMAND", raising=False)
    with pytest.raises(subflow.RunError, match="SUBFLOW_COMMAND"):
        scenario.network()
