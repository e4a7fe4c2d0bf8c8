//! The two ends of an association: SHUTDOWN, after everything has arrived, and ABORT (RFC 9260, section 9).

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
    /// No more will be written: the association ends once everything has arrived.
    pub(crate) fn finish(&mut self) {
        self.stream.finished = true;
    }

    /// Takes back what was written and not begun, and finishes.
    pub(crate) fn stop(&mut self) {
        let dropped = self.messages.discard();
        self.stream.written -= dropped;
        self.finish();
    }

    /// Gives up at once, with an ABORT.
    pub(crate) fn abort(&mut self) {
        self.abort_with(vec![ErrorCause::UserInitiatedAbort(Box::default())], Closed::Aborted);
    }

    /// Ends the association with an ABORT for these reasons. Before the peer's tag is known there is nothing to send.
    pub(super) fn abort_with(&mut self, causes: Vec<ErrorCause>, how: Closed) {
        if self.state.is_closed() {
            return;
        }
        let known = self.remote_tag != 0;
        self.close(how);
        if known {
            self.controls.push_back(Control::to(self.primary, Chunk::Abort { reflected: false, causes }));
        }
    }

    /// Whether everything written has been acknowledged or given up.
    fn all_is_acknowledged(&self) -> bool {
        self.outbound.is_empty() && self.messages.bytes() == 0
    }

    /// Moves towards the end, where this side or the peer wants it and nothing is outstanding (section 9.2).
    pub(super) fn continue_shutdown(&mut self, now: Instant) {
        if self.state == State::Established && self.stream.finished {
            self.state = State::ShutdownPending;
        }
        if !self.all_is_acknowledged() {
            return;
        }
        self.state = match self.state {
            State::ShutdownPending => State::ShutdownSent,
            State::ShutdownReceived => State::ShutdownAckSent,
            _ => return,
        };
        self.report_all_acknowledged();
        self.start_guard(now);
        self.send_shutdown(self.current_destination(), now);
    }

    /// T5-shutdown-guard (section 9.2). The receiver of SHUTDOWN has one, too, which starts anew as long as the peer
    /// takes the rest of the data: one that answers and takes nothing would keep it for ever.
    fn start_guard(&mut self, now: Instant) {
        self.shutdown.t5_at = Some(self.deadline(now, self.config.rto.max * GUARD_IN_RTO_MAX));
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

    /// Sends SHUTDOWN or SHUTDOWN ACK, whichever it is time for, and starts T2.
    fn send_shutdown(&mut self, destination: usize, now: Instant) {
        let chunk = match self.state {
            State::ShutdownSent => self.shutdown_chunk(),
            State::ShutdownAckSent => Chunk::ShutdownAck,
            _ => return,
        };
        self.stop_heartbeats();
        self.controls.push_back(Control::to(destination, chunk));
        self.shutdown.destination = destination;
        self.shutdown.t2_at = Some(self.deadline(now, self.destinations[destination].rto.rto()));
    }

    fn shutdown_chunk(&self) -> Chunk {
        Chunk::Shutdown { cumulative_tsn: self.remote_tsns.wire(self.arrivals.cumulative()) }
    }

    /// T2 expired.
    pub(super) fn on_shutdown_timeout(&mut self, now: Instant) {
        self.shutdown.t2_at = None;
        self.destinations[self.shutdown.destination].rto.back_off();
        self.on_destination_error(self.shutdown.destination, Unanswered::Data, now);
        if !self.state.is_closed() {
            self.send_shutdown(self.current_destination(), now);
        }
    }

    /// In SHUTDOWN-SENT each packet with data is answered with a SACK and a SHUTDOWN at once (section 9.2), where it
    /// came from (section 6.4): T2 starts anew each time, so a path that is dead would never be found out.
    pub(super) fn on_data_after_shutdown(&mut self, now: Instant) {
        self.sack.now();
        self.send_shutdown(self.sack.destination(), now);
    }

    /// The peer has got everything acknowledged and will send no more.
    pub(super) fn on_shutdown(&mut self, cumulative_wire: u32, now: Instant) {
        match self.state {
            State::Established | State::ShutdownPending => {
                if !self.acknowledge_up_to(cumulative_wire, now) {
                    return;
                }
                self.state = State::ShutdownReceived;
                self.start_guard(now);
                // What was written and not sent still goes out; no more is taken.
                self.stream.finished = true;
                self.stream.emit(Event::PeerFinished);
                self.continue_shutdown(now);
            }
            State::ShutdownReceived => {
                self.acknowledge_up_to(cumulative_wire, now);
            }
            // Both sides at once.
            State::ShutdownSent => {
                self.stream.emit(Event::PeerFinished);
                self.state = State::ShutdownAckSent;
                self.send_shutdown(self.current_destination(), now);
            }
            State::ShutdownAckSent => self.send_shutdown(self.current_destination(), now),
            _ => {}
        }
    }

    /// The peer has nothing outstanding either.
    pub(super) fn on_shutdown_ack(&mut self, origin: Origin) {
        match self.state {
            State::ShutdownSent | State::ShutdownAckSent => {
                if self.state == State::ShutdownSent {
                    self.stream.emit(Event::PeerFinished);
                }
                self.close(Closed::Gracefully);
                let destination = origin.destination.unwrap_or(self.primary);
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
