//! Links over a WiFi channel: which packets they send as one transmission.
//!
//! The channel decides when a station sends (`wifi/channel.rs`). With its first attempt it takes packets from the backlog
//! of one of its links; they are in the ring from the attempt on that succeeds.

use subflow_quantity::Instant;

use super::aggregate::{Frame, OnAir};
use super::{Link, Transmitter};
use crate::WifiConfig;
use crate::packet_pool::PacketPool;

impl Transmitter {
    /// The packets that have left the backlog and wait for the channel.
    fn waiting(&self) -> impl Iterator<Item = &Frame> {
        let wifi = if let Self::Wifi(wifi) = self { Some(wifi) } else { None };
        wifi.into_iter().flat_map(|wifi| wifi.frames())
    }
}

impl Link {
    /// The configuration, if it is one over a WiFi channel.
    pub(crate) fn wifi(&self) -> Option<&WifiConfig> {
        if let Transmitter::Wifi(wifi) = &self.transmitter { Some(&wifi.config) } else { None }
    }

    /// Whether anything waits for the channel.
    pub(crate) fn has_frames(&self) -> bool {
        self.transmitter.waiting().next().is_some()
            || self.extras.backlog.as_ref().is_some_and(|backlog| !backlog.is_empty())
    }

    /// Whether it has begun an attempt that did not succeed.
    pub(crate) fn repeats(&self) -> bool {
        matches!(&self.transmitter, Transmitter::Wifi(wifi) if !wifi.aggregate.is_empty())
    }

    /// The packets that have left the backlog and wait for the channel, and their bytes with overhead.
    #[inline]
    pub(super) fn waiting_for_channel(&self) -> (u32, u64) {
        if !matches!(self.transmitter, Transmitter::Wifi(_)) {
            return (0, 0);
        }
        let add = |(packets, bytes), frame: &Frame| (packets + 1, bytes + u64::from(self.occupied(frame.parcel)));
        self.transmitter.waiting().fold((0, 0), add)
    }

    /// The sum of the times that they have waited, in nanoseconds.
    pub(super) fn waited_for_channel(&self, now: Instant) -> u128 {
        self.transmitter.waiting().map(|frame| u128::from(now.since(frame.came).as_nanos())).sum()
    }

    /// What it sends at `now`: the same as with the last attempt if that failed. `None` if nothing waits.
    pub(crate) fn begin_attempt(&mut self, now: Instant, packets: &mut PacketPool) -> Option<OnAir> {
        self.catch_up(now);
        if !self.repeats() {
            self.aggregate(now, packets);
        }
        let Transmitter::Wifi(wifi) = &self.transmitter else { return None };
        wifi.on_air(|frame| self.occupied(frame.parcel))
    }

    /// Takes what waits, up to the limits of an aggregate.
    fn aggregate(&mut self, now: Instant, packets: &mut PacketPool) {
        loop {
            let next = if let Transmitter::Wifi(wifi) = &mut self.transmitter { wifi.next.take() } else { None };
            let frame = next.or_else(|| {
                let departed = self.take_from_backlog(now, packets)?;
                Some(Frame { came: departed.came, parcel: departed.packet })
            });
            let Some(frame) = frame else { return };
            let occupied = self.occupied(frame.parcel);
            let Transmitter::Wifi(wifi) = &mut self.transmitter else { return };
            if !wifi.admits(frame, occupied) || wifi.aggregate.len() >= wifi.config.most_frames as usize {
                return;
            }
        }
    }

    /// The attempt that began at `start` succeeds: its packets leave when it ends.
    pub(crate) fn send_aggregate(&mut self, start: Instant, end: Instant, packets: &mut PacketPool) {
        let Transmitter::Wifi(wifi) = &mut self.transmitter else { return };
        wifi.ends = end;
        for Frame { came, parcel } in wifi.take_aggregate() {
            let first = self.restart_if_empty();
            self.schedule(came, start, parcel, first);
            self.report(end, parcel, packets);
        }
        self.times.max_queue = self.times.max_queue.max(self.queued());
    }

    /// The last attempt begins at `now` and fails: its packets are lost.
    pub(crate) fn give_up(&mut self, now: Instant, packets: &mut PacketPool) {
        let Transmitter::Wifi(wifi) = &mut self.transmitter else { return };
        let lost = wifi.take_aggregate();
        self.extras.dropped.loss += lost.len() as u64;
        self.release_frames(now, lost, packets);
    }

    /// Drops what waits for the channel because the link is down.
    pub(super) fn clear_frames(&mut self, now: Instant, packets: &mut PacketPool) {
        let Transmitter::Wifi(wifi) = &mut self.transmitter else { return };
        let dropped: Vec<Frame> = wifi.take_aggregate().into_iter().chain(wifi.next.take()).collect();
        self.extras.dropped.down += dropped.len() as u64;
        self.release_frames(now, dropped, packets);
    }

    fn release_frames(&mut self, now: Instant, frames: Vec<Frame>, packets: &mut PacketPool) {
        for Frame { came, parcel } in frames {
            self.times.count_removed(came, now);
            self.report(now, parcel, packets);
            packets.release(parcel.packet);
        }
    }
}
