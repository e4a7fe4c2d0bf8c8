//! The acceptability test for arriving segments (RFC 9293, sections 3.10.7.3 and 3.10.7.4; RFC 5961 for blind attacks;
//! RFC 7323 for PAWS). It has no side effects and precedes all processing of the segment.

use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::{Connection, State};

/// The result of the acceptability test, [`Connection::judge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Sequence number, control bits and acknowledgment number are acceptable: the segment is to be processed.
    Acceptable(Offsets),
    /// A valid reset: the connection is to be closed.
    Reset,
    /// The segment is to be dropped, and answered as stated.
    Unacceptable(Answer),
}

/// The numbers of an acceptable segment as offsets from the initial sequence numbers (the SYN is offset 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Offset of the sequence number.
    pub(crate) start: u64,
    /// Offset of the acknowledgment number; 0 in a segment without ACK.
    pub(crate) acknowledgment: u64,
}

/// The answer to an unacceptable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// None.
    Nothing,
    /// A challenge ACK (RFC 5961), subject to the rate limit.
    Challenge,
    /// An immediate acknowledgment, for a segment with data (RFC 9293, section 3.10.7.4, first check).
    Acknowledgment,
    /// The SYN/ACK again: the peer retransmitted its SYN.
    SynAck,
    /// The third ACK of the handshake again: the peer retransmitted its SYN/ACK.
    ThirdAck,
    /// A reset: during the handshake, the segment acknowledges something that was never sent.
    Reset,
}

impl Verdict {
    /// Whether the segment is to be processed.
    pub fn is_acceptable(self) -> bool {
        matches!(self, Self::Acceptable(_))
    }
}

const UNANSWERED: Verdict = Verdict::Unacceptable(Answer::Nothing);
const CHALLENGE: Verdict = Verdict::Unacceptable(Answer::Challenge);

impl Connection {
    /// Performs the acceptability test on `segment`, which arrives at `now`, without changing the connection. A
    /// protocol above TCP (MPTCP) calls it before it acts on the segment's options, and passes the verdict on to
    /// [`on_judged_segment`](Self::on_judged_segment).
    #[inline(always)]
    pub fn judge(&self, segment: &TcpSegment, now: Instant) -> Verdict {
        match self.state() {
            State::Closed(_) => UNANSWERED,
            State::SynSent => self.judge_in_syn_sent(segment),
            _ if segment.flags.contains(TcpFlags::RST) => self.judge_reset(segment),
            _ if segment.flags.contains(TcpFlags::SYN) => self.judge_syn(segment),
            _ => self.judge_in_window(segment, now),
        }
    }

    /// RFC 9293, section 3.10.7.3.
    #[cold]
    fn judge_in_syn_sent(&self, segment: &TcpSegment) -> Verdict {
        let flags = segment.flags;
        let acknowledges = flags.contains(TcpFlags::ACK);
        let reset = flags.contains(TcpFlags::RST);
        if !self.send.has_sent_syn() {
            return UNANSWERED;
        }
        if acknowledges && self.send.offset_of(segment.acknowledgment) != Some(self.send.next()) {
            return if reset { UNANSWERED } else { Verdict::Unacceptable(Answer::Reset) };
        }
        match (reset, flags.contains(TcpFlags::SYN)) {
            (true, _) if acknowledges => Verdict::Reset,
            (false, true) => Verdict::Acceptable(Offsets { start: 0, acknowledgment: u64::from(acknowledges) }),
            _ => UNANSWERED,
        }
    }

    /// RFC 9293, section 3.10.7.4, second check: only a reset at exactly RCV.NXT is valid (RFC 5961, section 3.2).
    #[cold]
    fn judge_reset(&self, segment: &TcpSegment) -> Verdict {
        match self.start_of(segment) {
            // RFC 1337: in TIME-WAIT resets are ignored, because an old duplicate may have provoked them.
            Some(start) if self.receive.is_in_window(start, start) && self.state() != State::TimeWait => {
                if start == self.receive.next() { Verdict::Reset } else { CHALLENGE }
            }
            _ => UNANSWERED,
        }
    }

    /// RFC 9293, section 3.10.7.4, fourth check: a SYN is challenged whatever its sequence number (RFC 5961, section
    /// 4.2), unless it is a retransmission of the SYN or SYN/ACK that opened the connection.
    #[cold]
    fn judge_syn(&self, segment: &TcpSegment) -> Verdict {
        if !self.receive.is_initial(segment.sequence) {
            return CHALLENGE;
        }
        match (self.state(), segment.flags.contains(TcpFlags::ACK)) {
            (State::SynReceived, false) => Verdict::Unacceptable(Answer::SynAck),
            // Simultaneous open: the peer's SYN/ACK carries the acknowledgment that SYN-RECEIVED waits for.
            (State::SynReceived, true) => self.judge_acknowledgment(segment, 0),
            (_, true) => Verdict::Unacceptable(Answer::ThirdAck),
            (_, false) => CHALLENGE,
        }
    }

    /// RFC 9293, section 3.10.7.4, first check, with PAWS (RFC 7323, section 5.3).
    #[inline(always)]
    fn judge_in_window(&self, segment: &TcpSegment, now: Instant) -> Verdict {
        let flags = segment.flags;
        if self.lacks_timestamps(segment) {
            return UNANSWERED;
        }
        let Some(start) = self.start_of(segment) else { return CHALLENGE };
        let length = u64::from(segment.payload.length);
        let end = start + length + u64::from(flags.contains(TcpFlags::FIN));
        if !self.receive.is_in_window(start, end) || self.is_stale(segment, now) {
            return if length > 0 { Verdict::Unacceptable(Answer::Acknowledgment) } else { CHALLENGE };
        }
        if flags.contains(TcpFlags::ACK) { self.judge_acknowledgment(segment, start) } else { UNANSWERED }
    }

    /// RFC 9293, section 3.10.7.4, fifth check. In SYN-RECEIVED only an acknowledgment of the SYN is acceptable.
    #[inline]
    fn judge_acknowledgment(&self, segment: &TcpSegment, start: u64) -> Verdict {
        match self.send.acceptable_acknowledgment(segment.acknowledgment) {
            Some(acknowledgment) => Verdict::Acceptable(Offsets { start, acknowledgment }),
            _ if self.state() == State::SynReceived => Verdict::Unacceptable(Answer::Reset),
            _ => CHALLENGE,
        }
    }

    /// Offset of the segment's sequence number; `None` if it lies before the peer's SYN.
    #[inline]
    fn start_of(&self, segment: &TcpSegment) -> Option<u64> {
        self.receive.offset_of(segment.sequence)
    }

    /// Whether the segment has no timestamps though the connection has, and is to be dropped in silence: PAWS could not
    /// judge it (RFC 7323, section 3.2). A segment whose other options leave no room for timestamps is taken: those of
    /// MPTCP may fill the header.
    #[inline]
    fn lacks_timestamps(&self, segment: &TcpSegment) -> bool {
        self.negotiated.timestamps && segment.options.timestamps.is_none() && segment.options.has_room_for_timestamps()
    }

    /// Whether PAWS rejects the segment.
    #[inline]
    fn is_stale(&self, segment: &TcpSegment, now: Instant) -> bool {
        let theirs = segment.options.timestamps.filter(|_| self.negotiated.timestamps);
        theirs.is_some_and(|theirs| self.receive.timestamps().is_stale(theirs.value, now))
    }
}

#[cfg(test)]
mod tests;
