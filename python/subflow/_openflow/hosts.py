"""Hosts, which ARP and their first packets show, and answers to ARP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from subflow._openflow.frames import OUR_ADDRESS, Arp
from subflow._openflow.messages import Message, Output, PacketOut
from subflow._openflow.topology import Place

_NOBODY = "0.0.0.0"


def _is_unicast(address: str) -> bool:
    first = int(address.split(".")[0])
    return 0 < first < 224 and first != 127


@dataclass
class Host:
    """A host with one address. An earlier controller's entries show where it is, but not its Ethernet address."""

    address: str
    mac: bytes | None
    place: Place
    seen: float


class Hosts:
    """The hosts of the network by address, at most `most`, and at most `most_per_port` at one port."""

    def __init__(self, most: int, most_per_port: int) -> None:
        self._most, self._most_per_port = most, most_per_port
        self._hosts: dict[str, Host] = {}
        self._at: Counter[Place] = Counter()

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts.values())

    def __len__(self) -> int:
        return len(self._hosts)

    def get(self, address: str) -> Host | None:
        """The host with this address."""
        return self._hosts.get(address)

    def learn(self, now: float, address: str, mac: bytes | None, place: Place, moves: bool = False) -> bool:
        """A host showed itself. Returns whether it is new or has moved, which only ARP can tell (`moves`)."""
        if not _is_unicast(address):
            return False
        known = self._hosts.get(address)
        if known is None:
            if len(self._hosts) >= self._most or self._at[place] >= self._most_per_port:
                return False
            self._hosts[address] = Host(address, mac, place, now)
            self._at[place] += 1
            return True
        if known.place == place:
            known.seen, known.mac = now, mac or known.mac
            return False
        if not moves or self._at[place] >= self._most_per_port:
            return False
        self._at[known.place] -= 1
        self._at[place] += 1
        known.place, known.seen, known.mac = place, now, mac
        return True

    def answer(self, arp: Arp, place: Place, everywhere: Iterator[Place]) -> Iterator[Message]:
        """The answer to an ARP request, if the target is known; else the request goes to all ports with hosts."""
        target = self._hosts.get(arp.target)
        if not arp.request:
            if target is not None and target.place != place:
                yield PacketOut(target.place[0], arp.frame(), Output(target.place[1]))
        elif target is not None and target.mac is not None:
            if target.place != place:
                reply = Arp(False, target.mac, arp.target, arp.sender_mac, arp.sender)
                yield PacketOut(place[0], reply.frame(), Output(place[1]))
        else:
            frame = arp.frame()
            yield from (PacketOut(dpid, frame, Output(port)) for dpid, port in everywhere if (dpid, port) != place)

    @staticmethod
    def search(address: str, everywhere: Iterator[Place]) -> Iterator[Message]:
        """An ARP probe (RFC 5227) for an address whose place is not known."""
        frame = Arp(True, OUR_ADDRESS, _NOBODY, bytes(6), address).frame()
        yield from (PacketOut(dpid, frame, Output(port)) for dpid, port in everywhere)
