//! Assignment of arriving packets to endpoints.

use std::net::IpAddr;

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;
use smallvec::SmallVec;
use subflow_wire::{FlowCache, FlowKeyV4, Packet};

use super::EndpointId;
use crate::prefetch::prefetch;
use crate::tcp::Ends;

/// The number in the IP header (IANA) of the protocol of a pair of ends. The port numbers of different protocols are
/// independent.
pub(super) type Protocol = u8;
type KeyV6 = (u128, u128, u64);
/// An endpoint and the index of its subflow.
pub(super) type Owner = (EndpointId, usize);

#[allow(clippy::disallowed_types, reason = "it is never iterated")]
type Map<K> = std::collections::hash_map::HashMap<K, Owner, SeedableRandomState>;

/// Endpoints and subflows by protocol, addresses and ports. The table is never iterated in an order that matters.
/// Addresses are packed into integers, whose hash takes a few instructions.
///
/// Peers choose a part of every key. Therefore hashes are keyed if packets come from other processes, so that nobody
/// can construct many keys with the same hash.
#[derive(Clone, Debug)]
pub(super) struct Demux {
    v4: Map<FlowKeyV4>,
    v6: Map<KeyV6>,
    /// A part of `v4`: the number of the endpoint, and the subflow. Its places are not keyed: flows that share one are
    /// looked up in `v4` by turns.
    recent: FlowCache<(u32, usize)>,
    /// By endpoint, its entries in the table.
    entries: Vec<Entries>,
}

/// The ends of one endpoint, each with its subflow.
type Entries = SmallVec<[(Protocol, Ends, usize); 1]>;

/// A host with more flows looks up most of them in the table: 16 KiB, whatever peers do.
const MOST_PLACES: usize = 512;

enum Key {
    /// Local and remote address; ports and protocol.
    V4(FlowKeyV4),
    V6(KeyV6),
}

/// A packet never has addresses of different families.
#[inline]
fn key(protocol: Protocol, local: IpAddr, remote: IpAddr, local_port: u16, remote_port: u16) -> Key {
    let ports = u64::from(local_port) << 24 | u64::from(remote_port) << 8 | u64::from(protocol);
    match (local, remote) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => {
            Key::V4((u64::from(local.to_bits()) << 32 | u64::from(remote.to_bits()), ports))
        }
        _ => Key::V6((bits(local), bits(remote), ports)),
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn key_of(protocol: Protocol, ends: Ends) -> Key {
    let Ends { local, remote } = ends;
    key(protocol, local.ip(), remote.ip(), local.port(), remote.port())
}

#[inline]
fn key_of_packet(packet: &Packet) -> Key {
    let (protocol, source, destination) = packet.body.transport_ports();
    key(protocol, packet.ip.destination, packet.ip.source, destination, source)
}

impl Demux {
    /// An empty table. Its hashes depend on `seed`; without a seed they are the same in every run.
    pub(super) fn new(seed: Option<u64>) -> Self {
        let state = match seed {
            Some(seed) => SeedableRandomState::with_seed(seed, SharedSeed::global_random()),
            None => SeedableRandomState::with_seed(0, SharedSeed::global_fixed()),
        };
        Self {
            v4: Map::with_hasher(state.clone()),
            v6: Map::with_hasher(state),
            recent: FlowCache::new(4, MOST_PLACES),
            entries: Vec::new(),
        }
    }

    /// Assigns ends to subflow `subflow` of endpoint `id` (0 except for MPTCP), in place of its previous ones.
    pub(super) fn assign(&mut self, protocol: Protocol, ends: Ends, id: EndpointId, subflow: usize) {
        let former = self.entries.get(id.0 as usize).into_iter().flatten().find(|&&(.., of)| of == subflow).copied();
        if let Some((protocol, ends, _)) = former {
            self.forget(protocol, ends, (id, subflow));
            self.entries[id.0 as usize].retain(|&mut (.., of)| of != subflow);
        }
        self.enter(protocol, ends, (id, subflow));
    }

    /// Assigns further ends to endpoint `id`.
    pub(super) fn add(&mut self, protocol: Protocol, ends: Ends, id: EndpointId) {
        self.enter(protocol, ends, (id, 0));
    }

    fn enter(&mut self, protocol: Protocol, ends: Ends, owner: Owner) {
        match key_of(protocol, ends) {
            Key::V4(key) => {
                self.v4.insert(key, owner);
                if self.recent.is_small_for(self.v4.len()) {
                    // Room for twice as many, so that it seldom grows, and that few of some flows share a place.
                    self.recent.reset(2 * self.v4.len());
                }
                // They may have belonged to a connection that is over.
                self.recent.put(key, (owner.0.0, owner.1));
            }
            Key::V6(key) => _ = self.v6.insert(key, owner),
        }
        let index = owner.0.0 as usize;
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, Entries::new);
        }
        self.entries[index].push((protocol, ends, owner.1));
    }

    /// The owner of the ends.
    pub(super) fn owner(&self, protocol: Protocol, ends: Ends) -> Option<Owner> {
        self.look_up(&key_of(protocol, ends))
    }

    #[inline]
    fn look_up(&self, key: &Key) -> Option<Owner> {
        match key {
            Key::V4(key) => self.v4.get(key).copied(),
            Key::V6(key) => self.v6.get(key).copied(),
        }
    }

    /// The endpoint and subflow to which `packet` belongs.
    #[inline]
    pub(super) fn find(&mut self, packet: &Packet) -> Option<Owner> {
        let key = match key_of_packet(packet) {
            Key::V4(key) => key,
            key => return self.look_up(&key),
        };
        self.recent_owner(key).or_else(|| {
            let owner = self.v4.get(&key).copied()?;
            self.recent.put(key, (owner.0.0, owner.1));
            Some(owner)
        })
    }

    #[inline]
    fn recent_owner(&self, key: FlowKeyV4) -> Option<Owner> {
        self.recent.find(key).map(|(id, subflow)| (EndpointId(id), subflow))
    }

    /// Fetches what leads to the table of recent flows.
    #[inline]
    pub(super) fn fetch(&self) {
        prefetch(&self.recent);
    }

    /// Fetches where the owner of `packet` probably is, if it is one of IPv4.
    #[inline]
    pub(super) fn fetch_owner(&self, packet: &Packet) {
        if let Key::V4(key) = key_of_packet(packet) {
            self.recent.prefetch(key);
        }
    }

    /// As [`find`](Self::find), without remembering it.
    #[inline]
    pub(super) fn peek(&self, packet: &Packet) -> Option<Owner> {
        match key_of_packet(packet) {
            Key::V4(key) => self.recent_owner(key).or_else(|| self.v4.get(&key).copied()),
            key => self.look_up(&key),
        }
    }

    /// Removes endpoint `id`. Ends that now belong to another endpoint are kept.
    pub(super) fn remove(&mut self, id: EndpointId) {
        let Some(entries) = self.entries.get_mut(id.0 as usize) else { return };
        for (protocol, ends, subflow) in core::mem::take(entries) {
            self.forget(protocol, ends, (id, subflow));
        }
    }

    fn forget(&mut self, protocol: Protocol, ends: Ends, owner: Owner) {
        if self.owner(protocol, ends) == Some(owner) {
            match key_of(protocol, ends) {
                Key::V4(key) => {
                    self.v4.remove(&key);
                    self.recent.forget(key);
                }
                Key::V6(key) => _ = self.v6.remove(&key),
            }
        }
    }

    /// Number of pairs of ends in the table.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use subflow_wire::{Body, Dscp, Ecn, IpHeader, PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP, TcpSegment};

    use super::*;

    fn ends(remote_port: u16) -> Ends {
        let local: SocketAddr = ([10, 0, 0, 1], 80).into();
        Ends { local, remote: ([10, 0, 0, 2], remote_port).into() }
    }

    fn owner(demux: &Demux, remote_port: u16) -> Option<Owner> {
        demux.owner(PROTOCOL_TCP, ends(remote_port))
    }

    #[test]
    fn the_same_ends_of_two_protocols_are_two_endpoints() {
        let mut demux = Demux::new(None);
        demux.assign(PROTOCOL_TCP, ends(1), EndpointId(0), 0);
        demux.assign(PROTOCOL_UDP, ends(1), EndpointId(1), 0);
        assert_eq!(demux.owner(PROTOCOL_TCP, ends(1)), Some((EndpointId(0), 0)));
        assert_eq!(demux.owner(PROTOCOL_UDP, ends(1)), Some((EndpointId(1), 0)));
        assert_eq!(demux.owner(PROTOCOL_SCTP, ends(1)), None);
    }

    #[test]
    fn a_subflow_that_takes_the_place_of_another_has_its_own_ends_alone() {
        let mut demux = Demux::new(None);
        demux.assign(PROTOCOL_TCP, ends(1), EndpointId(3), 0);
        demux.assign(PROTOCOL_TCP, ends(2), EndpointId(3), 1);
        demux.assign(PROTOCOL_TCP, ends(3), EndpointId(3), 1);
        assert_eq!([1, 2, 3].map(|port| owner(&demux, port).map(|(_, subflow)| subflow)), [Some(0), None, Some(1)]);
    }

    #[test]
    fn removing_an_endpoint_leaves_the_ends_that_another_has_taken_over() {
        let mut demux = Demux::new(None);
        demux.assign(PROTOCOL_TCP, ends(1), EndpointId(0), 0);
        demux.assign(PROTOCOL_TCP, ends(2), EndpointId(0), 1);
        demux.assign(PROTOCOL_TCP, ends(1), EndpointId(1), 0);
        demux.remove(EndpointId(0));
        assert_eq!((owner(&demux, 1), owner(&demux, 2)), (Some((EndpointId(1), 0)), None));
        demux.remove(EndpointId(1));
        assert_eq!(demux.len(), 0);
    }

    /// A packet from `remote_port`.
    fn packet(remote_port: u16) -> Packet {
        let Ends { local, remote } = ends(remote_port);
        let segment = TcpSegment { source_port: remote_port, destination_port: 80, ..TcpSegment::default() };
        let ip = IpHeader {
            source: remote.ip(),
            destination: local.ip(),
            hop_limit: 64,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
        };
        Packet { ip, body: Body::Tcp(segment) }
    }

    proptest! {
        #[test]
        fn packets_are_found_as_the_table_says_whoever_had_their_ends_before(
            steps in vec((0..400u16, 0..40u32, 0..3usize, any::<bool>()), 0..600),
        ) {
            let mut demux = Demux::new(None);
            for (port, id, subflow, removes) in steps {
                match removes && id < 4 {
                    true => demux.remove(EndpointId(id)),
                    false => demux.assign(PROTOCOL_TCP, ends(port), EndpointId(id), subflow),
                }
                for port in [port, port / 2, 399 - port] {
                    let expected = owner(&demux, port);
                    prop_assert_eq!(demux.peek(&packet(port)), expected);
                    prop_assert_eq!(demux.find(&packet(port)), expected);
                }
            }
        }
    }
}
