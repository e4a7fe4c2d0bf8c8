//! Which packet belongs to which endpoint.

use std::net::{IpAddr, SocketAddr};

use rustc_hash::FxHashMap;
use subflow_wire::{Body, Packet};

use super::EndpointId;
use crate::tcp::Ends;

/// Ports, local and remote.
type Ports = (u16, u16);

type KeyV4 = (u64, Ports);
/// An endpoint and which of its subflows.
type Owner = (EndpointId, usize);

/// Endpoints and subflows by addresses and ports. Looked up, never iterated in an order that matters. Addresses are
/// packed into integers, which hash in a few instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demux {
    v4: FxHashMap<KeyV4, Owner>,
    v6: FxHashMap<(u128, u128, Ports), Owner>,
    /// Whose the last packet was: most are followed by another for the same.
    last: Option<(KeyV4, Owner)>,
}

enum Key {
    V4(u64, Ports),
    V6(u128, u128, Ports),
}

/// Local and remote address, and ports. Addresses of mixed families never meet in one packet.
#[inline]
fn key(local: IpAddr, remote: IpAddr, ports: Ports) -> Key {
    match (local, remote) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => {
            Key::V4(u64::from(local.to_bits()) << 32 | u64::from(remote.to_bits()), ports)
        }
        _ => Key::V6(bits(local), bits(remote), ports),
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn key_of(ends: Ends) -> Key {
    let Ends { local, remote } = ends;
    let port = |end: SocketAddr| end.port();
    key(local.ip(), remote.ip(), (port(local), port(remote)))
}

impl Demux {
    pub(crate) fn insert(&mut self, ends: Ends, id: EndpointId, subflow: usize) {
        // The ends may have belonged to a connection that is over.
        self.last = None;
        match key_of(ends) {
            Key::V4(addresses, ports) => self.v4.insert((addresses, ports), (id, subflow)),
            Key::V6(local, remote, ports) => self.v6.insert((local, remote, ports), (id, subflow)),
        };
    }

    pub(crate) fn contains(&self, ends: Ends) -> bool {
        self.look_up(key_of(ends)).is_some()
    }

    #[inline]
    fn look_up(&self, key: Key) -> Option<Owner> {
        match key {
            Key::V4(addresses, ports) => self.v4.get(&(addresses, ports)).copied(),
            Key::V6(local, remote, ports) => self.v6.get(&(local, remote, ports)).copied(),
        }
    }

    /// The endpoint and subflow that `packet` is for.
    #[inline]
    pub(crate) fn find(&mut self, packet: &Packet) -> Option<Owner> {
        let (source, destination) = match &packet.body {
            Body::Tcp(segment) => (segment.source_port, segment.destination_port),
            Body::Udp(datagram) => (datagram.source_port, datagram.destination_port),
            Body::Sctp(packet) => (packet.source_port, packet.destination_port),
        };
        match (key(packet.ip.destination, packet.ip.source, (destination, source)), self.last) {
            (Key::V4(addresses, ports), Some((known, owner))) if known == (addresses, ports) => Some(owner),
            (Key::V4(addresses, ports), _) => {
                let owner = self.v4.get(&(addresses, ports)).copied()?;
                self.last = Some(((addresses, ports), owner));
                Some(owner)
            }
            (key, _) => self.look_up(key),
        }
    }

    pub(crate) fn remove(&mut self, id: EndpointId) {
        self.last = None;
        self.v4.retain(|_, (owner, _)| *owner != id);
        self.v6.retain(|_, (owner, _)| *owner != id);
    }
}
