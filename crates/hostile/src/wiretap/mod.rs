//! The knowledge of an eavesdropper: all flows, and for each the numbers, keys and tags that a forger needs.

mod mptcp;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use subflow_wire::quic::{ConnectionId, Frame, PacketHeader, QuicDatagram};
use subflow_wire::sctp::{Chunk, InitChunk, Parameter};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{Join, MptcpOption};
use subflow_wire::{Body, Packet, SctpPacket, TcpSegment};

use crate::setup::ATTACKER;

pub(crate) use mptcp::Keys;

/// Everything overheard.
#[derive(Debug, Default)]
pub(crate) struct Wiretap {
    flows: Vec<Flow>,
    by_ends: BTreeMap<(SocketAddr, SocketAddr), usize>,
    keys: Vec<Keys>,
    /// The flow that began each of them.
    firsts: Vec<usize>,
    /// Which of them a token names, and which side's it is.
    tokens: BTreeMap<u32, (usize, usize)>,
}

/// What passes between two ends.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// The end that opened it, and the other.
    pub(crate) ends: [SocketAddr; 2],
    /// What each end has sent.
    pub(crate) tcp: [TcpSaid; 2],
    pub(crate) sctp: [SctpSaid; 2],
    pub(crate) quic: [QuicSaid; 2],
    /// The MPTCP connection that it belongs to, and whether the end that opened it is the one that did not open the
    /// connection.
    mptcp: Option<(usize, bool)>,
}

impl Wiretap {
    /// Number of flows.
    pub(crate) fn flows(&self) -> usize {
        self.flows.len()
    }

    pub(crate) fn flow(&self, index: usize) -> &Flow {
        &self.flows[index]
    }

    /// The flow between two ends, and which end of it `from` is.
    pub(crate) fn find(&self, from: SocketAddr, to: SocketAddr) -> Option<(usize, usize)> {
        let index = *self.by_ends.get(&(from, to)).or_else(|| self.by_ends.get(&(to, from)))?;
        Some((index, usize::from(self.flows[index].ends[1] == from)))
    }

    /// The MPTCP connection that a flow belongs to, with its sides in the order of the flow's ends.
    pub(crate) fn keys(&self, flow: usize) -> Option<Keys> {
        let (index, swapped) = self.flows[flow].mptcp?;
        let keys = self.keys[index];
        Some(if swapped { keys.swapped() } else { keys })
    }

    /// The flow that began the MPTCP connection which a flow belongs to; without MPTCP, itself.
    pub(crate) fn first_of(&self, flow: usize) -> usize {
        self.flows[flow].mptcp.map_or(flow, |(connection, _)| self.firsts[connection])
    }

    /// The flow that a packet belongs to, and which end of it sent the packet.
    pub(crate) fn flow_of(&self, packet: &Packet) -> Option<(usize, usize)> {
        let (from, to) = ends_of(packet);
        self.find(from, to)
    }

    /// A genuine packet passes.
    pub(crate) fn overhear(&mut self, packet: &Packet) {
        let (flow, from) = self.flow_of(packet).unwrap_or_else(|| self.open(ends_of(packet)));
        match &packet.body {
            Body::Tcp(segment) => {
                self.flows[flow].tcp[from].hear(segment);
                self.hear_mptcp(flow, from, segment);
            }
            Body::Sctp(body) => self.flows[flow].sctp[from].hear(body),
            Body::Quic(datagram) => self.flows[flow].quic[from].hear(datagram),
            Body::Udp(_) => {}
        }
    }

    fn open(&mut self, ends: (SocketAddr, SocketAddr)) -> (usize, usize) {
        let (tcp, sctp, quic) = (Default::default(), Default::default(), Default::default());
        self.flows.push(Flow { ends: [ends.0, ends.1], tcp, sctp, quic, mptcp: None });
        let index = self.flows.len() - 1;
        self.by_ends.insert(ends, index);
        (index, 0)
    }
}

/// The two ends that a packet names. The paths of an SCTP association are one flow, between first addresses.
fn ends_of(packet: &Packet) -> (SocketAddr, SocketAddr) {
    let (source, destination) = ports(packet);
    let end = |address: IpAddr, port| match packet.body {
        Body::Sctp(_) => SocketAddr::new(main_address(address), port),
        _ => SocketAddr::new(address, port),
    };
    (end(packet.ip.source, source), end(packet.ip.destination, destination))
}

/// Source and destination port.
pub(crate) fn ports(packet: &Packet) -> (u16, u16) {
    match &packet.body {
        Body::Tcp(segment) => (segment.source_port, segment.destination_port),
        Body::Udp(datagram) => (datagram.source_port, datagram.destination_port),
        Body::Sctp(body) => (body.source_port, body.destination_port),
        Body::Quic(datagram) => (datagram.source_port, datagram.destination_port),
    }
}

/// The host that has an address (see [`Setup::address`](crate::setup::Setup::address)).
pub(crate) fn host_of(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(v4) => usize::from(v4.octets()[1]).saturating_sub(1),
        IpAddr::V6(v6) => usize::from(v6.segments()[1]).saturating_sub(1),
    }
}

/// Which of its host's addresses it is.
pub(crate) fn index_of(address: IpAddr) -> u16 {
    let number = match address {
        IpAddr::V4(v4) => u16::from_be_bytes([v4.octets()[2], v4.octets()[3]]),
        IpAddr::V6(v6) => v6.segments()[7],
    };
    number.wrapping_sub(1)
}

/// The first address of a host, of those of client and server; the attacker's are apart.
pub(crate) fn main_address(address: IpAddr) -> IpAddr {
    match address {
        _ if host_of(address) >= ATTACKER => address,
        IpAddr::V4(v4) => IpAddr::from([v4.octets()[0], v4.octets()[1], 0, 1]),
        IpAddr::V6(v6) => IpAddr::from([v6.segments()[0], v6.segments()[1], 0, 0, 0, 0, 0, 1]),
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SctpSaid {
    /// The tag that packets to it carry.
    pub(crate) tag: u32,
    /// The TSN behind the last that it has sent.
    pub(crate) next: u32,
    /// The TSN that it expects, once it has acknowledged any.
    pub(crate) expected: Option<u32>,
    /// The cookie that it has given.
    pub(crate) cookie: Box<[u8]>,
    /// What it asked back with its last HEARTBEAT.
    pub(crate) heartbeat: Box<[u8]>,
}

impl SctpSaid {
    pub(crate) fn hear(&mut self, packet: &SctpPacket) {
        for chunk in &packet.chunks {
            match chunk {
                Chunk::Init(init) => self.hear_init(init),
                Chunk::InitAck(init) => {
                    // An INIT that comes again is answered with tags that are good for nothing but its cookie.
                    if self.tag == 0 {
                        self.hear_init(init);
                    }
                    let cookie = init.parameters.iter().find_map(|parameter| match parameter {
                        Parameter::StateCookie(cookie) => Some(cookie.clone()),
                        _ => None,
                    });
                    self.cookie = cookie.unwrap_or_default();
                }
                Chunk::Data(data) if data.tsn.wrapping_sub(self.next) as i32 >= 0 => {
                    self.next = data.tsn.wrapping_add(1);
                }
                Chunk::Sack(sack) => self.expected = Some(sack.cumulative_tsn.wrapping_add(1)),
                Chunk::NrSack(nr_sack) => self.expected = Some(nr_sack.sack.cumulative_tsn.wrapping_add(1)),
                Chunk::Heartbeat(info) => self.heartbeat = info.clone(),
                _ => {}
            }
        }
    }

    fn hear_init(&mut self, init: &InitChunk) {
        (self.tag, self.next, self.expected) = (init.initiate_tag, init.initial_tsn, None);
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpSaid {
    /// Initial sequence number.
    pub(crate) isn: u32,
    /// SND.NXT, as far as it has spoken.
    pub(crate) next: u32,
    /// RCV.NXT, once it has acknowledged anything.
    pub(crate) acknowledged: Option<u32>,
    /// The last TSval.
    pub(crate) timestamp: u32,
    /// The nonce of its MP_JOIN.
    pub(crate) nonce: u32,
    spoken: bool,
}

impl TcpSaid {
    pub(crate) fn hear(&mut self, segment: &TcpSegment) {
        let has = |flag| segment.flags.contains(flag);
        let control = u32::from(has(TcpFlags::SYN)) + u32::from(has(TcpFlags::FIN));
        let end = segment.sequence.wrapping_add(segment.payload.length).wrapping_add(control);
        if has(TcpFlags::SYN) {
            (self.isn, self.next, self.spoken) = (segment.sequence, end, true);
            // What it acknowledged before was of another connection between these ports, maybe a stranger's.
            self.acknowledged = None;
        } else if !has(TcpFlags::RST) && (!self.spoken || is_after(end, self.next)) {
            (self.next, self.spoken) = (end, true);
        }
        if has(TcpFlags::ACK) && self.acknowledged.is_none_or(|known| is_after(segment.acknowledgment, known)) {
            self.acknowledged = Some(segment.acknowledgment);
        }
        if let Some(timestamps) = segment.options.timestamps {
            self.timestamp = timestamps.value;
        }
        for option in &segment.options.mptcp {
            if let MptcpOption::Join(Join::Syn { nonce, .. } | Join::SynAck { nonce, .. }) = option {
                self.nonce = *nonce;
            }
        }
    }
}

/// Whether sequence number `a` lies after `b`.
fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// What one end of a flow of QUIC has said.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicSaid {
    /// The destination of its latest packet, and the source of its latest long header.
    pub(crate) destination: ConnectionId,
    pub(crate) source: ConnectionId,
    /// The packet number behind its highest one, of Initial, Handshake and 1-RTT packets, as the wire shows it.
    pub(crate) next: [u64; 3],
    /// The end of the data that it has sent on the first stream.
    pub(crate) stream_end: u64,
    /// Its latest challenge.
    pub(crate) challenge: [u8; 8],
}

impl QuicSaid {
    pub(crate) fn hear(&mut self, datagram: &QuicDatagram) {
        for packet in &datagram.packets {
            self.destination = packet.header.destination();
            let space = match packet.header {
                PacketHeader::Initial { source, .. } => {
                    self.source = source;
                    0
                }
                PacketHeader::Handshake { source, .. } => {
                    self.source = source;
                    1
                }
                _ => 2,
            };
            if let Some(number) = packet.header.number() {
                let full = number.expand(self.next[space].checked_sub(1));
                self.next[space] = self.next[space].max(full + 1);
            }
            for frame in &packet.frames {
                match frame {
                    Frame::Stream(stream) if stream.stream.0 == 0 => {
                        let end = stream.offset + u64::from(stream.payload.length);
                        self.stream_end = self.stream_end.max(end);
                    }
                    Frame::PathChallenge(data) => self.challenge = *data,
                    _ => {}
                }
            }
        }
    }
}
