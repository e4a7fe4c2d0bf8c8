//! Whether a segment is acceptable (RFC 9293, sections 3.10.7.3 and 3.10.7.4, with RFC 5961 against blind attacks and
//! PAWS of RFC 7323), decided before it has any effect.

use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::{Connection, State, sequence};

/// What [`Connection::judge`] decided about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Sequence number, SYN and ACK are acceptable: the acknowledgment, the data, the FIN and the options count.
    Acceptable(Offsets),
    /// A reset with exactly the expected number: the connection ends.
    Reset,
    /// Nothing that the segment says counts.
    Unacceptable(Answer),
}

/// The numbers of an acceptable segment as offsets from the initial sequence numbers (the SYN is offset 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Offset of the segment's sequence number.
    pub(crate) start: u64,
    /// Offset of the acknowledgment number; 0 where the segment acknowledges nothing.
    pub(crate) acknowledgment: u64,
}

/// How an unacceptable segment is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not at all.
    Nothing,
    /// With a challenge ACK (RFC 5961), limited in rate.
    Challenge,
    /// With an acknowledgment at once: the segment carried data from outside the window, or old data.
    Acknowledgment,
    /// With the SYN/ACK once more: the peer repeated its SYN.
    SynAck,
    /// With the third ACK once more: the peer repeated its SYN/ACK.
    ThirdAck,
    /// With a reset: the segment acknowledges what was never sent on a connection that is being opened.
    Reset,
}

impl Verdict {
    /// Whether what the segment says counts.
    pub fn is_acceptable(self) -> bool {
        matches!(self, Self::Acceptable(_))
    }
}

const SILENT: Verdict = Verdict::Unacceptable(Answer::Nothing);
const CHALLENGE: Verdict = Verdict::Unacceptable(Answer::Challenge);

impl Connection {
    /// Decides, without any effect on the connection, what `segment` is entitled to at `now`. Whoever keeps state
    /// above the connection (MPTCP) asks this before it obeys the segment's options, and hands the verdict on to
    /// [`on_judged_segment`](Self::on_judged_segment).
    #[inline]
    pub fn judge(&self, segment: &TcpSegment, now: Instant) -> Verdict {
        match self.state {
            State::Closed(_) => SILENT,
            State::SynSent => self.judge_in_syn_sent(segment),
            _ if segment.flags.contains(TcpFlags::RST) => self.judge_reset(segment),
            _ if segment.flags.contains(TcpFlags::SYN) => self.judge_syn(segment),
            _ => self.judge_in_window(segment, now),
        }
    }

    /// RFC 9293, section 3.10.7.3.
    fn judge_in_syn_sent(&self, segment: &TcpSegment) -> Verdict {
        let flags = segment.flags;
        let acknowledges = flags.contains(TcpFlags::ACK);
        let reset = flags.contains(TcpFlags::RST);
        if self.send.nxt == 0 {
            // The SYN has not left yet.
            return SILENT;
        }
        if acknowledges && sequence::unwrap(segment.acknowledgment, self.send.initial, 1) != Some(self.send.nxt) {
            return if reset { SILENT } else { Verdict::Unacceptable(Answer::Reset) };
        }
        match (reset, flags.contains(TcpFlags::SYN)) {
            (true, _) if acknowledges => Verdict::Reset,
            (false, true) => Verdict::Acceptable(Offsets { start: 0, acknowledgment: u64::from(acknowledges) }),
            _ => SILENT,
        }
    }

    /// RFC 9293, section 3.10.7.4, second check: only the number that is expected next resets (RFC 5961, section 3.2).
    fn judge_reset(&self, segment: &TcpSegment) -> Verdict {
        match self.start_of(segment) {
            // RFC 1337: an old duplicate may be refused by a peer that is done; that must not cut TIME-WAIT short.
            Some(start) if self.is_in_window(start, start) && self.state != State::TimeWait => {
                if start == self.receive.nxt { Verdict::Reset } else { CHALLENGE }
            }
            _ => SILENT,
        }
    }

    /// RFC 9293, section 3.10.7.4, fourth check: a SYN that is not the peer's own is challenged wherever it lies
    /// (RFC 5961, section 4.2).
    fn judge_syn(&self, segment: &TcpSegment) -> Verdict {
        if segment.sequence != self.receive.initial {
            return CHALLENGE;
        }
        match (self.state, segment.flags.contains(TcpFlags::ACK)) {
            (State::SynReceived, false) => Verdict::Unacceptable(Answer::SynAck),
            // Simultaneous open: the peer's SYN/ACK brings the acknowledgment that SYN-RECEIVED waits for.
            (State::SynReceived, true) => self.judge_acknowledgment(segment, 0),
            (_, true) => Verdict::Unacceptable(Answer::ThirdAck),
            (_, false) => CHALLENGE,
        }
    }

    /// The first check of RFC 9293, section 3.10.7.4, with PAWS (RFC 7323, section 5.3).
    #[inline]
    fn judge_in_window(&self, segment: &TcpSegment, now: Instant) -> Verdict {
        let flags = segment.flags;
        let Some(start) = self.start_of(segment) else { return CHALLENGE };
        let length = u64::from(segment.payload.length);
        let end = start + length + u64::from(flags.contains(TcpFlags::FIN));
        if !self.is_in_window(start, end) || self.is_stale(segment, now) {
            return if length > 0 { Verdict::Unacceptable(Answer::Acknowledgment) } else { CHALLENGE };
        }
        if flags.contains(TcpFlags::ACK) { self.judge_acknowledgment(segment, start) } else { SILENT }
    }

    /// The fifth check: SYN-RECEIVED waits for the acknowledgment of its SYN; later an acknowledgment is of something
    /// sent, and no older than the largest window (RFC 5961, section 5.2).
    #[inline]
    fn judge_acknowledgment(&self, segment: &TcpSegment, start: u64) -> Verdict {
        let acknowledgment = sequence::unwrap(segment.acknowledgment, self.send.initial, self.send.una);
        let oldest = self.send.una.saturating_sub(self.send.max_window).max(1);
        match acknowledgment {
            Some(acknowledgment) if (oldest..=self.send.nxt).contains(&acknowledgment) => {
                Verdict::Acceptable(Offsets { start, acknowledgment })
            }
            _ if self.state == State::SynReceived => Verdict::Unacceptable(Answer::Reset),
            _ => CHALLENGE,
        }
    }

    /// Offset of the segment's sequence number; `None` where it lies before the peer's SYN.
    #[inline]
    fn start_of(&self, segment: &TcpSegment) -> Option<u64> {
        sequence::unwrap(segment.sequence, self.receive.initial, self.receive.nxt)
    }

    /// Whether `start..end` touches the window. As in Linux (`tcp_sequence`) it begins at what was last acknowledged,
    /// so that a segment which crossed that acknowledgment counts.
    #[inline]
    fn is_in_window(&self, start: u64, end: u64) -> bool {
        end >= self.receive.acknowledged && start <= self.receive.window.right_edge().max(self.receive.nxt)
    }

    /// Whether PAWS turns the segment away.
    #[inline]
    fn is_stale(&self, segment: &TcpSegment, now: Instant) -> bool {
        let theirs = segment.options.timestamps.filter(|_| self.negotiated.timestamps);
        theirs.is_some_and(|theirs| self.receive.timestamps.is_stale(theirs.value, now))
    }
}

#[cfg(test)]
mod tests;
