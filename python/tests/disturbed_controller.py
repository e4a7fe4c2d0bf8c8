"""The controller of a run on Open vSwitch, disturbed while subflows carry data.

It runs in place of ``subflow-openflow`` (``--controller``), in the namespace of the switches: ``disturbed_controller.py
DISTURBANCE RECORD [options of the controller]``. The record is a file for what it saw: the last status, as JSON, and the
controller's memory in kB before and after the disturbance.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from openflow_network import CAPABLE, SYN, join, segment
from os_ken.ofproto import ofproto_v1_3 as protocol
from os_ken.ofproto import ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

# 20 000 in four seconds, so that the controller has time to react to the first.
FLOOD = 20_000
BURST = 500
PAUSE = 0.1
FORGED = 500
SECONDS = 30.0


def start(options: list[str]) -> subprocess.Popen[bytes]:
    """The controller; it ends with this process."""
    command = [str(Path(sys.executable).parent / "subflow-openflow"), *options]
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command])


def status() -> dict[str, Any] | None:
    """The controller's status, if it serves it."""
    try:
        with urllib.request.urlopen("http://127.0.0.1:8081/", timeout=5) as answer:
            shown: dict[str, Any] = json.load(answer)
            return shown
    except OSError:
        return None


def wait_for_subflows(number: int) -> dict[str, Any]:
    """The status once a connection has so many subflows."""
    for _ in range(int(SECONDS / 0.1)):
        shown = status()
        if shown and any(len(connection["subflows"]) >= number for connection in shown["connections"]):
            return shown
        time.sleep(0.1)
    sys.exit("there are no subflows")


def wait_for_switches(number: int) -> None:
    """Waits until so many switches are connected."""
    for _ in range(int(SECONDS / 0.1)):
        shown = status()
        if shown and sum(switch["connected"] for switch in shown["switches"]) == number:
            return
        time.sleep(0.1)
    sys.exit(f"there are never {number} switches")


def memory(process: subprocess.Popen[bytes]) -> int:
    """Resident kB of a process."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS"))


def inject(switch: str, port: int, frames: list[bytes]) -> None:
    """Frames come to a port of a switch, as if its host had sent them."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{os.environ['OVS_RUNDIR']}/{switch}.mgmt")
        connection.sendall(struct.pack("!BBHI", protocol.OFP_VERSION, protocol.OFPT_HELLO, 8, 1))
        to_table = [parser.OFPActionOutput(protocol.OFPP_TABLE)]
        for number, frame in enumerate(frames):
            description = ProtocolDesc(version=protocol.OFP_VERSION)
            message = parser.OFPPacketOut(description, protocol.OFP_NO_BUFFER, port, to_table, frame)
            message.set_xid(number + 2)
            message.serialize()
            connection.sendall(message.buf)
            if number % BURST == BURST - 1:
                time.sleep(PAUSE)
        time.sleep(0.5)


def host_port(shown: dict[str, Any]) -> tuple[str, int, str, str]:
    """The switch and the port of the first host, its address and that of the second one."""
    first, second = shown["hosts"][:2]
    dpid, port = first["at"].split(":")
    return f"s{int(dpid, 16)}", int(port), first["address"], second["address"]


def configure(*words: str) -> None:
    """Calls ovs-vsctl."""
    subprocess.run(["ovs-vsctl", f"--db=unix:{os.environ['OVS_RUNDIR']}/db.sock", *words], check=True)


def main() -> None:
    """Disturbs, then waits for the end of the run."""
    disturbance, record, *options = sys.argv[1:]
    controller = start(options)
    shown = wait_for_subflows(2)
    time.sleep(0.5)
    before = memory(controller)
    match disturbance:
        case "kill":
            controller.kill()
            controller.wait()
            time.sleep(0.5)
            controller = start(options)
        case "disconnect":
            configure("del-controller", "s1")
            wait_for_switches(3)
            configure("set-controller", "s1", "tcp:127.0.0.1:6653")
            wait_for_switches(4)
        case "forge":
            switch, port, source, destination = host_port(shown)
            frames = [segment(source, 1024 + n, destination, 5001, SYN, join(0xBAD0_0000 + n)) for n in range(FORGED)]
            inject(switch, port, frames)
        case "flood":
            switch, port, source, destination = host_port(shown)
            frames = [segment(source, 1024 + n, destination, 9, SYN, CAPABLE) for n in range(FLOOD)]
            inject(switch, port, frames)
        case "nothing":
            pass
        case _:
            sys.exit(f"found the disturbance {disturbance!r}")
    while controller.poll() is None:
        last = status()
        if last is not None:
            told = {"status": last, "memory": [before, memory(controller)], "disturbed": shown["counters"]}
            Path(record + ".new").write_text(json.dumps(told))
            os.replace(record + ".new", record)
        time.sleep(0.2)
    sys.exit("the controller ended")


if __name__ == "__main__":
    main()
