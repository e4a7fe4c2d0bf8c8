"""First packets of flows, which wait until switches have the flows' entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from subflow._native import Flow
from subflow._openflow.messages import Barrier, Message, PacketOut

# A packet waits for barriers for so many seconds at most.
PATIENCE = 2.0
# Packets that wait, at most.
MOST = 1024


@dataclass
class _Held:
    packet: PacketOut
    tickets: set[tuple[int, int]]
    since: float


class Waiting:
    """The packets that wait, one for each flow, and the barriers that they wait for."""

    def __init__(self) -> None:
        self._held: dict[Flow, _Held] = {}
        self._ticket = 0

    def hold(self, now: float, flow: Flow, packet: PacketOut, dpids: set[int]) -> Iterator[Message]:
        """Holds a packet until these switches have processed what they were sent."""
        if len(self._held) >= MOST and flow not in self._held:
            # Its sender repeats it.
            return
        self._ticket += 1
        self._held[flow] = _Held(packet, {(dpid, self._ticket) for dpid in dpids}, now)
        yield from (Barrier(dpid, self._ticket) for dpid in sorted(dpids))

    def passed(self, dpid: int, ticket: int) -> None:
        """A switch has processed all messages before this barrier."""
        for held in self._held.values():
            held.tickets.discard((dpid, ticket))

    def give_up(self, dpid: int) -> None:
        """A switch will not answer."""
        for held in self._held.values():
            held.tickets = {ticket for ticket in held.tickets if ticket[0] != dpid}

    def expire(self, now: float) -> int:
        """Gives up barriers that take too long. Returns their number."""
        lost = 0
        for held in self._held.values():
            if held.since < now - PATIENCE:
                lost += len(held.tickets)
                held.tickets.clear()
        return lost

    def forget(self, flow: Flow) -> None:
        """A flow ended."""
        self._held.pop(flow, None)

    def release(self) -> Iterator[Message]:
        """The packets that need not wait any more."""
        for flow in [flow for flow, held in self._held.items() if not held.tickets]:
            yield self._held.pop(flow).packet
