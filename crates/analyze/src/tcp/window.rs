//! The congestion window, as far as what is in flight shows it, and how long a sender left it unused.
//!
//! A sender with enough data keeps the window full: right after new data has left, what is in flight is the window. In
//! flight is what was sent and neither acknowledged nor selectively acknowledged (RFC 6675, section 4, without losses:
//! while these are repaired there is no estimate). The window of a moment is the most in flight in this round trip and in
//! the one before.

use crate::ranges::Ranges;

/// The shortest round trip, in nanoseconds: without samples, and on a loopback device.
const SHORTEST_ROUND: u64 = 1_000_000;

/// The estimated window of one end, in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    sacked: Ranges,
    this_round: u64,
    round_before: u64,
    round_start: u64,
    recovery_until: Option<u64>,
    /// The largest estimate.
    pub(crate) largest: u64,
    /// How long less than three quarters of it were in flight though the peer's window had room, in nanoseconds.
    pub(crate) unused: u64,
}

/// A round trip that is over: when it began, and the most in flight in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) start: u64,
    pub(crate) most: u64,
}

impl Window {
    /// The estimate, or 0 if there is none.
    pub(crate) fn now(&self) -> u64 {
        self.this_round.max(self.round_before)
    }

    /// Bytes in flight, of `outstanding` that are not acknowledged cumulatively.
    pub(crate) fn in_flight(&self, outstanding: u64) -> u64 {
        outstanding.saturating_sub(self.sacked.total())
    }

    pub(crate) const fn is_recovering(&self) -> bool {
        self.recovery_until.is_some()
    }

    /// Data has left, and so much is outstanding now. A round that is over with it is returned.
    pub(crate) fn sent(&mut self, outstanding: u64, round_trip: u64, time: u64) -> Option<Round> {
        if self.is_recovering() {
            return None;
        }
        let in_flight = self.in_flight(outstanding);
        let is_over = time.saturating_sub(self.round_start) >= round_trip.max(SHORTEST_ROUND);
        let over = Round { start: self.round_start, most: self.this_round };
        if is_over {
            self.round_before = self.this_round;
            self.this_round = 0;
            self.round_start = time;
        }
        self.this_round = self.this_round.max(in_flight);
        self.largest = self.largest.max(in_flight);
        (is_over && over.most > 0).then_some(over)
    }

    /// The peer reports `start..end` as received.
    pub(crate) fn sacked(&mut self, start: u64, end: u64) {
        self.sacked.insert(start, end);
    }

    /// Something is sent again. If this is the first repair of what was sent up to `next`, the estimate before it is
    /// returned.
    pub(crate) fn lost(&mut self, next: u64) -> Option<u64> {
        if self.is_recovering() {
            return None;
        }
        self.recovery_until = Some(next);
        Some(self.now())
    }

    /// Everything up to `acknowledged` has arrived, with which losses may be repaired.
    pub(crate) fn progressed(&mut self, acknowledged: u64, time: u64) {
        self.sacked.remove_below(acknowledged);
        if self.recovery_until.is_some_and(|until| acknowledged >= until) {
            self.recovery_until = None;
            (self.this_round, self.round_before, self.round_start) = (0, 0, time);
        }
    }

    /// `passed` nanoseconds with so much outstanding, while the peer's window had room.
    pub(crate) fn waited(&mut self, outstanding: u64, largest_segment: u64, passed: u64) {
        let in_flight = self.in_flight(outstanding);
        if !self.is_recovering() && (in_flight == 0 || (in_flight + largest_segment) * 4 <= self.now() * 3) {
            self.unused += passed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_window_is_the_most_in_flight_in_two_round_trips() {
        let mut window = Window::default();
        assert_eq!(window.sent(10_000, 20 * MS, 100 * MS), None);
        assert_eq!(window.sent(14_000, 20 * MS, 110 * MS), None);
        assert_eq!(window.sent(12_000, 20 * MS, 125 * MS), Some(Round { start: 100 * MS, most: 14_000 }));
        assert_eq!(window.now(), 14_000);
        window.sent(12_000, 20 * MS, 150 * MS);
        assert_eq!((window.now(), window.largest), (12_000, 14_000));
    }

    #[test]
    fn what_is_selectively_acknowledged_is_not_in_flight_and_repairs_give_no_estimate() {
        let mut window = Window::default();
        window.sent(10_000, 20 * MS, 0);
        window.sacked(3_000, 5_000);
        assert_eq!(window.in_flight(10_000), 8_000);
        assert_eq!((window.lost(10_000), window.lost(10_000)), (Some(10_000), None));
        window.sent(50_000, 20 * MS, 30 * MS);
        assert_eq!(window.largest, 10_000);
        window.progressed(9_999, 40 * MS);
        assert!(window.is_recovering());
        window.progressed(10_000, 41 * MS);
        assert!(!window.is_recovering());
        assert_eq!((window.now(), window.in_flight(4_000)), (0, 4_000));
    }

    #[test]
    fn time_with_a_quarter_of_the_window_free_is_unused() {
        let mut window = Window::default();
        window.sent(10_000, 20 * MS, 0);
        window.waited(9_000, 1_000, 3);
        assert_eq!(window.unused, 0);
        window.waited(6_500, 1_000, 3);
        window.waited(0, 1_000, 4);
        assert_eq!(window.unused, 7);
    }
}
