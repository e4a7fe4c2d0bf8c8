//! Packets and a chain for the tests of middleboxes.

use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, MptcpOption};
use subflow_wire::tcp::{SynOptions, TcpFlags, TcpOptions, Timestamps};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, TcpSegment, UdpDatagram};

use super::chain::{Outcome, Surroundings};
use super::{Chain, Fate, PlacedMiddlebox, Translations, Way};
use crate::InterfaceId;
use crate::host_table::AddressBook;

/// A chain between a client, 10.0.0.1, and a server, 10.0.0.2.
pub(super) struct Bench {
    chain: Chain,
    translations: Translations,
    addresses: AddressBook,
    /// What came out besides the last packet.
    pub(super) outcome: Outcome,
}

impl Bench {
    pub(super) fn of<const N: usize>(boxes: [PlacedMiddlebox; N]) -> Self {
        let addresses = AddressBook::new(vec![vec![client()], vec![server()]]).expect("two addresses");
        Self {
            chain: Chain::new(boxes.into(), 7),
            translations: Translations::default(),
            addresses,
            outcome: Outcome::default(),
        }
    }

    /// The packet after it has passed from the client's side, unless it is dropped or replaced.
    pub(super) fn up(&mut self, at: Duration, packet: Packet) -> Option<Packet> {
        self.pass(at, packet, Way::Up)
    }

    /// The same from the server's side.
    pub(super) fn down(&mut self, at: Duration, packet: Packet) -> Option<Packet> {
        self.pass(at, packet, Way::Down)
    }

    fn pass(&mut self, at: Duration, mut packet: Packet, way: Way) -> Option<Packet> {
        let (translations, addresses) = (&mut self.translations, &mut self.addresses);
        let mut surroundings = Surroundings { now: Instant::ZERO + at, translations, addresses };
        let (fate, outcome) = self.chain.process(&mut packet, (way, None), &mut surroundings);
        self.outcome = outcome;
        (fate == Fate::Pass).then_some(packet)
    }

    /// The interface to which packets for `address` are routed.
    pub(super) fn interface_of(&self, address: IpAddr) -> Option<InterfaceId> {
        self.addresses.interface(address)
    }
}

pub(super) fn client() -> IpAddr {
    [10, 0, 0, 1].into()
}

pub(super) fn server() -> IpAddr {
    [10, 0, 0, 2].into()
}

/// A packet from the client to the server.
fn from_client(body: Body) -> Packet {
    Packet {
        ip: IpHeader { source: client(), destination: server(), hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
        body,
    }
}

/// A SYN of the client with MP_CAPABLE, as Linux sends it.
pub(super) fn syn() -> Packet {
    let capable = Capable {
        version: 1,
        flags: CapableFlags::default(),
        sender_key: None,
        receiver_key: None,
        data_length: None,
        checksum: None,
    };
    let options = TcpOptions {
        syn: SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true },
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        mptcp: vec![MptcpOption::Capable(capable)],
        ..TcpOptions::default()
    };
    let flags = TcpFlags::SYN;
    from_client(Body::Tcp(TcpSegment { flags, sequence: 1000, options, ..data_segment(0, 0) }))
}

/// A segment of the client with `length` bytes from `offset` of its stream.
pub(super) fn data(offset: u32, length: u32) -> Packet {
    from_client(Body::Tcp(data_segment(offset, length)))
}

fn data_segment(offset: u32, length: u32) -> TcpSegment {
    TcpSegment {
        source_port: 50000,
        destination_port: 80,
        sequence: 1001 + offset,
        acknowledgment: 5001,
        flags: TcpFlags::ACK,
        window: 1000,
        options: TcpOptions::default(),
        payload: Payload { stream_offset: offset.into(), length, sum: 0 },
    }
}

/// A datagram of the client.
pub(super) fn datagram() -> Packet {
    let payload = Payload { stream_offset: 0, length: 100, sum: 0 };
    from_client(Body::Udp(UdpDatagram { source_port: 50000, destination_port: 53, payload }))
}

/// The same packet in the other direction.
pub(super) fn reversed(mut packet: Packet) -> Packet {
    core::mem::swap(&mut packet.ip.source, &mut packet.ip.destination);
    match &mut packet.body {
        Body::Tcp(segment) => core::mem::swap(&mut segment.source_port, &mut segment.destination_port),
        Body::Udp(datagram) => core::mem::swap(&mut datagram.source_port, &mut datagram.destination_port),
        Body::Sctp(_) | Body::Quic(_) => panic!("no test has SCTP here"),
    }
    packet
}

pub(super) fn segment(packet: &Packet) -> &TcpSegment {
    let Body::Tcp(segment) = &packet.body else { panic!("not TCP: {packet:?}") };
    segment
}
