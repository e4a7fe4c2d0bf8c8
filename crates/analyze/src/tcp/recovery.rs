//! Why a segment was sent again, inferred from the acknowledgments before it.
//!
//! A sender does not say why. The rules, in this order:
//!
//! 1. *timeout*: the segment is the first that is not acknowledged, and nothing has been acknowledged for a
//!    retransmission timeout (RFC 6298, with the minimum of Linux), unless an acknowledgment has just triggered it; and
//!    all further segments of those that were in flight at a timeout, until they are acknowledged.
//! 2. *fast*: SACK blocks above the segment, or duplicate acknowledgments, say that it is missing (RFC 6675, RFC 8985).
//! 3. *probe*: it is the last segment in flight, and nothing says that it is missing (tail loss probe, RFC 8985,
//!    section 7).
//! 4. *other*: none of these, such as the start of a window whose acknowledgments were not captured.

use super::rtt::RoundTrips;

/// An acknowledgment triggers a retransmission within this time, in nanoseconds.
const TRIGGERED: u64 = 1_000_000;

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
    /// What was sent before the last timeout ends here.
    timeout_until: u64,
}

/// A segment that is sent again, and what the sender has in flight.
pub(crate) struct Again {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The first byte that is not acknowledged.
    pub(crate) unacknowledged: u64,
    /// The byte behind the last that was sent.
    pub(crate) next: u64,
    pub(crate) time: u64,
}

impl Evidence {
    /// New data is sent; `was_idle` if nothing was in flight.
    pub(crate) fn sent(&mut self, was_idle: bool, time: u64) {
        if was_idle {
            self.timer_start = time;
        }
    }

    /// Acknowledged up to `acknowledged`, which is further than before.
    pub(crate) fn progressed(&mut self, acknowledged: u64, time: u64) {
        self.duplicate_acks = 0;
        self.timer_start = time;
        if acknowledged >= self.sacked_end {
            self.sacked_end = 0;
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

    /// Counts a retransmission by its cause.
    pub(crate) fn classify(&mut self, again: &Again, samples: &RoundTrips, counts: &mut Retransmissions) {
        let &Again { start, end, unacknowledged, next, time } = again;
        counts.segments += 1;
        let is_first = start <= unacknowledged;
        let is_triggered = time.saturating_sub(self.evidence_time) < TRIGGERED;
        // A timer may be a clock tick early.
        let waited = time.saturating_sub(self.timer_start) >= samples.timeout() / 10 * 9;
        if is_first && waited && !is_triggered {
            counts.timeouts += 1;
            counts.after_timeout += 1;
            self.timer_start = time;
            self.timeout_until = next;
            self.duplicate_acks = 0;
        } else if start < self.timeout_until {
            counts.after_timeout += 1;
        } else if self.sacked_end > start || self.duplicate_acks > 0 {
            counts.fast += 1;
        } else if end == next {
            counts.probes += 1;
            self.timer_start = time;
        }
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
        let again = Again { start, end: start + 100, unacknowledged: 1000, next: 2000, time };
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
}
