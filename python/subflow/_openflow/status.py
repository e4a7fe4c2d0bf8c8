"""What the controller shows of itself, and the HTTP server that shows it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from subflow._openflow.controller import Controller
from subflow._openflow.identity import Refusal
from subflow._openflow.subflows import Subflow

# Flows that one answer lists, at most.
MOST_FLOWS = 2000


def status(controller: Controller, now: float, refusals: Iterable[Refusal] = ()) -> dict[str, Any]:
    """Switches, links, hosts, connections with their subflows and paths, and counters."""
    topology = controller.topology
    known, opening = controller.placement.connections()
    return {
        "mode": controller.settings.mode,
        "ready": controller.is_ready(now),
        "switches": [
            {
                "dpid": f"{switch.dpid:x}",
                "connected": switch.connected,
                "description": switch.description,
                "objection": controller.objections.get(switch.dpid),
                "default_routes": controller.routes.count(switch.dpid),
                "subflow_entries": controller.subflows.count(switch.dpid),
                "ports": [_port(controller, switch.dpid, number) for number in sorted(switch.ports)],
            }
            for switch in sorted(topology.switches.values(), key=lambda switch: switch.dpid)
        ],
        "refused_switches": [
            {
                "dpid": f"{refusal.dpid:x}",
                "address": refusal.address,
                "reason": f"the switch at {refusal.serving} has the same datapath id",
                "times": refusal.times,
            }
            for refusal in refusals
        ],
        "links": [
            {"ends": [_place(end) for end in link.ends], "up": link.up} for link in topology.links
        ],
        "hosts": [
            {"address": host.address, "at": _place(host.place)} for host in controller.hosts
        ],
        "connections": _connections(controller),
        "memory": {
            "subflows": len(controller.subflows),
            "connections": known,
            "opening": opening,
            "hosts": len(controller.hosts),
        },
        "counters": dict(sorted(controller.counters.items())),
    }


def _place(place: tuple[int, int]) -> str:
    return f"{place[0]:x}:{place[1]}"


def _port(controller: Controller, dpid: int, number: int) -> dict[str, Any]:
    port = controller.topology.switches[dpid].ports[number]
    load = controller.load.ports.get((dpid, number))
    return {
        "port": number,
        "name": port.name,
        "up": port.up,
        "link": port.link is not None,
        "received_bytes": load.received if load else None,
        "sent_bytes": load.sent if load else None,
    }


def _connections(controller: Controller) -> list[dict[str, Any]]:
    """The flows by connection; those without a known token are connections of their own."""
    by_token: dict[Any, list[Subflow]] = {}
    for number, subflow in enumerate(controller.subflows):
        if number == MOST_FLOWS:
            break
        by_token.setdefault(subflow.flow if subflow.token is None else subflow.token, []).append(subflow)
    return [
        {
            "token": None if members[0].token is None else f"{members[0].token:08x}",
            "subflows": [_subflow(controller, subflow) for subflow in members],
        }
        for members in by_token.values()
    ]


def _subflow(controller: Controller, subflow: Subflow) -> dict[str, Any]:
    def switches(path: list[int] | None, first: int) -> list[str] | None:
        if path is None:
            return None
        ends = [controller.topology.start_of(edge ^ 1)[0] for edge in path]
        return [f"{dpid:x}" for dpid in [first, *ends]]

    return {
        "flow": str(subflow.flow),
        "signal": subflow.signal,
        "answered": subflow.confirmed,
        # None: the default route.
        "path": switches(subflow.path, subflow.source.place[0]),
        "return_path": switches(subflow.back, subflow.destination.place[0]),
        "bytes": subflow.bytes,
    }


class StatusServer:
    """An HTTP server with one read-only resource, ``/``."""

    def __init__(self, address: str, snapshot: Callable[[], dict[str, Any]]) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65_535:
            raise ValueError(f"status: found {address!r}, expected ADDRESS:PORT")

        class Handler(BaseHTTPRequestHandler):
            # A client that sends nothing is not waited for.
            timeout = 5

            def do_GET(self) -> None:  # noqa: N802
                if self.path not in ("/", "/status"):
                    self.send_error(404, "only / is here")
                    return
                body = json.dumps(snapshot(), indent=1).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer((host, int(port)), Handler)
        self._server.daemon_threads = True
        self.address = f"{host}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, name="status", daemon=True).start()

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()
