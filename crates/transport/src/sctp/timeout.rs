//! T3-rtx (RFC 9260, section 6.3.3).

use subflow_policy::congestion::Timeout;
use subflow_quantity::Instant;

use super::Association;
use super::outbound::Status;
use super::path_failure::Unanswered;
use crate::Note;

impl Association {
    /// T3 of a destination expired.
    pub(super) fn on_t3(&mut self, index: usize, now: Instant) {
        self.destinations[index].t3 = None;
        if self.destinations[index].in_flight == 0 {
            // Only a FORWARD-TSN waits for an answer.
            self.forward_tsn.due = self.forward_is_outstanding();
            if self.forward_tsn.due {
                self.destinations[index].rto.back_off();
                self.keep_timer_running(now);
                self.on_destination_error(index, Unanswered::Data, now);
            }
            return;
        }
        // A probe of a closed window that the peer answers with SACKs is no sign of failure (section 6.1, rule A).
        let probing = self.outbound.in_flight > self.peer_offer && self.destinations[index].chunks_in_flight == 1;
        let probing = probing && core::mem::take(&mut self.probe_answered);
        self.destinations[index].counters.timeouts += 1;
        if self.notes.is_some() {
            self.note(index, Note::Timeout { in_a_row: self.errors + 1 });
        }
        self.lower_window(index, now);
        let destination = &mut self.destinations[index];
        destination.restart_rto = self.config.late_back_off.then(|| destination.rto.rto());
        destination.rto.back_off();
        // Rule E3: one packet now, further ones as the window allows.
        self.allow_retransmission_packet(index);
        let tsns: Vec<u64> = self
            .outbound
            .iter()
            .filter(|(_, chunk)| chunk.destination == index && chunk.status == Status::InFlight)
            .map(|(tsn, _)| tsn)
            .collect();
        for tsn in tsns {
            self.mark_lost(tsn);
        }
        self.lose_copies(index);
        if !probing {
            self.on_destination_error(index, Unanswered::Data, now);
        }
        if !self.state.is_closed() {
            self.advance_abandoned_point(now);
        }
    }

    /// Marks all copies in flight to a destination as lost.
    fn lose_copies(&mut self, index: usize) {
        let destination = &mut self.destinations[index];
        for chunk in self.outbound.chunks_mut().filter(|chunk| chunk.copies >> index & 1 == 1) {
            chunk.copies &= !(1 << index);
            destination.remove_in_flight(chunk.length());
        }
    }

    /// Section 7.2.3.
    fn lower_window(&mut self, index: usize, now: Instant) {
        let in_flight = self.destinations[index].amount_in_flight();
        let timeout = Timeout { now, in_flight, repeated: false };
        self.note_state_changed_by(index, |congestion| congestion.on_timeout(index, &timeout));
        self.end_recovery_by_timeout(index);
    }
}
