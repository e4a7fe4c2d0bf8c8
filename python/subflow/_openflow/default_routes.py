"""Default routes: in each switch an entry for each host, over the shortest path or a group of equal-cost links."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from subflow._native import Placement
from subflow._openflow.hosts import Hosts
from subflow._openflow.messages import (
    COOKIE,
    DEFAULT_ROUTE,
    ROUTES,
    Action,
    Add,
    AddGroup,
    Delete,
    Entry,
    Match,
    Message,
    Output,
    ToGroup,
)
from subflow._openflow.settings import Settings
from subflow._openflow.topology import Topology

PRIORITY = 10_000


def match_of(address: str) -> Match:
    """What the entry for a host matches."""
    return (("eth_type", 0x0800), ("ipv4_dst", address))


def group_of(ports: tuple[int, ...]) -> int:
    """The number of the group with these ports. A restarted controller finds its groups by it."""
    return zlib.crc32(repr(ports).encode()) & 0x7FFF_FFFF


class DefaultRoutes:
    """The entries that switches have for hosts. Only differences are sent."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._single_ways = frozenset(settings.single_ways.replace(",", " ").split())
        self._installed: dict[int, dict[str, Action]] = {}
        self._groups: dict[int, set[int]] = {}

    def action(self, dpid: int, address: str) -> Action | None:
        """What a switch does with packets to a host."""
        return self._installed.get(dpid, {}).get(address)

    def count(self, dpid: int) -> int:
        """The number of entries of a switch."""
        return len(self._installed.get(dpid, {}))

    def forget(self, dpid: int) -> None:
        """A switch connected anew: what it has is not known."""
        self._installed.pop(dpid, None)
        self._groups.pop(dpid, None)

    def update(self, topology: Topology, hosts: Hosts, placement: Placement) -> Iterator[Message]:
        """Brings the entries of all connected switches up to date."""
        wanted = self._wanted(topology, hosts, placement)
        for dpid, routes in wanted.items():
            installed = self._installed.setdefault(dpid, {})
            for address, ports in routes.items():
                action: Action = Output(ports[0])
                if len(ports) > 1:
                    group = group_of(ports)
                    if group not in self._groups.setdefault(dpid, set()):
                        self._groups[dpid].add(group)
                        yield AddGroup(dpid, group, ports)
                    action = ToGroup(group)
                if installed.get(address) != action:
                    installed[address] = action
                    yield Add(dpid, Entry(ROUTES, PRIORITY, match_of(address), action, COOKIE | DEFAULT_ROUTE))
            # A host that cannot be reached now keeps its entries: the way may come back, and no other is better.
            for address in [address for address in installed if hosts.get(address) is None]:
                del installed[address]
                yield Delete(dpid, ROUTES, PRIORITY, match_of(address))

    def _wanted(
        self, topology: Topology, hosts: Hosts, placement: Placement
    ) -> dict[int, dict[str, tuple[int, ...]]]:
        """For each connected switch the ports to each host that it reaches."""
        root = topology.switches.get(self._settings.spanning_tree)
        by_switch: dict[int, list[tuple[int, ...]]] = {}
        wanted: dict[int, dict[str, tuple[int, ...]]] = {s.dpid: {} for s in topology.switches.values() if s.connected}
        for host in hosts:
            last = topology.switches.get(host.place[0])
            if last is None:
                continue
            if last.index not in by_switch:
                next_hops = placement.next_hops(last.index, root.index if root else None)
                # Links between the same switches are in the order of their numbers, with the first one first.
                by_switch[last.index] = [tuple(topology.start_of(edge)[1] for edge in edges) for edges in next_hops]
            for dpid, routes in wanted.items():
                ports = by_switch[last.index][topology.switches[dpid].index]
                if dpid == host.place[0]:
                    routes[host.address] = (host.place[1],)
                elif ports:
                    balances = self._settings.balances and host.address not in self._single_ways
                    routes[host.address] = ports if balances else ports[:1]
        return wanted
