//! A link between two parts of a network, each of which has its own copy of the link (see `parts/`): the sender's copy
//! has the queue, the transmitter and the random numbers, and the receiver's copy has the packets in propagation.

use subflow_quantity::{Duration, Instant};

use super::{Accepted, Descriptor, Link, Parcel};

impl Link {
    /// The least time that a packet takes from being accepted to its arrival.
    pub(crate) const fn least_delay(&self) -> Duration {
        self.delay
    }

    /// The far end is in another part: packets are handed over to it as soon as they come.
    pub(crate) fn set_exported(&mut self) {
        (self.fused, self.exported) = (true, true);
    }

    /// Whether packets are handed over to another part.
    #[inline]
    pub(crate) const fn is_exported(&self) -> bool {
        self.exported
    }

    /// The first packet that was not handed over, if there is one.
    pub(crate) fn first_to_hand_over(&self) -> Option<(Parcel, Accepted)> {
        (self.delivered != self.ring.tail()).then(|| {
            let Descriptor { arrival, parcel, lost, .. } = *self.ring.at(self.delivered);
            (parcel, Accepted { arrival, first: true, lost })
        })
    }

    /// That packet is handed over. It stays in this copy until it has left the queue, and is not counted as arrived
    /// here.
    pub(crate) fn hand_over(&mut self) {
        debug_assert!(self.exported);
        self.delivered = self.delivered.wrapping_add(1);
    }

    /// Takes over a packet that the sender's copy has accepted. Returns whether it is the next one to arrive.
    pub(crate) fn take_over(&mut self, arrival: Instant, parcel: Parcel, lost: bool) -> bool {
        let first = self.delivered == self.ring.tail();
        if first {
            self.ring.restart();
            self.delivered = 0;
        }
        self.ring.push(self.delivered, Descriptor { departure: arrival, arrival, parcel, lost });
        // The queue of this copy is always empty.
        self.departed = self.ring.tail();
        first
    }

    /// Adds the packets that have arrived at the receiver's copy to the counters of this one, and removes them there.
    pub(crate) fn collect_arrivals(&mut self, receiver: &mut Self) {
        self.arrived_packets += receiver.arrived_packets;
        self.arrived_bytes += receiver.arrived_bytes;
        (receiver.arrived_packets, receiver.arrived_bytes) = (0, 0);
        self.extras.dropped.loss += core::mem::take(&mut receiver.extras.dropped.loss);
    }
}
