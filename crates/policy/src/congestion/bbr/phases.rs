//! The modes of a path, with their gains: STARTUP, DRAIN, PROBE_BW with its cycle, and PROBE_RTT.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::bandwidth::GAIN_UNIT;

/// 2/ln 2, the smallest gain that doubles the rate in each round trip, in 1/256.
const HIGH_GAIN: u32 = GAIN_UNIT * 2885 / 1000 + 1;
/// Its inverse, which drains in one round trip the queue that STARTUP has built.
const DRAIN_GAIN: u32 = GAIN_UNIT * 1000 / 2885;
/// The window in PROBE_BW, in products: as much again waits for delayed acknowledgments.
const WINDOW_GAIN: u32 = GAIN_UNIT * 2;
/// The pacing gains of the cycle: probe for more, give back, then cruise.
const CYCLE: [u32; 8] =
    [GAIN_UNIT * 5 / 4, GAIN_UNIT * 3 / 4, GAIN_UNIT, GAIN_UNIT, GAIN_UNIT, GAIN_UNIT, GAIN_UNIT, GAIN_UNIT];

/// How BBR decides how fast to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The rate doubles in each round trip.
    Startup,
    /// The queue that STARTUP has built is drained.
    Drain,
    /// The gain cycles around the bandwidth.
    ProbeBw,
    /// The window is least, so that the queue drains and the smallest RTT is seen.
    ProbeRtt,
}

/// The mode and its gains.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    mode: Mode,
    pacing_gain: u32,
    window_gain: u32,
    /// The place in the cycle, and when it was taken.
    place: usize,
    since: Instant,
    /// When PROBE_RTT may end, in ticks: `None` until as little is in flight as it wants.
    pub(super) end_tick: Option<u64>,
    /// A round trip has passed since.
    pub(super) has_seen_round: bool,
    random: Pcg64Mcg,
}

impl Phase {
    /// STARTUP. `seed` decides with which part of the cycle PROBE_BW begins.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            place: 0,
            since: Instant::ZERO,
            end_tick: None,
            has_seen_round: false,
            random: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    /// In 1/256.
    pub(super) fn pacing_gain(&self) -> u32 {
        self.pacing_gain
    }

    /// In 1/256.
    pub(super) fn window_gain(&self) -> u32 {
        self.window_gain
    }

    /// The gain of STARTUP.
    pub(super) fn high_gain() -> u32 {
        HIGH_GAIN
    }

    /// Whether it is in the part of the cycle with the highest gain.
    pub(super) fn is_probing_for_bandwidth(&self) -> bool {
        self.mode == Mode::ProbeBw && self.place == 0
    }

    /// The part of PROBE_BW's cycle, if it is in it.
    pub(super) fn part(&self) -> Option<usize> {
        (self.mode == Mode::ProbeBw).then_some(self.place)
    }

    /// When the part of the cycle began.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    pub(super) fn drain(&mut self) {
        self.mode = Mode::Drain;
    }

    pub(super) fn probe_rtt(&mut self) {
        (self.mode, self.end_tick) = (Mode::ProbeRtt, None);
    }

    /// PROBE_RTT is over: PROBE_BW follows if the pipe was full, else STARTUP.
    pub(super) fn resume(&mut self, is_full: bool, now: Instant) {
        if is_full { self.probe_bandwidth(now) } else { self.mode = Mode::Startup }
    }

    /// PROBE_BW begins at a random place of the cycle, except that of the lowest gain.
    pub(super) fn probe_bandwidth(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        let random = (u64::from(self.random.next_u32()) * (CYCLE.len() as u64 - 1)) >> 32;
        self.place = CYCLE.len() - 1 - random as usize;
        self.advance(now);
    }

    /// The next part of the cycle begins.
    pub(super) fn advance(&mut self, now: Instant) {
        (self.place, self.since) = ((self.place + 1) % CYCLE.len(), now);
    }

    /// Sends at the bandwidth until the next acknowledgment.
    pub(super) fn cruise(&mut self) {
        self.pacing_gain = GAIN_UNIT;
    }

    /// Sets the gains of the mode; `is_policed`: the bandwidth is a policer's, and is not probed.
    pub(super) fn update_gains(&mut self, is_policed: bool) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (if is_policed { GAIN_UNIT } else { CYCLE[self.place] }, WINDOW_GAIN),
            Mode::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gains_are_those_of_the_kernel() {
        assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88));
    }

    #[test]
    fn the_cycle_begins_anywhere_but_with_the_lowest_gain() {
        let begins_with = |seed| {
            let mut phase = Phase::new(seed);
            phase.probe_bandwidth(Instant::ZERO);
            phase.place
        };
        let mut seen = [0; 8];
        (0..700).for_each(|seed| seen[begins_with(seed)] += 1);
        assert!(seen[1] == 0 && seen.iter().filter(|&&count| count > 60).count() == 7, "{seen:?}");
    }
}
