"""Hosts and subflows of an earlier controller, from the entries that switches still have."""

from __future__ import annotations

from dataclasses import dataclass

from subflow._native import Flow, Placement
from subflow._openflow.hosts import Hosts
from subflow._openflow.messages import (
    COOKIE,
    COOKIE_MASK,
    DEFAULT_ROUTE,
    FLOWS,
    INGRESS,
    KIND_MASK,
    FoundEntry,
)
from subflow._openflow.settings import Settings
from subflow._openflow.subflows import Subflow, Subflows, flow_of
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


@dataclass
class Heir:
    """The state of a controller that takes over."""

    settings: Settings
    topology: Topology
    hosts: Hosts
    subflows: Subflows
    placement: Placement

    def adopt_hosts(self, now: float, reports: dict[int, list[FoundEntry]]) -> bool:
        """Learns hosts from default routes to ports that lead to hosts. Returns whether there are any."""
        found = False
        for dpid, entries in reports.items():
            for entry in entries:
                address = dict(entry.match).get("ipv4_dst")
                if kind_of(entry) != DEFAULT_ROUTE or entry.out_port is None or not isinstance(address, str):
                    continue
                place = (dpid, entry.out_port)
                if self.hosts.get(address) is None and self.topology.leads_to_hosts(now, place):
                    found |= self.hosts.learn(now, address, None, place)
        return found

    def adopt_flows(self, now: float, reports: dict[int, list[FoundEntry]]) -> int:
        """Takes over the flows that are not known. Returns their number."""
        snapshot = Snapshot(reports)
        return sum(self._adopt(now, found, snapshot) for found in snapshot.beginnings if self.settings.places)

    def _adopt(self, now: float, found: Found, snapshot: Snapshot) -> bool:
        source, destination = self.hosts.get(found.flow.source), self.hosts.get(found.flow.destination)
        known = self.subflows.get(found.flow) is not None or len(self.subflows) >= self.settings.subflows
        if known or source is None or destination is None or source.place[0] != found.start:
            return False
        path, whole = snapshot.path(found.flow, found.start, destination.place, self.topology)
        if not whole:
            return False
        back_flow = found.flow.reversed()
        back, answered = snapshot.path(back_flow, destination.place[0], source.place, self.topology)
        subflow = Subflow(found.flow, source, destination, "adopted", now, path, back if answered else None)
        subflow.token, subflow.confirmed = found.token, answered
        if path is not None:
            ends = [self.topology.switches[dpid].index for dpid in (found.start, destination.place[0])]
            self.placement.adopt(found.flow, ends[0], ends[1], path, found.token)
        self.subflows.insert(subflow)
        self.subflows.set_entries(subflow, subflow.wanted(self.topology))
        return True
