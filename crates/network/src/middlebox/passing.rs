//! How packets of the network pass the middleboxes of a link, before they come to its queue.

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Duration;
use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted};
use subflow_wire::{Body, Packet};

use super::chain::{Outcome, Surroundings, Waiting};
use super::{Derivation, Fate, Order, Ticket, Way};
use crate::host_table::FarEnd;
use crate::ids::PacketRoute;
use crate::link::Parcel;
use crate::{InterfaceId, LinkId, Network, PacketId};

impl Network {
    /// Whether any link has middleboxes: then packets may arrive otherwise than they were sent.
    pub fn has_middleboxes(&self) -> bool {
        self.middleboxes.iter().any(Option::is_some)
    }

    /// The interface to which packets for `address` are routed, if there is one: that which has it, or that behind a
    /// middlebox which has given it.
    pub fn interface_for(&self, address: IpAddr) -> Option<InterfaceId> {
        self.hosts.addresses.interface(address)
    }

    /// The end whose packets of `protocol` (a number of IANA) arrive as those of `end`: another one, if a middlebox has
    /// translated it.
    pub fn original_end(&self, protocol: u8, end: SocketAddr) -> SocketAddr {
        self.translations.original(protocol, end)
    }

    /// The packet with the addresses and ports that its ends have, whatever translator is between them.
    pub fn untranslated(&self, packet: PacketId) -> Packet {
        let mut packet = self.packets[packet].clone();
        let (protocol, source_port, destination_port) = packet.body.transport_ports();
        let source = self.original_end(protocol, (packet.ip.source, source_port).into());
        let destination = self.original_end(protocol, (packet.ip.destination, destination_port).into());
        (packet.ip.source, packet.ip.destination) = (source.ip(), destination.ip());
        match &mut packet.body {
            Body::Tcp(segment) => (segment.source_port, segment.destination_port) = (source.port(), destination.port()),
            Body::Udp(datagram) => {
                (datagram.source_port, datagram.destination_port) = (source.port(), destination.port());
            }
            Body::Quic(datagram) => {
                (datagram.source_port, datagram.destination_port) = (source.port(), destination.port());
            }
            Body::Sctp(_) => {}
        }
        packet
    }

    /// Processes `packet`, which comes now to link `index`, at the middleboxes of the link.
    pub(crate) fn pass_middleboxes(&mut self, index: u32, parcel: Parcel) {
        self.pass_middleboxes_behind(index, parcel, None);
    }

    /// The same at all of them, or at those behind the one at which it has waited.
    fn pass_middleboxes_behind(&mut self, index: u32, mut parcel: Parcel, waited_at: Option<usize>) {
        let way = if index.is_multiple_of(2) { Way::Up } else { Way::Down };
        let Some(chain) = &mut self.middleboxes[index as usize / 2] else { return self.enter_queue(index, parcel) };
        let mut surroundings =
            Surroundings { now: self.now, translations: &mut self.translations, addresses: &mut self.hosts.addresses };
        let (fate, Outcome { onward, back, too_big, orders, held }) =
            chain.process(&mut self.packets[parcel.packet], (way, waited_at), &mut surroundings);
        if let (Fate::Hold(until), Some((ticket, at))) = (fate, held) {
            chain.keep(ticket, Waiting { link: index, parcel, at });
            self.late_packets.push_held(until, LinkId(index), ticket);
        }
        if let Some(mtu) = too_big {
            self.report_too_big(index, parcel.packet, mtu);
        }
        for order in &orders {
            match *order {
                Order::Before(ticket) => self.end_waiting(index, ticket),
                Order::Absorb(ticket) => self.absorb(index, ticket, parcel.packet),
                Order::Rewritten(longer) => self.note_derived(Derivation::Rewritten { packet: parcel.packet, longer }),
                Order::After(_) => {}
            }
        }
        match fate {
            Fate::Pass => {
                parcel.size = size_of(&self.packets[parcel.packet]);
                self.enter_queue(index, parcel);
            }
            Fate::Drop | Fate::Replace => {
                self.links[index as usize].count_ended_at_middlebox(fate == Fate::Replace);
                self.release(parcel.packet);
            }
            Fate::Hold(_) => {}
        }
        for packet in onward {
            let size = size_of(&packet);
            let packet = self.insert_of_middlebox(packet, parcel.packet);
            self.packets.copy_mark(parcel.packet, packet);
            self.enter_queue(index, Parcel { packet, size, ..parcel });
        }
        for packet in back {
            self.send_back(index, packet, parcel.packet);
        }
        for order in orders {
            if let Order::After(ticket) = order {
                self.end_waiting(index, ticket);
            }
        }
    }

    /// The packet with `ticket`, if it still waits at a middlebox of link `index` or of the other direction, goes on.
    pub(crate) fn end_waiting(&mut self, index: u32, ticket: Ticket) {
        let Some(Waiting { link: index, parcel, at }) = self.no_longer_waiting(index, ticket) else { return };
        let link = &mut self.links[index as usize];
        if !link.is_up() {
            return link.refuse(self.now, parcel, &mut self.packets);
        }
        self.pass_middleboxes_behind(index, parcel, Some(at));
    }

    /// The payload of the packet with `ticket` is in `whole` now.
    fn absorb(&mut self, index: u32, ticket: Ticket, whole: PacketId) {
        let Some(Waiting { link: index, parcel, .. }) = self.no_longer_waiting(index, ticket) else { return };
        self.note_derived(Derivation::Joined { first: parcel.packet, whole });
        self.links[index as usize].count_ended_at_middlebox(true);
        self.release(parcel.packet);
    }

    fn no_longer_waiting(&mut self, index: u32, ticket: Ticket) -> Option<Waiting> {
        self.middleboxes[index as usize / 2].as_mut()?.take(ticket)
    }

    /// Stores a packet of a middlebox. `cause` is the packet that has made it send.
    fn insert_of_middlebox(&mut self, packet: Packet, cause: PacketId) -> PacketId {
        let id = self.packets.insert(packet);
        self.counters.duplicated += 1;
        self.note_derived(Derivation::Copied { cause, copy: id });
        id
    }

    /// Lets `packet`, of a middlebox of link `index`, arrive now at the end at which that packet came which has caused
    /// it.
    fn send_back(&mut self, index: u32, packet: Packet, cause: PacketId) {
        let destination = self.hosts.addresses.interface(packet.ip.destination);
        let size = size_of(&packet);
        let packet = self.insert_of_middlebox(packet, cause);
        self.packets.clear_mark(packet);
        match destination {
            Some(destination) => {
                let parcel = Parcel { packet, route: PacketRoute::to(destination), size, hash: 0 };
                self.late_packets.push(self.now, LinkId(index ^ 1), parcel);
            }
            None => {
                self.counters.dropped_unroutable += 1;
                self.release(packet);
            }
        }
    }

    /// Reports to the source of `packet`, which came to link `index`, that only `mtu` bytes pass. The error takes the
    /// propagation delay of the way back, and no place in queues.
    fn report_too_big(&mut self, index: u32, packet: PacketId, mtu: u32) {
        let packet = &self.packets[packet];
        let Some(source) = self.hosts.addresses.interface(packet.ip.source) else { return };
        let near_end = self.links[(index ^ 1) as usize].far_end;
        let Some(delay) = self.delay_from(near_end, source) else { return };
        let error = IcmpError { kind: IcmpKind::TooBig { mtu }, quoted: self.quoted(packet) };
        self.late_packets.push_error(self.now + delay, source, error);
    }

    /// The start of `packet` in an error for its source: as it was before its addresses and ports were translated.
    fn quoted(&self, packet: &Packet) -> Quoted {
        let (protocol, source_port, destination_port) = packet.body.transport_ports();
        let source = self.translations.original(protocol, (packet.ip.source, source_port).into());
        let mut transport = [source.port().to_be_bytes(), destination_port.to_be_bytes()].concat();
        let next = match &packet.body {
            Body::Tcp(segment) => segment.sequence,
            Body::Sctp(packet) => packet.verification_tag,
            Body::Udp(datagram) => (8 + datagram.payload.length) << 16,
            Body::Quic(datagram) => (8 + datagram.length()) << 16,
        };
        transport.extend_from_slice(&next.to_be_bytes());
        Quoted {
            source: source.ip(),
            destination: packet.ip.destination,
            protocol,
            length: packet.wire_length(),
            transport,
        }
    }

    /// Notes from now on what middleboxes make of packets, for [`take_derived`](Self::take_derived).
    pub fn keep_derived(&mut self) {
        self.derived.get_or_insert_default();
    }

    /// What middleboxes have made of packets since the last call, in order, if that is [kept](Self::keep_derived). Hosts
    /// that store data for a packet id store it accordingly.
    pub fn take_derived(&mut self) -> Vec<Derivation> {
        self.derived.as_mut().map(core::mem::take).unwrap_or_default()
    }

    fn note_derived(&mut self, derivation: Derivation) {
        if let Some(derived) = &mut self.derived {
            derived.push(derivation);
        }
    }

    /// Adds `parcel`, which comes now and has passed the middleboxes, to the queue of link `index`.
    fn enter_queue(&mut self, index: u32, parcel: Parcel) {
        let link = &mut self.links[index as usize];
        if link.has_backlog() {
            return self.wait_in_backlog(index, parcel);
        }
        match link.accept_behind_middleboxes(self.now, parcel, &mut self.packets) {
            Some(accepted) if accepted.first => self.arrivals.insert(index, accepted.arrival),
            Some(_) => {}
            None => self.release(parcel.packet),
        }
    }

    /// The propagation delay from `end` to `to` along the route; `None` if there is no route.
    pub(crate) fn delay_from(&self, mut end: FarEnd, to: InterfaceId) -> Option<Duration> {
        let mut delay = Duration::ZERO;
        loop {
            match end {
                FarEnd::Interface(at) => return (self.hosts.host(at) == self.hosts.host(to)).then_some(delay),
                FarEnd::Router(router) => {
                    let link = &self.links[self.routing.tables.first(router, to)? as usize];
                    delay += link.delay();
                    end = link.far_end;
                }
            }
        }
    }
}

fn size_of(packet: &Packet) -> u16 {
    u16::try_from(packet.wire_length()).expect("what middleboxes add stays within 65,535 bytes")
}
