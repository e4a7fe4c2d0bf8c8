//! The bounds that losses set: where probing lost too much, and what the path delivers at the moment.

use std::collections::VecDeque;

use super::super::super::Path;
use super::super::bandwidth::Bandwidth;
use super::states::State;
use super::{GAIN_UNIT, MIN_WINDOW};

/// Losses are too many above one in so many packets in flight (`LossThresh`, 2 %).
const TOLERATED: u64 = 50;
/// What is left of a bound after too many losses (`Beta`, 0.7), in 1/256.
const BETA: u32 = GAIN_UNIT * 7 / 10 + 1;
/// The part of the long-term bound that is left to others (`Headroom`), in percent.
const HEADROOM_PERCENT: u64 = 15;

/// The bounds; `None` for those that are not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Of the bandwidth (`bw_shortterm`).
    pub(super) bandwidth: Option<Bandwidth>,
    /// Of what is in flight until the next probing (`inflight_shortterm`).
    pub(super) short_term: Option<u32>,
    /// Of what is in flight (`inflight_longterm`).
    pub(super) long_term: Option<u32>,
}

/// `packets` after a decrease.
pub(super) fn decreased(packets: u32) -> u32 {
    (u64::from(packets) * u64::from(BETA) / u64::from(GAIN_UNIT)) as u32
}

impl Bounds {
    /// A round trip with losses delivered at most `delivered` at `rate`, of the bandwidth `largest` and the window
    /// `cwnd` (`BBRInitLowerBounds`, `BBRLossLowerBounds`).
    pub(super) fn lower(&mut self, largest: Bandwidth, cwnd: u32, rate: Bandwidth, delivered: u32) {
        let bandwidth = self.bandwidth.unwrap_or(largest);
        let left = Bandwidth((u128::from(bandwidth.0) * u128::from(BETA) / u128::from(GAIN_UNIT)) as u64);
        self.bandwidth = Some(rate.max(left));
        self.short_term = Some(delivered.max(decreased(self.short_term.unwrap_or(cwnd))));
    }

    /// The next probing begins.
    pub(super) fn end_short_term(&mut self) {
        (self.bandwidth, self.short_term) = (None, None);
    }

    /// What may be in flight so that others find room (`BBRInflightWithHeadroom`).
    pub(super) fn with_headroom(&self) -> u32 {
        self.long_term.map_or(Path::INFINITE, |bound| {
            let headroom = (u64::from(bound) * HEADROOM_PERCENT / 100).max(1) as u32;
            bound.saturating_sub(headroom).max(MIN_WINDOW)
        })
    }

    /// The bound of the window (`BBRBoundCwndForModel`).
    pub(super) fn window_bound(&self, state: State) -> u32 {
        let long_term = match state {
            State::ProbeRtt | State::Cruise => self.with_headroom(),
            State::Down | State::Refill | State::Up => self.long_term.unwrap_or(Path::INFINITE),
            State::Startup | State::Drain => Path::INFINITE,
        };
        long_term.min(self.short_term.unwrap_or(Path::INFINITE)).max(MIN_WINDOW)
    }

    /// The larger of both, for each bound.
    pub(super) fn raise_to(&mut self, other: &Self) {
        let larger = |a: Option<u32>, b: Option<u32>| a.zip(b).map(|(a, b)| a.max(b));
        self.bandwidth = self.bandwidth.zip(other.bandwidth).map(|(a, b)| a.max(b));
        self.short_term = larger(self.short_term, other.short_term);
        self.long_term = larger(self.long_term, other.long_term);
    }
}

/// Whether `lost` are too many of `in_flight` (`IsInflightTooHigh`).
pub(super) fn is_too_high(in_flight: u32, lost: u32) -> bool {
    u64::from(lost) * TOLERATED > u64::from(in_flight)
}

/// What was in flight when the losses became too many, of which the last `newly` are the latest
/// (`BBRInflightAtLoss`).
pub(super) fn in_flight_at_loss(in_flight: u32, lost: u32, newly: u32) -> u32 {
    let (before, lost_before) = (in_flight.saturating_sub(newly), lost.saturating_sub(newly));
    // (before / 50 − lost before) / (1 − 1/50), in whole packets.
    let prefix = u64::from(before).saturating_sub(TOLERATED * u64::from(lost_before)) / (TOLERATED - 1);
    before.saturating_add(prefix as u32)
}

/// What had been lost when a packet was sent: the totals at which losses were detected.
#[derive(Clone, Debug, Default)]
pub(super) struct LossHistory {
    /// What had been delivered, and what had been lost, by each detection.
    detected: VecDeque<(u64, u64)>,
    /// The total before those.
    before: u64,
}

impl LossHistory {
    /// So much was lost by the time that `delivered` had been delivered.
    pub(super) fn add(&mut self, delivered: u64, lost: u64) {
        self.detected.push_back((delivered, lost));
    }

    /// The total when `prior_delivered` had been delivered, which does not decrease by much.
    pub(super) fn lost_at(&mut self, prior_delivered: u64) -> u64 {
        while let Some(&(_, lost)) = self.detected.front().filter(|(delivered, _)| *delivered <= prior_delivered) {
            self.before = lost;
            self.detected.pop_front();
        }
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_two_percent_is_too_much_and_where_it_began_is_computed() {
        assert_eq!([is_too_high(100, 2), is_too_high(100, 3)], [false, true]);
        // Of 100, of which 5 were lost at once: 95 before, 1.9 of them tolerated, (1.9 − 0) / 0.98 = 1.9.
        assert_eq!(in_flight_at_loss(100, 5, 5), 96);
        assert_eq!(in_flight_at_loss(1000, 21, 1), 999);
    }

    #[test]
    fn a_round_trip_with_losses_leaves_seven_tenths_or_what_was_delivered() {
        let mut bounds = Bounds::default();
        bounds.lower(Bandwidth(1000), 100, Bandwidth(600), 50);
        assert_eq!((bounds.bandwidth, bounds.short_term), (Some(Bandwidth(703)), Some(70)));
        bounds.lower(Bandwidth(1000), 100, Bandwidth(900), 90);
        assert_eq!((bounds.bandwidth, bounds.short_term), (Some(Bandwidth(900)), Some(90)));
        bounds.end_short_term();
        assert_eq!(bounds, Bounds::default());
    }

    #[test]
    fn cruising_leaves_fifteen_percent_of_the_long_term_bound_free() {
        let bounds = Bounds { long_term: Some(100), ..Bounds::default() };
        let bound = |state| bounds.window_bound(state);
        assert_eq!([bound(State::Cruise), bound(State::Up), bound(State::Startup)], [85, 100, Path::INFINITE]);
        assert_eq!(Bounds { long_term: Some(4), ..bounds }.with_headroom(), MIN_WINDOW);
    }

    #[test]
    fn the_losses_since_a_packet_was_sent_are_those_detected_after_its_deliveries() {
        let mut history = LossHistory::default();
        history.add(10, 1);
        history.add(20, 4);
        assert_eq!([5, 10, 15, 20, 25].map(|delivered| history.lost_at(delivered)), [0, 1, 1, 4, 4]);
    }
}
