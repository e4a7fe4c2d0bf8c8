//! Closing (RFC 9293, section 3.10), and connections in TIME-WAIT whose ends a new SYN opens again (RFC 6191; RFC 9293,
//! section 3.6.1).

use subflow_policy::congestion::Pacer;
use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::sent_queue::SentQueue;
use super::{Closed, Connection, State};

/// How far the next connection's initial sequence number lies above everything that this one has used: a window without
/// scaling, and a little more (Linux `tcp_timewait_state_process`).
const SEQUENCE_GAP: u32 = 65_535 + 2;

impl Connection {
    /// Aborts the connection: a reset is sent.
    pub fn abort(&mut self) {
        if !self.lifecycle.is_closed() {
            self.lifecycle.abort();
            self.stop();
        }
    }

    pub(crate) fn close(&mut self, how: Closed) {
        self.lifecycle.close(how);
        self.stop();
    }

    /// Nothing is acknowledged or sent again any more.
    fn stop(&mut self) {
        self.timer.stop();
        self.acknowledge.on_sent(false);
        self.sent = SentQueue::new();
        (self.pacer, self.delivery_rate) = (Pacer::OFF, None);
    }

    /// This side's FIN was acknowledged.
    pub(super) fn on_fin_acknowledged(&mut self, now: Instant) {
        self.lifecycle.on_fin_acknowledged(now + self.config.time_wait);
        match self.state() {
            State::TimeWait => self.timer.stop(),
            State::Closed(_) => self.stop(),
            _ => {}
        }
    }

    /// The peer's FIN was received in order.
    pub(super) fn on_fin_received(&mut self, now: Instant) {
        self.lifecycle.on_fin_received(now + self.config.time_wait);
        if self.state() == State::TimeWait {
            self.timer.stop();
        }
    }

    /// The peer retransmitted its FIN: it is acknowledged again, and TIME-WAIT restarts.
    pub(super) fn on_fin_again(&mut self, now: Instant) {
        self.request_ack();
        self.lifecycle.restart_time_wait(now + self.config.time_wait);
    }

    /// Whether `syn` may open a new connection between the ends of this one, which is in TIME-WAIT, and the initial
    /// sequence number that the new one has to have then. `None` where `syn` may be an old duplicate, and in every
    /// other state.
    ///
    /// By RFC 6191, section 2, the peer's SYN has to be newer than the last that came from it: by its timestamp, where
    /// both connections have them (`timestamps`: the new one would), else by its sequence number. A SYN with timestamps
    /// after a connection without is new. This side's numbers are then larger than all that it used before (RFC 9293,
    /// section 3.6.1).
    pub(crate) fn reopening_sequence(&self, syn: &TcpSegment, timestamps: bool) -> Option<u32> {
        let is_syn = syn.flags.contains(TcpFlags::SYN)
            && !syn.flags.contains(TcpFlags::ACK)
            && !syn.flags.contains(TcpFlags::RST);
        if self.state() != State::TimeWait || !is_syn {
            return None;
        }
        let last = self.receive.acknowledgment_number().wrapping_sub(1);
        let above = (syn.sequence.wrapping_sub(last) as i32) > 0;
        let theirs = syn.options.timestamps.filter(|_| timestamps).map(|timestamps| timestamps.value);
        let recent = self.negotiated.timestamps.then(|| self.receive.timestamps().to_echo());
        let is_new = match (theirs, recent) {
            (Some(theirs), Some(recent)) if theirs != recent => (theirs.wrapping_sub(recent) as i32) > 0,
            (Some(_), None) => true,
            _ => above,
        };
        is_new.then(|| self.send.next_number().wrapping_add(SEQUENCE_GAP))
    }
}
