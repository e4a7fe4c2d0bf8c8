//! T3-rtx (RFC 9260, section 6.3.3).

use subflow_policy::congestion::Timeout;
use subflow_quantity::Instant;

use super::Association;
use super::path_failure::Unanswered;
use crate::Note;

impl Association {
    /// T3 of a destination expired.
    pub(super) fn on_t3(&mut self, index: usize, now: Instant) {
        self.destinations[index].t3 = None;
        if self.destinations[index].flight.bytes() == 0 {
            // Only a FORWARD-TSN waits for an answer.
            if self.outbound.repeat_forward_tsn() {
                self.destinations[index].rto.back_off();
                self.keep_timer_running(now);
                self.on_destination_error(index, Unanswered::Data, now);
            }
            return;
        }
        // A probe of a closed window that the peer answers with SACKs is no sign of failure (section 6.1, rule A).
        let probing =
            self.outbound.queue.in_flight() > self.peer_offer && self.destinations[index].flight.chunks() == 1;
        let probing = probing && core::mem::take(&mut self.probe_answered);
        self.destinations[index].counters.timeouts += 1;
        if self.notes.is_some() {
            self.note(index, Note::Timeout { in_a_row: self.destinations.errors() + 1 });
        }
        self.lower_window(index, now);
        let destination = &mut self.destinations[index];
        destination.restart_rto = self.config.late_back_off.then(|| destination.rto.rto());
        destination.rto.back_off();
        // Rule E3: one packet now, further ones as the window allows.
        self.allow_retransmission_packet(index);
        let tsns: Vec<u64> = self
            .outbound
            .queue
            .iter()
            .filter(|(_, chunk)| chunk.destination() == index && chunk.is_in_flight())
            .map(|(tsn, _)| tsn)
            .collect();
        for tsn in tsns {
            self.mark_lost(tsn);
        }
        self.outbound.queue.lose_copies(index, &mut self.destinations[index].flight);
        if !probing {
            self.on_destination_error(index, Unanswered::Data, now);
        }
        if !self.state.is_closed() {
            self.advance_abandoned_point(now);
        }
    }

    /// Section 7.2.3.
    fn lower_window(&mut self, index: usize, now: Instant) {
        let in_flight = self.destinations[index].flight.amount();
        let timeout = Timeout { now, in_flight, repeated: false };
        self.note_state_changed_by(index, |congestion| congestion.on_timeout(index, &timeout));
        self.end_recovery_by_timeout(index);
    }
}
