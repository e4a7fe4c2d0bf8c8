//! Why a segment was sent again, inferred from the acknowledgments before it.
//!
//! A sender does not say why. The rules, in this order:
//!
//! 1. *probe*: it is all that is in flight, it was not sent again before, and SACK is agreed on: Linux's tail loss probe
//!    comes no later than its timeout then (RFC 8985, section 7).
//! 2. *timeout*: the segment is the first that is not acknowledged, and nothing has been acknowledged for a
//!    retransmission timeout (RFC 6298, with the minimum of Linux), unless an acknowledgment has just triggered it; and
//!    all further segments of those that were in flight at a timeout, until they are acknowledged, or until the peer says
//!    that the timeout was spurious: it received twice all that was sent again (D-SACK), echoes a timestamp from before
//!    the timeout (RFC 3522), or acknowledges at once data that was sent once (RFC 5682).
//! 3. *fast*: SACK blocks above the segment, duplicate acknowledgments, or the arrival of one that was sent later say that
//!    it is missing (RFC 6675, RFC 8985); and all further segments of those that were in flight then: an acknowledgment
//!    of a part of them says that the next is missing (RFC 6582).
//! 4. *probe*: it is the last segment in flight, and nothing says that it is missing.
//! 5. *other*: none of these, such as the start of a window whose acknowledgments were not captured.

use super::rtt::RoundTrips;

/// An acknowledgment triggers a retransmission within this time, in nanoseconds.
const TRIGGERED: u64 = 1_000_000;

/// Why a segment was sent again, as far as the capture tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// SACK blocks or duplicate acknowledgments.
    Fast,
    /// A retransmission timeout, at this time or before.
    Timeout,
    /// A tail loss probe.
    Probe,
    /// None of these.
    Other,
}

/// Numbers of retransmitted segments by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Retransmissions {
    pub(crate) segments: u64,
    pub(crate) bytes: u64,
    pub(crate) fast: u64,
    pub(crate) after_timeout: u64,
    pub(crate) probes: u64,
    /// Timeouts, each of which may retransmit many segments.
    pub(crate) timeouts: u64,
    /// D-SACK blocks of the peer: segments that arrived twice (RFC 2883).
    pub(crate) spurious: u64,
}

/// What a sender knows of its losses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    /// The highest end of SACK blocks.
    sacked_end: u64,
    duplicate_acks: u32,
    /// When the last SACK block or duplicate acknowledgment came.
    evidence_time: u64,
    /// When the retransmission timer was started.
    timer_start: u64,
    /// What was in flight at the first fast retransmission ends here.
    recovery_until: u64,
    /// Retransmissions since the repair began of which no D-SACK says that they were in vain.
    needed: u32,
    /// The value of the timestamp of the first of them.
    first_value: Option<u32>,
    timeout: Option<Timeout>,
}

/// The repair of losses after a timeout.
#[derive(Clone, Copy, Debug)]
struct Timeout {
    /// What was sent before ends here.
    until: u64,
    /// Whether nothing was acknowledged since.
    is_unanswered: bool,
    /// Whether an acknowledgment of data that was sent once shows that it was spurious: not while losses were repaired
    /// before.
    can_be_undone: bool,
}

/// A segment that is sent again, and what the sender has in flight.
pub(crate) struct Again {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The first byte that is not acknowledged.
    pub(crate) unacknowledged: u64,
    /// The byte behind the last that was sent.
    pub(crate) next: u64,
    /// The value of its timestamp.
    pub(crate) value: Option<u32>,
    /// Whether both ends have agreed on SACK, and the segment is no SYN: tail loss probes take that.
    pub(crate) can_be_probe: bool,
    /// Whether it was sent again before.
    pub(crate) is_repeated: bool,
    /// Whether one that was sent later has arrived.
    pub(crate) is_overtaken: bool,
    pub(crate) time: u64,
}

impl Evidence {
    /// New data is sent; `was_idle` if nothing was in flight.
    pub(crate) fn sent(&mut self, was_idle: bool, time: u64) {
        if was_idle {
            self.timer_start = time;
        }
    }

    /// Acknowledged up to `acknowledged`, which is further than before, with the echo of a timestamp; `has_original` if data
    /// that was sent once is acknowledged by that.
    pub(crate) fn progressed(&mut self, acknowledged: u64, echo: Option<u32>, has_original: bool, time: u64) {
        self.duplicate_acks = 0;
        self.timer_start = time;
        if acknowledged >= self.sacked_end {
            self.sacked_end = 0;
        }
        if let Some(timeout) = &mut self.timeout {
            let is_older = |(echo, value): (u32, u32)| echo.wrapping_sub(value).cast_signed() < 0;
            let is_first = std::mem::take(&mut timeout.is_unanswered);
            let is_original = timeout.can_be_undone && has_original;
            let was_in_vain = is_original || echo.zip(self.first_value).is_some_and(is_older);
            if (is_first && was_in_vain) || acknowledged >= timeout.until {
                self.timeout = None;
            }
        }
    }

    pub(crate) fn duplicate(&mut self, time: u64) {
        self.duplicate_acks += 1;
        self.evidence_time = time;
    }

    pub(crate) fn sacked(&mut self, end: u64, time: u64) {
        self.sacked_end = self.sacked_end.max(end);
        self.evidence_time = time;
    }

    /// The peer has received a segment twice: if that is so of all that were sent again since a timeout, it was spurious.
    pub(crate) fn arrived_twice(&mut self) {
        self.needed = self.needed.saturating_sub(1);
        if self.needed == 0 {
            self.timeout = None;
        }
    }

    /// Counts a retransmission by its cause.
    pub(crate) fn classify(&mut self, again: &Again, samples: &RoundTrips, counts: &mut Retransmissions) -> Cause {
        let &Again { start, end, unacknowledged, next, value, can_be_probe, is_repeated, is_overtaken, time } = again;
        counts.segments += 1;
        let is_repairing = self.recovery_until > unacknowledged;
        if !is_repairing && self.timeout.is_none() {
            (self.needed, self.first_value) = (0, value);
        }
        self.needed += 1;
        let is_first = start <= unacknowledged;
        let is_triggered = time.saturating_sub(self.evidence_time) < TRIGGERED;
        // A timer may be a clock tick early.
        let waited = time.saturating_sub(self.timer_start) >= samples.timeout() / 10 * 9;
        let is_told = self.sacked_end > start || self.duplicate_acks > 0 || is_overtaken;
        let is_quiet = !is_told && !is_repairing && self.timeout.is_none();
        if is_first && end == next && can_be_probe && !is_repeated && is_quiet {
            counts.probes += 1;
            self.timer_start = time;
            return Cause::Probe;
        }
        // Without SACK, a fast retransmission is sent again by the timer only.
        let is_last_resort = is_repeated && self.sacked_end == 0;
        if is_first && waited && (!is_triggered || is_last_resort) {
            counts.timeouts += 1;
            counts.after_timeout += 1;
            self.timer_start = time;
            let is_unanswered = self.timeout.is_none_or(|timeout| timeout.is_unanswered);
            let can_be_undone = !is_repairing || self.timeout.is_some();
            self.timeout = Some(Timeout { until: next, is_unanswered, can_be_undone });
            self.recovery_until = 0;
            self.duplicate_acks = 0;
            return Cause::Timeout;
        }
        if self.timeout.is_some_and(|timeout| start < timeout.until) {
            counts.after_timeout += 1;
            return Cause::Timeout;
        }
        if is_told || start < self.recovery_until {
            counts.fast += 1;
            self.recovery_until = self.recovery_until.max(next);
            if is_first {
                self.timer_start = time;
            }
            return Cause::Fast;
        }
        if end == next {
            counts.probes += 1;
            self.timer_start = time;
            return Cause::Probe;
        }
        Cause::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn classified(prepare: impl Fn(&mut Evidence), start: u64, time: u64) -> Retransmissions {
        let mut samples = RoundTrips::default();
        samples.add(40 * MS);
        let mut evidence = Evidence::default();
        evidence.sent(true, 0);
        prepare(&mut evidence);
        let mut counts = Retransmissions::default();
        let (end, unacknowledged, next) = (start + 100, 1000, 2000);
        let (value, can_be_probe, is_repeated, is_overtaken) = (None, true, false, false);
        let again = Again { start, end, unacknowledged, next, value, can_be_probe, is_repeated, is_overtaken, time };
        evidence.classify(&again, &samples, &mut counts);
        counts
    }

    #[test]
    fn each_cause_is_recognised() {
        assert_eq!(classified(|evidence| evidence.sacked(1500, 60 * MS), 1000, 60 * MS).fast, 1);
        assert_eq!(classified(|evidence| evidence.duplicate(60 * MS), 1000, 60 * MS).fast, 1);
        assert_eq!(classified(|_| {}, 1000, 240 * MS).timeouts, 1);
        assert_eq!(classified(|_| {}, 1900, 80 * MS).probes, 1);
        let other = classified(|_| {}, 1000, 60 * MS);
        assert_eq!((other.segments, other.fast + other.after_timeout + other.probes), (1, 0));
    }

    #[test]
    fn a_late_acknowledgment_that_triggers_is_no_timeout() {
        let counts = classified(|evidence| evidence.sacked(1500, 300 * MS), 1000, 300 * MS);
        assert_eq!((counts.fast, counts.timeouts), (1, 0));
    }

    /// The causes of retransmissions of 100 bytes: where each starts, and when.
    fn causes(evidence: &mut Evidence, unacknowledged: u64, again: &[(u64, u64)]) -> Vec<Cause> {
        let mut samples = RoundTrips::default();
        samples.add(40 * MS);
        let mut counts = Retransmissions::default();
        let classify = |&(start, time): &(u64, u64)| {
            let (end, value) = (start + 100, Some(70));
            let (next, can_be_probe, is_repeated, is_overtaken) = (2000, true, false, false);
            let again =
                Again { start, end, unacknowledged, next, value, can_be_probe, is_repeated, is_overtaken, time };
            evidence.classify(&again, &samples, &mut counts)
        };
        again.iter().map(classify).collect()
    }

    #[test]
    fn a_partial_acknowledgment_says_that_the_next_segment_is_missing() {
        let mut evidence = Evidence::default();
        evidence.duplicate(60 * MS);
        assert_eq!(causes(&mut evidence, 1000, &[(1000, 60 * MS)]), [Cause::Fast]);
        evidence.progressed(1300, None, false, 100 * MS);
        assert_eq!(causes(&mut evidence, 1300, &[(1300, 100 * MS)]), [Cause::Fast]);
    }

    #[test]
    fn after_a_timeout_all_that_was_in_flight_is_sent_again_unless_it_was_spurious() {
        let after = |tell: fn(&mut Evidence)| {
            let mut evidence = Evidence::default();
            assert_eq!(causes(&mut evidence, 1000, &[(1000, 300 * MS)]), [Cause::Timeout]);
            tell(&mut evidence);
            evidence.sacked(1900, 340 * MS);
            causes(&mut evidence, 1100, &[(1100, 341 * MS)])
        };
        assert_eq!(after(|evidence| evidence.progressed(1100, Some(70), false, 340 * MS)), [Cause::Timeout]);
        assert_eq!(after(|evidence| evidence.progressed(1100, Some(69), false, 340 * MS)), [Cause::Fast]);
        assert_eq!(after(|evidence| evidence.progressed(1100, Some(70), true, 340 * MS)), [Cause::Fast]);
        assert_eq!(after(Evidence::arrived_twice), [Cause::Fast]);
    }
}
