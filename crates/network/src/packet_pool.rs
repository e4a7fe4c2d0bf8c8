//! The packets in the network.

use core::mem::offset_of;
use core::ops::{Index, IndexMut};
use std::net::{IpAddr, Ipv4Addr};

use prefetch_index::prefetch_index;
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, TcpSegment};

use crate::PacketId;

/// Packets by id. The slot of a packet that leaves is overwritten by a later packet: in steady state nothing is
/// allocated, moved or cleared.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
    /// What a tap has noted with each packet; empty without a tap.
    marks: Vec<u16>,
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

    /// Stores `packet`, a copy of that in slot `original`.
    pub(crate) fn insert_with_mark_of(&mut self, packet: Packet, original: PacketId) -> PacketId {
        let id = self.insert(packet);
        self.copy_mark(original, id);
        id
    }

    /// The mark of a packet, 0 if it has none.
    pub(crate) fn mark(&self, id: PacketId) -> u16 {
        self.marks.get(id.index()).copied().unwrap_or(0)
    }

    /// Notes the mark of a packet.
    pub(crate) fn set_mark(&mut self, id: PacketId, mark: u16) {
        if self.marks.len() < self.slots.len() {
            self.marks.resize(self.slots.len(), 0);
        }
        self.marks[id.index()] = mark;
    }

    /// The slot has a packet that no host has sent.
    pub(crate) fn clear_mark(&mut self, id: PacketId) {
        if !self.marks.is_empty() {
            self.set_mark(id, 0);
        }
    }

    /// Gives packet `to` the mark of packet `from`, if a tap notes any.
    pub(crate) fn copy_mark(&mut self, from: PacketId, to: PacketId) {
        if !self.marks.is_empty() {
            self.set_mark(to, self.mark(from));
        }
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
        ip: IpHeader { source: nowhere, destination: nowhere, hop_limit: 0, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
        body: Body::Tcp(TcpSegment::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_mark_of_its_original_and_without_a_tap_there_are_none() {
        let mut pool = PacketPool::default();
        let original = pool.insert(blank());
        let unmarked = pool.insert_with_mark_of(blank(), original);
        assert_eq!((pool.mark(unmarked), pool.marks.len()), (0, 0));
        pool.set_mark(original, 7);
        let copy = pool.insert_with_mark_of(blank(), original);
        assert_eq!([original, unmarked, copy].map(|id| pool.mark(id)), [7, 0, 7]);
    }

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
