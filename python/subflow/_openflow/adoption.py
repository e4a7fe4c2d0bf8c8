"""Hosts and subflows of an earlier controller, from the entries that switches still have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from subflow._native import Flow
from subflow._openflow.messages import (
    COOKIE,
    COOKIE_MASK,
    DEFAULT_ROUTE,
    FLOWS,
    INGRESS,
    KIND_MASK,
    FoundEntry,
)
from subflow._openflow.subflows import flow_of
from subflow._openflow.topology import Place, Topology

# In the action of a found entry: no port, so the flow goes on in the table of default routes.
_ROUTES = None


@dataclass
class Found:
    """A flow with an entry at its first switch."""

    flow: Flow
    start: int
    token: int | None


def kind_of(entry: FoundEntry) -> int | None:
    """The kind of an entry; ``None`` if it is not ours."""
    return entry.cookie & KIND_MASK if entry.cookie & COOKIE_MASK == COOKIE else None


def hosts_in(dpid: int, entries: list[FoundEntry], leads_to_hosts: Callable[[Place], bool]) -> Iterator[tuple[str, Place]]:
    """The hosts at a switch: default routes to ports that lead to hosts."""
    for entry in entries:
        if kind_of(entry) == DEFAULT_ROUTE and entry.out_port is not None and leads_to_hosts((dpid, entry.out_port)):
            address = dict(entry.match).get("ipv4_dst")
            if isinstance(address, str):
                yield address, (dpid, entry.out_port)


class Snapshot:
    """The entries of all switches for flows."""

    def __init__(self, by_switch: dict[int, list[FoundEntry]]) -> None:
        self._ports: dict[tuple[Flow, int], int | None] = {}
        self.beginnings: list[Found] = []
        for dpid, entries in by_switch.items():
            for entry in entries:
                flow = flow_of(entry.match) if entry.table == FLOWS and kind_of(entry) is not None else None
                if flow is None:
                    continue
                self._ports[flow, dpid] = entry.out_port
                if kind_of(entry) == INGRESS:
                    self.beginnings.append(Found(flow, dpid, (entry.cookie & 0xFFFF_FFFF) or None))

    def path(self, flow: Flow, start: int, end: Place, topology: Topology) -> tuple[list[int] | None, bool]:
        """The path of a flow from switch `start` to the port of its destination, and whether it is complete."""
        path: list[int] = []
        dpid = start
        for _ in range(len(topology.switches) + 1):
            if (flow, dpid) not in self._ports:
                return path, False
            port = self._ports[flow, dpid]
            if port is _ROUTES:
                return None, not path
            if (dpid, port) == end:
                return path, True
            edge = topology.edge_from((dpid, port))
            if edge is None:
                return path, False
            path.append(edge)
            dpid = topology.links[edge // 2].ends[1 - edge % 2][0]
        return path, False
