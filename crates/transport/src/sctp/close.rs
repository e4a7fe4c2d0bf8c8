//! The end of an association: SHUTDOWN after all data has arrived, or ABORT (RFC 9260, section 9).

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, ErrorCause};

use super::input::Origin;
use super::output::Control;
use super::path_failure::Unanswered;
use super::{Association, State};
use crate::Event;
use crate::tcp::Closed;

/// T5-shutdown-guard, in units of RTO.Max (section 9.2).
const GUARD_IN_RTO_MAX: u64 = 5;

/// SHUTDOWN's timers, and what is known about its progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    /// When T2-shutdown expires, where it runs: SHUTDOWN or SHUTDOWN ACK is sent again.
    pub(super) t2_at: Option<Instant>,
    /// The destination that it was sent to last.
    destination: usize,
    /// When T5-shutdown-guard expires, where it runs.
    pub(super) t5_at: Option<Instant>,
    /// Whether [`Event::Acknowledged`] was emitted.
    acknowledged_reported: bool,
}

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
        if self.state.is_closed() {
            return;
        }
        let known = self.remote_tag != 0;
        self.close(how);
        if known {
            self.controls
                .push_back(Control::to(self.destinations.primary(), Chunk::Abort { reflected: false, causes }));
        }
    }

    /// Advances the shutdown, if this side or the peer has begun it and nothing is outstanding (section 9.2).
    pub(super) fn continue_shutdown(&mut self, now: Instant) {
        if self.state == State::Established && self.stream.finished {
            self.state = State::ShutdownPending;
        }
        if !self.outbound.is_all_acknowledged() {
            return;
        }
        self.state = match self.state {
            State::ShutdownPending => State::ShutdownSent,
            State::ShutdownReceived => State::ShutdownAckSent,
            _ => return,
        };
        self.report_all_acknowledged();
        self.start_guard(now);
        self.send_shutdown(self.destinations.current(), now);
    }

    /// T5-shutdown-guard (section 9.2). The receiver of SHUTDOWN has one, too, which restarts while the peer accepts
    /// the outstanding data: a peer that answers and accepts nothing would otherwise keep the association for ever.
    fn start_guard(&mut self, now: Instant) {
        self.shutdown.t5_at = Some(self.config.deadline(now, self.config.rto.max * GUARD_IN_RTO_MAX));
    }

    /// The peer's cumulative TSN has advanced.
    pub(super) fn restart_guard(&mut self, now: Instant) {
        if self.state == State::ShutdownReceived {
            self.start_guard(now);
        }
    }

    fn report_all_acknowledged(&mut self) {
        if !self.shutdown.acknowledged_reported {
            self.shutdown.acknowledged_reported = true;
            self.stream.emit(Event::Acknowledged);
        }
    }

    /// Sends SHUTDOWN or SHUTDOWN ACK, depending on the state, and starts T2.
    fn send_shutdown(&mut self, destination: usize, now: Instant) {
        let chunk = match self.state {
            State::ShutdownSent => self.shutdown_chunk(),
            State::ShutdownAckSent => Chunk::ShutdownAck,
            _ => return,
        };
        self.stop_heartbeats();
        self.controls.push_back(Control::to(destination, chunk));
        self.shutdown.destination = destination;
        self.shutdown.t2_at = Some(self.config.deadline(now, self.destinations[destination].timer.rto()));
    }

    fn shutdown_chunk(&self) -> Chunk {
        Chunk::Shutdown { cumulative_tsn: self.inbound.cumulative_tsn() }
    }

    /// T2 expired.
    pub(super) fn on_shutdown_timeout(&mut self, now: Instant) {
        self.shutdown.t2_at = None;
        self.destinations[self.shutdown.destination].timer.back_off();
        self.on_destination_error(self.shutdown.destination, Unanswered::Data, now);
        if !self.state.is_closed() {
            self.send_shutdown(self.destinations.current(), now);
        }
    }

    /// In SHUTDOWN-SENT each packet with data is answered at once with a SACK and a SHUTDOWN (section 9.2), to its
    /// source address (section 6.4): T2 restarts each time, so a failed path would not be detected otherwise.
    pub(super) fn on_data_after_shutdown(&mut self, now: Instant) {
        self.inbound.acknowledge_now();
        self.send_shutdown(self.inbound.sack_destination(), now);
    }

    /// The peer has received everything and will send no more data.
    pub(super) fn on_shutdown(&mut self, cumulative_wire: u32, now: Instant) {
        match self.state {
            State::Established | State::ShutdownPending => {
                if !self.acknowledge_up_to(cumulative_wire, now) {
                    return;
                }
                self.state = State::ShutdownReceived;
                self.start_guard(now);
                // Data written before is still sent; no more is accepted.
                self.stream.finished = true;
                self.stream.emit(Event::PeerFinished);
                self.continue_shutdown(now);
            }
            State::ShutdownReceived => {
                self.acknowledge_up_to(cumulative_wire, now);
            }
            // Both sides have sent SHUTDOWN.
            State::ShutdownSent => {
                self.stream.emit(Event::PeerFinished);
                self.state = State::ShutdownAckSent;
                self.send_shutdown(self.destinations.current(), now);
            }
            State::ShutdownAckSent => self.send_shutdown(self.destinations.current(), now),
            _ => {}
        }
    }

    /// The peer has no outstanding data either.
    pub(super) fn on_shutdown_ack(&mut self, origin: Origin) {
        match self.state {
            State::ShutdownSent | State::ShutdownAckSent => {
                if self.state == State::ShutdownSent {
                    self.stream.emit(Event::PeerFinished);
                }
                self.close(Closed::Gracefully);
                let destination = origin.destination.unwrap_or(self.destinations.primary());
                self.controls.push_back(Control::to(destination, Chunk::ShutdownComplete { reflected: false }));
            }
            _ => {}
        }
    }

    pub(super) fn on_shutdown_complete(&mut self) {
        if self.state == State::ShutdownAckSent {
            self.close(Closed::Gracefully);
        }
    }
}
