//! The packets on a link, in order.

use prefetch_index::prefetch_index;
use subflow_quantity::Instant;

use crate::ids::PacketRoute;
use crate::{InterfaceId, PacketId};

/// The part of a packet that moves from link to link. The packet itself stays in its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    /// The slot of the packet.
    pub(crate) packet: PacketId,
    /// The route of the packet.
    pub(crate) route: PacketRoute,
    /// IP length in bytes.
    pub(crate) size: u16,
    /// The hash of its flow, used by ECMP.
    pub(crate) hash: u16,
}

/// A packet on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    /// When its last bit leaves the transmitter.
    pub(crate) departure: Instant,
    /// When its last bit reaches the far end.
    pub(crate) arrival: Instant,
    pub(crate) parcel: Parcel,
    /// Whether it is lost after transmission: it takes space in the queue but does not arrive.
    pub(crate) lost: bool,
}

const _: () = assert!(size_of::<Descriptor>() <= 32);

/// A growing ring buffer of descriptors, numbered in order of insertion. The numbers wrap. The link keeps track of
/// which descriptors are still in use.
#[derive(Debug)]
pub(crate) struct Ring {
    /// Their number is a power of two.
    slots: Box<[Descriptor]>,
    tail: u32,
}

const EMPTY: Descriptor = Descriptor {
    departure: Instant::ZERO,
    arrival: Instant::ZERO,
    parcel: Parcel { packet: PacketId(0), route: PacketRoute::to(InterfaceId(0)), size: 0, hash: 0 },
    lost: false,
};

impl Ring {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([EMPTY; 16]), tail: 0 }
    }

    /// The number of the next descriptor.
    #[inline]
    pub(crate) const fn tail(&self) -> u32 {
        self.tail
    }

    /// The descriptor with number `number`.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> &Descriptor {
        let slot = number as usize & (self.slots.len() - 1);
        &self.slots[slot]
    }

    /// Fetches the descriptor with number `number` into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch_index(&*self.slots, number as usize & (self.slots.len() - 1));
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, number: u32) -> &mut Descriptor {
        let slot = number as usize & (self.slots.len() - 1);
        &mut self.slots[slot]
    }

    /// Adds a descriptor. `head` is the number of the first one that is still needed.
    #[inline]
    pub(crate) fn push(&mut self, head: u32, descriptor: Descriptor) {
        if self.tail.wrapping_sub(head) as usize == self.slots.len() {
            self.grow(head);
        }
        *self.at_mut(self.tail) = descriptor;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Restarts the numbers at zero.
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.tail = 0;
    }

    /// Removes the descriptors from `number` on.
    pub(crate) fn truncate(&mut self, number: u32) {
        self.tail = number;
    }

    #[cold]
    fn grow(&mut self, head: u32) {
        let mut larger = vec![EMPTY; 2 * self.slots.len()].into_boxed_slice();
        for offset in 0..self.slots.len() as u32 {
            let number = head.wrapping_add(offset);
            larger[number as usize & (larger.len() - 1)] = *self.at(number);
        }
        self.slots = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_order_while_it_wraps_and_grows() {
        let at = |number: u32| Instant::from_nanos(number.into());
        let mut head = u32::MAX - 500;
        let mut ring = Ring { tail: head, ..Ring::new() };
        for round in 1..60 {
            for _ in 0..round {
                ring.push(head, Descriptor { departure: at(ring.tail()), ..EMPTY });
            }
            for _ in 0..round / 2 {
                assert_eq!(ring.at(head).departure, at(head));
                head = head.wrapping_add(1);
            }
        }
        let left = (0..ring.tail().wrapping_sub(head)).map(|offset| head.wrapping_add(offset));
        assert!(left.len() > 500);
        assert!(left.into_iter().all(|number| ring.at(number).departure == at(number)));
    }
}
