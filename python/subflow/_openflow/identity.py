"""Which connection speaks for a datapath id, if several switches claim it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Generic, TypeVar

LOG = logging.getLogger("subflow.openflow")

# A connection, with whatever the transport needs to know of it.
C = TypeVar("C")


@dataclass
class Refusal:
    """Switches that were refused because another one has their datapath id."""

    dpid: int
    # The newest of them, as ADDRESS:PORT, and that of the switch with the id.
    address: str
    serving: str
    times: int = 0


class Identities(Generic[C]):
    """The connection of each datapath id, and what was refused. The first one that still answers has it."""

    def __init__(self) -> None:
        self._serving: dict[int, C] = {}
        self.refusals: dict[int, Refusal] = {}

    def get(self, dpid: int) -> C | None:
        """The connection of a datapath id."""
        return self._serving.get(dpid)

    def speaks(self, dpid: int | None, connection: C) -> bool:
        """Whether it is this connection that has the datapath id."""
        return dpid is not None and self._serving.get(dpid) is connection

    def take(self, dpid: int, connection: C) -> C | None:
        """Gives the id to a connection. Returns that which had it."""
        before = self._serving.get(dpid)
        self._serving[dpid] = connection
        return before if before is not connection else None

    def give_up(self, dpid: int) -> None:
        """The connection of this id has ended."""
        self._serving.pop(dpid, None)

    def refuse(self, dpid: int, address: str, serving: str) -> None:
        """Notes that the id stays with another connection. The first refusal of each host is an error in the log."""
        refusal = self.refusals.setdefault(dpid, Refusal(dpid, "", serving))
        if _host(refusal.address) != _host(address):
            LOG.error(
                "refused a switch at %s: the switch at %s has the same datapath id, %x. Give each switch an id of its "
                "own (Open vSwitch: ovs-vsctl set bridge NAME other-config:datapath-id=ID)",
                address,
                serving,
                dpid,
            )
        refusal.address, refusal.serving = address, serving
        refusal.times += 1


def _host(address: str) -> str:
    return address.rpartition(":")[0]
