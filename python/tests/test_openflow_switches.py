"""The controller on Open vSwitch, with the kernel's MPTCP: what the counters of ports show, and what it withstands."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recipes import ROOT, command
from openflow_network import disjoint_paths, random_cables

# The size of a packet of data in the counters, at least and at most: some packets are acknowledgments.
BYTES = (1200, 1700)


@pytest.fixture(autouse=True)
def machine() -> None:
    """Skips where runs on Linux are not possible, unless they are required."""
    if os.geteuid() == 0 and Path("/dev/net/tun").exists() and Path("/proc/sys/net/mptcp/enabled").exists():
        return
    assert not {"all", "kernel"} & set(os.environ.get("SUBFLOW_REQUIRE", "").split(","))
    pytest.skip("it takes root, /dev/net/tun and a kernel with MPTCP")


def run_on_switches(
    scenario: Path, folder: Path, disturbance: str | None = None, *, delivers: int = 0, **sets: str
) -> dict[str, Any]:
    """A run of a scenario. One that was late may have lost a subflow, or was over too soon; it is repeated, longer.

    It is over when every flow has delivered `delivers` bytes: a SYN for which the controller was late is sent again
    after a second.

    What the tests say of a run holds whether or not the machine kept up with it.
    """
    controller = Path(sys.executable).parent / "subflow-openflow"
    if disturbance is not None:
        script = Path(__file__).parent / "disturbed_controller.py"
        controller = folder / "controller"
        controller.write_text(f"#!/bin/sh\nexec {sys.executable} {script} {disturbance} {folder}/record \"$@\"\n")
        controller.chmod(0o755)
    words = [str(command()), "run", str(scenario), "--on", "linux", "--switches", "ovs", "--format", "json"]
    words += ["--controller", str(controller)]
    for path, value in sets.items():
        words += ["--set", f"{path.replace('__', '.')}={value}"]
    # A controller that is started again takes over after some seconds.
    shortest = {None: 7, "kill": 14}.get(disturbance, 10)
    over = disturbance is None
    for seconds in (shortest, 2 * shortest, 3 * shortest):
        (folder / "record").unlink(missing_ok=True)
        duration = ["--set", f'duration="{seconds} s"']
        done = subprocess.run([*words, *duration], capture_output=True, text=True, timeout=120)
        assert done.stdout, done.stderr
        run: dict[str, Any] = json.loads(done.stdout)["runs"][0]
        run["seconds"] = seconds
        over = disturbance is None or is_over(folder, disturbance)
        # Late packets do not matter: the question is where packets went.
        delivered = all(flow["bytes_delivered"] >= delivers for flow in run["flows"])
        if over and delivered and kept_up(run):
            break
    assert over, "the disturbance came to its end"
    return run


def kept_up(run: dict[str, Any]) -> bool:
    """Whether kernels and controller had the CPU in time: no subflow was reset, no link was silent by itself."""
    return resets(run) == 0 and run["real_time"]["switches"]["controller"].get("silent_links", 0) == 0


def is_over(folder: Path, disturbance: str) -> bool:
    """Whether the disturbance came to its end before the run did."""
    record = folder / "record"
    if not record.exists():
        return False
    counters = json.loads(record.read_text())["status"]["counters"]
    return disturbance != "kill" or counters.get("adopted_flows", 0) == 2


def paths_of(run: dict[str, Any]) -> list[list[str]]:
    """The switches of each subflow's path."""
    return [subflow["path"] for c in run["real_time"]["switches"]["connections"] for subflow in c["subflows"]]


def sent(run: dict[str, Any], start: str, end: str) -> int:
    """The bytes that a switch sent to another one."""
    of = [p for p in run["real_time"]["switches"]["ports"] if p["switch"] == start and end in p["link"].split("-")]
    return int(of[0]["sent_bytes"])


def resets(run: dict[str, Any]) -> int:
    """The subflows that kernels reset, by MP_TCPRST or MP_FASTCLOSE."""
    names = ("MPTcpExtMPRstTx", "MPTcpExtMPFastcloseTx")
    return sum(counters.get(name, 0) for counters in run["real_time"]["mptcp_counters"].values() for name in names)


def assert_each_on_its_path(run: dict[str, Any], number: int) -> None:
    """The bytes of each subflow are at all switches of its path, and paths share no link."""
    paths = paths_of(run)
    switches = run["real_time"]["switches"]
    assert len(paths) == number and None not in paths and resets(run) == 0, (switches, run["real_time"]["objections"])
    hops = [{frozenset(pair) for pair in zip(path, path[1:], strict=False)} for path in paths]
    assert all(not a & b for at, a in enumerate(hops) for b in hops[:at]), paths
    by_path = sorted([sent(run, *pair) for pair in zip(path, path[1:], strict=False)] for path in paths)
    packets = sorted(subflow["packets_sent"] for subflow in run["flows"][0]["subflows"])
    for counters, count in zip(by_path, packets, strict=True):
        assert count > 200 and BYTES[0] < counters[0] / count < BYTES[1], (by_path, packets)
        assert min(counters) > 0.9 * max(counters), (by_path, packets)


def random_scenario(folder: Path, seed: int) -> tuple[Path, int]:
    """A random network with a host at each of two switches, and as many subflows as there are disjoint paths."""
    count, cables = random_cables(seed)
    start, end = random.Random(seed).sample(range(1, count + 1), 2)
    most = disjoint_paths(cables, start, end)
    link = 'rate = "{}"\ndelay = "1 ms"\nqueue = "100 packets"\n'
    text = 'duration = "5 s"\n[hosts]\na = ["eth"]\nb = ["eth"]\n[routers]\n'
    text += "".join(f"s{switch} = {{}}\n" for switch in range(1, count + 1))
    for one, other in cables:
        text += f'[links.s{one}-s{other}]\nbetween = ["s{one}", "s{other}"]\n' + link.format("8 Mbit/s")
    for host, switch in (("a", start), ("b", end)):
        text += f'[links.{host}]\nbetween = ["{host}", "s{switch}"]\n' + link.format("1 Gbit/s")
    text += '[routing]\nmode = "disjoint"\ndisjoint_set = 16\n[flows.data]\nfrom = "a"\nto = "b"\n'
    text += 'protocol = "mptcp"\ncongestion = "cubic"\nscheduler = "linux-default"\n'
    text += f'path_manager = {{ name = "ndiffports", n = {most} }}\n'
    path = folder / "random.toml"
    path.write_text(text)
    return path, most


@pytest.mark.parametrize("shape", ["ring", "trap", "fat-tree"])
def test_each_subflow_keeps_to_its_own_path(shape: str, tmp_path: Path) -> None:
    # The fat tree's other connections are left out.
    text = (ROOT / "scenarios" / f"openflow-{shape}.toml").read_text().split("\n[flows.pair2]")[0]
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(text)
    assert_each_on_its_path(run_on_switches(scenario, tmp_path), 2)


# By their maximum flow: networks of 4, 7 and 7 switches.
@pytest.mark.parametrize(("seed", "flow"), [(2, 2), (3, 3), (15, 5)])
def test_a_random_network_carries_as_many_disjoint_subflows_as_the_maximum_flow(
    seed: int, flow: int, tmp_path: Path
) -> None:
    scenario, most = random_scenario(tmp_path, seed)
    assert most == flow
    assert_each_on_its_path(run_on_switches(scenario, tmp_path), most)


DIAMOND = ROOT / "scenarios" / "openflow-diamond.toml"
# Bytes a second of a path in tests that disturb.
SLOW = '"10 Mbit/s"'
PATH = 10e6 / 8
# What a disturbance leaves in the controller's counters, at least.
TRACES = {
    "kill": {"adopted_flows": 2},
    "disconnect": {},
    "forge": {"packet_ins": 100, "bypassed_flows": 1},
    "flood": {"packet_ins": 100, "bypassed_flows": 1},
}


@pytest.mark.parametrize("disturbance", TRACES)
def test_subflows_go_on_while_the_controller_is_disturbed(disturbance: str, tmp_path: Path) -> None:
    run = run_on_switches(DIAMOND, tmp_path, disturbance, topology__rate=SLOW)
    record = json.loads((tmp_path / "record").read_text())
    # Both subflows carried data to the end, each on its path.
    assert resets(run) == 0
    assert min(sent(run, "left", mid) for mid in ("mid0", "mid1")) > 0.5 * PATH * run["seconds"]
    status, counters = record["status"], record["status"]["counters"]
    flows = [subflow for connection in status["connections"] for subflow in connection["subflows"]]
    own = [flow for flow in flows if flow["flow"].endswith(":5001") and flow["answered"]]
    assert sorted(flow["path"] for flow in own) == [["1", "3", "2"], ["1", "4", "2"]]
    assert all(counters.get(name, 0) >= least for name, least in TRACES[disturbance].items()), counters
    assert all(switch["connected"] for switch in status["switches"]) and len(status["switches"]) == 4
    if disturbance == "flood":
        assert counters["packet_ins"] < 10_000, "of 20 000: the switch was told to keep the others"
    assert status["memory"]["subflows"] <= 2 + 64 and counters.get("switch_errors", 0) == 0
    assert max(switch["subflow_entries"] for switch in status["switches"]) <= 4 * (2 + 64)
    before, after = record["memory"]
    assert after < before + 30_000, "kB"


def test_a_link_that_goes_down_and_up_loses_its_subflow_and_gets_it_back(tmp_path: Path) -> None:
    scenario = tmp_path / "diamond.toml"
    text = DIAMOND.read_text().replace('mode = "disjoint"', 'mode = "disjoint"\nreroute_after = "50 ms"')
    event = '\n[[timeline]]\nat = "{} s"\nlink = "left-mid0"\n{} = true\n'
    events = [event.format(at, what) for at, what in ((2, "down"), (4, "up"))]
    scenario.write_text(text + "".join(events))
    run = run_on_switches(scenario, tmp_path, topology__rate=SLOW)
    # There and back. Before the failure it could send for two seconds, after the repair for the rest.
    assert run["real_time"]["switches"]["controller"]["moved_flows"] == 2 and resets(run) == 0
    seconds = run["seconds"]
    assert sent(run, "left", "mid1") > 0.7 * PATH * seconds
    assert 0.5 * PATH * (seconds - 2) < sent(run, "left", "mid0") < PATH * (seconds - 1.5)


def test_connections_at_a_thousand_a_minute_get_disjoint_paths(tmp_path: Path) -> None:
    text, flow = DIAMOND.read_text().split("[flows.data]")
    flows = [
        f'[flows.data{n}]{flow}send = "100 kB"\nport = {6000 + n}\nstart = "{300 + 55 * n} ms"\n' for n in range(100)
    ]
    scenario = tmp_path / "many.toml"
    scenario.write_text(text + "\n".join(flows))
    run = run_on_switches(scenario, tmp_path, delivers=100_000, warm_up='"0 s"')
    assert all(flow["bytes_delivered"] == 100_000 for flow in run["flows"])
    counters = run["real_time"]["switches"]["controller"]
    assert counters["flows_capable"] == counters["flows_join"] == 100 and counters.get("refused_flows", 0) == 0
    connections = run["real_time"]["switches"]["connections"]
    over = [sorted(subflow["path"][1] for subflow in c["subflows"]) for c in connections]
    assert over == [["mid0", "mid1"]] * 100
    assert counters.get("switch_errors", 0) == 0
