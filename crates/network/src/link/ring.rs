//! The packets on a link, in order.

use subflow_quantity::Instant;

use crate::PacketId;

/// A packet on a link: all that a hop touches. The packet itself stays in the network's slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    /// When its last bit leaves the transmitter.
    pub(crate) departure: Instant,
    /// When its last bit reaches the far end.
    pub(crate) arrival: Instant,
    /// Where the packet is.
    pub(crate) packet: PacketId,
    /// The interface it is for; indexes routing tables. (A flow hash for routers that spread flows has room behind it.)
    pub(crate) destination: u32,
    /// IP length in bytes.
    pub(crate) size: u16,
    /// It is lost behind the transmitter: it holds its place in the queue, but nothing arrives.
    pub(crate) lost: bool,
}

const _: () = assert!(size_of::<Descriptor>() <= 32);

/// A growing ring of descriptors, addressed by a running number that wraps.
#[derive(Debug)]
pub(crate) struct Ring {
    /// A power of two of them.
    slots: Box<[Descriptor]>,
    head: u32,
    tail: u32,
}

const EMPTY: Descriptor = Descriptor {
    departure: Instant::ZERO,
    arrival: Instant::ZERO,
    packet: PacketId(0),
    destination: 0,
    size: 0,
    lost: false,
};

impl Ring {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([EMPTY; 16]), head: 0, tail: 0 }
    }

    /// The number of the first descriptor; equal to [`Self::tail`] when there is none.
    #[inline]
    pub(crate) const fn head(&self) -> u32 {
        self.head
    }

    /// The number that the next descriptor will get.
    #[inline]
    pub(crate) const fn tail(&self) -> u32 {
        self.tail
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The descriptor with running number `number`.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> &Descriptor {
        let slot = number as usize & (self.slots.len() - 1);
        &self.slots[slot]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, number: u32) -> &mut Descriptor {
        let slot = number as usize & (self.slots.len() - 1);
        &mut self.slots[slot]
    }

    #[inline]
    pub(crate) fn push(&mut self, descriptor: Descriptor) {
        if self.tail.wrapping_sub(self.head) as usize == self.slots.len() {
            self.grow();
        }
        *self.at_mut(self.tail) = descriptor;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Removes the first descriptor.
    #[inline]
    pub(crate) fn pop(&mut self) -> Descriptor {
        debug_assert!(!self.is_empty());
        let first = *self.at(self.head);
        self.head = self.head.wrapping_add(1);
        first
    }

    /// Removes the descriptors from `number` on.
    pub(crate) fn truncate(&mut self, number: u32) {
        self.tail = number;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = vec![EMPTY; 2 * self.slots.len()].into_boxed_slice();
        for offset in 0..self.slots.len() as u32 {
            let number = self.head.wrapping_add(offset);
            larger[number as usize & (larger.len() - 1)] = *self.at(number);
        }
        self.slots = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_order_while_it_wraps_and_grows() {
        let mut ring = Ring::new();
        let (mut pushed, mut popped) = (0, 0);
        for round in 1..60 {
            for _ in 0..round {
                ring.push(Descriptor { destination: pushed, ..EMPTY });
                pushed += 1;
            }
            for _ in 0..round / 2 {
                assert_eq!(ring.pop().destination, popped);
                popped += 1;
            }
        }
        assert_eq!(ring.at(ring.head()).destination, popped);
        assert_eq!(ring.tail().wrapping_sub(ring.head()), pushed - popped);
    }
}
