//! What has left on a link on which a radio sends.
//!
//! The packets on the link are in the order of their departure. Those that are counted for the radio are the first ones.

use subflow_quantity::Instant;

use super::Link;

impl Link {
    /// A radio sends on the link.
    pub(crate) fn place_radio(&mut self) {
        self.extras.counted_for_radio = Some(0);
        self.plain = false;
    }

    /// Whether that is so.
    pub(crate) fn has_radio(&self) -> bool {
        self.extras.counted_for_radio.is_some()
    }

    /// The packets that have left by `now` and are not counted yet: when they left, and their IP bytes.
    pub(crate) fn left_by(&self, now: Instant) -> impl Iterator<Item = (Instant, u64)> {
        let first = self.delivered.wrapping_add(self.extras.counted_for_radio.unwrap_or(0));
        let others = 0..self.ring.tail().wrapping_sub(first);
        let packets = others.map(move |offset| self.ring.at(first.wrapping_add(offset)));
        packets
            .take_while(move |packet| packet.departure <= now)
            .map(|packet| (packet.departure, packet.parcel.size.into()))
    }

    /// They are counted now.
    pub(crate) fn count_left(&mut self, now: Instant) {
        let left = self.left_by(now).count() as u32;
        self.extras.counted_for_radio.iter_mut().for_each(|counted| *counted += left);
    }

    /// The first packet, which was counted, has arrived.
    pub(crate) fn forget_counted(&mut self) {
        self.extras.counted_for_radio.iter_mut().for_each(|counted| *counted -= 1);
    }
}
