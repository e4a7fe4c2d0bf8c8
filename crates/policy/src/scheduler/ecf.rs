//! `ecf`: waits for the fast subflow if the data completes earlier that way.

use subflow_quantity::{Duration, Ratio};

use crate::catalogue::{Attribute, Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates, lowest_latency};

/// Earliest completion first: like `ll`, but if only a slower subflow s has window space, data waits for the fastest
/// subflow f if the remaining data would be delivered earlier that way.
///
/// ```text
/// n = 1 + k / W_f,  δ = max(σ_f, σ_s)
/// n · τ_f < (1 + waiting · β) (τ_s + δ)  and  k / W_s · τ_s ≥ 2 τ_f + δ:   wait,    waiting ← 1
/// n · τ_f < (1 + waiting · β) (τ_s + δ)  otherwise:                         s
/// n · τ_f ≥ (1 + waiting · β) (τ_s + δ):                                    s,       waiting ← 0
/// ```
///
/// k is the data that is not yet assigned, W a congestion window, τ a smoothed RTT and σ its variation (RTTVAR of
/// RFC 6298). β is a hysteresis: while it waits, the slower subflow must have this much more of an advantage to be used
/// again.
///
/// Source: Lim, Nahum, Towsley, Gibbens, ECF: An MPTCP path scheduler to manage heterogeneous paths, CoNEXT 2017,
/// Algorithm 1; β = 1/4 as there and in Linux MPTCP 0.95. The kernel uses at least one window of the subflow for k; the
/// formulas here are those of the paper. A copy of lost data never waits.
///
/// f is the fastest of the live subflows, with or without window space; s is the choice of `ll`. Backups are used only
/// if no other subflow is live.
#[derive(Clone, Debug)]
pub struct Ecf {
    beta: Ratio,
    waiting: bool,
}

impl Ecf {
    /// The default β.
    pub const DEFAULT_BETA: Ratio = Ratio::new(1, 4).expect("a good ratio");

    /// Creates it with this hysteresis.
    pub fn new(beta: Ratio) -> Self {
        Self { beta, waiting: false }
    }

    /// Whether the remaining data should wait for `fast` instead of using `slow`. Records the decision.
    fn waits(&mut self, fast: &SubflowView, slow: &SubflowView, backlog: u64) -> bool {
        // Limits of some hours and petabytes do not change the result and keep the products below in range.
        let nanos = |time: Duration| u128::from(time.as_nanos().min(1 << 44));
        let rtt = |s: &SubflowView| nanos(s.srtt.unwrap_or(Duration::ZERO));
        let window = |s: &SubflowView| u128::from(s.cwnd.max(1)) * u128::from(s.mss.max(1));
        let backlog = u128::from(backlog.min(1 << 50));
        let deviation = nanos(fast.rtt_variation.max(slow.rtt_variation));

        let (p, q) = (u128::from(self.beta.numerator()), u128::from(self.beta.denominator()));
        let factor = if self.waiting { q + p } else { q };
        let sooner_on_fast = q * rtt(fast) * (window(fast) + backlog) < factor * (rtt(slow) + deviation) * window(fast);
        if !sooner_on_fast {
            self.waiting = false;
            return false;
        }
        let slow_takes_too_long = backlog * rtt(slow) >= (2 * rtt(fast) + deviation) * window(slow);
        self.waiting |= slow_takes_too_long;
        slow_takes_too_long
    }

    fn pick(&mut self, subflows: &[SubflowView], live: SubflowSet, ready: SubflowSet, backlog: u64) -> Option<usize> {
        let (fast, best) = (lowest_latency::fastest(subflows, live)?, lowest_latency::fastest(subflows, ready)?);
        let waits = fast != best && self.waits(&subflows[fast], &subflows[best], backlog);
        (!waits).then_some(best)
    }
}

impl Default for Ecf {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BETA)
    }
}

impl Catalogued for Ecf {
    const DESCRIPTION: Description = Description {
        name: "ecf",
        aliases: &["earliest-completion-first"],
        summary: "the lowest RTT, but waits for the fast subflow if the data completes earlier that way",
        source: "Lim et al., CoNEXT 2017; Linux MPTCP 0.95",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::ratio(
        "beta",
        "the hysteresis: the additional advantage that a slow subflow needs to be used again after waiting",
        [(0, 1), (10, 1)],
        |ecf| ecf.beta,
        |ecf, beta| ecf.beta = beta,
    )];
}

impl Scheduler for Ecf {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::copy(subflows, queue, |ready| lowest_latency::fastest(subflows, ready)).or_else(|| {
            let live = candidates::usable(subflows, queue).live;
            candidates::new_data(subflows, queue, |ready| self.pick(subflows, live, ready, queue.backlog))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, reinjection, subflow};
    use super::super::{SubflowSet, What};
    use super::*;

    /// The fast subflow, full, at 10 ms; the slow one, idle, at this many; both with windows of 10 packets of 1000
    /// bytes.
    fn next(scheduler: &mut Ecf, slow_ms: u64, backlog: u64) -> Option<usize> {
        let full = SubflowView { can_send: false, in_flight: 10, ..subflow(10) };
        let queue = QueueView { backlog, ..queue(backlog) };
        scheduler.next(&[full, subflow(slow_ms)], &queue).map(|a| a.subflow)
    }

    #[test]
    fn with_room_on_the_fast_subflow_it_is_ll() {
        let queue = QueueView { backlog: 5000, ..queue(5000) };
        let choice = |subflows: &[SubflowView]| Ecf::default().next(subflows, &queue).map(|a| a.subflow);
        assert_eq!(choice(&[subflow(30), subflow(10), subflow(20)]), Some(1));
        assert_eq!(choice(&[subflow(30), subflow(10), subflow(10)]), Some(1), "ties go to the earlier subflow");
    }

    #[test]
    fn the_remaining_data_waits_for_the_fast_subflow() {
        // n τ_f = 1.5 · 10 = 15 < 100, and 5/10 · 100 = 50 ≥ 20.
        assert_eq!(next(&mut Ecf::default(), 100, 5000), None);
    }

    #[test]
    fn much_data_uses_both_subflows() {
        // n τ_f = (1 + 10) · 10 = 110 ≥ 100.
        assert_eq!(next(&mut Ecf::default(), 100, 100_000), Some(1));
        // n τ_f = (1 + 9) · 10 - exactly as long on both.
        assert_eq!(next(&mut Ecf::default(), 100, 90_000), Some(1));
        assert_eq!(next(&mut Ecf::default(), 100, 89_999), None);
    }

    #[test]
    fn what_the_slow_subflow_finishes_in_two_fast_round_trips_does_not_wait() {
        // 1/10 · 100 = 10 < 2 · 10.
        assert_eq!(next(&mut Ecf::default(), 100, 1000), Some(1));
        assert_eq!(next(&mut Ecf::default(), 100, 2000), None, "exactly two");
    }

    #[test]
    fn while_it_waits_the_slow_subflow_must_be_a_quarter_better() {
        let mut scheduler = Ecf::default();
        assert_eq!(next(&mut scheduler, 100, 80_000), None);
        assert_eq!(next(&mut scheduler, 100, 110_000), None, "120 < 1.25 · 100");
        assert_eq!(next(&mut scheduler, 100, 115_000), Some(1), "125 is not less");
        assert_eq!(next(&mut scheduler, 100, 90_000), Some(1), "it no longer waits");
    }

    #[test]
    fn beta_can_be_set() {
        let mut patient = Ecf::new(Ratio::ONE);
        assert_eq!(next(&mut patient, 100, 80_000), None);
        assert_eq!(next(&mut patient, 100, 180_000), None, "190 < 2 · 100");
        let mut without = Ecf::new(Ratio::ZERO);
        assert_eq!(next(&mut without, 100, 80_000), None);
        assert_eq!(next(&mut without, 100, 90_000), Some(1));
    }

    #[test]
    fn rtt_variation_enters_both_sides_of_the_comparison() {
        let full = SubflowView { can_send: false, rtt_variation: Duration::from_millis(20), ..subflow(10) };
        let queue = QueueView { backlog: 100_000, ..queue(100_000) };
        assert_eq!(Ecf::default().next(&[full, subflow(100)], &queue), None, "110 < 100 + 20");
    }

    #[test]
    fn an_endless_backlog_does_not_overflow() {
        let full = SubflowView { can_send: false, cwnd: u32::MAX, mss: 65_535, ..subflow(3_600_000) };
        let queue = QueueView { backlog: u64::MAX, ..queue(u64::MAX) };
        assert!(Ecf::default().next(&[full, subflow(7_200_000)], &queue).is_some());
    }

    #[test]
    fn a_copy_does_not_wait() {
        let full = SubflowView { can_send: false, ..subflow(10) };
        let sent = reinjection(SubflowSet(0b01));
        let queue = QueueView { reinjection: Some(&sent), backlog: 5000, ..queue(5000) };
        let assignment = Ecf::default().next(&[full, subflow(100)], &queue);
        assert_eq!(assignment, Some(Assignment { subflow: 1, what: What::Copy { range: 0..1000 } }));
    }
}
