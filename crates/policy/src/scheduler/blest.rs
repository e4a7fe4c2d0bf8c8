//! `blest`: leaves a slow subflow idle if it would block the fast one.

use subflow_quantity::{Duration, Instant, Ratio};

use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

use super::{Assignment, QueueView, Scheduler, SubflowSet, SubflowView, candidates, lowest_latency};

/// Blocking estimation: like `ll`, but if only a slower subflow S has window space, nothing is sent on S if the
/// connection's send window is too small for the data that the fastest subflow F can send while a segment on S is in
/// flight.
///
/// ```text
/// rtts = τ_S / τ_F
/// X    = m_F (w_F + (rtts − 1) / 2) rtts            what F sends in a round trip of S, with Reno's window growth
/// S    if  X · λ ≤ |W| − m_S (f_S + 1),             else wait
/// ```
///
/// |W| is the connection's send window, f_S the number of packets in flight on S. λ corrects the estimate: once per
/// round trip of S it increases by 0.04 if the window blocked the connection during that time, else it decreases by
/// 0.01. It is limited by two bounds.
///
/// Source: Ferlin, Alay, Mehani, Boreli, BLEST: Blocking estimation-based MPTCP scheduler for heterogeneous networks,
/// IFIP Networking 2016, section IV; the initial value of λ (1.2), its bounds (1.0 and 1.3) and its steps are those of
/// Linux MPTCP 0.95. That kernel includes the queue of S in τ_S and assumes slow start for X while F is in it; the
/// formula here is that of the paper, with rtts at least 1. A copy of lost data never waits.
///
/// F is the fastest of the live subflows, with or without window space; S is the choice of `ll`. Backups are used only
/// if no other subflow is live.
#[derive(Clone, Debug)]
pub struct Blest {
    bounds: Bounds,
    /// λ in thousandths.
    lambda: u64,
    updated_at: Option<Instant>,
    /// How often the window had blocked the connection at that time.
    blocked: u64,
}

/// The initial value and the bounds of λ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Initial value.
    pub lambda: Ratio,
    /// Minimum.
    pub lambda_min: Ratio,
    /// Maximum.
    pub lambda_max: Ratio,
}

impl Default for Bounds {
    fn default() -> Self {
        const fn tenths(n: u32) -> Ratio {
            Ratio::new(n, 10).expect("a good ratio")
        }
        Self { lambda: tenths(12), lambda_min: tenths(10), lambda_max: tenths(13) }
    }
}

const THOUSAND: u64 = 1000;
/// The increase of λ if the window blocked the connection, in thousandths.
const LAMBDA_INCREASE: u64 = 40;
/// The decrease of λ otherwise.
const LAMBDA_DECREASE: u64 = 10;

impl Blest {
    /// Creates it with these bounds for λ.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, lambda: thousandths(bounds.lambda), updated_at: None, blocked: 0 }
    }

    fn pick(&mut self, subflows: &[SubflowView], ready: SubflowSet, queue: &QueueView<'_>) -> Option<usize> {
        let live = candidates::usable(subflows, queue).live;
        let (fast, best) = (lowest_latency::fastest(subflows, live)?, lowest_latency::fastest(subflows, ready)?);
        if fast == best {
            return Some(best);
        }
        self.adapt(&subflows[best], queue);
        (!self.would_block(&subflows[fast], &subflows[best], queue.window)).then_some(best)
    }

    /// Whether a segment on `slow` would keep `fast` from sending.
    fn would_block(&self, fast: &SubflowView, slow: &SubflowView, window: u64) -> bool {
        // The limit of some hours does not change the result and keeps the products below in range.
        let micros = |s: &SubflowView| s.srtt.map_or(1, |srtt| u128::from(srtt.as_micros().clamp(1, 1 << 34)));
        let fast_rtt = micros(fast);
        let slow_rtt = micros(slow).max(fast_rtt);
        // X with the common denominator 2 τ_F².
        let packets = 2 * u128::from(fast.cwnd) * fast_rtt + (slow_rtt - fast_rtt);
        let fast_bytes = u128::from(fast.mss) * packets * slow_rtt / (2 * fast_rtt * fast_rtt);
        let slow_bytes = u64::from(slow.mss) * (u64::from(slow.in_flight) + 1);
        let room = u128::from(window.saturating_sub(slow_bytes));
        fast_bytes.saturating_mul(self.lambda.into()) > room * u128::from(THOUSAND)
    }

    /// Updates λ, once per round trip of `slow`.
    fn adapt(&mut self, slow: &SubflowView, queue: &QueueView<'_>) {
        let round_trip = slow.srtt.unwrap_or(Duration::ZERO);
        match self.updated_at {
            Some(at) if queue.now.since(at) < round_trip => return,
            Some(_) if queue.blocked > self.blocked => self.lambda += LAMBDA_INCREASE,
            Some(_) => self.lambda = self.lambda.saturating_sub(LAMBDA_DECREASE),
            None => {}
        }
        let Bounds { lambda_min, lambda_max, .. } = self.bounds;
        self.lambda = self.lambda.max(thousandths(lambda_min)).min(thousandths(lambda_max));
        (self.updated_at, self.blocked) = (Some(queue.now), queue.blocked);
    }
}

/// A ratio in thousandths, rounded down.
fn thousandths(ratio: Ratio) -> u64 {
    u64::from(ratio.numerator()) * THOUSAND / u64::from(ratio.denominator())
}

impl Default for Blest {
    fn default() -> Self {
        Self::new(Bounds::default())
    }
}

impl Catalogued for Blest {
    const DESCRIPTION: Description = Description {
        name: "blest",
        aliases: &[],
        summary: "the lowest RTT, but no slow subflow if it would fill the send window that the fast one needs",
        source: "Ferlin et al., IFIP Networking 2016; Linux MPTCP 0.95",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::ratio(
            "lambda",
            "the initial factor of the blocking estimate",
            [(0, 1), (10, 1)],
            |blest| blest.bounds.lambda,
            |blest, lambda| *blest = Self::new(Bounds { lambda, ..blest.bounds }),
        ),
        Attribute::ratio(
            "lambda_min",
            "the lower bound of lambda",
            [(0, 1), (10, 1)],
            |blest| blest.bounds.lambda_min,
            |blest, lambda_min| blest.bounds.lambda_min = lambda_min,
        ),
        Attribute::ratio(
            "lambda_max",
            "the upper bound of lambda",
            [(0, 1), (10, 1)],
            |blest| blest.bounds.lambda_max,
            |blest, lambda_max| blest.bounds.lambda_max = lambda_max,
        ),
    ];

    fn conflict(&self) -> Option<Conflict> {
        let Bounds { lambda, lambda_min, lambda_max } = self.bounds;
        (!(lambda_min..=lambda_max).contains(&lambda)).then(|| Conflict {
            key: "lambda",
            expected: format!("from lambda_min, {lambda_min}, to lambda_max, {lambda_max}"),
        })
    }
}

impl Scheduler for Blest {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        candidates::copy(subflows, queue, |ready| lowest_latency::fastest(subflows, ready))
            .or_else(|| candidates::new_data(subflows, queue, |ready| self.pick(subflows, ready, queue)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_states::{queue, reinjection, subflow};
    use super::super::{SubflowSet, What};
    use super::*;

    /// The fast subflow, full, at 10 ms; the slow one, idle, at 50 ms; both with windows of 10 packets of 1000 bytes.
    fn unequal() -> [SubflowView; 2] {
        [SubflowView { can_send: false, in_flight: 10, ..subflow(10) }, subflow(50)]
    }

    fn without_correction() -> Blest {
        Blest::new(Bounds { lambda: Ratio::ONE, lambda_min: Ratio::ONE, lambda_max: Ratio::ONE })
    }

    fn next(scheduler: &mut Blest, window: u64, now_ms: u64, blocked: u64) -> Option<usize> {
        let now = Instant::ZERO + Duration::from_millis(now_ms);
        let queue = QueueView { window, now, blocked, ..queue(100_000) };
        scheduler.next(&unequal(), &queue).map(|a| a.subflow)
    }

    #[test]
    fn with_room_on_the_fast_subflow_it_is_ll() {
        let choice = |subflows: &[SubflowView]| Blest::default().next(subflows, &queue(5000)).map(|a| a.subflow);
        assert_eq!(choice(&[subflow(30), subflow(10), subflow(20)]), Some(1));
        assert_eq!(choice(&[subflow(30), subflow(10), subflow(10)]), Some(1), "ties go to the earlier subflow");
    }

    #[test]
    fn the_slow_subflow_is_used_where_the_window_has_room_for_both() {
        // rtts = 5: X = 1000 · (10 + 2) · 5 = 60 000, and 1000 for the segment itself.
        assert_eq!(next(&mut without_correction(), 61_000, 0, 0), Some(1));
        assert_eq!(next(&mut without_correction(), 60_999, 0, 0), None);
    }

    #[test]
    fn lambda_makes_the_estimate_larger() {
        assert_eq!(next(&mut Blest::default(), 73_000, 0, 0), Some(1), "60 000 · 1.2");
        assert_eq!(next(&mut Blest::default(), 72_999, 0, 0), None);
    }

    #[test]
    fn lambda_grows_when_the_window_blocks_and_falls_when_not_within_its_bounds() {
        let mut scheduler = Blest::default();
        let mut after = |now_ms, blocked| {
            next(&mut scheduler, 100_000, now_ms, blocked);
            scheduler.lambda
        };
        assert_eq!(after(0, 0), 1200);
        assert_eq!(after(49, 1), 1200, "once per round trip");
        assert_eq!(after(50, 1), 1240);
        assert_eq!(after(100, 1), 1230);
        assert_eq!([after(150, 2), after(200, 3), after(250, 4)], [1270, 1300, 1300]);
        assert_eq!((6..60).map(|n| after(50 * n, 4)).last(), Some(1000));
    }

    #[test]
    fn what_is_in_flight_on_the_slow_subflow_takes_its_part_of_the_window() {
        let mut subflows = unequal();
        subflows[1].in_flight = 4;
        let choice = |window| without_correction().next(&subflows, &QueueView { window, ..queue(9000) });
        assert!(choice(65_000).is_some());
        assert!(choice(64_999).is_none());
    }

    #[test]
    fn without_samples_and_with_huge_windows_it_still_answers() {
        let mut subflows = unequal();
        subflows[0] = SubflowView { srtt: None, cwnd: u32::MAX, mss: 65_535, ..subflows[0].clone() };
        subflows[1].srtt = Some(Duration::from_secs(3600));
        assert_eq!(Blest::default().next(&subflows, &QueueView { window: u64::MAX, ..queue(9000) }), None);
    }

    #[test]
    fn a_copy_does_not_wait() {
        let sent = reinjection(SubflowSet(0b01));
        let queue = QueueView { reinjection: Some(&sent), window: 0, ..queue(5000) };
        let assignment = Blest::default().next(&unequal(), &queue);
        assert_eq!(assignment, Some(Assignment { subflow: 1, what: What::Copy { range: 0..1000 } }));
    }
}
