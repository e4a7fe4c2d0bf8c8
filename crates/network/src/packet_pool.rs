//! The packets in the network.

use core::mem::offset_of;
use core::ops::{Index, IndexMut};
use std::net::{IpAddr, Ipv4Addr};

use prefetch_index::prefetch_index;
use subflow_wire::{Body, Ecn, IpHeader, Packet, TcpSegment};

use crate::PacketId;

/// Packets by id. The slot of a packet that leaves is overwritten by a later packet: in steady state nothing is
/// allocated, moved or cleared.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
}

impl PacketPool {
    /// The maximum number of packets at once, which need about 1 GB.
    pub(crate) const MOST: usize = 2_000_000;

    /// Reserves a slot. It contains an old packet.
    #[inline]
    pub(crate) fn reserve(&mut self) -> PacketId {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(blank());
            PacketId::from_index(self.slots.len() - 1)
        })
    }

    /// Stores `packet`.
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        let id = self.reserve();
        self[id] = packet;
        id
    }

    /// Frees the slot of a packet.
    #[inline]
    pub(crate) fn release(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// Prefetches a packet into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, id: PacketId) {
        // A byte of the packet, from which the lines of the whole packet are counted.
        let byte = core::slice::from_ref(&self[id].ip.hop_limit);
        for line in (0..size_of::<Packet>()).step_by(64) {
            prefetch_index(byte, line.wrapping_sub(offset_of!(Packet, ip.hop_limit)));
        }
    }

    /// Removes a packet and returns it.
    pub(crate) fn take(&mut self, id: PacketId) -> Packet {
        let packet = core::mem::replace(&mut self[id], blank());
        self.release(id);
        packet
    }

    /// Whether there have been more than [`Self::MOST`] packets at once.
    #[inline]
    pub(crate) fn has_overflowed(&self) -> bool {
        self.slots.len() > Self::MOST
    }

    /// The largest number of packets so far.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Packets in the pool, including reserved slots.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl Index<PacketId> for PacketPool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.slots[id.index()]
    }
}

impl IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.index()]
    }
}

fn blank() -> Packet {
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    Packet {
        ip: IpHeader { source: nowhere, destination: nowhere, hop_limit: 0, ecn: Ecn::NotEct },
        body: Body::Tcp(TcpSegment::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_slot_is_reused() {
        let mut pool = PacketPool::default();
        let first = pool.reserve();
        pool.release(first);
        assert_eq!(pool.reserve(), first);
        assert_eq!(pool.len(), 1);
        let packet = pool.take(first);
        assert_eq!((packet, pool.len()), (blank(), 0));
    }
}
