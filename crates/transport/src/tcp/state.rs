//! Connection states, closing transitions (RFC 9293, sections 3.3.2 and 3.10), and connections in TIME-WAIT whose ends
//! a new SYN opens again (RFC 6191; RFC 9293, section 3.6.1).

use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::send_queue::Reset;
use super::{Connection, sequence};

/// How far the next connection's initial sequence number lies above everything that this one has used: a window without
/// scaling, and a little more (Linux `tcp_timewait_state_process`).
const SEQUENCE_GAP: u32 = 65_535 + 2;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Both sides sent a FIN, and all data was acknowledged.
    Gracefully,
    /// The peer sent a reset.
    Reset,
    /// The peer refused the SYN with a reset.
    Refused,
    /// The maximum number of retransmissions was reached.
    TimedOut,
    /// This side aborted.
    Aborted,
}

/// TCP states. LISTEN is a state of the host, which creates a connection for each SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data can be transferred in both directions.
    Established,
    /// This side sent its FIN.
    FinWait1,
    /// This side's FIN was acknowledged.
    FinWait2,
    /// The peer sent its FIN.
    CloseWait,
    /// Both sent a FIN, neither was acknowledged.
    Closing,
    /// The peer closed first; this side's FIN was sent and is not acknowledged.
    LastAck,
    /// Both sides have closed; old segments may still arrive.
    TimeWait,
    /// The connection is closed.
    Closed(Closed),
}

impl State {
    /// Whether the handshake is complete and the connection not closed.
    pub fn is_synchronised(self) -> bool {
        !matches!(self, Self::SynSent | Self::SynReceived | Self::Closed(_))
    }

    /// Whether the connection is closed.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// Whether this side may still send new data.
    pub fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait)
    }
}

impl Connection {
    /// Aborts the connection: a reset is sent.
    pub fn abort(&mut self) {
        if !self.state.is_closed() {
            let silent = matches!(self.state, State::SynSent | State::TimeWait);
            self.queue.reset = (!silent).then_some(Reset::Abort);
            self.close(Closed::Aborted);
        }
    }

    pub(crate) fn close(&mut self, how: Closed) {
        self.state = State::Closed(how);
        self.timer = None;
        self.close_timer = None;
        self.acknowledge.on_sent(false);
        self.sent = super::SentQueue::new();
    }

    /// This side's FIN was sent.
    pub(crate) fn on_fin_sent(&mut self) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    /// This side's FIN was acknowledged.
    pub(crate) fn on_fin_acknowledged(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.close(Closed::Gracefully),
            _ => {}
        }
    }

    /// The peer's FIN was received in order.
    pub(crate) fn on_fin_received(&mut self, now: Instant) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// The peer retransmitted its FIN: it is acknowledged again, and TIME-WAIT restarts.
    pub(crate) fn on_fin_again(&mut self, now: Instant) {
        self.request_ack();
        if self.state == State::TimeWait {
            self.enter_time_wait(now);
        }
    }

    fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.timer = None;
        self.close_timer = Some(now + self.config.time_wait);
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
        if self.state != State::TimeWait || !is_syn {
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
        is_new.then(|| sequence::wrap(self.send.nxt, self.send.initial).wrapping_add(SEQUENCE_GAP))
    }
}
