//! Cwnd update for CMT (CUC, CUCv2): a pseudo-cumulative acknowledgment for each destination (Iyengar, Amer, Stewart:
//! "Concurrent Multipath Transfer Using SCTP Multihoming", IEEE/ACM ToN 2006; leitner2019, figures 4 and 5).
//!
//! If data is sent to several destinations, the cumulative TSN may stop without any loss. So each destination tracks
//! the earliest outstanding TSN sent to it, and its window may grow when that TSN is acknowledged. CUCv2 tracks
//! retransmissions separately, since a TSN retransmitted to another destination would block the window of that
//! destination.
//!
//! The four steps of the figures, for each SACK:
//! 1. [`begin_sack`](PseudoCumack::begin_sack) on every destination;
//! 2. [`on_cumulative`](PseudoCumack::on_cumulative) for each TSN that the cumulative TSN covers and nothing
//!    acknowledged before;
//! 3. where the SACK has gap reports, [`on_outstanding`](PseudoCumack::on_outstanding) for each TSN in the
//!    retransmission queue, in their order;
//! 4. the window may grow if [`has_new`](PseudoCumack::has_new) returns true.

/// Which of the two algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CucVersion {
    /// Figure 4.
    One,
    /// Figure 5: retransmissions are tracked separately.
    Two,
}

/// A TSN of the retransmission queue as a SACK finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) tsn: u64,
    /// An earlier SACK acknowledged it.
    pub(crate) acked_before: bool,
    /// This SACK's gap reports acknowledge it, for the first time.
    pub(crate) newly_gap_acked: bool,
    pub(crate) retransmitted: bool,
}

/// One pseudo-cumulative acknowledgment: of first transmissions, or of retransmissions.
#[derive(Clone, Debug)]
struct Tracker {
    /// `find_pseudo_cumack`: the earliest outstanding TSN is to be looked for.
    find: bool,
    /// `pseudo_cumack`.
    earliest: Option<u64>,
    /// `new_pseudo_cumack`: it was acknowledged by the SACK at hand.
    new: bool,
}

impl Tracker {
    const START: Self = Self { find: true, earliest: None, new: false };

    /// Steps 3 (ii), (iii) or, for retransmissions, (iv), (v).
    fn on_outstanding(&mut self, reported: Reported, eligible: bool) {
        if self.find && !reported.acked_before && eligible {
            self.earliest = Some(reported.tsn);
            self.find = false;
        }
        if reported.newly_gap_acked && self.earliest == Some(reported.tsn) {
            self.new = true;
            self.find = true;
        }
    }
}

/// The state of one destination.
#[derive(Clone, Debug)]
pub(crate) struct PseudoCumack {
    version: CucVersion,
    first: Tracker,
    retransmitted: Tracker,
}

impl PseudoCumack {
    pub(crate) fn new(version: CucVersion) -> Self {
        Self { version, first: Tracker::START, retransmitted: Tracker::START }
    }

    /// Step 1.
    pub(crate) fn begin_sack(&mut self) {
        self.first.new = false;
        self.retransmitted.new = false;
    }

    /// Step 2: a TSN last sent here is acknowledged for the first time, by the cumulative TSN.
    pub(crate) fn on_cumulative(&mut self) {
        for tracker in [&mut self.first, &mut self.retransmitted] {
            tracker.find = true;
            tracker.new = true;
        }
    }

    /// Step 3: a TSN last sent here is met in the retransmission queue.
    pub(crate) fn on_outstanding(&mut self, reported: Reported) {
        match self.version {
            CucVersion::One => self.first.on_outstanding(reported, true),
            CucVersion::Two => {
                self.first.on_outstanding(reported, !reported.retransmitted);
                self.retransmitted.on_outstanding(reported, reported.retransmitted);
            }
        }
    }

    /// Step 4: whether the window may grow.
    pub(crate) fn has_new(&self) -> bool {
        self.first.new || (self.version == CucVersion::Two && self.retransmitted.new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TSN that nothing acknowledges, sent once.
    fn missing(tsn: u64) -> Reported {
        Reported { tsn, acked_before: false, newly_gap_acked: false, retransmitted: false }
    }

    fn gap_acked(tsn: u64) -> Reported {
        Reported { newly_gap_acked: true, ..missing(tsn) }
    }

    fn acked_before(tsn: u64) -> Reported {
        Reported { acked_before: true, ..missing(tsn) }
    }

    fn again(reported: Reported) -> Reported {
        Reported { retransmitted: true, ..reported }
    }

    /// One SACK: what it acknowledges cumulatively for the first time, then the queue. Whether the window may grow.
    fn sack(cuc: &mut PseudoCumack, cumulative: usize, queue: &[Reported]) -> bool {
        cuc.begin_sack();
        (0..cumulative).for_each(|_| cuc.on_cumulative());
        queue.iter().for_each(|&reported| cuc.on_outstanding(reported));
        cuc.has_new()
    }

    fn version(version: CucVersion) -> PseudoCumack {
        PseudoCumack::new(version)
    }

    #[test]
    fn figure_4_step_2_a_new_cumulative_tsn_lets_the_window_grow() {
        let mut cuc = version(CucVersion::One);
        assert!(sack(&mut cuc, 1, &[]));
        assert!(!sack(&mut cuc, 0, &[]), "step 1 resets the flag");
    }

    #[test]
    fn figure_4_step_3_the_earliest_outstanding_tsn_is_found_and_kept() {
        let mut cuc = version(CucVersion::One);
        // (ii) finds 4, which is missing; 5 was gap acknowledged, but it is not the earliest.
        assert!(!sack(&mut cuc, 0, &[missing(4), gap_acked(5)]));
        assert_eq!((cuc.first.earliest, cuc.first.find), (Some(4), false));
        // (iii) 4 is acknowledged: the window may grow, and the next earliest TSN is looked for.
        assert!(sack(&mut cuc, 0, &[gap_acked(4), acked_before(5), missing(8)]));
        assert_eq!((cuc.first.earliest, cuc.first.find), (Some(8), false), "5 was acknowledged in the past");
    }

    #[test]
    fn figure_4_step_3_one_sack_may_take_it_over_several_tsns() {
        let mut cuc = version(CucVersion::One);
        assert!(sack(&mut cuc, 0, &[gap_acked(4), gap_acked(5), missing(9)]));
        assert_eq!(cuc.first.earliest, Some(9));
    }

    #[test]
    fn figure_4_a_retransmission_elsewhere_holds_the_window_of_its_new_destination() {
        let mut cuc = version(CucVersion::One);
        // TSN 3 was lost elsewhere and sent again here, behind 10 and 11 in time and before them in number.
        assert!(!sack(&mut cuc, 0, &[again(missing(3)), gap_acked(10), missing(11)]));
        assert!(!sack(&mut cuc, 0, &[again(missing(3)), acked_before(10), gap_acked(11)]));
    }

    #[test]
    fn figure_5_first_transmissions_advance_past_a_retransmission() {
        let mut cuc = version(CucVersion::Two);
        assert!(sack(&mut cuc, 0, &[again(missing(3)), gap_acked(10), missing(11)]));
        assert_eq!((cuc.first.earliest, cuc.retransmitted.earliest), (Some(11), Some(3)));
        assert!(sack(&mut cuc, 0, &[again(missing(3)), acked_before(10), gap_acked(11)]));
    }

    #[test]
    fn figure_5_steps_iv_and_v_an_acknowledged_retransmission_counts_by_itself() {
        let mut cuc = version(CucVersion::Two);
        assert!(!sack(&mut cuc, 0, &[again(missing(3)), missing(10)]));
        assert!(sack(&mut cuc, 0, &[again(gap_acked(3)), missing(10)]));
        assert_eq!((cuc.first.earliest, cuc.retransmitted.find), (Some(10), true));
    }

    #[test]
    fn figure_5_step_2_resets_both() {
        let mut cuc = version(CucVersion::Two);
        assert!(!sack(&mut cuc, 0, &[again(missing(3)), missing(10)]));
        assert!(sack(&mut cuc, 1, &[missing(12)]));
        assert_eq!((cuc.first.earliest, cuc.retransmitted.find), (Some(12), true));
    }
}
