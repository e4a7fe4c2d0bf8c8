//! Processing of a SACK or NR-SACK (RFC 9260, section 6.2.1), and what it changes of each destination: RTT, window, error
//! count and T3-rtx (sections 6.3, 7.2 and 8.2).

use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{GAP_BLOCK_LENGTH, GapBlock, SackChunk};

use super::Association;
use super::gap_blocks::Bounds;
use super::outbound::{Acknowledging, Outbound, SentChunk};
use super::violation::Violation;
use crate::tcp::Closed;

impl Association {
    /// The data to send, with what an acknowledgment changes beside it.
    fn acknowledging(&mut self, now: Instant) -> (&mut Outbound, Acknowledging<'_>) {
        let Self { outbound, config, destinations, newly_acked: newly, counters, .. } = self;
        (outbound, Acknowledging { config, destinations, newly, counters, now })
    }

    /// A SACK came from the destination `from`.
    pub(super) fn on_sack(&mut self, sack: &SackChunk, non_renegable: &[GapBlock], from: usize, now: Instant) {
        if self.peer.tag() == 0 || self.phase.is_connecting() {
            return;
        }
        let Some(cumulative) = self.read_cumulative(sack.cumulative_tsn).ok().flatten() else { return };
        self.counters.sacks_received += 1;
        self.peer.window.on_sack();
        self.leave_recovery(cumulative);
        let bounds = Bounds {
            cumulative,
            last_sent: self.outbound.queue.next_tsn() - 1,
            // No more fit in a packet.
            most_blocks: (self.room() / GAP_BLOCK_LENGTH) as usize,
        };
        let (outbound, mut on) = self.acknowledging(now);
        on.newly.begin(cumulative, outbound.queue.cumulative(), on.destinations);
        outbound.acknowledge_up_to(cumulative, &mut on);
        let mut report = core::mem::take(&mut on.destinations[from].report);
        if report.read(bounds, &sack.gaps, non_renegable) {
            on.destinations.iter_mut().for_each(|destination| destination.highest_reported = None);
        }
        let inconsistent = outbound.acknowledge_blocks(&report, &mut on);
        let Some(reneged) = self.take_back_next(now) else { return };
        self.update_destinations(now);
        if !report.is_empty() {
            self.count_misses(&report, sack.data_packets, now);
        }
        self.destinations[from].report = report;
        if inconsistent || reneged {
            self.invalidate_reports();
        }
        self.peer.window.set_offer(sack.a_rwnd);
        self.repeat_refused_probe();
        self.advance_abandoned_point(now);
    }

    /// The window may be open again: the probe of the closed one is sent again where the peer had no room for it.
    fn repeat_refused_probe(&mut self) {
        let queue = &self.outbound.queue;
        let in_flight = |tsn| queue.chunk(tsn).filter(|chunk| chunk.is_in_flight()).map(SentChunk::length);
        if let Some(tsn) = self.peer.window.take_refused_probe(in_flight) {
            self.mark_lost(tsn);
        }
    }

    /// The cumulative TSN of a SHUTDOWN acknowledges, too. `false` where the association has ended with it.
    pub(super) fn acknowledge_up_to(&mut self, wire: u32, now: Instant) -> bool {
        let cumulative = match self.read_cumulative(wire) {
            Ok(Some(cumulative)) => cumulative,
            Ok(None) => return true,
            Err(Violation) => return false,
        };
        self.leave_recovery(cumulative);
        let (outbound, mut on) = self.acknowledging(now);
        on.newly.begin(cumulative, outbound.queue.cumulative(), on.destinations);
        outbound.acknowledge_up_to(cumulative, &mut on);
        let Some(reneged) = self.take_back_next(now) else { return false };
        if reneged {
            self.invalidate_reports();
        }
        self.update_destinations(now);
        true
    }

    /// The cumulative TSN of a SACK or SHUTDOWN; `None` for an old one. One that covers what was never sent ends the
    /// association.
    fn read_cumulative(&mut self, wire: u32) -> Result<Option<u64>, Violation> {
        let cumulative = self.outbound.read_cumulative(wire);
        if let Err(violation) = cumulative {
            self.abort_with(vec![violation.cause()], Closed::Aborted);
        }
        cumulative
    }

    /// Takes back what the cumulative TSN says is missing. Returns whether it did; `None` where that is a violation
    /// that has ended the association.
    fn take_back_next(&mut self, now: Instant) -> Option<bool> {
        let (outbound, mut on) = self.acknowledging(now);
        match outbound.take_back_next(&mut on) {
            Ok(reneged) => Some(reneged),
            Err(violation) => {
                self.abort_with(vec![violation.cause()], Closed::Aborted);
                None
            }
        }
    }

    /// What SACKs report again has to be processed again.
    fn invalidate_reports(&mut self) {
        self.destinations.iter_mut().for_each(|destination| destination.report.invalidate());
    }

    /// Updates estimates, windows, error counts and timers after everything acknowledged is recorded.
    fn update_destinations(&mut self, now: Instant) {
        if self.newly_acked.cumulative_advanced() {
            self.restart_guard(now);
        }
        for index in 0..self.destinations.len() {
            let update = *self.newly_acked.update(index);
            if let Some(rtt) = update.rtt {
                self.on_rtt(index, rtt);
            }
            if update.highest_new.is_some() {
                self.on_answered(index, update.proven);
            }
            if update.bytes > 0 {
                self.grow_window(index, update.bytes, update.flight_before, now);
            }
            let destination = &mut self.destinations[index];
            if destination.flight.bytes() == 0 {
                // Rule R2.
                destination.timer.stop();
                self.congestion.on_all_acknowledged(index);
            } else if update.restart_timer || destination.timer.at().is_none() {
                destination.timer.restart(&self.config, now);
            }
        }
        if self.outbound.awaits_forward() {
            self.keep_timer_running(now);
        }
    }

    /// A new RTT measurement of a destination.
    pub(super) fn on_rtt(&mut self, index: usize, rtt: Duration) {
        let timer = &mut self.destinations[index].timer;
        timer.on_rtt(rtt);
        if let (Some(srtt), Some(min)) = (timer.estimate().srtt(), timer.estimate().min()) {
            self.congestion.set_rtt(index, srtt, min);
        }
        if self.notes.is_some() {
            self.note_rtt(index, rtt);
        }
    }
}
