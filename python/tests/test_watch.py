"""The kernel's connections as tables, in a network namespace of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import subflow

PROGRAM = r"""
import json, socket, subprocess, threading, time
import subflow

subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
listener.bind(("127.0.0.1", 0))
listener.listen()
client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
client.connect(listener.getsockname())
server, _ = listener.accept()

def send():
    for _ in range(20):
        client.sendall(bytes(10_000))
        time.sleep(0.05)

threading.Thread(target=send, daemon=True).start()
threading.Thread(target=lambda: [server.recv(10_000) for _ in range(30)], daemon=True).start()
watched = subflow.watch(0.9, interval=0.3)
print(json.dumps([watched.subflows.to_dict(), watched.bottlenecks.columns, watched.events.columns,
                  listener.getsockname()[1], watched.subflows.units["srtt_ms"]]))
"""


def machine_serves() -> bool:
    return (
        sys.platform == "linux"
        and os.geteuid() == 0
        and Path("/proc/sys/net/mptcp/enabled").exists()
        and subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode == 0
    )


def is_built() -> bool:
    try:
        subflow.watch(0.0)
    except ValueError:
        return True
    except RuntimeError as error:
        assert "watch" in str(error) and ("--features=watch" in str(error) or sys.platform != "linux")
    return False


needs = set(os.environ.get("SUBFLOW_REQUIRE", "").split(","))


@pytest.mark.skipif(not is_built() and "all" not in needs, reason="this build has no watch")
@pytest.mark.skipif(
    not machine_serves() and not {"all", "kernel"} & needs, reason="it takes root and a kernel with MPTCP"
)
def test_a_connection_is_watched_from_both_ends() -> None:
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    subflows, bottlenecks, events, port, unit = json.loads(done.stdout)
    assert len(set(subflows["time_s"])) == 3, subflows["time_s"]
    assert set(subflows["client"]) == {True, False} and set(subflows["subflow"]) == {0}
    remote = {end for end, client in zip(subflows["remote"], subflows["client"], strict=True) if client}
    assert remote == {f"127.0.0.1:{port}"}
    sent = [mbps for mbps, client in zip(subflows["sent_mbps"], subflows["client"], strict=True) if client]
    assert all(0.3 < mbps < 10 for mbps in sent), sent
    assert unit == "ms" and bottlenecks[:3] == ["time_s", "token", "detector"] and events[2] == "event"


@pytest.mark.skipif(not is_built(), reason="this build has no watch")
def test_a_time_that_is_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match="interval: found 0"):
        subflow.watch(1.0, interval=0)
    with pytest.raises(ValueError, match="sample: found 2"):
        subflow.watch(1.0, sample=2)
    with pytest.raises(ValueError, match="duration: found NaN"):
        subflow.watch(float("nan"))
