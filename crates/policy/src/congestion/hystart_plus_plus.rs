//! HyStart++ (RFC 9406): slow start that ends when round trips become longer, with a check that they stay longer.
//!
//! A *round* ends when the data that was sent last at its beginning is acknowledged. Slow start turns into conservative
//! slow start (CSS) if the smallest RTT of a round, from its 8th sample on, reaches
//!
//! ```text
//! last round's smallest RTT + clamp(last round's smallest RTT / 8, 4 ms, 16 ms)
//! ```
//!
//! | what | rule | source |
//! |---|---|---|
//! | slow start | `cwnd += min(acked, L)`; L is 8 segments, or infinite if the sender paces | section 4.2, 4.3 |
//! | CSS | `cwnd += min(acked, L) / 4` | section 4.2 |
//! | a round of CSS whose smallest RTT, from the 8th sample on, is below that with which CSS began | slow start again | section 4.2 |
//! | five rounds of CSS, the one in which it began included | `ssthresh = cwnd` | section 4.2 |
//! | loss, mark, restart after idle time | HyStart++ is not used again | section 4.2, 4.3 |
//!
//! Linux has not adopted it: its CUBIC has [HyStart](super::hystart).

use subflow_quantity::Duration;

use super::{Ack, Path, RecoveryState, slow_start};

/// Lower and upper bound of the increase of the RTT (`MIN_RTT_THRESH`, `MAX_RTT_THRESH`).
const BOUNDS: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// Between them, the increase is the RTT divided by this (`MIN_RTT_DIVISOR`).
const DIVISOR: u64 = 8;
/// The RTT samples with which a round is evaluated (`N_RTT_SAMPLE`).
const SAMPLES: u32 = 8;
/// CSS grows by this part of what slow start would add (`CSS_GROWTH_DIVISOR`).
const CSS_DIVISOR: u32 = 4;
/// The rounds of CSS (`CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// The most segments that one acknowledgment counts for without pacing (`L`).
const LIMIT: u32 = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    SlowStart,
    /// `baseline`: the smallest RTT of the round in which it began (`cssBaselineMinRtt`).
    Conservative {
        baseline: Duration,
        rounds: u32,
    },
    Over,
}

/// HyStart++ on one path.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStartPlusPlus {
    phase: Phase,
    /// The round ends when this is acknowledged (`windowEnd`).
    round_end: u64,
    /// Smallest RTTs of the last round and of this one (`lastRoundMinRTT`, `currentRoundMinRTT`).
    last_min: Option<Duration>,
    round_min: Option<Duration>,
    samples: u32,
    /// What CSS has not yet added to the window, times [`CSS_DIVISOR`].
    rest: u32,
}

impl HyStartPlusPlus {
    /// Processes the rounds and the RTT of an acknowledgment. Sets the threshold where slow start ends.
    pub fn on_sample(&mut self, path: &mut Path, ack: &Ack) {
        if self.phase == Phase::Over || !path.in_slow_start() {
            return;
        }
        if ack.una >= self.round_end {
            self.begin_round(path, ack.nxt);
        }
        let Some(rtt) = ack.rtt else {
            return;
        };
        let min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(min);
        self.samples += 1;
        if self.samples >= SAMPLES {
            self.judge(min);
        }
    }

    fn begin_round(&mut self, path: &mut Path, nxt: u64) {
        self.round_end = nxt;
        (self.last_min, self.round_min, self.samples) = (self.round_min, None, 0);
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.phase = Phase::Over;
                path.ssthresh = path.cwnd;
            }
        }
    }

    /// Compares `min`, the smallest RTT of the round.
    fn judge(&mut self, min: Duration) {
        match self.phase {
            Phase::SlowStart => {
                let (low, high) = BOUNDS;
                let has_grown = |last: Duration| min >= last + (last / DIVISOR).clamp(low, high);
                if self.last_min.is_some_and(has_grown) {
                    self.phase = Phase::Conservative { baseline: min, rounds: 0 };
                }
            }
            Phase::Conservative { baseline, .. } if min < baseline => self.phase = Phase::SlowStart,
            Phase::Conservative { .. } | Phase::Over => {}
        }
    }

    /// Slow start for `acked`. Returns the rest for congestion avoidance.
    pub fn grow(&mut self, path: &mut Path, acked: u32) -> u32 {
        let limited = if path.paced { acked } else { acked.min(path.quantum.saturating_mul(LIMIT)) };
        match self.phase {
            Phase::SlowStart => slow_start(path, limited),
            Phase::Conservative { .. } => {
                let sum = self.rest.saturating_add(limited);
                self.rest = sum % CSS_DIVISOR;
                slow_start(path, sum / CSS_DIVISOR)
            }
            Phase::Over => slow_start(path, acked),
        }
    }

    /// The path changes its recovery state: after a loss or a mark slow start is the standard one.
    pub fn on_state(&mut self, state: RecoveryState) {
        if !matches!(state, RecoveryState::Open | RecoveryState::Disorder) {
            self.end();
        }
    }

    /// From now on slow start is the standard one.
    pub fn end(&mut self) {
        self.phase = Phase::Over;
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;

    struct Slow {
        hystart: HyStartPlusPlus,
        path: Path,
        una: u64,
    }

    impl Slow {
        fn new() -> Self {
            Self { hystart: HyStartPlusPlus::default(), path: Path::new(1, 100), una: 0 }
        }

        /// A round of `samples` acknowledgments, each of one packet, with an RTT of `micros`.
        fn round(&mut self, samples: u64, micros: u64) {
            let nxt = self.una + samples;
            for _ in 0..samples {
                let rtt = Some(Duration::from_micros(micros));
                let ack = Ack { now: Instant::ZERO, acked: 1, rtt, una: self.una, nxt, in_flight: 10 };
                self.una += 1;
                self.hystart.on_sample(&mut self.path, &ack);
                self.hystart.grow(&mut self.path, 1);
            }
        }

        fn is_conservative(&self) -> bool {
            matches!(self.hystart.phase, Phase::Conservative { .. })
        }
    }

    #[test]
    fn css_begins_when_a_round_is_longer_by_an_eighth_within_4_and_16_ms() {
        for (last, least) in [(10_000, 14_000), (40_000, 45_000), (200_000, 216_000)] {
            let after = |micros| {
                let mut slow = Slow::new();
                slow.round(8, last);
                slow.round(8, micros);
                slow.is_conservative()
            };
            assert_eq!([after(least - 1), after(least)], [false, true], "{last} us");
        }
    }

    #[test]
    fn a_round_needs_eight_samples_and_one_before_it() {
        let mut slow = Slow::new();
        slow.round(8, 90_000);
        assert!(!slow.is_conservative());
        slow.round(7, 150_000);
        assert!(!slow.is_conservative());
    }

    #[test]
    fn css_grows_by_a_quarter_and_ends_after_five_rounds() {
        let mut slow = Slow::new();
        slow.round(8, 40_000);
        slow.round(8, 50_000);
        // 15 of the standard rate; the last sample of the round begins CSS, which counts as the first of five rounds.
        assert_eq!((slow.path.cwnd, slow.is_conservative()), (115, true));
        for round in 2..=5 {
            slow.round(8, 50_000);
            assert!(slow.path.in_slow_start(), "round {round}");
        }
        assert_eq!(slow.path.cwnd, 115 + 8, "33 acknowledged packets in CSS");
        slow.round(1, 50_000);
        assert_eq!((slow.path.ssthresh, slow.hystart.phase), (123, Phase::Over));
    }

    #[test]
    fn css_turns_back_into_slow_start_when_the_round_trip_becomes_shorter() {
        let mut slow = Slow::new();
        slow.round(8, 40_000);
        slow.round(8, 50_000);
        slow.round(8, 49_999);
        assert_eq!((slow.is_conservative(), slow.hystart.phase), (false, Phase::SlowStart));
        let before = slow.path.cwnd;
        slow.round(4, 49_999);
        assert_eq!(slow.path.cwnd, before + 4);
    }

    #[test]
    fn one_acknowledgment_counts_for_eight_segments_unless_the_sender_paces() {
        let grown = |paced| {
            let mut path = Path { paced, ..Path::new(1000, 10_000) };
            HyStartPlusPlus::default().grow(&mut path, 20_000);
            path.cwnd
        };
        assert_eq!([grown(false), grown(true)], [18_000, 30_000]);
    }

    #[test]
    fn after_a_loss_slow_start_is_the_standard_one() {
        let mut slow = Slow::new();
        slow.hystart.on_state(RecoveryState::Disorder);
        slow.round(8, 40_000);
        slow.hystart.on_state(RecoveryState::Recovery);
        slow.round(8, 90_000);
        slow.hystart.grow(&mut slow.path, 20);
        assert_eq!(slow.path.cwnd, 136);
    }
}
