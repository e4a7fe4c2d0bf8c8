"""A network of switches in memory, on which the logic of the OpenFlow controller is tested."""

from __future__ import annotations

import random
import struct
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

import networkx

from subflow._openflow.controller import Controller
from subflow._openflow.frames import Arp, ethertype
from subflow._openflow.messages import (
    INGRESS,
    KIND_MASK,
    Add,
    AddGroup,
    AskFlows,
    AskPorts,
    Barrier,
    Delete,
    Entry,
    FoundEntry,
    Message,
    Output,
    PacketOut,
    ToController,
    ToGroup,
    ToRoutes,
)
from subflow._openflow.settings import Settings
from subflow._openflow.topology import Place, Port

# Two disjoint paths between switches 1 and 4.
DIAMOND_CABLES = [(1, 2), (1, 3), (2, 4), (3, 4)]
SYN, ACK = 0x02, 0x10
CAPABLE = bytes([30, 4, 0x01, 0x01])


def capable_reply(key: int) -> bytes:
    """MP_CAPABLE of a SYN/ACK (RFC 8684, section 3.1)."""
    return bytes([30, 12, 0x01, 0x01]) + key.to_bytes(8, "big")


def join(token: int) -> bytes:
    """MP_JOIN of a SYN (RFC 8684, section 3.2)."""
    return bytes([30, 12, 0x10, 1]) + token.to_bytes(4, "big") + bytes(4)


def mac_of(address: str) -> bytes:
    """The Ethernet address of a host."""
    return b"\x02\0" + IPv4Address(address).packed


def segment(source: str, port: int, destination: str, to: int, flags: int, options: bytes = b"") -> bytes:
    """A frame with a TCP segment; its TCP checksum is left to a device that never comes."""
    options += b"\1" * (-len(options) % 4)
    tcp = struct.pack("!HHIIBBHHH", port, to, 1, 0, (20 + len(options)) // 4 << 4, flags, 1000, 0, 0) + options
    ends = IPv4Address(source).packed + IPv4Address(destination).packed
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + ends
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = 0xFFFF - ((total & 0xFFFF) + (total >> 16))
    header = header[:10] + struct.pack("!H", checksum) + header[12:]
    return mac_of(destination) + mac_of(source) + b"\x08\0" + header + tcp


def fields_of(frame: bytes, in_port: int) -> dict[str, int | str]:
    """The fields that entries match."""
    fields: dict[str, int | str] = {"in_port": in_port, "eth_type": ethertype(frame) or 0}
    if fields["eth_type"] == 0x0800:
        fields["ip_proto"] = frame[23]
        fields["ipv4_src"], fields["ipv4_dst"] = (str(IPv4Address(frame[at : at + 4])) for at in (26, 30))
        fields["tcp_src"], fields["tcp_dst"] = struct.unpack_from("!HH", frame, 34)
    return fields


@dataclass
class FakeSwitch:
    """Two flow tables, groups, and counters of ports."""

    ports: set[int] = field(default_factory=set)
    down: set[int] = field(default_factory=set)
    tables: dict[int, dict[tuple[int, Any], Entry]] = field(default_factory=lambda: {0: {}, 1: {}})
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict)
    used: dict[tuple[int, Any], float] = field(default_factory=dict)

    def find(self, now: float, fields: dict[str, int | str]) -> Entry | None:
        """The entry that decides about a packet."""
        table = 0
        while True:
            matching = [e for e in self.tables[table].values() if all(fields.get(k) == v for k, v in e.match)]
            if not matching:
                return None
            best = max(matching, key=lambda entry: entry.priority)
            self.used[best.priority, best.match] = now
            if not isinstance(best.action, ToRoutes):
                return best
            table = 1


class FakeNetwork:
    """Switches, cables and hosts around a controller. Time passes when the test says so."""

    def __init__(self, cables: Iterable[tuple[int, int]], hosts: dict[str, int], **settings: Any) -> None:
        self.settings = Settings(status="", seed=1, **settings)
        self.controller = Controller(self.settings)
        self.now = 100.0
        self.switches: dict[int, FakeSwitch] = defaultdict(FakeSwitch)
        self.wires: dict[Place, Place] = {}
        self.hosts: dict[str, Place] = {}
        self.cut: set[frozenset[Place]] = set()
        self.arrived: list[tuple[str, bytes]] = []
        self.carried: Counter[tuple[Place, Place]] = Counter()
        self.silent: set[int] = set()
        self._messages: deque[Message] = deque()
        for a, b in cables:
            ends = self._new_port(a), self._new_port(b)
            self.wires[ends[0]], self.wires[ends[1]] = ends[1], ends[0]
        for address, dpid in hosts.items():
            self.hosts[address] = self._new_port(dpid)

    def _new_port(self, dpid: int) -> Place:
        ports = self.switches[dpid].ports
        ports.add(len(ports) + 1)
        return dpid, len(ports)

    def start(self) -> None:
        """Connects all switches, lets links be found, and lets hosts show themselves."""
        for dpid in sorted(self.switches):
            self.connect(dpid)
        self.wait(5)
        self.show_hosts()

    def show_hosts(self) -> None:
        """All hosts ask by ARP for an address that nobody has."""
        for address, (dpid, port) in self.hosts.items():
            request = Arp(True, mac_of(address), address, bytes(6), "10.255.255.254")
            self.handle(self.controller.packet_in(self.now, dpid, port, request.frame()))

    def connect(self, dpid: int) -> None:
        """A switch connects."""
        self.silent.discard(dpid)
        self.handle(self.controller.switch_up(self.now, dpid, self._ports(dpid)))

    def disconnect(self, dpid: int) -> None:
        """A switch loses the controller."""
        self.silent.add(dpid)
        self.handle(self.controller.switch_down(self.now, dpid))

    def restart_controller(self, seconds: float = 5, dpids: Iterable[int] = ()) -> None:
        """A new controller; the switches keep what they have, and all or those given connect."""
        self.controller = Controller(self.settings)
        self._messages.clear()
        for dpid in sorted(dpids or self.switches):
            self.connect(dpid)
        self.wait(seconds)

    def _ports(self, dpid: int) -> dict[int, Port]:
        switch = self.switches[dpid]
        return {n: Port(f"p{n}", n not in switch.down, 10_000_000) for n in switch.ports}

    def set_cable(self, a: Place, up: bool, noticed: bool = True) -> None:
        """Cuts or mends the cable at port `a`; `noticed` by the ports at its ends."""
        ends = (a, self.wires[a])
        (self.cut.discard if up else self.cut.add)(frozenset(ends))
        for dpid, port in ends if noticed else ():
            (self.switches[dpid].down.discard if up else self.switches[dpid].down.add)(port)
            self.handle(self.controller.port_changed(self.now, dpid, port, self._ports(dpid)[port]))

    def wait(self, seconds: float) -> None:
        """Time passes."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.25
            self._expire()
            self.handle(self.controller.tick(self.now))

    def _expire(self) -> None:
        for dpid, switch in self.switches.items():
            for key, entry in list(switch.tables[0].items()):
                timeout = entry.idle_timeout or entry.hard_timeout
                # The controller may have deleted it when another one expired.
                if timeout and switch.used.get(key, 0) + timeout <= self.now and key in switch.tables[0]:
                    del switch.tables[0][key]
                    if entry.notify and dpid not in self.silent:
                        self.handle(self.controller.flow_removed(dpid, entry.cookie, entry.match))

    def send(self, address: str, frame: bytes) -> list[Place]:
        """A host sends a frame. Returns the switches and the ports that it left, in order."""
        dpid, port = self.hosts[address]
        return self.inject(dpid, port, frame)

    def inject(self, dpid: int, port: int, frame: bytes) -> list[Place]:
        """A frame comes to a port."""
        trace: list[Place] = []
        self._forward(dpid, port, frame, trace)
        return trace

    def handle(self, messages: list[Message]) -> None:
        """Switches do what the controller says."""
        self._messages.extend(messages)
        while self._messages:
            message = self._messages.popleft()
            if message.dpid not in self.silent:
                self._obey(message)

    def _obey(self, message: Message) -> None:
        switch = self.switches[message.dpid]
        match message:
            case Add(_, entry):
                key = (entry.priority, entry.match)
                switch.tables[entry.table][key] = entry
                switch.used[key] = self.now
            case Delete(_, table, priority, match):
                switch.tables[table].pop((priority, match), None)
            case AddGroup(_, group, ports):
                switch.groups[group] = ports
            case Barrier(dpid, ticket):
                self.handle(self.controller.barrier_reply(dpid, ticket))
            case AskFlows(dpid):
                self.handle(self.controller.flow_report(self.now, dpid, self._found(switch)))
            case AskPorts(dpid):
                self.handle(self.controller.port_report(self.now, dpid, dict.fromkeys(switch.ports, (0, 0))))
            case PacketOut(dpid, data, action, in_port):
                if action is None:
                    assert in_port is not None
                    self._forward(dpid, in_port, data, [], punts=False)
                else:
                    self._act(dpid, action, data, [])

    @staticmethod
    def _found(switch: FakeSwitch) -> list[FoundEntry]:
        def port(entry: Entry) -> int | None:
            return entry.action.port if isinstance(entry.action, Output) else None

        entries = [entry for table in switch.tables.values() for entry in table.values()]
        return [FoundEntry(e.table, tuple(sorted(e.match)), e.cookie, port(e), 0) for e in entries]

    def _forward(self, dpid: int, port: int, frame: bytes, trace: list[Place], punts: bool = True) -> None:
        entry = self.switches[dpid].find(self.now, fields_of(frame, port))
        if entry is None:
            return
        if isinstance(entry.action, ToController):
            if punts and dpid not in self.silent:
                self.handle(self.controller.packet_in(self.now, dpid, port, frame))
            return
        self._act(dpid, entry.action, frame, trace)

    def _act(self, dpid: int, action: Any, frame: bytes, trace: list[Place]) -> None:
        if isinstance(action, ToGroup):
            ports = self.switches[dpid].groups[action.group]
            action = Output(ports[hash(frame[26:38]) % len(ports)])
        if not isinstance(action, Output):
            return
        assert len(trace) < 100, "a loop"
        place = (dpid, action.port)
        trace.append(place)
        host = next((address for address, at in self.hosts.items() if at == place), None)
        if host is not None:
            self.arrived.append((host, frame))
        elif place in self.wires and frozenset((place, self.wires[place])) not in self.cut:
            self.carried[place, self.wires[place]] += 1
            self._forward(*self.wires[place], frame, trace)

    def entries(self, dpid: int) -> int:
        """The number of entries for subflows in a switch."""
        return sum(entry.priority == 30_000 for entry in self.switches[dpid].tables[0].values())

    def beginnings(self) -> int:
        """The number of flows that have an entry in their first switch."""
        tables = [switch.tables[0].values() for switch in self.switches.values()]
        return sum(entry.cookie & KIND_MASK == INGRESS for table in tables for entry in table)


def random_cables(seed: int) -> tuple[int, list[tuple[int, int]]]:
    """A connected network of 4 to 12 switches."""
    rng = random.Random(seed)
    count = rng.randint(4, 12)
    cables = {(rng.randint(1, switch - 1), switch) for switch in range(2, count + 1)}
    possible = [(a, b) for a in range(1, count) for b in range(a + 1, count + 1) if (a, b) not in cables]
    cables |= set(rng.sample(possible, min(len(possible), rng.randint(1, count))))
    return count, sorted(cables)


def disjoint_paths(cables: Iterable[tuple[int, int]], start: int, end: int) -> int:
    """The largest number of paths that share no cable: the maximum flow with capacities of one."""
    return int(networkx.edge_connectivity(networkx.Graph(list(cables)), start, end))
