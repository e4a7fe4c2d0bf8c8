//! What every packet of a connection needs to know of all its subflows.

use subflow_quantity::{Duration, Instant};

/// The values of each subflow that are needed for every packet of the connection. They are stored together, so that
/// they stay in the cache; the subflows of many connections do not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowSummary {
    /// [`Subflow::deadline`](super::Subflow::deadline).
    pub(crate) deadline: Instant,
    /// [`Subflow::receiver_rtt`](super::Subflow::receiver_rtt).
    pub(crate) receiver_rtt: Option<Duration>,
    /// [`Subflow::has_delivered`](super::Subflow::has_delivered).
    pub(crate) delivered: bool,
}

impl Default for SubflowSummary {
    fn default() -> Self {
        Self { deadline: Instant::MAX, receiver_rtt: None, delivered: false }
    }
}

/// The summaries of all subflows, as of the last time that each had nothing to send. The first deadline and the slowest
/// round trip are kept: a packet changes the summary of one subflow, and seldom of the one that has either of them.
#[derive(Clone, Debug)]
pub(super) struct Summaries {
    /// By subflow; those of the last ones may be missing, and count as [`SubflowSummary::default`].
    of: Vec<SubflowSummary>,
    /// The earliest deadline, and a subflow that has it.
    first: (Instant, usize),
    /// The largest RTT of a receiver, and a subflow that has it.
    slowest: (Option<Duration>, usize),
}

impl Default for Summaries {
    fn default() -> Self {
        Self { of: Vec::new(), first: (Instant::MAX, 0), slowest: (None, 0) }
    }
}

impl Summaries {
    /// All that are known, by subflow.
    pub(super) fn as_slice(&self) -> &[SubflowSummary] {
        &self.of
    }

    /// That of subflow `index`, if it is known.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&SubflowSummary> {
        self.of.get(index)
    }

    /// Sets that of subflow `index`.
    pub(super) fn set(&mut self, index: usize, new: SubflowSummary) {
        if self.of.len() <= index {
            self.of.resize(index + 1, SubflowSummary::default());
        }
        self.of[index] = new;
        if new.deadline <= self.first.0 {
            self.first = (new.deadline, index);
        } else if self.first.1 == index {
            self.first = self.find_first();
        }
        if new.receiver_rtt >= self.slowest.0 {
            self.slowest = (new.receiver_rtt, index);
        } else if self.slowest.1 == index {
            self.slowest = self.find_slowest();
        }
    }

    /// Forgets that of subflow `index`.
    pub(super) fn clear(&mut self, index: usize) {
        if index < self.of.len() {
            self.set(index, SubflowSummary::default());
        }
    }

    /// The earliest deadline; [`Instant::MAX`] if there is none.
    #[inline]
    pub(super) fn first_deadline(&self) -> Instant {
        self.first.0
    }

    /// The largest RTT of a receiver, if that of subflow `index` is `own` now.
    #[inline]
    pub(super) fn slowest_rtt(&self, index: usize, own: Option<Duration>) -> Option<Duration> {
        if own >= self.slowest.0 || self.slowest.1 != index {
            return own.max(self.slowest.0);
        }
        let others = self.of.iter().enumerate().filter(|&(other, _)| other != index);
        others.map(|(_, summary)| summary.receiver_rtt).max().flatten().max(own)
    }

    fn find_first(&self) -> (Instant, usize) {
        let deadlines = self.of.iter().enumerate().map(|(index, summary)| (summary.deadline, index));
        deadlines.min().unwrap_or((Instant::MAX, 0))
    }

    fn find_slowest(&self) -> (Option<Duration>, usize) {
        let rtts = self.of.iter().enumerate().map(|(index, summary)| (summary.receiver_rtt, index));
        rtts.max().unwrap_or((None, 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn summary(deadline: u64, rtt: Option<u64>) -> SubflowSummary {
        let deadline = if deadline == 0 { Instant::MAX } else { Instant::from_nanos(deadline) };
        SubflowSummary { deadline, receiver_rtt: rtt.map(Duration::from_nanos), delivered: false }
    }

    proptest! {
        #[test]
        fn the_first_deadline_and_the_slowest_round_trip_are_those_of_all(
            changes in proptest::collection::vec((0usize..6, 0u64..8, proptest::option::of(0u64..5), any::<bool>()), 1..60),
            (asked, own) in (0usize..6, proptest::option::of(0u64..5)),
        ) {
            let mut summaries = Summaries::default();
            for (index, deadline, rtt, is_cleared) in changes {
                match is_cleared {
                    true => summaries.clear(index),
                    false => summaries.set(index, summary(deadline, rtt)),
                }
                let all = summaries.as_slice();
                let first = all.iter().map(|summary| summary.deadline).min().unwrap_or(Instant::MAX);
                prop_assert_eq!(summaries.first_deadline(), first);
                let own = own.map(Duration::from_nanos);
                let others = all.iter().enumerate().filter(|&(index, _)| index != asked);
                let slowest = others.filter_map(|(_, summary)| summary.receiver_rtt).chain(own).max();
                prop_assert_eq!(summaries.slowest_rtt(asked, own), slowest);
            }
        }
    }
}
