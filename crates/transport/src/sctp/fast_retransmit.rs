//! Counting misses, and fast retransmission (RFC 9260, section 7.2.4), split by destination where data goes to several
//! (SFR and DAC: Iyengar, Amer, Stewart 2006, sections III and IV).

use subflow_quantity::Instant;

use super::Association;
use super::gap_blocks::GapReport;
use super::outbound::FastRetransmit;

impl Association {
    /// Counts the misses that a SACK reports below the highest TSN that it newly acknowledges. `data_packets` is the
    /// number of packets with data that it stands for, where the receiver counts them (DAC).
    pub(super) fn count_misses(&mut self, report: &GapReport, data_packets: u8, now: Instant) {
        let Some(highest_new) = self.newly_acked.highest() else { return };
        // In fast recovery a SACK that advances the cumulative TSN counts as a miss for every TSN that it does not
        // report.
        let recovering = (0..self.destinations.len()).any(|index| self.is_recovering(index));
        let whole = self.newly_acked.cumulative_advanced() && recovering;
        let limit = if whole { self.newly_acked.highest_reported() } else { highest_new };
        let (first, limit) = (self.outbound.queue.cumulative() + 1, limit.min(self.outbound.queue.next_tsn()));
        let mut indicated = 0_u64;
        for tsn in report.missing(first, limit) {
            let Some(chunk) = self.outbound.queue.chunk(tsn) else { break };
            if !chunk.is_in_flight() || chunk.fast() != FastRetransmit::Eligible {
                continue;
            }
            let index = chunk.destination();
            if self.config.split_fast_retransmit && !self.is_passed(index, tsn) {
                continue;
            }
            if self.outbound.queue.miss(tsn, self.weight(tsn, data_packets)) {
                self.mark_lost(tsn);
                indicated |= 1 << index;
            }
        }
        if indicated != 0 {
            for index in (0..self.destinations.len()).filter(|index| indicated >> index & 1 == 1) {
                self.destinations[index].counters.fast_retransmits += 1;
            }
            self.enter_recovery(indicated, now);
        }
    }

    /// SFR: whether a TSN sent later to the same destination is acknowledged, so that the destination is not merely
    /// slower.
    fn is_passed(&self, index: usize, tsn: u64) -> bool {
        let highest_new = self.newly_acked.update(index).highest_new;
        let recovering = self.newly_acked.cumulative_advanced() && self.is_recovering(index);
        let reported = self.destinations[index].highest_reported;
        let highest = if recovering { reported.max(highest_new) } else { highest_new };
        highest.is_some_and(|highest| highest > tsn)
    }

    /// The number of misses that a SACK counts for. A delayed SACK acknowledges several packets; they count only if all
    /// that it newly acknowledges was sent to one destination and lies beyond the chunk.
    fn weight(&self, tsn: u64, data_packets: u8) -> u8 {
        if !self.config.delayed_ack_cmt || data_packets <= 1 {
            return 1;
        }
        let beyond = self.newly_acked.lowest().is_some_and(|lowest| lowest > tsn);
        if self.newly_acked.destinations() == 1 && beyond { data_packets } else { 1 }
    }

    /// Removes a chunk from the data in flight, for retransmission.
    pub(super) fn mark_lost(&mut self, tsn: u64) {
        if self.notes.is_some() {
            self.note_lost(tsn);
        }
        self.outbound.queue.lose(tsn, &mut self.destinations);
    }
}
