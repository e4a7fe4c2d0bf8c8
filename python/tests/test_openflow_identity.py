"""Switches with the same datapath id, and switches with another version, at the controller as a process."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from os_ken.ofproto import ofproto_v1_3 as protocol

SECONDS = 20.0


def until(condition: Callable[[], Any]) -> Any:
    """Waits for what has to come."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it never came")


class FakeSwitch:
    """The switch's side of the control channel (OpenFlow 1.3.5, section 7): one port, and answers from a thread."""

    def __init__(self, port: int, dpid: int, *, version: int = protocol.OFP_VERSION) -> None:
        self.dpid = dpid
        self.version = version
        self.answers = True
        self.refused = threading.Event()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self._send(protocol.OFPT_HELLO, 0, b"")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        # The thread that reads ends with the connection, and closes the socket.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(SECONDS)

    def _send(self, kind: int, xid: int, body: bytes) -> None:
        self._socket.sendall(struct.pack("!BBHI", self.version, kind, 8 + len(body), xid) + body)

    def _serve(self) -> None:
        try:
            with self._socket.makefile("rb") as messages:
                while header := messages.read(8):
                    _, kind, length, xid = struct.unpack("!BBHI", header)
                    self._answer(kind, xid, messages.read(length - 8))
        except (OSError, ValueError, struct.error):
            pass
        self._socket.close()
        self.refused.set()

    def _answer(self, kind: int, xid: int, body: bytes) -> None:
        if not self.answers:
            return
        if kind == protocol.OFPT_ECHO_REQUEST:
            self._send(protocol.OFPT_ECHO_REPLY, xid, body)
        elif kind == protocol.OFPT_FEATURES_REQUEST:
            self._send(protocol.OFPT_FEATURES_REPLY, xid, struct.pack("!QIBBxxII", self.dpid, 0, 254, 0, 0, 0))
        elif kind == protocol.OFPT_MULTIPART_REQUEST:
            part = struct.unpack_from("!H", body)[0]
            port = struct.pack("!I4x6s2x16s8I", 1, bytes(6), b"eth1", *[0] * 8)
            replies = {protocol.OFPMP_DESC: bytes(1056), protocol.OFPMP_PORT_DESC: port}
            self._send(protocol.OFPT_MULTIPART_REPLY, xid, struct.pack("!HH4x", part, 0) + replies.get(part, b""))


class Running:
    """A controller as a process, its status and its log."""

    def __init__(self, folder: Path) -> None:
        self.port, status = free_port(), free_port()
        self._status = f"http://127.0.0.1:{status}/"
        self._log = folder / "log"
        options = ["--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", str(self.port)]
        options += ["--subflow-status", f"127.0.0.1:{status}"]
        command = [str(Path(sys.executable).parent / "subflow-openflow"), *options]
        with self._log.open("w") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log, env=os.environ | {"PYTHONUNBUFFERED": "1"})
        self._switches: list[FakeSwitch] = []
        until(self._listens)

    def switch(self, dpid: int, *, version: int = protocol.OFP_VERSION) -> FakeSwitch:
        """A switch that connects."""
        self._switches.append(FakeSwitch(self.port, dpid, version=version))
        return self._switches[-1]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for switch in self._switches:
            switch.close()

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.log()
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def log(self) -> str:
        return self._log.read_text()

    def status(self) -> dict[str, Any]:
        with urllib.request.urlopen(self._status, timeout=SECONDS) as answer:
            shown: dict[str, Any] = json.load(answer)
        return shown

    def connected(self) -> list[str]:
        return [switch["dpid"] for switch in self.status()["switches"] if switch["connected"]]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    controller = Running(tmp_path)
    yield controller
    controller.close()


def test_a_second_switch_with_the_same_id_is_refused_and_named(running: Running) -> None:
    first = running.switch(7)
    until(lambda: running.connected() == ["7"])
    for times in (1, 2):
        second = running.switch(7)
        assert second.refused.wait(SECONDS), "it is disconnected"
        until(lambda: running.status()["refused_switches"][0]["times"] == times)
    # The one that was there first goes on as if nothing had been.
    assert not first.refused.is_set() and running.connected() == ["7"]
    [refusal] = running.status()["refused_switches"]
    assert refusal["dpid"] == "7" and "has the same datapath id" in refusal["reason"]
    assert running.log().count("refused a switch at 127.0.0.1:") == 1
    first.close()
    until(lambda: running.connected() == [])
    third = running.switch(7)
    until(lambda: running.connected() == ["7"])
    assert not third.refused.is_set()


def test_a_switch_whose_connection_was_lost_comes_back(running: Running) -> None:
    lost = running.switch(7)
    until(lambda: running.connected() == ["7"])
    # As after a failure of the network between: nobody closes the connection, and nobody answers on it.
    lost.answers = False
    again = running.switch(7)
    assert lost.refused.wait(SECONDS), "the lost connection is given up"
    until(lambda: running.connected() == ["7"])
    assert not again.refused.is_set() and running.status()["refused_switches"] == []


def test_a_switch_without_openflow_1_3_is_told_in_words(running: Running) -> None:
    old = running.switch(7, version=1)
    assert old.refused.wait(SECONDS)
    until(lambda: "it offers OpenFlow 1.0, and this controller speaks 1.3" in running.log())
    assert "[4]" not in running.log() and running.connected() == []
