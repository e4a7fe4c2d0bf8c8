//! What a SACK newly acknowledges: bytes in flight, RTT samples, windows, error counts and T3-rtx of each destination
//! (RFC 9260, sections 6.3, 7.2 and 8.2).

use subflow_quantity::{Duration, Instant};

use super::Association;
use super::outbound::{SentChunk, Status};

/// The effect of one SACK on one destination.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DestinationUpdate {
    /// Bytes newly acknowledged that were in flight there.
    pub(super) bytes: u64,
    /// Something sent there last is newly acknowledged, and the highest TSN of it.
    pub(super) highest_new: Option<u64>,
    /// Something newly acknowledged proves that it works.
    proven: bool,
    /// The earliest of its outstanding TSNs is acknowledged: T3 starts anew.
    pub(super) restart_timer: bool,
    /// Something sent there earlier is still missing.
    pub(super) hole: bool,
    /// In flight before the SACK.
    pub(super) flight_before: u64,
    rtt: Option<Duration>,
}

/// Memory for one SACK at a time, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackScratch {
    pub(super) updates: Vec<DestinationUpdate>,
}

/// The effect of one SACK on the association.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackSummary {
    pub(super) cumulative_advanced: bool,
    /// The lowest and highest TSN newly acknowledged.
    pub(super) lowest_new: Option<u64>,
    pub(super) highest_new: Option<u64>,
    /// The highest TSN that it reports.
    pub(super) highest_reported: u64,
    /// Packets with data that it stands for, where the receiver counts them (DAC).
    pub(super) data_packets: u8,
}

impl SackSummary {
    fn note(&mut self, tsn: u64) {
        self.lowest_new = Some(self.lowest_new.map_or(tsn, |lowest| lowest.min(tsn)));
        self.highest_new = Some(self.highest_new.map_or(tsn, |highest| highest.max(tsn)));
    }
}

impl Association {
    pub(super) fn begin_sack(&mut self) {
        self.scratch.updates.clear();
        for destination in &mut self.destinations {
            destination.cuc.begin_sack();
            self.scratch
                .updates
                .push(DestinationUpdate { flight_before: destination.in_flight, ..DestinationUpdate::default() });
        }
    }

    /// Records a chunk that is acknowledged for the first time and still has its old status.
    pub(super) fn note_newly_acked(&mut self, tsn: u64, chunk: &SentChunk, summary: &mut SackSummary, now: Instant) {
        let proof = self.proves_reachability(chunk);
        let (length, destination) = (chunk.length(), &mut self.destinations[chunk.destination]);
        let update = &mut self.scratch.updates[chunk.destination];
        match chunk.status {
            Status::InFlight => {
                destination.remove_in_flight(length);
                self.outbound.in_flight -= length;
                update.bytes += length;
                destination.counters.bytes_acknowledged += length;
            }
            // Chunks that T3 or a fast retransmission removed from flight were counted at that time.
            Status::Lost | Status::Assigned => {}
            Status::GapAcked | Status::NonRenegable | Status::Abandoned => return,
        }
        if chunk.timed {
            destination.timing = false;
            if !chunk.is_retransmitted() {
                update.rtt = Some(now.since(chunk.sent_at));
            }
        }
        update.highest_new = Some(update.highest_new.map_or(tsn, |highest| highest.max(tsn)));
        update.proven |= proof;
        summary.note(tsn);
    }

    /// A chunk with copies in flight is acknowledged. It is unknown which of them arrived: all are removed from flight.
    pub(super) fn remove_copies_in_flight(&mut self, chunk: &mut SentChunk) {
        for index in chunk.take_copies() {
            self.destinations[index].remove_in_flight(chunk.length());
            self.scratch.updates[index].bytes += chunk.length();
        }
    }

    /// Updates estimates, windows, error counts and timers after everything acknowledged is recorded.
    pub(super) fn update_destinations(&mut self, summary: &SackSummary, now: Instant) {
        if summary.cumulative_advanced {
            self.restart_guard(now);
        }
        for index in 0..self.destinations.len() {
            let update = self.scratch.updates[index];
            if let Some(rtt) = update.rtt {
                self.on_rtt(index, rtt);
            }
            if update.highest_new.is_some() {
                self.on_answered(index, update.proven);
            }
            if update.bytes > 0 {
                self.grow_window(index, &update, summary, now);
            }
            let rto = self.destinations[index].rto.rto();
            let deadline = self.deadline(now, rto);
            let destination = &mut self.destinations[index];
            if destination.in_flight == 0 {
                // Rule R2.
                destination.t3 = None;
                self.congestion.on_all_acknowledged(index);
            } else if update.restart_timer || destination.t3.is_none() {
                destination.t3 = Some(deadline);
            }
        }
        if self.forward_is_outstanding() {
            self.keep_timer_running(now);
        }
    }

    /// A new RTT measurement of a destination.
    pub(super) fn on_rtt(&mut self, index: usize, rtt: Duration) {
        let estimator = &mut self.destinations[index].rto;
        estimator.sample(rtt);
        if let (Some(srtt), Some(min)) = (estimator.srtt(), estimator.min()) {
            self.congestion.set_rtt(index, srtt, min);
        }
        if self.notes.is_some() {
            self.note_rtt(index, rtt);
        }
    }
}
