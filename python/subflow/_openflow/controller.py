"""The controller: events of switches go in, messages to switches come out. Times are seconds of a monotonic clock."""

from __future__ import annotations

import logging
import random
import secrets
from collections import Counter
from collections.abc import Iterator

from subflow._native import FirstPacket, Flow, Placement, read_frame
from subflow._openflow import adoption, subflows
from subflow._openflow.default_routes import DefaultRoutes
from subflow._openflow.frames import (
    ETHERTYPE_ARP,
    ETHERTYPE_IPV4,
    ETHERTYPE_LLDP,
    Arp,
    Probes,
    ethertype,
)
from subflow._openflow.guard import Guard, tcp_from
from subflow._openflow.hosts import Host, Hosts
from subflow._openflow.load import Load
from subflow._openflow.messages import (
    COOKIE,
    FLOWS,
    INGRESS,
    KIND_MASK,
    ROUTES,
    STATIC,
    Add,
    AskFlows,
    AskPorts,
    Delete,
    Drop,
    Entry,
    FoundEntry,
    Match,
    Message,
    PacketOut,
    ToController,
    ToRoutes,
)
from subflow._openflow.settings import Settings
from subflow._openflow.subflows import Subflow, Subflows
from subflow._openflow.topology import Place, Port, Topology
from subflow._openflow.waiting import Waiting

LOG = logging.getLogger("subflow.openflow")

# Priorities of the entries that every switch has in table 0.
LLDP_PRIORITY, ARP_PRIORITY, TCP_PRIORITY = 65_000, 64_000, 20_000
# Discovery intervals after which links and the ports that lead to hosts are known.
READY_PROBES = 3


class Controller:
    """The whole controller. It does no I/O: every method returns the messages that its event causes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.random = random.Random(settings.seed) if settings.seed >= 0 else random.SystemRandom()
        self.topology = Topology(Probes(secrets.token_bytes(16)), settings.discovery_interval)
        self.hosts = Hosts(settings.hosts, settings.hosts_per_port)
        self.subflows = Subflows(settings)
        self.routes = DefaultRoutes(settings)
        self.load = Load(settings)
        self.placement = Placement(**settings.placement())
        self.counters: Counter[str] = Counter()
        self.objections: dict[int, str] = {}
        self._ready_at: float | None = None
        self._settled_at = 0.0
        self._punts: set[Place] = set()
        self._guard = Guard(settings)
        self._waiting = Waiting()
        self._reports: dict[int, list[FoundEntry]] = {}
        self._next_audit = self._next_counters = 0.0

    # Switches.

    def switch_up(
        self, now: float, dpid: int, ports: dict[int, Port], tables: int = 254, description: str = ""
    ) -> list[Message]:
        """A switch connected, for the first time or again. Entries that it has stay."""
        settled_at = self.topology.watched(now) + READY_PROBES * self.settings.discovery_interval
        self._settled_at = settled_at
        if self._ready_at is None:
            self._ready_at = settled_at
        self.objections.pop(dpid, None)
        if tables < 2:
            self.objections[dpid] = f"it has {tables} flow table(s); two are needed"
        if self.settings.mode == "ecmp-packet" and "open vswitch" in description.lower():
            self.objections[dpid] = "Open vSwitch chooses from a group by flow; ecmp-packet needs another switch"
        if dpid in self.objections:
            LOG.error("switch %x: %s", dpid, self.objections[dpid])
        self.topology.connect(now, dpid, ports, description)
        self.routes.forget(dpid)
        self._punts = {place for place in self._punts if place[0] != dpid}
        self._reports.pop(dpid, None)
        entries = [
            Entry(FLOWS, LLDP_PRIORITY, (("eth_type", ETHERTYPE_LLDP),), ToController(), COOKIE | STATIC),
            Entry(FLOWS, ARP_PRIORITY, (("eth_type", ETHERTYPE_ARP),), ToController(), COOKIE | STATIC),
            Entry(FLOWS, 0, (), ToRoutes(), COOKIE | STATIC),
            Entry(ROUTES, 0, (), Drop(), COOKIE | STATIC),
        ]
        LOG.info("switch %x connected: %d ports", dpid, len(ports))
        return [
            *(Add(dpid, entry) for entry in entries),
            *self.subflows.entries_in(dpid),
            *self.topology.probes_of(dpid),
            AskFlows(dpid),
            *self._topology_changed(now, reroute=False),
        ]

    def switch_down(self, now: float, dpid: int) -> list[Message]:
        """A switch lost its connection. Its flows go on; new ones avoid it."""
        LOG.warning("switch %x disconnected", dpid)
        self.topology.disconnect(dpid)
        self._waiting.give_up(dpid)
        return [*self._topology_changed(now, reroute=False), *self._waiting.release()]

    def port_changed(self, now: float, dpid: int, number: int, port: Port | None) -> list[Message]:
        """A port appeared, changed its state or, with ``None``, disappeared."""
        if dpid not in self.topology.switches:
            return []
        before = [link.up for link in self.topology.links]
        self.topology.set_port(now, dpid, number, port)
        failed = before != [link.up for link in self.topology.links]
        messages = list(self._topology_changed(now, reroute=True)) if failed else []
        if port is not None and port.up:
            messages += self.topology.probes_of(dpid)
        return messages

    def is_ready(self, now: float) -> bool:
        """Whether links and the ports that lead to hosts are known, so that flows get paths."""
        return self._ready_at is not None and self.topology.watched(now) >= self._ready_at

    # Packets.

    def packet_in(self, now: float, dpid: int, port: int, data: bytes) -> list[Message]:
        """A switch sent a frame."""
        place, kind = (dpid, port), ethertype(data)
        self.counters["packet_ins"] += 1
        if kind == ETHERTYPE_LLDP:
            return list(self._topology_changed(now, True)) if self.topology.probed(now, place, data) else []
        if not self.topology.leads_to_hosts(now, place):
            return []
        if not self._guard.admits(now, place):
            self.counters["packet_ins_over_rate"] += 1
            return list(self._guard.bypass(now, place)) if kind == ETHERTYPE_IPV4 else []
        if kind == ETHERTYPE_ARP:
            return list(self._arp(now, place, data))
        packet = read_frame(data)
        if packet is None or not self.settings.places or not self.is_ready(now):
            return []
        return list(self._tcp(now, place, packet, data))

    def _arp(self, now: float, place: Place, data: bytes) -> Iterator[Message]:
        arp = Arp.read(data)
        if arp is None:
            return
        if self.hosts.learn(now, arp.sender, arp.sender_mac, place, moves=True):
            LOG.info("host %s at port %d of switch %x", arp.sender, place[1], place[0])
            # Before its switch has a route: a SYN that took the default route would never be seen here.
            yield from self._punt(now)
            yield from self.routes.update(self.topology, self.hosts, self.placement)
        yield from self.hosts.answer(arp, place, self.topology.host_ports(now))

    def _tcp(self, now: float, place: Place, packet: FirstPacket, data: bytes) -> Iterator[Message]:
        """The first packet of a flow, a SYN/ACK, or a packet whose entry was removed."""
        if self.hosts.learn(now, packet.flow.source, data[6:12], place):
            yield from self.routes.update(self.topology, self.hosts, self.placement)
        source, destination = self.hosts.get(packet.flow.source), self.hosts.get(packet.flow.destination)
        if source is None or source.place != place:
            self.counters["foreign_sources"] += 1
            return
        if destination is None:
            # The sender repeats its packet; by then the answer is there.
            yield from self.hosts.search(packet.flow.destination, self.topology.host_ports(now))
            return
        forward, backward = self.subflows.get(packet.flow), self.subflows.get(packet.flow.reversed())
        if forward is None and backward is not None:
            yield from self._answered(now, backward, packet, PacketOut(place[0], data, None, place[1]))
            return
        if forward is not None and forward.confirmed and packet.opens:
            # The host uses the ports for another connection.
            yield from self._end(forward)
            forward = None
        if forward is None:
            forward = self._place(now, packet, source, destination)
        if forward is None:
            self.counters["bypassed_flows"] += 1
            yield from self._guard.bypass(now, place)
            action = self.routes.action(place[0], packet.flow.destination)
            if action is not None:
                yield PacketOut(place[0], data, action, place[1])
            return
        yield from self._install(now, forward, packet.flow, PacketOut(place[0], data, None, place[1]))

    def _place(self, now: float, packet: FirstPacket, source: Host, destination: Host) -> Subflow | None:
        """A new flow with its paths; ``None`` if memory or tables have no room for it."""
        if not self.subflows.admits(source.place):
            self.counters["refused_flows"] += 1
            return None
        start, end = (self.topology.switches[host.place[0]].index for host in (source, destination))
        self._measure()
        path = self.placement.route(packet, start, end, self.random.getrandbits(64))
        back = self.placement.path_of(packet.flow.reversed())
        subflow = Subflow(packet.flow, source, destination, packet.signal, now, path, back)
        subflow.token = self.placement.token_of(packet.flow)
        # Without a SYN it is a connection whose entries were removed, or which is older than this controller.
        subflow.confirmed = not packet.opens
        if not self.subflows.fits(subflow, self.topology):
            self.placement.forget(packet.flow)
            self.counters["refused_entries"] += 1
            return None
        self.subflows.insert(subflow)
        self.counters[f"flows_{packet.signal}"] += 1
        return subflow

    def _answered(self, now: float, subflow: Subflow, packet: FirstPacket, out: PacketOut) -> Iterator[Message]:
        """The other end answered: the way back is completed, and the key in a SYN/ACK tells the token."""
        if packet.signal == "capable-reply":
            switches = self.topology.switches
            ends = [switches[host.place[0]].index for host in (subflow.destination, subflow.source)]
            self.placement.route(packet, ends[0], ends[1], 0)
        self.subflows.confirm(subflow, self.placement.token_of(subflow.flow))
        yield from self._install(now, subflow, packet.flow, out)

    def _install(self, now: float, subflow: Subflow, flow: Flow, packet: PacketOut) -> Iterator[Message]:
        """Sends a flow's entries; its packet follows when all switches have them."""
        messages = list(self.subflows.install(subflow, self.topology))
        yield from messages
        dpids = {message.dpid for message in messages if self.topology.switches[message.dpid].connected}
        yield from self._waiting.hold(now, flow, packet, dpids)

    def barrier_reply(self, dpid: int, ticket: int) -> list[Message]:
        """A switch has processed all messages before this barrier."""
        self._waiting.passed(dpid, ticket)
        return list(self._waiting.release())

    # What switches report.

    def flow_removed(self, dpid: int, cookie: int, match: Match) -> list[Message]:
        """An entry expired. With that of its first switch, a flow has ended."""
        flow = subflows.flow_of(match)
        subflow = self.subflows.get(flow) if flow is not None else None
        if subflow is None or cookie & KIND_MASK != INGRESS or dpid != subflow.source.place[0]:
            return []
        return list(self._end(subflow))

    def _end(self, subflow: Subflow) -> Iterator[Message]:
        self.counters["ended_flows" if subflow.confirmed else "unanswered_flows"] += 1
        self.placement.forget(subflow.flow)
        self._waiting.forget(subflow.flow)
        yield from self.subflows.remove(subflow)

    def flow_report(self, now: float, dpid: int, entries: list[FoundEntry]) -> list[Message]:
        """The entries that a switch has: bytes of flows, flows that ended unnoticed, flows of an earlier controller."""
        self._reports[dpid] = entries[: self.settings.entries + self.settings.hosts]
        found = {subflows.flow_of(entry.match): entry for entry in entries if adoption.kind_of(entry) == INGRESS}
        ended = []
        for subflow in self.subflows:
            if subflow.source.place[0] != dpid:
                continue
            entry = found.get(subflow.flow)
            if entry is not None:
                subflow.reported, subflow.bytes = now, entry.bytes
            elif max(subflow.opened, subflow.reported or 0) < now - 2 * self.settings.audit_interval:
                ended.append(subflow)
        return [message for subflow in ended for message in self._end(subflow)]

    def port_report(self, now: float, dpid: int, counters: dict[int, tuple[int, int]]) -> list[Message]:
        """The bytes that each port of a switch received and sent."""
        self.load.record(now, dpid, counters)
        return []

    def switch_error(self, dpid: int, description: str) -> list[Message]:
        """A switch refused a message."""
        self.counters["switch_errors"] += 1
        LOG.warning("switch %x: %s", dpid, description)
        return []

    def _measure(self) -> None:
        """Tells the placement the load of links, if it is to know it."""
        if self.settings.measures:
            for edge, subflows_ in self.load.background(self.topology):
                self.placement.set_background(edge, subflows_)

    # Time.

    def tick(self, now: float) -> list[Message]:
        """What is due. To be called a few times each second."""
        messages = list(self.topology.probe(now))
        failed_links = self.topology.expire(now)
        if failed_links > 0:
            self.counters["silent_links"] += failed_links
            messages += self._topology_changed(now, reroute=True)
        connected = [switch.dpid for switch in self.topology.switches.values() if switch.connected]
        if now >= self._next_audit:
            self._next_audit = now + self.settings.audit_interval
            messages += (AskFlows(dpid) for dpid in connected)
        if now >= self._next_counters:
            self._next_counters = now + self.settings.counters_interval
            messages += (AskPorts(dpid) for dpid in connected)
        self.counters["barriers_lost"] += self._waiting.expire(now)
        self._guard.expire(now)
        messages += self._waiting.release()
        messages += self._punt(now)
        messages += self._adopt(now)
        return messages

    def _punt(self, now: float) -> Iterator[Message]:
        """Ports that lead to hosts send new TCP flows here."""
        if not self.settings.places:
            return
        wanted = set(self.topology.host_ports(now))
        for dpid, port in sorted(wanted ^ self._punts):
            match = tcp_from(port)
            if (dpid, port) in wanted:
                yield Add(dpid, Entry(FLOWS, TCP_PRIORITY, match, ToController(), COOKIE | STATIC))
            elif self.topology.switches[dpid].connected:
                yield Delete(dpid, FLOWS, TCP_PRIORITY, match)
        self._punts = wanted

    def _topology_changed(self, now: float, reroute: bool) -> Iterator[Message]:
        """Brings paths and default routes up to date with switches and links."""
        if len(self.subflows) == 0:
            # The order of links decides between equal paths: that of identifiers is the same every time.
            self.topology.sort_links()
            self.placement = Placement(**self.settings.placement())
            self.load.forget_edges()
        self.placement.set_topology(*self.topology.graph())
        for number in range(len(self.topology.links)):
            self.placement.set_down(number, not self.topology.is_usable(number))
        if reroute and self.settings.reroutes:
            self.placement.reroute(self.random.getrandbits(64))
            for subflow in self.subflows:
                yield from self._move(subflow)
        yield from self.routes.update(self.topology, self.hosts, self.placement)

    def _move(self, subflow: Subflow) -> Iterator[Message]:
        path = self.placement.path_of(subflow.flow)
        back = self.placement.path_of(subflow.flow.reversed())
        if (path, back) != (subflow.path, subflow.back):
            LOG.info("%s moves to another path", subflow.flow)
            self.counters["moved_flows"] += 1
            subflow.path, subflow.back = path, back
            yield from self.subflows.install(subflow, self.topology)

    def _adopt(self, now: float) -> Iterator[Message]:
        """Takes over hosts and flows of an earlier controller, from what switches reported when they connected."""
        connected = {switch.dpid for switch in self.topology.switches.values() if switch.connected}
        # Which ports of a switch lead to hosts is known some time after it connected.
        settled = self.topology.watched(now) >= self._settled_at
        if not self._reports or not settled or not connected <= self._reports.keys():
            return
        reports, self._reports = self._reports, {}
        heir = adoption.Heir(self.settings, self.topology, self.hosts, self.subflows, self.placement)
        if heir.adopt_hosts(now, reports):
            yield from self.routes.update(self.topology, self.hosts, self.placement)
        self.counters["adopted_flows"] += heir.adopt_flows(now, reports)
