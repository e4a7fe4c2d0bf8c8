"""The load of links, from the counters of ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from subflow._openflow.settings import Settings
from subflow._openflow.topology import Place, Topology

# A link that is fully used counts like so many subflows.
FULL = 10


@dataclass
class PortLoad:
    """The counters of a port, and the rate at which it sends, in bits per second."""

    at: float
    received: int
    sent: int
    rate: float = 0.0


class Load:
    """The latest counters of all ports."""

    def __init__(self, settings: Settings) -> None:
        self._capacity = settings.capacity * 1_000_000
        self.ports: dict[Place, PortLoad] = {}
        self._told: dict[int, int] = {}

    def record(self, now: float, dpid: int, counters: dict[int, tuple[int, int]]) -> None:
        """The bytes that each port of a switch received and sent."""
        for number, (received, sent) in counters.items():
            before = self.ports.get((dpid, number))
            rate = 0.0
            # Counters begin again when a switch does.
            if before is not None and now > before.at and sent >= before.sent:
                rate = (sent - before.sent) * 8 / (now - before.at)
            self.ports[dpid, number] = PortLoad(now, received, sent, rate)
        for place in [place for place in self.ports if place[0] == dpid and place[1] not in counters]:
            del self.ports[place]

    def background(self, topology: Topology) -> Iterator[tuple[int, int]]:
        """The edges whose load differs from what was told before, with their loads in subflows."""
        for edge in range(2 * len(topology.links)):
            dpid, number = topology.start_of(edge)
            port = topology.switches[dpid].ports.get(number)
            load = self.ports.get((dpid, number))
            capacity = self._capacity or (port.speed * 1000 if port is not None else 0)
            used = min(load.rate / capacity, 1.0) if load is not None and capacity else 0.0
            subflows = round(FULL * used)
            if self._told.get(edge, 0) != subflows:
                self._told[edge] = subflows
                yield edge, subflows

    def forget_edges(self) -> None:
        """The edges have new numbers."""
        self._told.clear()
