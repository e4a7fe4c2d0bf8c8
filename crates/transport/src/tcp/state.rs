//! Connection states (RFC 9293, section 3.3.2), and what exists in one of them only.

use subflow_quantity::Instant;

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

/// Reason for a reset (RFC 9293, section 3.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// This side aborted the connection.
    Abort,
    /// The peer acknowledged this sequence number, which was never sent.
    Refusal(u32),
}

/// The state of a connection. It changes by the transitions of RFC 9293, section 3.3.2, only.
#[derive(Clone, Debug)]
pub(super) struct Lifecycle {
    phase: Phase,
    /// Retransmissions of the SYN or SYN/ACK.
    syn_repeated: u32,
}

/// A [`State`] with its data.
#[derive(Clone, Debug)]
enum Phase {
    SynSent(Opening),
    SynReceived(Opening),
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait { until: Instant },
    Closed { how: Closed, reset: Option<Reset> },
}

/// The handshake, until the peer has acknowledged this side's SYN.
#[derive(Clone, Debug)]
struct Opening {
    /// A SYN or SYN/ACK is to be sent.
    is_syn_due: bool,
    /// When the SYN or SYN/ACK was sent last; `None` if that is unknown.
    sent_at: Option<Instant>,
    refusal: Option<u32>,
}

impl Opening {
    const NEW: Self = Self { is_syn_due: true, sent_at: None, refusal: None };
}

impl Lifecycle {
    /// SYN-SENT; the SYN is to be sent.
    pub(super) fn connecting() -> Self {
        Self { phase: Phase::SynSent(Opening::NEW), syn_repeated: 0 }
    }

    /// SYN-RECEIVED; the SYN/ACK is to be sent.
    pub(super) fn accepting() -> Self {
        Self { phase: Phase::SynReceived(Opening::NEW), syn_repeated: 0 }
    }

    #[inline]
    pub(super) fn state(&self) -> State {
        match self.phase {
            Phase::SynSent(_) => State::SynSent,
            Phase::SynReceived(_) => State::SynReceived,
            Phase::Established => State::Established,
            Phase::FinWait1 => State::FinWait1,
            Phase::FinWait2 => State::FinWait2,
            Phase::CloseWait => State::CloseWait,
            Phase::Closing => State::Closing,
            Phase::LastAck => State::LastAck,
            Phase::TimeWait { .. } => State::TimeWait,
            Phase::Closed { how, .. } => State::Closed(how),
        }
    }

    #[inline]
    pub(super) fn is_synchronised(&self) -> bool {
        !matches!(self.phase, Phase::SynSent(_) | Phase::SynReceived(_) | Phase::Closed { .. })
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    /// Whether this side may still send new data.
    #[inline]
    pub(super) fn may_send(&self) -> bool {
        matches!(self.phase, Phase::Established | Phase::CloseWait)
    }

    /// Whether the peer's FIN was received in order: no data follows.
    #[inline]
    pub(super) fn has_peer_finished(&self) -> bool {
        matches!(self.phase, Phase::CloseWait | Phase::Closing | Phase::LastAck | Phase::TimeWait { .. })
    }

    /// Retransmissions of the SYN or SYN/ACK.
    pub(super) fn syn_repeated(&self) -> u32 {
        self.syn_repeated
    }

    /// The end of TIME-WAIT; [`Instant::MAX`] in other states.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        if let Phase::TimeWait { until } = self.phase { until } else { Instant::MAX }
    }

    fn opening(&mut self) -> Option<&mut Opening> {
        match &mut self.phase {
            Phase::SynSent(opening) | Phase::SynReceived(opening) => Some(opening),
            _ => None,
        }
    }

    /// The SYN or SYN/ACK is to be sent, or sent again. Without effect after the handshake.
    pub(super) fn request_syn(&mut self) {
        if let Some(opening) = self.opening() {
            opening.is_syn_due = true;
        }
    }

    /// The SYN or SYN/ACK is sent now, if it is to be.
    pub(super) fn take_syn(&mut self, now: Instant) -> bool {
        let due = self.opening().filter(|opening| opening.is_syn_due);
        due.is_some_and(|opening| {
            (opening.is_syn_due, opening.sent_at) = (false, Some(now));
            true
        })
    }

    /// The SYN/ACK was sent at an unknown time.
    pub(super) fn on_syn_sent_before(&mut self) {
        if let Some(opening) = self.opening() {
            (opening.is_syn_due, opening.sent_at) = (false, None);
        }
    }

    /// The SYN or SYN/ACK was not answered: it is to be sent again.
    pub(super) fn on_syn_timeout(&mut self) {
        self.syn_repeated += 1;
        self.request_syn();
    }

    /// A SYN arrived in SYN-SENT.
    pub(super) fn on_simultaneous_open(&mut self) {
        if let Phase::SynSent(opening) = &self.phase {
            self.phase = Phase::SynReceived(Opening { is_syn_due: true, ..opening.clone() });
        }
    }

    /// The peer acknowledged this side's SYN. Returns when that was sent, if it was sent once, at a known time.
    pub(super) fn establish(&mut self) -> Option<Instant> {
        let sent_at = self.opening().and_then(|opening| opening.sent_at);
        self.phase = Phase::Established;
        sent_at.filter(|_| self.syn_repeated == 0)
    }

    /// This side's FIN was sent.
    pub(super) fn on_fin_sent(&mut self) {
        match self.phase {
            Phase::Established => self.phase = Phase::FinWait1,
            Phase::CloseWait => self.phase = Phase::LastAck,
            _ => {}
        }
    }

    /// This side's FIN was acknowledged. If the peer has also finished, TIME-WAIT begins, until `time_wait_end`, or the
    /// connection is closed.
    pub(super) fn on_fin_acknowledged(&mut self, time_wait_end: Instant) {
        match self.phase {
            Phase::FinWait1 => self.phase = Phase::FinWait2,
            Phase::Closing => self.phase = Phase::TimeWait { until: time_wait_end },
            Phase::LastAck => self.phase = Phase::Closed { how: Closed::Gracefully, reset: None },
            _ => {}
        }
    }

    /// The peer's FIN was received in order. If this side has also finished, TIME-WAIT begins, until `time_wait_end`.
    pub(super) fn on_fin_received(&mut self, time_wait_end: Instant) {
        match self.phase {
            Phase::Established => self.phase = Phase::CloseWait,
            Phase::FinWait1 => self.phase = Phase::Closing,
            Phase::FinWait2 => self.phase = Phase::TimeWait { until: time_wait_end },
            _ => {}
        }
    }

    /// TIME-WAIT, if it has begun, begins again.
    pub(super) fn restart_time_wait(&mut self, time_wait_end: Instant) {
        if let Phase::TimeWait { until } = &mut self.phase {
            *until = time_wait_end;
        }
    }

    /// During the handshake: a reset refuses the acknowledgment of `number`, which was never sent.
    pub(super) fn refuse(&mut self, number: u32) {
        if let Some(opening) = self.opening() {
            opening.refusal = Some(number);
        }
    }

    /// This side aborts: a reset is to be sent where the peer has a connection.
    pub(super) fn abort(&mut self) {
        let is_silent = matches!(self.phase, Phase::SynSent(_) | Phase::TimeWait { .. });
        self.phase = Phase::Closed { how: Closed::Aborted, reset: (!is_silent).then_some(Reset::Abort) };
    }

    /// The connection is closed; a refusal that is to be sent still is.
    pub(super) fn close(&mut self, how: Closed) {
        let reset = self.take_reset();
        self.phase = Phase::Closed { how, reset };
    }

    /// The reset that is to be sent.
    pub(super) fn take_reset(&mut self) -> Option<Reset> {
        match &mut self.phase {
            Phase::SynSent(opening) | Phase::SynReceived(opening) => opening.refusal.take().map(Reset::Refusal),
            Phase::Closed { reset, .. } => reset.take(),
            _ => None,
        }
    }
}
