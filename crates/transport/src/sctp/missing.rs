//! Counting misses, and fast retransmission (RFC 9260, section 7.2.4), split by destination where data goes to several
//! (SFR and DAC: Iyengar, Amer, Stewart 2006, sections III and IV).

use subflow_quantity::Instant;

use super::Association;
use super::fast_retransmit::FastRetransmit;
use super::gap_blocks::GapReport;
use super::newly_acked::{DestinationUpdate, SackSummary};
use super::outbound::Status;

/// Misses that make a chunk lost.
const FAST_RETRANSMIT_THRESHOLD: u8 = 3;

impl Association {
    /// Goes over what a SACK shows missing below the highest TSN that it newly acknowledges.
    pub(super) fn count_misses(&mut self, report: &GapReport, summary: &SackSummary, now: Instant) {
        let Some(highest_new) = summary.highest_new else { return };
        // In fast recovery a SACK that advances shows everything missing that it does not name.
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

    /// SFR: whether something sent later to the same destination is acknowledged, so that it is not just slower.
    fn is_passed(&self, index: usize, tsn: u64, update: &DestinationUpdate, summary: &SackSummary) -> bool {
        let recovering = summary.cumulative_advanced && self.is_recovering(index);
        let reported = self.destinations[index].highest_reported;
        let highest = if recovering { reported.max(update.highest_new) } else { update.highest_new };
        highest.is_some_and(|highest| highest > tsn)
    }

    /// By how much a SACK raises the count. One that the receiver delayed stands for several packets; that is certain
    /// only where all that it newly acknowledges went to one destination and lies beyond the chunk.
    fn weight(&self, tsn: u64, summary: &SackSummary) -> u8 {
        if !self.config.delayed_ack_cmt || summary.data_packets <= 1 {
            return 1;
        }
        let destinations = self.scratch.updates.iter().filter(|update| update.highest_new.is_some()).count();
        let beyond = summary.lowest_new.is_some_and(|lowest| lowest > tsn);
        if destinations == 1 && beyond { summary.data_packets } else { 1 }
    }

    /// Takes a chunk out of flight, to be sent again.
    pub(super) fn mark_lost(&mut self, tsn: u64) {
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
            // A copy is still on its way: it takes the original's place.
            chunk.destination = chunk.copies.trailing_zeros() as usize;
            chunk.copies &= chunk.copies - 1;
            return;
        }
        // Section 6.2.1, C: its room in the peer's buffer is free again.
        self.outbound.lose(tsn);
    }
}
