//! Long-term bandwidth: the rate of a token-bucket policer (Linux `bbr_lt_bw_sampling`).
//!
//! A policer lets a burst pass and then drops what exceeds its rate, so that the largest recent delivery rate is that of
//! its bursts. Two consecutive intervals with at least 20 % loss and the same mean rate are taken as a policer's. For the
//! next 48 round trips BBR then sends at that rate, without probing.

use subflow_quantity::Instant;

use super::bandwidth::{Bandwidth, GAIN_UNIT};

/// The least number of round trips of an interval; the most are four times as many.
const LEAST_ROUNDS: u32 = 4;
/// The least ratio of lost to delivered packets, in 1/256 (20 %).
const LOSSY: u64 = 50;
/// Two bandwidths are the same if they differ by at most 1/8 of the former...
const SAME_PART: u64 = 8;
/// ... or by at most 4 kbit/s, in bytes per second.
const SAME_BYTES_PER_SECOND: u64 = 500;
/// The round trips for which the rate is used.
const MOST_ROUNDS: u32 = 48;
/// An interval of this many milliseconds, 71 minutes, is discarded, as in Linux.
const LONGEST_MILLIS: u64 = u32::MAX as u64 / 1000;

/// What a path has delivered and lost since it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// When it last delivered something.
    pub(super) at: Instant,
}

impl Totals {
    pub(super) const NONE: Self = Self { delivered: 0, lost: 0, at: Instant::ZERO };
}

/// What is new at an acknowledgment, or at a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) totals: Totals,
    pub(super) has_losses: bool,
    pub(super) application_limited: bool,
    pub(super) is_round_start: bool,
    /// Whether BBR is in PROBE_BW.
    pub(super) is_cruising: bool,
    pub(super) unit_bytes: u32,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    /// The path is policed.
    Policed,
    /// The rate was used long enough: the path is probed again.
    Expired,
}

#[derive(Clone, Debug)]
pub(super) struct LongTerm {
    /// That of the last interval, or of the policer.
    bandwidth: Bandwidth,
    in_use: bool,
    is_sampling: bool,
    /// Round trips of the interval, or since the rate is in use.
    rounds: u32,
    /// At the beginning of the interval.
    begin: Totals,
}

impl LongTerm {
    pub(super) const NEW: Self =
        Self { bandwidth: Bandwidth(0), in_use: false, is_sampling: false, rounds: 0, begin: Totals::NONE };

    /// The policer's rate, if the path is policed.
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.in_use.then_some(self.bandwidth)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, totals: Totals) {
        *self = Self { begin: totals, ..Self::NEW };
    }

    fn begin_interval(&mut self, totals: Totals) {
        (self.begin, self.rounds) = (totals, 0);
    }

    pub(super) fn sample(&mut self, new: &Progress) -> Verdict {
        if self.in_use {
            return self.age(new);
        }
        // Before the first loss the policer still has tokens.
        if !self.is_sampling {
            if !new.has_losses {
                return Verdict::Nothing;
            }
            self.begin_interval(new.totals);
            self.is_sampling = true;
        }
        if new.application_limited {
            self.reset(new.totals);
            return Verdict::Nothing;
        }
        self.rounds += u32::from(new.is_round_start);
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(new.totals);
        } else if self.rounds >= LEAST_ROUNDS && new.has_losses {
            // It ends with a loss, when the tokens are used up.
            return self.end_interval(new);
        }
        Verdict::Nothing
    }

    fn age(&mut self, new: &Progress) -> Verdict {
        if !new.is_cruising || !new.is_round_start {
            return Verdict::Nothing;
        }
        self.rounds += 1;
        if self.rounds < MOST_ROUNDS {
            return Verdict::Nothing;
        }
        self.reset(new.totals);
        Verdict::Expired
    }

    fn end_interval(&mut self, new: &Progress) -> Verdict {
        let lost = new.totals.lost.saturating_sub(self.begin.lost);
        let delivered = new.totals.delivered.saturating_sub(self.begin.delivered);
        let millis = |at: Instant| at.as_nanos() / 1_000_000;
        let time = millis(new.totals.at).saturating_sub(millis(self.begin.at));
        if delivered == 0 || lost * u64::from(GAIN_UNIT) < LOSSY * delivered || time == 0 {
            return Verdict::Nothing;
        }
        if time >= LONGEST_MILLIS {
            self.reset(new.totals);
            return Verdict::Nothing;
        }
        let bandwidth = Bandwidth::of(delivered, time * 1000);
        if self.bandwidth.0 > 0 {
            let difference = Bandwidth(bandwidth.0.abs_diff(self.bandwidth.0));
            let is_same = difference.0.saturating_mul(SAME_PART) <= self.bandwidth.0
                || difference.pacing_rate(new.unit_bytes, GAIN_UNIT) <= SAME_BYTES_PER_SECOND;
            if is_same {
                self.bandwidth = Bandwidth(bandwidth.0.midpoint(self.bandwidth.0));
                (self.in_use, self.rounds) = (true, 0);
                return Verdict::Policed;
            }
        }
        self.bandwidth = bandwidth;
        self.begin_interval(new.totals);
        Verdict::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After `rounds` round trips of 100 ms, with 10 packets delivered and `lost` lost in each.
    fn progress(rounds: u64, lost: u64) -> Progress {
        let at = Instant::from_nanos(rounds * 100_000_000);
        Progress {
            totals: Totals { delivered: 10 * rounds, lost: lost * rounds, at },
            has_losses: true,
            application_limited: false,
            is_round_start: true,
            is_cruising: true,
            unit_bytes: 1448,
        }
    }

    /// What follows from each of the rounds from 1 on.
    fn verdicts(long_term: &mut LongTerm, rounds: core::ops::RangeInclusive<u64>, lost: u64) -> Vec<Verdict> {
        rounds.map(|round| long_term.sample(&progress(round, lost))).collect()
    }

    #[test]
    fn two_lossy_intervals_with_the_same_rate_are_a_policers() {
        let mut long_term = LongTerm::NEW;
        // The first round begins the first interval and counts in it: intervals end with rounds 4 and 8.
        let found = verdicts(&mut long_term, 1..=8, 3);
        assert_eq!(found.iter().position(|verdict| *verdict == Verdict::Policed), Some(7), "{found:?}");
        // 30 packets in 300 ms, 40 in 400 ms.
        assert_eq!(long_term.bandwidth(), Some(Bandwidth::of(10, 100_000)));
        let then = verdicts(&mut long_term, 9..=56, 3);
        assert_eq!(then.iter().position(|verdict| *verdict == Verdict::Expired), Some(47));
        assert_eq!(long_term.bandwidth(), None);
    }

    #[test]
    fn an_interval_with_less_loss_or_a_pause_of_the_application_is_no_policers() {
        let mut long_term = LongTerm::NEW;
        assert!(verdicts(&mut long_term, 1..=60, 1).iter().all(|verdict| *verdict == Verdict::Nothing));
        let mut long_term = LongTerm::NEW;
        for round in 1..=60 {
            let paused = Progress { application_limited: round % 3 == 0, ..progress(round, 5) };
            assert_eq!(long_term.sample(&paused), Verdict::Nothing);
        }
    }

    #[test]
    fn without_a_loss_nothing_is_sampled() {
        let mut long_term = LongTerm::NEW;
        let clean = Progress { has_losses: false, ..progress(5, 9) };
        assert_eq!(long_term.sample(&clean), Verdict::Nothing);
        assert!(!long_term.is_sampling);
    }
}
