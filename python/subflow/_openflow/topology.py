"""Switches, their ports, and the links between them, which LLDP frames find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from subflow._openflow.frames import Probes
from subflow._openflow.messages import Message, Output, PacketOut

# A port of a switch.
Place = tuple[int, int]

# A link has failed if no LLDP frame came over it for so many intervals.
LOST_PROBES = 3
# A port without LLDP frames for so many intervals leads to hosts.
SETTLED_PROBES = 2


@dataclass
class Port:
    """A port of a switch."""

    name: str
    up: bool
    # In kbit/s; 0 if unknown.
    speed: int
    # When it came up, or was first seen.
    since: float = 0.0
    # The number of its link, if it has one.
    link: int | None = None


@dataclass
class Switch:
    """A switch. Its index is its number in the graph."""

    dpid: int
    index: int
    connected: bool = False
    description: str = ""
    ports: dict[int, Port] = field(default_factory=dict)


@dataclass
class Link:
    """A link between two ports; `seen` is when LLDP frames last came over it, to each end."""

    ends: tuple[Place, Place]
    seen: dict[Place, float]
    up: bool = False


class Topology:
    """What the controller knows of the network. A switch and a link that were found once keep their numbers."""

    def __init__(self, probes: Probes, interval: float) -> None:
        self.switches: dict[int, Switch] = {}
        self.links: list[Link] = []
        self._by_ends: dict[tuple[Place, Place], int] = {}
        self._probes = probes
        self._interval = interval
        self._next_probes = 0.0
        self._called = self._stopped = 0.0

    def watched(self, now: float) -> float:
        """The time so far without that in which this process was stopped: no LLDP frames were sent then, or read."""
        gap = now - self._called if self._called else 0.0
        self._called = now
        self._stopped += max(gap - self._interval, 0.0)
        return now - self._stopped

    def connect(self, now: float, dpid: int, ports: dict[int, Port], description: str) -> None:
        """A switch connected, for the first time or again."""
        now = self.watched(now)
        switch = self.switches.setdefault(dpid, Switch(dpid, len(self.switches)))
        for number, port in ports.items():
            before = switch.ports.get(number)
            port.since = before.since if before is not None and before.up == port.up else now
            port.link = before.link if before is not None else None
        switch.connected, switch.ports, switch.description = True, ports, description
        # Its links are seen again soon; until then they have not failed.
        for link in self.links:
            for place in link.ends:
                if place in link.seen and dpid in (link.ends[0][0], link.ends[1][0]):
                    link.seen[place] = now

    def disconnect(self, dpid: int) -> None:
        """A switch lost its connection to the controller. It goes on with the entries that it has."""
        if dpid in self.switches:
            self.switches[dpid].connected = False

    def set_port(self, now: float, dpid: int, number: int, port: Port | None) -> None:
        """A port appeared, changed or, with ``None``, disappeared."""
        now = self.watched(now)
        ports = self.switches[dpid].ports
        before = ports.get(number)
        if before is not None and before.link is not None and (port is None or not port.up):
            link = self.links[before.link]
            link.up, link.seen = False, {}
        if port is None:
            ports.pop(number, None)
            return
        port.since = now
        if before is not None and port.up:
            port.link = before.link
            port.since = before.since if before.up else now
        ports[number] = port

    def probe(self, now: float) -> Iterator[Message]:
        """The LLDP frames that are due."""
        now = self.watched(now)
        if now < self._next_probes:
            return
        self._next_probes = now + self._interval
        for switch in self.switches.values():
            if switch.connected:
                yield from self.probes_of(switch.dpid)

    def probes_of(self, dpid: int) -> Iterator[Message]:
        """An LLDP frame for each port of a switch."""
        for number, port in self.switches[dpid].ports.items():
            if port.up:
                yield PacketOut(dpid, self._probes.frame(dpid, number), Output(number))

    def probed(self, now: float, place: Place, frame: bytes) -> bool:
        """An LLDP frame came to `place`. Returns whether a link is new or works again."""
        now = self.watched(now)
        origin = self._probes.origin(frame)
        if origin is None or origin == place or not (self._port(origin) and self._port(place)):
            return False
        ends = (min(origin, place), max(origin, place))
        number = self._by_ends.get(ends)
        if number is None:
            number = self._by_ends[ends] = len(self.links)
            self.links.append(Link(ends, {}))
        link = self.links[number]
        link.seen[place] = now
        # Frames in both directions make a link.
        if link.up or len(link.seen) < 2 or not all(self._is_up(end) for end in ends):
            return False
        for end in ends:
            port = self._port(end)
            assert port is not None
            if port.link not in (None, number):
                # The cable was moved.
                self.links[port.link].up = False
            port.link = number
        link.up = True
        return True

    def expire(self, now: float) -> int:
        """Finds links that have failed although their ports are up. Returns their number."""
        now = self.watched(now)
        failed = 0
        for link in self.links:
            watched = all(self.switches[dpid].connected for dpid, _ in link.ends)
            if link.up and watched and min(link.seen.values()) < now - LOST_PROBES * self._interval:
                link.up, link.seen = False, {}
                failed += 1
        return failed

    def is_usable(self, number: int) -> bool:
        """Whether new flows may use a link: it works, and the switches at its ends can be told so."""
        link = self.links[number]
        return link.up and all(self.switches[dpid].connected for dpid, _ in link.ends)

    def leads_to_hosts(self, now: float, place: Place) -> bool:
        """Whether a port has no link to another switch, as far as can be known."""
        now = self.watched(now)
        port = self._port(place)
        return (
            port is not None and port.up and port.link is None and now >= port.since + SETTLED_PROBES * self._interval
        )

    def host_ports(self, now: float) -> Iterator[Place]:
        """The ports of connected switches that lead to hosts."""
        for switch in self.switches.values():
            for number in switch.ports if switch.connected else ():
                if self.leads_to_hosts(now, (switch.dpid, number)):
                    yield switch.dpid, number

    def sort_links(self) -> None:
        """Numbers links and switches in the order of their identifiers: only while no path uses the numbers."""
        for index, dpid in enumerate(sorted(self.switches)):
            self.switches[dpid].index = index
        self.links.sort(key=lambda link: link.ends)
        self._by_ends = {link.ends: number for number, link in enumerate(self.links)}
        for switch in self.switches.values():
            for port in switch.ports.values():
                port.link = None
        for number, link in enumerate(self.links):
            for port in filter(None, map(self._port, link.ends)):
                if link.up or port.link is None:
                    port.link = number

    def graph(self) -> tuple[int, list[tuple[int, int, int]]]:
        """The number of switches, and the links as `subflow._native.Placement` takes them."""
        index = {dpid: switch.index for dpid, switch in self.switches.items()}
        links = [(n, index[link.ends[0][0]], index[link.ends[1][0]]) for n, link in enumerate(self.links)]
        return len(self.switches), links

    def start_of(self, edge: int) -> Place:
        """The switch that an edge leaves, and the port."""
        return self.links[edge // 2].ends[edge % 2]

    def edge_from(self, place: Place) -> int | None:
        """The edge that leaves a port."""
        port = self._port(place)
        if port is None or port.link is None:
            return None
        return 2 * port.link + self.links[port.link].ends.index(place)

    def _port(self, place: Place) -> Port | None:
        switch = self.switches.get(place[0])
        return switch.ports.get(place[1]) if switch else None

    def _is_up(self, place: Place) -> bool:
        port = self._port(place)
        return port is not None and port.up
