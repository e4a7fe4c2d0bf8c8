//! Which subflow was free when data was sent, and which was taken: what that tells of the scheduler.
//!
//! A subflow is free if a segment fits into its estimated window, and if it has sent nothing yet. Where two or more are
//! free, the scheduler chooses; a single free one is no choice. Each choice is compared with three rules. A rule that
//! nearly all choices follow names the scheduler; with two subflows, one rule often agrees with another by chance.

/// Choices from which on a rule is named.
const FEWEST: u64 = 20;
/// A rule is named if as many per cent of the choices follow it.
const NEARLY_ALL: u64 = 85;
/// Copies per cent of the segments from which on a scheduler is redundant.
const REDUNDANT: u64 = 40;

/// The rules, by their numbers in [`Choices`].
const RULES: [&str; 3] = ["lowest round-trip time", "in turn", "most free window"];

/// The choices of one end of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// Segments of new data that were sent while several subflows were free.
    pub(crate) count: u64,
    followed: [u64; 3],
    segments: u64,
    copies: u64,
    last: Option<usize>,
}

/// A subflow on which a segment could be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) subflow: usize,
    /// Its smoothed round-trip time, in nanoseconds.
    pub(crate) round_trip: u64,
    /// The free part of its window, in bytes.
    pub(crate) free: u64,
}

/// A scheduler as far as its choices tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedScheduler {
    /// The rule, or `redundant`; several with `or` between them if nearly all choices follow each.
    pub rule: String,
    /// Choices, or with `redundant` segments, that follow it.
    pub followed: u64,
    /// All choices, or segments.
    pub choices: u64,
}

impl Choices {
    /// A segment is sent on `taken`; `others` are free, too.
    pub(crate) fn sent(&mut self, taken: Candidate, others: impl Iterator<Item = Candidate>) {
        self.segments += 1;
        let last = self.last.replace(taken.subflow);
        // How many places behind the last one a subflow is, in a circle.
        let place = |subflow: usize| last.map_or(subflow, |last| subflow.wrapping_sub(last + 1));
        let follows = others.map(|other| {
            [
                other.round_trip >= taken.round_trip,
                place(other.subflow) > place(taken.subflow),
                other.free <= taken.free,
            ]
        });
        let Some(follows) = follows.reduce(|all, one| [0, 1, 2].map(|rule| all[rule] && one[rule])) else { return };
        self.count += 1;
        for (followed, follows) in self.followed.iter_mut().zip(follows) {
            *followed += u64::from(follows);
        }
    }

    /// A segment is sent whose data another segment has carried before.
    pub(crate) fn copied(&mut self) {
        self.copies += 1;
    }

    /// What the scheduler is, if the choices tell.
    pub(crate) fn scheduler(&self) -> Option<ObservedScheduler> {
        let all = self.segments + self.copies;
        if self.copies >= FEWEST && self.copies * 100 >= all * REDUNDANT {
            return Some(ObservedScheduler { rule: "redundant".to_owned(), followed: self.copies, choices: all });
        }
        let rules = RULES.into_iter().zip(self.followed);
        let fit = rules.filter(|(_, followed)| self.count >= FEWEST && followed * 100 >= self.count * NEARLY_ALL);
        let fit: Vec<(&str, u64)> = fit.collect();
        let followed = fit.iter().map(|(_, followed)| *followed).max()?;
        let names: Vec<&str> = fit.iter().map(|(rule, _)| *rule).collect();
        Some(ObservedScheduler { rule: names.join(" or "), followed, choices: self.count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(subflows: impl Iterator<Item = usize>, free: u64) -> Option<String> {
        let mut choices = Choices::default();
        let candidate = |subflow| Candidate { subflow, round_trip: 10 + subflow as u64, free: 1000 };
        for taken in subflows {
            let others = (0..3).filter(|&other| other != taken).map(candidate);
            choices.sent(Candidate { free, ..candidate(taken) }, others);
        }
        choices.scheduler().map(|it| it.rule)
    }

    #[test]
    fn a_rule_is_named_if_nearly_all_choices_follow_it() {
        assert_eq!(rule((0..30).map(|_| 0), 900).as_deref(), Some("lowest round-trip time"));
        assert_eq!(rule((0..30).map(|nth| nth % 3), 900).as_deref(), Some("in turn"));
        assert_eq!(rule((0..30).map(|_| 0), 1000).as_deref(), Some("lowest round-trip time or most free window"));
        assert_eq!((rule((0..30).map(|nth| (nth / 2) % 3), 900), rule((0..15).map(|_| 0), 900)), (None, None));
    }

    #[test]
    fn copies_of_nearly_half_the_segments_are_redundant_and_a_single_free_subflow_is_no_choice() {
        let mut choices = Choices::default();
        let only = Candidate { subflow: 0, round_trip: 10, free: 1000 };
        for _ in 0..50 {
            choices.sent(only, [].into_iter());
        }
        assert_eq!((choices.count, choices.scheduler()), (0, None));
        (0..40).for_each(|_| choices.copied());
        let scheduler = choices.scheduler().map(|it| (it.rule, it.followed, it.choices));
        assert_eq!(scheduler, Some(("redundant".to_owned(), 40, 90)));
    }
}
