//! Which packet belongs to which endpoint.

use std::net::IpAddr;

use rustc_hash::FxHashMap;
use subflow_wire::{Body, Packet};

use super::EndpointId;
use crate::tcp::Ends;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    local: IpAddr,
    remote: IpAddr,
    /// Local port, remote port, protocol.
    rest: (u16, u16, u8),
}

/// Endpoints and subflows by addresses and ports. Looked up, never iterated in an order that matters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demux {
    tcp_and_udp: FxHashMap<Key, (EndpointId, usize)>,
}

impl Demux {
    fn key(ends: Ends) -> Key {
        Key { local: ends.local.ip(), remote: ends.remote.ip(), rest: (ends.local.port(), ends.remote.port(), 0) }
    }

    pub(crate) fn insert(&mut self, ends: Ends, id: EndpointId, subflow: usize) {
        self.tcp_and_udp.insert(Self::key(ends), (id, subflow));
    }

    pub(crate) fn contains(&self, ends: Ends) -> bool {
        self.tcp_and_udp.contains_key(&Self::key(ends))
    }

    /// The endpoint and subflow that `packet` is for.
    pub(crate) fn find(&self, packet: &Packet) -> Option<(EndpointId, usize)> {
        let (source, destination) = match &packet.body {
            Body::Tcp(segment) => (segment.source_port, segment.destination_port),
            Body::Udp(datagram) => (datagram.source_port, datagram.destination_port),
        };
        let key = Key { local: packet.ip.destination, remote: packet.ip.source, rest: (destination, source, 0) };
        self.tcp_and_udp.get(&key).copied()
    }

    pub(crate) fn remove(&mut self, id: EndpointId) {
        self.tcp_and_udp.retain(|_, (owner, _)| *owner != id);
    }
}
