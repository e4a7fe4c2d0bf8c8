//! The end of an association: SHUTDOWN after all data has arrived, or ABORT (RFC 9260, section 9).

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, ErrorCause};

use super::Association;
use super::input::Origin;
use super::path_failure::Unanswered;
use super::phase::{Guard, Phase, Shutdown};
use crate::Event;
use crate::tcp::Closed;

impl Association {
    /// The application writes no more data: the association ends after everything has arrived.
    pub(crate) fn finish(&mut self) {
        self.stream.finished = true;
    }

    /// Drops messages of which nothing was sent, and closes the association.
    pub(crate) fn stop(&mut self) {
        let dropped = self.outbound.discard();
        self.stream.written -= dropped;
        self.finish();
    }

    /// Aborts the association at once, with an ABORT.
    pub(crate) fn abort(&mut self) {
        self.abort_with(vec![ErrorCause::UserInitiatedAbort(Box::default())], Closed::Aborted);
    }

    /// Ends the association with an ABORT for these causes. It is not sent before the peer's tag is known.
    pub(super) fn abort_with(&mut self, causes: Vec<ErrorCause>, how: Closed) {
        if self.phase.is_closed() {
            return;
        }
        let known = self.peer.tag() != 0;
        self.close(how);
        if known {
            self.control.push(self.destinations.primary(), Chunk::Abort { reflected: false, causes });
        }
    }

    /// Advances the shutdown, if this side or the peer has begun it and nothing is outstanding (section 9.2).
    pub(super) fn continue_shutdown(&mut self, now: Instant) {
        if self.stream.finished && matches!(self.phase, Phase::Established) {
            self.phase = Phase::ShutdownPending;
        }
        if !self.outbound.is_all_acknowledged() {
            return;
        }
        let (next, guard): (fn(Shutdown) -> Phase, _) = match self.phase {
            Phase::ShutdownPending => (Phase::ShutdownSent, Some(Guard::t5(&self.config, now))),
            // A SHUTDOWN ACK without answer is bounded by Association.Max.Retrans alone.
            Phase::ShutdownReceived { .. } => (Phase::ShutdownAckSent, None),
            _ => return,
        };
        self.stream.emit(Event::Acknowledged);
        self.begin_shutdown(next, guard, now);
    }

    /// The peer's cumulative TSN has advanced.
    pub(super) fn restart_guard(&mut self, now: Instant) {
        if let Phase::ShutdownReceived { guard } = &mut self.phase {
            *guard = Guard::of_receiver(&self.config, now);
        }
    }

    /// The phase in which SHUTDOWN or SHUTDOWN ACK was sent begins.
    fn begin_shutdown(&mut self, next: fn(Shutdown) -> Phase, guard: Option<Guard>, now: Instant) {
        let destination = self.destinations.current();
        self.phase = next(Shutdown::new(guard, destination, self.t2(destination, now)));
        self.send_shutdown(destination);
    }

    /// SHUTDOWN or SHUTDOWN ACK, whichever was sent, is sent again.
    fn repeat_shutdown(&mut self, destination: usize, now: Instant) {
        let t2_at = self.t2(destination, now);
        if let Some(shutdown) = self.phase.shutdown_mut() {
            shutdown.repeat(destination, t2_at);
            self.send_shutdown(destination);
        }
    }

    /// When T2 expires that starts with a chunk to a destination.
    fn t2(&self, destination: usize, now: Instant) -> Instant {
        self.config.deadline(now, self.destinations[destination].timer.rto())
    }

    fn send_shutdown(&mut self, destination: usize) {
        let chunk = match self.phase {
            Phase::ShutdownSent(_) => Chunk::Shutdown { cumulative_tsn: self.inbound.cumulative_tsn() },
            _ => Chunk::ShutdownAck,
        };
        self.stop_heartbeats();
        self.control.push(destination, chunk);
    }

    /// T2 expired.
    pub(super) fn on_shutdown_timeout(&mut self, now: Instant) {
        let Some(destination) = self.phase.shutdown_mut().map(|shutdown| shutdown.destination()) else { return };
        self.destinations[destination].timer.back_off();
        self.on_destination_error(destination, Unanswered::Data, now);
        self.repeat_shutdown(self.destinations.current(), now);
    }

    /// In SHUTDOWN-SENT each packet with data is answered at once with a SACK and a SHUTDOWN (section 9.2), to its
    /// source address (section 6.4): T2 restarts each time, so a failed path would not be detected otherwise.
    pub(super) fn on_data_after_shutdown(&mut self, now: Instant) {
        self.inbound.acknowledge_now();
        self.repeat_shutdown(self.inbound.sack_destination(), now);
    }

    /// The peer has received everything and will send no more data.
    pub(super) fn on_shutdown(&mut self, cumulative_wire: u32, now: Instant) {
        match self.phase {
            Phase::Established | Phase::ShutdownPending => {
                if !self.acknowledge_up_to(cumulative_wire, now) {
                    return;
                }
                self.phase = Phase::ShutdownReceived { guard: Guard::of_receiver(&self.config, now) };
                // Data written before is still sent; no more is accepted.
                self.stream.finished = true;
                self.stream.emit(Event::PeerFinished);
                self.continue_shutdown(now);
            }
            Phase::ShutdownReceived { .. } => {
                self.acknowledge_up_to(cumulative_wire, now);
            }
            // Both sides have sent SHUTDOWN.
            Phase::ShutdownSent(shutdown) => {
                self.stream.emit(Event::PeerFinished);
                self.begin_shutdown(Phase::ShutdownAckSent, shutdown.guard(), now);
            }
            Phase::ShutdownAckSent(_) => self.repeat_shutdown(self.destinations.current(), now),
            _ => {}
        }
    }

    /// The peer has no outstanding data either.
    pub(super) fn on_shutdown_ack(&mut self, origin: Origin) {
        match self.phase {
            Phase::ShutdownSent(_) => self.stream.emit(Event::PeerFinished),
            Phase::ShutdownAckSent(_) => {}
            _ => return,
        }
        self.close(Closed::Gracefully);
        let destination = origin.destination.unwrap_or(self.destinations.primary());
        self.control.push(destination, Chunk::ShutdownComplete { reflected: false });
    }

    pub(super) fn on_shutdown_complete(&mut self) {
        if matches!(self.phase, Phase::ShutdownAckSent(_)) {
            self.close(Closed::Gracefully);
        }
    }
}
