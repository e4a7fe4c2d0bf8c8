//! The states of version 3 with their gains (draft-ietf-ccwg-bbr-05, section 5.6.1).

use super::super::bandwidth::GAIN_UNIT;

/// The gain of Startup: 4 ln 2, the smallest that doubles the rate in each round trip.
pub(super) const STARTUP_GAIN: u32 = GAIN_UNIT * 277 / 100 + 1;
/// It drains in one round trip what Startup has queued.
const DRAIN_GAIN: u32 = GAIN_UNIT / 2;
const DOWN_GAIN: u32 = GAIN_UNIT * 9 / 10;
const UP_GAIN: u32 = GAIN_UNIT * 5 / 4;
/// Windows in products: of most states (`DefaultCwndGain`), of ProbeBW_UP and of ProbeRTT.
const WINDOW_GAIN: u32 = GAIN_UNIT * 2;
const UP_WINDOW_GAIN: u32 = GAIN_UNIT * 9 / 4;
pub(super) const PROBE_RTT_WINDOW_GAIN: u32 = GAIN_UNIT / 2;

/// What BBR does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The rate doubles in each round trip.
    Startup,
    /// The queue that Startup has built is drained.
    Drain,
    /// ProbeBW_DOWN: gives back what probing has queued, and leaves room for others.
    Down,
    /// ProbeBW_CRUISE: sends at the bandwidth.
    Cruise,
    /// ProbeBW_REFILL: fills the pipe before it probes.
    Refill,
    /// ProbeBW_UP: looks for more bandwidth.
    Up,
    /// The window is small, so that the queue drains and the smallest RTT is seen.
    ProbeRtt,
}

impl State {
    /// Whether it is one of ProbeBW.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether losses set no short-term bounds: it looks for what the path holds.
    pub(super) fn looks_for_more(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// In 1/256.
    pub(super) fn pacing_gain(self) -> u32 {
        match self {
            Self::Startup => STARTUP_GAIN,
            Self::Drain => DRAIN_GAIN,
            Self::Down => DOWN_GAIN,
            Self::Up => UP_GAIN,
            Self::Cruise | Self::Refill | Self::ProbeRtt => GAIN_UNIT,
        }
    }

    /// In 1/256.
    pub(super) fn window_gain(self) -> u32 {
        match self {
            Self::Up => UP_WINDOW_GAIN,
            Self::ProbeRtt => PROBE_RTT_WINDOW_GAIN,
            Self::Startup | Self::Drain | Self::Down | Self::Cruise | Self::Refill => WINDOW_GAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gains_are_those_of_the_draft() {
        use State::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
        let gains = [Startup, Drain, Down, Cruise, Refill, Up, ProbeRtt]
            .map(|state| [state.pacing_gain(), state.window_gain()].map(|gain| f64::from(gain) / 256.0));
        let draft = [[2.773, 2.0], [0.5, 2.0], [0.9, 2.0], [1.0, 2.0], [1.0, 2.0], [1.25, 2.25], [1.0, 0.5]];
        for (ours, theirs) in gains.iter().flatten().zip(draft.iter().flatten()) {
            assert!((ours - theirs).abs() < 0.005, "{gains:?}");
        }
    }
}
