//! How a sender's window answers losses, and how it grows between them: the family of its congestion control.
//!
//! Of each two loss episodes, the window before the first (W), after its repair, and before the second is estimated. The
//! episode is a vote:
//!
//! | window after the repair | growth | vote |
//! |---|---|---|
//! | 0.38 to 0.61 W | 0.6 segments per round trip or more | `reno` (RFC 5681) |
//! | the same | less | `coupled`: LIA, OLIA, BALIA (RFC 6356), or another path's share |
//! | 0.61 to 0.85 W | | `cubic` (RFC 9438: 0.7) |
//! | more than 0.85 W | | `rate`: losses do not matter, as with BBR |
//!
//! Without losses for 100 round trips and 8 s, a window that stays as it is is one by delay or by rate, too (`delay or
//! rate`): CUBIC would have added 0.4 · 8³ = 204 segments, and Reno 100.

use super::window::Round;

/// Families by votes, in the order of the counts.
const FAMILIES: [&str; 4] = ["reno", "coupled", "cubic", "rate"];
/// A window of fewer segments is too coarse to vote.
const FEWEST_SEGMENTS: u64 = 6;
/// Growth is measured over as many round trips at least.
const FEWEST_ROUNDS: usize = 4;
/// Rounds that are kept; of more, each second one.
const MOST_ROUNDS: usize = 256;
const STEADY_ROUNDS: usize = 100;
const STEADY_TIME: u64 = 8_000_000_000;

/// What is known of one end's reactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaction {
    /// The window before the last losses; `None` before any, and after a timeout.
    before: Option<u64>,
    /// Round trips since the last repair.
    rounds: Vec<Round>,
    /// How many round trips each of `rounds` stands for, as a power of two.
    doublings: u32,
    skipped: usize,
    votes: [u32; 4],
    others: u32,
}

/// A family of congestion controls, and how many loss episodes fit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// `reno`, `coupled`, `cubic`, `rate`, or `delay or rate`.
    pub name: &'static str,
    /// Loss episodes that fit; 0 for a window that stays as it is without losses.
    pub votes: u32,
    /// Loss episodes that could be judged.
    pub episodes: u32,
}

impl Reaction {
    pub(crate) fn round(&mut self, round: Round) {
        self.skipped += 1;
        if self.skipped < 1 << self.doublings {
            return;
        }
        self.skipped = 0;
        self.rounds.push(round);
        if self.rounds.len() == MOST_ROUNDS {
            let mut at = 0;
            self.rounds.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.doublings += 1;
        }
    }

    /// Losses are noticed with a window of `window` bytes.
    pub(crate) fn lost(&mut self, window: u64, segment: u64) {
        if let (Some(before), Some(vote)) = (self.before, self.vote(segment)) {
            match vote {
                Some(family) if before >= FEWEST_SEGMENTS * segment => self.votes[family] += 1,
                None if before >= FEWEST_SEGMENTS * segment => self.others += 1,
                _ => {}
            }
        }
        self.before = Some(window).filter(|&window| window > 0);
        self.restart();
    }

    /// After a timeout the window begins anew, whatever the congestion control.
    pub(crate) fn timed_out(&mut self) {
        self.before = None;
        self.restart();
    }

    fn restart(&mut self) {
        self.rounds.clear();
        (self.doublings, self.skipped) = (0, 0);
    }

    /// The family that the last episode fits, if it can be judged.
    fn vote(&self, segment: u64) -> Option<Option<usize>> {
        let (before, first, last) = (self.before?, self.rounds.first()?, self.rounds.last()?);
        if self.rounds.len() < FEWEST_ROUNDS || segment == 0 {
            return None;
        }
        let left = first.most as f64 / before as f64;
        let passed = ((self.rounds.len() - 1) << self.doublings) as f64;
        let growth = (last.most as f64 - first.most as f64) / segment as f64 / passed;
        Some(match left {
            0.38..0.61 => Some(usize::from(growth < 0.6)),
            0.61..0.85 => Some(2),
            0.85.. => Some(3),
            _ => None,
        })
    }

    /// The family that fits most episodes; `None` if there are none and the window does not stay as it is.
    pub(crate) fn family(&self) -> Option<Family> {
        let episodes = self.votes.iter().sum::<u32>() + self.others;
        if episodes == 0 {
            return self.is_steady().then_some(Family { name: "delay or rate", votes: 0, episodes });
        }
        let (family, &votes) = self.votes.iter().enumerate().rev().max_by_key(|(_, votes)| **votes)?;
        (votes * 2 > episodes).then_some(Family { name: FAMILIES[family], votes, episodes })
    }

    fn is_steady(&self) -> bool {
        // The first rounds are those of slow start.
        let rounds = &self.rounds[self.rounds.len() / 4..];
        let (Some(first), Some(last)) = (rounds.first(), rounds.last()) else { return false };
        if self.before.is_some()
            || self.rounds.len() << self.doublings < STEADY_ROUNDS
            || last.start - first.start < STEADY_TIME
        {
            return false;
        }
        let mean = |rounds: &[Round]| rounds.iter().map(|it| it.most as f64).sum::<f64>() / rounds.len().max(1) as f64;
        let (early, late) = rounds.split_at(rounds.len() / 2);
        (0.9..1.1).contains(&(mean(late) / mean(early)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1000;

    /// Episodes that leave a share of a window of 40 segments, which then grows by so many segments per round.
    fn after(left: f64, growth: u64, rounds: u64) -> Option<Family> {
        let mut reaction = Reaction::default();
        for _ in 0..4 {
            reaction.lost(40 * SEGMENT, SEGMENT);
            for round in 0..rounds {
                let most = (40.0 * left) as u64 * SEGMENT + growth * round;
                reaction.round(Round { start: round * 20_000_000, most });
            }
        }
        reaction.family()
    }

    #[test]
    fn each_family_has_its_share_and_growth() {
        assert_eq!(after(0.5, SEGMENT, 20), Some(Family { name: "reno", votes: 3, episodes: 3 }));
        assert_eq!(after(0.5, SEGMENT / 4, 20).map(|it| it.name), Some("coupled"));
        assert_eq!(after(0.7, SEGMENT / 2, 1000).map(|it| it.name), Some("cubic"));
        assert_eq!(after(1.0, 0, 20).map(|it| it.name), Some("rate"));
        assert_eq!((after(0.2, SEGMENT, 20), after(0.5, SEGMENT, 3)), (None, None));
    }

    #[test]
    fn a_window_that_stays_without_losses_is_one_by_delay_or_rate() {
        let steady = |growth: u64, rounds: u64| {
            let mut reaction = Reaction::default();
            for round in 0..rounds {
                reaction.round(Round { start: round * 20_000_000, most: 40 * SEGMENT + growth * round });
            }
            reaction.family().map(|it| it.name)
        };
        assert_eq!(steady(0, 1000), Some("delay or rate"));
        assert_eq!((steady(100, 1000), steady(0, 300)), (None, None));
    }
}
