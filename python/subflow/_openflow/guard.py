"""What protects the controller from ports that send it too much."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

from subflow._openflow.frames import ETHERTYPE_IPV4, TCP
from subflow._openflow.messages import COOKIE, FLOWS, STATIC, Add, Entry, Match, Message, ToRoutes
from subflow._openflow.settings import Settings
from subflow._openflow.topology import Place

LOG = logging.getLogger("subflow.openflow")
BYPASS_PRIORITY = 25_000


def tcp_from(port: int) -> Match:
    """What an entry for all TCP packets from a port matches."""
    return (("eth_type", ETHERTYPE_IPV4), ("in_port", port), ("ip_proto", TCP))


class Guard:
    """The packets of each port in this second, and the ports that keep to default routes for a while."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._second = 0
        self._packets: Counter[Place] = Counter()
        self._bypassed: dict[Place, float] = {}

    def admits(self, now: float, place: Place) -> bool:
        """Counts a packet from a port. Returns whether it is within the port's rate."""
        if int(now) != self._second:
            self._second = int(now)
            self._packets.clear()
        self._packets[place] += 1
        return self._packets[place] <= self._settings.packet_ins_per_port

    def bypass(self, now: float, place: Place) -> Iterator[Message]:
        """New flows from a port keep to default routes for a while: the controller gets no packets of them."""
        if self._bypassed.get(place, now) > now:
            return
        LOG.warning("port %d of switch %x: too many new flows; they take default routes", place[1], place[0])
        self._bypassed[place] = now + self._settings.bypass
        seconds = self._settings.bypass
        entry = Entry(FLOWS, BYPASS_PRIORITY, tcp_from(place[1]), ToRoutes(), COOKIE | STATIC, hard_timeout=seconds)
        yield Add(place[0], entry)

    def expire(self, now: float) -> None:
        """Forgets ports whose time is over."""
        self._bypassed = {place: until for place, until in self._bypassed.items() if until > now}
