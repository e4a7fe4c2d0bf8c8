//! The knowledge of an eavesdropper: all flows, and for each the numbers, keys and tags that a forger needs.

mod mptcp;
mod sctp;
mod tcp;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use subflow_wire::{Body, Packet};

use crate::setup::ATTACKER;

pub(crate) use mptcp::Keys;
pub(crate) use sctp::SctpSaid;
pub(crate) use tcp::TcpSaid;

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
            Body::Udp(_) => {}
        }
    }

    fn open(&mut self, ends: (SocketAddr, SocketAddr)) -> (usize, usize) {
        let (tcp, sctp) = (Default::default(), Default::default());
        self.flows.push(Flow { ends: [ends.0, ends.1], tcp, sctp, mptcp: None });
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
