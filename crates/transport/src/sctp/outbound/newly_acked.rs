//! What one SACK newly acknowledges, by destination.

use subflow_quantity::{Duration, Instant};

use super::sent_chunk::SentChunk;
use crate::sctp::destinations::Destinations;

/// The effect of a SACK on one destination.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::sctp) struct DestinationUpdate {
    /// Bytes newly acknowledged that were in flight there.
    pub(in crate::sctp) bytes: u64,
    /// Something sent there last is newly acknowledged, and the highest TSN of it.
    pub(in crate::sctp) highest_new: Option<u64>,
    /// Something newly acknowledged proves that it works.
    pub(in crate::sctp) proven: bool,
    /// The earliest of its outstanding TSNs is acknowledged: T3 starts anew.
    pub(in crate::sctp) restart_timer: bool,
    /// In flight before the SACK.
    pub(in crate::sctp) flight_before: u64,
    pub(in crate::sctp) rtt: Option<Duration>,
    /// Something sent there earlier is still missing.
    pub(super) hole: bool,
}

/// The effect of a SACK, or of the cumulative TSN of a SHUTDOWN. Its memory is kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(in crate::sctp) struct NewlyAcked {
    pub(super) updates: Vec<DestinationUpdate>,
    cumulative_advanced: bool,
    lowest: Option<u64>,
    highest: Option<u64>,
    highest_reported: u64,
}

impl NewlyAcked {
    /// A SACK is at hand; `cumulative` is its cumulative TSN, and `before` that of the latest one before.
    pub(in crate::sctp) fn begin(&mut self, cumulative: u64, before: u64, destinations: &mut Destinations) {
        self.updates.clear();
        for destination in destinations.iter_mut() {
            destination.cuc.begin_sack();
            let flight_before = destination.flight.bytes();
            self.updates.push(DestinationUpdate { flight_before, ..DestinationUpdate::default() });
        }
        self.cumulative_advanced = cumulative > before;
        (self.lowest, self.highest, self.highest_reported) = (None, None, cumulative);
    }

    /// A chunk is acknowledged for the first time, and still has its old status; `proven`: that proves that its
    /// destination works.
    #[inline]
    pub(super) fn record(&mut self, tsn: u64, chunk: &SentChunk, proven: bool, now: Instant) {
        let update = &mut self.updates[chunk.destination()];
        if let Some(rtt) = chunk.rtt(now) {
            update.rtt = Some(rtt);
        }
        update.highest_new = update.highest_new.max(Some(tsn));
        update.proven |= proven;
        self.lowest = Some(self.lowest.map_or(tsn, |lowest| lowest.min(tsn)));
        self.highest = self.highest.max(Some(tsn));
    }

    /// Gap blocks report TSNs up to `end`.
    pub(super) fn on_blocks(&mut self, end: u64) {
        self.highest_reported = self.highest_reported.max(end);
    }

    #[inline]
    pub(in crate::sctp) fn update(&self, destination: usize) -> &DestinationUpdate {
        &self.updates[destination]
    }

    #[inline]
    pub(in crate::sctp) fn cumulative_advanced(&self) -> bool {
        self.cumulative_advanced
    }

    /// The lowest TSN newly acknowledged.
    pub(in crate::sctp) fn lowest(&self) -> Option<u64> {
        self.lowest
    }

    /// The highest TSN newly acknowledged.
    #[inline]
    pub(in crate::sctp) fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// The highest TSN that the SACK reports.
    pub(in crate::sctp) fn highest_reported(&self) -> u64 {
        self.highest_reported
    }

    /// The number of destinations of what is newly acknowledged.
    pub(in crate::sctp) fn destinations(&self) -> usize {
        self.updates.iter().filter(|update| update.highest_new.is_some()).count()
    }
}
