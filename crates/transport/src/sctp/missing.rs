//! Counting misses, and fast retransmission (RFC 9260, section 7.2.4), split by destination where data goes to several
//! (SFR and DAC: Iyengar, Amer, Stewart 2006, sections III and IV).

use subflow_quantity::Instant;

use super::Association;
use super::fast_retransmit::FastRetransmit;
use super::gap_blocks::GapReport;
use super::newly_acked::{DestinationUpdate, SackSummary};
use super::outbound::Status;

/// The number of misses after which a chunk is lost.
const FAST_RETRANSMIT_THRESHOLD: u8 = 3;

impl Association {
    /// Counts the misses that a SACK reports below the highest TSN that it newly acknowledges.
    pub(super) fn count_misses(&mut self, report: &GapReport, summary: &SackSummary, now: Instant) {
        let Some(highest_new) = summary.highest_new else { return };
        // In fast recovery a SACK that advances the cumulative TSN counts as a miss for every TSN that it does not
        // report.
        let recovering = (0..self.destinations.len()).any(|index| self.is_recovering(index));
        let whole = summary.cumulative_advanced && recovering;
        let limit = if whole { summary.highest_reported } else { highest_new };
        let (first, limit) = (self.outbound.cumulative() + 1, limit.min(self.outbound.next_tsn()));
        let mut indicated = 0_u64;
        for tsn in report.missing(first, limit) {
            let Some(chunk) = self.outbound.chunk(tsn) else { break };
            if chunk.status != Status::InFlight || chunk.fast != FastRetransmit::Eligible {
                continue;
            }
            let index = chunk.destination;
            let update = self.scratch.updates[index];
            if self.config.split_fast_retransmit && !self.is_passed(index, tsn, &update, summary) {
                continue;
            }
            let weight = self.weight(tsn, summary);
            let Some(chunk) = self.outbound.chunk_mut(tsn) else { break };
            chunk.misses = chunk.misses.saturating_add(weight);
            if chunk.misses >= FAST_RETRANSMIT_THRESHOLD {
                chunk.fast = FastRetransmit::Needed;
                self.mark_lost(tsn);
                indicated |= 1 << index;
            }
        }
        if indicated != 0 {
            self.enter_recovery(indicated, now);
        }
    }

    /// SFR: whether a TSN sent later to the same destination is acknowledged, so that the destination is not merely
    /// slower.
    fn is_passed(&self, index: usize, tsn: u64, update: &DestinationUpdate, summary: &SackSummary) -> bool {
        let recovering = summary.cumulative_advanced && self.is_recovering(index);
        let reported = self.destinations[index].highest_reported;
        let highest = if recovering { reported.max(update.highest_new) } else { update.highest_new };
        highest.is_some_and(|highest| highest > tsn)
    }

    /// The number of misses that a SACK counts for. A delayed SACK acknowledges several packets; they count only if all
    /// that it newly acknowledges was sent to one destination and lies beyond the chunk.
    fn weight(&self, tsn: u64, summary: &SackSummary) -> u8 {
        if !self.config.delayed_ack_cmt || summary.data_packets <= 1 {
            return 1;
        }
        let destinations = self.scratch.updates.iter().filter(|update| update.highest_new.is_some()).count();
        let beyond = summary.lowest_new.is_some_and(|lowest| lowest > tsn);
        if destinations == 1 && beyond { summary.data_packets } else { 1 }
    }

    /// Removes a chunk from the data in flight, for retransmission.
    pub(super) fn mark_lost(&mut self, tsn: u64) {
        if self.notes.is_some() {
            self.note_lost(tsn);
        }
        let Some(chunk) = self.outbound.chunk_mut(tsn) else { return };
        if chunk.status != Status::InFlight {
            return;
        }
        let (length, index, timed) = (chunk.length(), chunk.destination, chunk.timed);
        (chunk.misses, chunk.timed) = (0, false);
        let destination = &mut self.destinations[index];
        destination.remove_in_flight(length);
        destination.timing &= !timed;
        destination.counters.chunks_lost += 1;
        if chunk.copies != 0 {
            // A copy is still in flight: it replaces the original.
            chunk.destination = chunk.copies.trailing_zeros() as usize;
            chunk.copies &= chunk.copies - 1;
            return;
        }
        // Section 6.2.1, C: its space in the peer's buffer is free again.
        self.outbound.lose(tsn);
    }
}
