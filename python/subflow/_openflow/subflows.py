"""TCP flows that the controller knows: their paths, their entries in switches, and the bounds of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from subflow._native import Flow
from subflow._openflow.hosts import Host
from subflow._openflow.messages import (
    COOKIE,
    FLOWS,
    INGRESS,
    TRANSIT,
    Action,
    Add,
    Delete,
    Entry,
    Match,
    Message,
    Output,
    ToRoutes,
)
from subflow._openflow.settings import Settings
from subflow._openflow.topology import Place, Topology

PRIORITY = 30_000


def match_of(flow: Flow) -> Match:
    """What the entries of a flow match."""
    return (
        ("eth_type", 0x0800),
        ("ip_proto", flow.protocol),
        ("ipv4_dst", flow.destination),
        ("ipv4_src", flow.source),
        ("tcp_dst", flow.destination_port),
        ("tcp_src", flow.source_port),
    )


def flow_of(match: Match) -> Flow | None:
    """The flow whose entries match this, if it is the match of a flow."""
    fields = dict(match)
    try:
        return Flow(
            str(fields["ipv4_src"]),
            int(fields["tcp_src"]),
            str(fields["ipv4_dst"]),
            int(fields["tcp_dst"]),
            int(fields["ip_proto"]),
        )
    except (KeyError, ValueError, OverflowError):
        return None


@dataclass
class Subflow:
    """A TCP flow with the paths of both directions; a path that is ``None`` is the default route."""

    flow: Flow
    source: Host
    destination: Host
    signal: str
    opened: float
    path: list[int] | None
    back: list[int] | None
    token: int | None = None
    # Whether its SYN/ACK has been seen.
    confirmed: bool = False
    # Whether a switch has reported its entries, and the bytes that it counted.
    reported: float | None = None
    bytes: int = 0
    # Its entries by switch: the match and the action.
    entries: dict[int, dict[Match, Action]] = field(default_factory=dict)

    def wanted(self, topology: Topology) -> dict[int, dict[Match, Action]]:
        """The entries that it should have.

        Before the SYN/ACK has been seen, the switch of the host that answers has no entry for the way back: it sends
        the SYN/ACK here, with the key of the connection.
        """
        entries: dict[int, dict[Match, Action]] = {}
        ways = [(self.flow, self.path, self.source, self.destination)]
        ways.append((self.flow.reversed(), self.back, self.destination, self.source))
        for flow, path, start, end in ways:
            match = match_of(flow)
            for place in hops(topology, path, end) if path is not None else [(start.place[0], None)]:
                opening = flow != self.flow and place[0] == start.place[0] and not self.confirmed
                if not opening:
                    action: Action = ToRoutes() if place[1] is None else Output(place[1])
                    entries.setdefault(place[0], {})[match] = action
        return entries


def hops(topology: Topology, path: list[int], end: Host) -> Iterator[Place]:
    """The switches of a path, with the port that each sends to."""
    yield from (topology.start_of(edge) for edge in path)
    yield end.place


class Subflows:
    """The flows in memory, and how many entries each switch has for them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._flows: dict[Flow, Subflow] = {}
        self._entries: dict[int, int] = {}
        self._opening: dict[Place, int] = {}

    def __iter__(self) -> Iterator[Subflow]:
        return iter(self._flows.values())

    def __len__(self) -> int:
        return len(self._flows)

    def get(self, flow: Flow) -> Subflow | None:
        """The flow that was opened in this direction."""
        return self._flows.get(flow)

    def count(self, dpid: int) -> int:
        """The number of entries of a switch."""
        return self._entries.get(dpid, 0)

    def opening(self, place: Place) -> int:
        """The number of flows from a port whose SYN/ACK has not been seen."""
        return self._opening.get(place, 0)

    def admits(self, place: Place) -> bool:
        """Whether memory has room for another flow from this port."""
        return (
            len(self._flows) < self._settings.subflows and self.opening(place) < self._settings.opening_per_port
        )

    def fits(self, subflow: Subflow, topology: Topology) -> bool:
        """Whether the switches have room for all entries that a flow will have."""
        confirmed, subflow.confirmed = subflow.confirmed, True
        wanted = subflow.wanted(topology)
        subflow.confirmed = confirmed
        return all(self.count(dpid) + len(matches) <= self._settings.entries for dpid, matches in wanted.items())

    def insert(self, subflow: Subflow) -> None:
        """A new flow."""
        self._flows[subflow.flow] = subflow
        if not subflow.confirmed:
            self._opening[subflow.source.place] = self.opening(subflow.source.place) + 1

    def confirm(self, subflow: Subflow, token: int | None) -> None:
        """The SYN/ACK of a flow has been seen."""
        subflow.token = subflow.token if token is None else token
        if not subflow.confirmed:
            subflow.confirmed = True
            self._less_opening(subflow.source.place)

    def remove(self, subflow: Subflow) -> Iterator[Message]:
        """A flow ended. Its entries are deleted."""
        if self._flows.pop(subflow.flow, None) is None:
            return
        if not subflow.confirmed:
            self._less_opening(subflow.source.place)
        for dpid, matches in subflow.entries.items():
            self._entries[dpid] -= len(matches)
            yield from (Delete(dpid, FLOWS, PRIORITY, match) for match in matches)
        subflow.entries = {}

    def install(self, subflow: Subflow, topology: Topology) -> Iterator[Message]:
        """Messages that make switches' entries those that the flow should have: first what is added, then the rest."""
        wanted = subflow.wanted(topology)
        # From the end of each path to its start: a packet never comes to a switch without an entry.
        for dpid in reversed(wanted):
            for match, action in wanted[dpid].items():
                yield Add(dpid, self._entry(subflow, dpid, match, action))
        for dpid, matches in subflow.entries.items():
            stale = [match for match in matches if match not in wanted.get(dpid, {})]
            yield from (Delete(dpid, FLOWS, PRIORITY, match) for match in stale)
        self.set_entries(subflow, wanted)

    def entries_in(self, dpid: int) -> Iterator[Message]:
        """All entries that a switch should have: it may have lost them."""
        for subflow in self:
            for match, action in subflow.entries.get(dpid, {}).items():
                yield Add(dpid, self._entry(subflow, dpid, match, action))

    def set_entries(self, subflow: Subflow, entries: dict[int, dict[Match, Action]]) -> None:
        """Records the entries that switches have for a flow."""
        for sign, found in ((-1, subflow.entries), (1, entries)):
            for dpid, matches in found.items():
                self._entries[dpid] = self.count(dpid) + sign * len(matches)
        subflow.entries = entries

    def _entry(self, subflow: Subflow, dpid: int, match: Match, action: Action) -> Entry:
        timeout = self._settings.idle_timeout if subflow.confirmed else self._settings.opening_timeout
        # The switch reports when this one expires.
        first = dpid == subflow.source.place[0] and match == match_of(subflow.flow)
        cookie = COOKIE | (INGRESS if first else TRANSIT) | (subflow.token or 0)
        return Entry(FLOWS, PRIORITY, match, action, cookie, timeout, notify=first)

    def _less_opening(self, place: Place) -> None:
        left = self._opening[place] - 1
        if left:
            self._opening[place] = left
        else:
            del self._opening[place]
