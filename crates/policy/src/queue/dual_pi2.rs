//! DualPI2: a queue for scalable congestion controls (L4S) and one for all others, with coupled marks (RFC 9332, appendix
//! A).
//!
//! | what | rule | source |
//! |---|---|---|
//! | queue | ECT(1) and CE to L, all others to C | A.1, `dualpi2_enqueue` |
//! | p', each Tupdate | `p' += α (delay of C − target) + β (delay of C − delay before)` | `dualpi2_update` |
//! | coupling | `p_CL = k p'` for L, `p_C = p'²` for C | `dualpi2_update` |
//! | packet of L | marked with `max(p_CL, ramp of its own delay)`; from `p_CL = 1` on overload: dropped with p_C | A.2, `dualpi2_dequeue` |
//! | packet of C | with p_C marked, or dropped without ECN; with overload dropped | A.2 |
//! | turns | L precedes, but C gets a tenth of the bytes while both have packets | Linux `c_protection` |
//!
//! Marks come at regular distances (`recur`), not at random. The probability is computed when the next packet leaves,
//! for all times until then; the first packet of C, whose age is the delay, can only have left at such an event.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant, Ratio};

use super::{Arrival, Codepoint, Departure, FULL_PACKET, Limit, Place, QueueDiscipline, Verdict, Waiting};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// The internal queue of scalable congestion controls.
const L: u16 = 0;
/// The internal queue of all others.
const C: u16 = 1;

/// DualPI2.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    target: Duration,
    tupdate: Duration,
    /// In Hz.
    alpha: Ratio,
    beta: Ratio,
    /// k.
    coupling_factor: u32,
    /// minTh and range: the delays of L at which its own marks begin, and over which they reach all packets.
    min_th: Duration,
    range: Duration,
    /// C's part of the bytes while L has packets, in percent.
    c_protection: u32,
    /// A queue of no more bytes than this drops and marks nothing.
    least: u64,
    /// p'.
    base: f64,
    /// The delay of C at the last update.
    delay_before: Duration,
    next_update: Instant,
    /// The sums of likelihoods since the last mark, of L and C (`recur`).
    counts: [f64; 2],
    /// The sum of likelihoods since the last drop of L in overload.
    overload_count: f64,
    /// Whose turn it is: C's if it is above zero, in bytes times percent.
    credit: i64,
}

/// As `tc dualpi2`, with the ramp of the RFC for L's own marks.
impl Default for DualPi2 {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(16),
            alpha: Ratio::new(16, 100).expect("it is not divided by zero"),
            beta: Ratio::new(32, 10).expect("it is not divided by zero"),
            coupling_factor: 2,
            min_th: Duration::from_micros(800),
            range: Duration::from_micros(400),
            c_protection: 10,
            least: 2 * FULL_PACKET as u64,
            base: 0.0,
            delay_before: Duration::ZERO,
            next_update: Instant::ZERO,
            counts: [0.0; 2],
            overload_count: 0.0,
            credit: 0,
        }
    }
}

impl Catalogued for DualPi2 {
    const DESCRIPTION: Description = Description {
        name: "dualpi2",
        aliases: &[],
        summary: "a queue for ECT(1) and one for all others, with coupled marks and drops",
        source: "RFC 9332, appendix A; Linux sch_dualpi2",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::positive_duration(
            "target",
            "the waiting time that the probability aims for",
            |queue| queue.target,
            |queue, target| queue.target = target,
        ),
        Attribute::positive_duration(
            "tupdate",
            "the time between two computations of the probability",
            |queue| queue.tupdate,
            |queue, tupdate| queue.tupdate = tupdate,
        ),
        Attribute::ratio(
            "integral_gain",
            "alpha: the weight of the difference from the target, per second",
            [(0, 1), (1000, 1)],
            |queue| queue.alpha,
            |queue, alpha| queue.alpha = alpha,
        ),
        Attribute::ratio(
            "proportional_gain",
            "beta: the weight of the change of the waiting time, per second",
            [(0, 1), (1000, 1)],
            |queue| queue.beta,
            |queue, beta| queue.beta = beta,
        ),
        Attribute::integer(
            "coupling_factor",
            "how much more likely a mark is for ECT(1) than the root of the likelihood for all others",
            [1, 255],
            |queue| queue.coupling_factor.into(),
            |queue, factor| queue.coupling_factor = factor as u32,
        ),
        Attribute::duration(
            "min_th",
            "the waiting time at which the queue for ECT(1) begins to mark by itself",
            |queue| queue.min_th,
            |queue, min_th| queue.min_th = min_th,
        ),
        Attribute::duration(
            "range",
            "how much longer a packet waits there until each is marked",
            |queue| queue.range,
            |queue, range| queue.range = range,
        ),
        Attribute::integer(
            "c_protection",
            "the percentage of the bytes that the other queue gets while that for ECT(1) has packets",
            [0, 100],
            |queue| queue.c_protection.into(),
            |queue, percent| queue.c_protection = percent as u32,
        ),
    ];
}

impl DualPi2 {
    /// Computes p' as often as it was due until `now` (`dualpi2_update`).
    fn catch_up(&mut self, now: Instant, waiting: &Waiting) {
        let first = waiting.queue(C).head.map(|head| head.came);
        while self.next_update <= now {
            let delay = first.map_or(Duration::ZERO, |came| self.next_update.since(came));
            if self.base == 0.0 && delay.is_zero() && self.delay_before.is_zero() {
                let until = first.map_or(now, |came| came.min(now));
                let missed = until.since(self.next_update).as_nanos() / self.tupdate.as_nanos() + 1;
                self.next_update = self.next_update.saturating_add(self.tupdate.saturating_mul(missed));
                continue;
            }
            self.update(delay);
            self.next_update = self.next_update.saturating_add(self.tupdate);
        }
    }

    fn update(&mut self, delay: Duration) {
        let (delay_s, before, target) =
            (delay.as_secs_f64(), self.delay_before.as_secs_f64(), self.target.as_secs_f64());
        let step = self.alpha.as_f64() * (delay_s - target) + self.beta.as_f64() * (delay_s - before);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay_before = delay;
    }

    /// p_CL, which may be above 1.
    fn coupled(&self) -> f64 {
        self.base * f64::from(self.coupling_factor)
    }

    /// The likelihood of L's own marks (`laqm`).
    fn ramp(&self, delay: Duration) -> f64 {
        match delay.as_nanos().saturating_sub(self.min_th.as_nanos()) {
            0 => 0.0,
            above if above >= self.range.as_nanos() => 1.0,
            above => above as f64 / self.range.as_nanos() as f64,
        }
    }

    /// Whether a packet of L that has waited for `sojourn` is marked or dropped.
    fn on_departure_of_l(&mut self, sojourn: Duration) -> Verdict {
        let coupled = self.coupled();
        let is_overloaded = coupled >= 1.0;
        if is_overloaded && recur(&mut self.overload_count, self.base * self.base) {
            return Verdict::Drop;
        }
        let likelihood = self.ramp(sojourn).max(coupled).min(1.0);
        if recur(&mut self.counts[usize::from(L)], likelihood) { Verdict::Mark } else { Verdict::Pass }
    }

    /// Whether a packet of C with `ecn` is marked or dropped.
    fn on_departure_of_c(&mut self, ecn: Codepoint) -> Verdict {
        let is_overloaded = self.coupled() >= 1.0;
        match recur(&mut self.counts[usize::from(C)], self.base * self.base) {
            false => Verdict::Pass,
            true if is_overloaded || ecn == Codepoint::NotEct => Verdict::Drop,
            true => Verdict::Mark,
        }
    }
}

/// Whether the sum of likelihoods `count` passes 1 with `likelihood`.
fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    let passes = *count >= 1.0;
    *count -= if passes { 1.0 } else { 0.0 };
    passes
}

impl QueueDiscipline for DualPi2 {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.least = 2 * u64::from(place.full_packet());
        Ok(())
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(10_000))
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        match arrival.ecn {
            Codepoint::Ect1 | Codepoint::Ce => L,
            Codepoint::NotEct | Codepoint::Ect0 => C,
        }
    }

    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        self.catch_up(now, waiting);
        let has = |queue| waiting.queue(queue).packets > 0;
        match (has(L), has(C)) {
            (true, true) => u16::from(self.credit > 0),
            (is_l, _) => u16::from(!is_l),
        }
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let (bytes, queue) = (i64::from(departure.bytes), departure.queue);
        let verdict = match queue {
            _ if departure.waiting.bytes() + u64::from(departure.bytes) < self.least => Verdict::Pass,
            L => self.on_departure_of_l(departure.sojourn),
            _ => self.on_departure_of_c(departure.ecn),
        };
        if verdict != Verdict::Drop {
            let share = i64::from(self.c_protection);
            match (queue, departure.waiting.queue(L + C - queue).packets > 0) {
                (L, true) => self.credit += share * bytes,
                (_, true) => self.credit -= (100 - share) * bytes,
                (_, false) => {}
            }
        }
        verdict
    }

    fn on_empty(&mut self, _at: Instant) {
        self.credit = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Backlog, Head};

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn the_base_probability_takes_the_steps_of_the_rfc() {
        // By hand: α = 0.16, β = 3.2, target 15 ms.
        let mut queue = DualPi2::default();
        let mut expected = 0.0;
        for (delay, before) in [(20, 0), (30, 20), (25, 30), (5, 25)] {
            queue.update(Duration::from_millis(delay));
            let (delay, before) = (delay as f64 / 1000.0, f64::from(before) / 1000.0);
            expected = f64::max(expected + 0.16 * (delay - 0.015) + 3.2 * (delay - before), 0.0);
            assert!((queue.base - expected).abs() < 1e-12, "{delay}: {} {expected}", queue.base);
        }
        // 0.0648 + 0.0344 − 0.0144, and then less than it has.
        assert!((queue.base - 0.0192).abs() < 1e-9, "{}", queue.base);
    }

    /// The parts of marked packets, or dropped ones of C without ECN, of 10 000 each in L and in C.
    fn parts(base: f64, sojourn: Duration) -> [f64; 2] {
        let mut queue = DualPi2 { base, ..DualPi2::default() };
        let count = 10_000;
        let l = (0..count).filter(|_| queue.on_departure_of_l(sojourn) == Verdict::Mark).count();
        let c = (0..count).filter(|_| queue.on_departure_of_c(Codepoint::NotEct) == Verdict::Drop).count();
        [l, c].map(|marked| marked as f64 / f64::from(count))
    }

    #[test]
    fn l_is_marked_with_twice_the_root_of_the_likelihood_of_c() {
        for base in [0.0, 0.05, 0.1, 0.3, 0.45] {
            let [l, c] = parts(base, Duration::ZERO);
            assert!((l - 2.0 * base).abs() < 1e-3 && (c - base * base).abs() < 1e-3, "{base}: {l} {c}");
        }
    }

    #[test]
    fn the_own_marks_of_l_grow_along_a_ramp_of_its_delay() {
        let l = |micros| parts(0.1, Duration::from_micros(micros))[0];
        assert_eq!([0, 800, 1200, 5000].map(l), [0.2, 0.2, 1.0, 1.0]);
        assert!((l(1000) - 0.5).abs() < 1e-3 && (l(840) - 0.2).abs() < 1e-3);
    }

    #[test]
    fn in_overload_both_drop_whatever_their_codepoint() {
        let mut queue = DualPi2 { base: 0.6, ..DualPi2::default() };
        let dropped_l = (0..1000).filter(|_| queue.on_departure_of_l(Duration::ZERO) == Verdict::Drop).count();
        let dropped_c = (0..1000).filter(|_| queue.on_departure_of_c(Codepoint::Ect0) == Verdict::Drop).count();
        assert!((dropped_l, dropped_c) == (360, 360) || dropped_l.abs_diff(360) <= 1, "{dropped_l} {dropped_c}");
    }

    /// The queues of the packets that leave, while both have packets of 1000 bytes.
    fn turns(c_protection: u32, count: usize) -> Vec<u16> {
        let mut queue = DualPi2 { c_protection, tupdate: Duration::from_secs(9), ..DualPi2::default() };
        queue.next_update = ms(1_000_000);
        let mut backlog = Backlog::default();
        for _ in 0..count {
            backlog.push(L, Head { came: ms(0), bytes: 1000, ecn: Codepoint::Ect1 }, L);
            backlog.push(C, Head { came: ms(0), bytes: 1000, ecn: Codepoint::NotEct }, C);
        }
        (0..count).map_while(|_| backlog.depart(&mut queue, ms(0), |_| {}).map(|departed| departed.packet)).collect()
    }

    #[test]
    fn c_gets_a_tenth_of_the_bytes_while_l_has_packets() {
        assert_eq!(turns(10, 200).iter().filter(|&&queue| queue == C).count(), 20);
        assert!(turns(0, 200).iter().all(|&queue| queue == L));
    }

    #[test]
    fn what_was_missed_while_nothing_waited_is_computed_at_once_and_the_same() {
        let wait = |queue: &mut DualPi2, now| {
            let mut backlog = Backlog::default();
            backlog.push(C, Head { came: ms(100_000), bytes: 1000, ecn: Codepoint::NotEct }, ());
            queue.catch_up(now, backlog.waiting());
            (queue.base, queue.next_update)
        };
        let busy = DualPi2 { base: 0.5, delay_before: Duration::from_millis(15), ..DualPi2::default() };
        let (mut at_once, mut each) = (busy.clone(), busy);
        for now in (0..=6250).map(|n| ms(16 * n)) {
            each.catch_up(now, Backlog::<()>::default().waiting());
        }
        assert_eq!(wait(&mut at_once, ms(100_100)), wait(&mut each, ms(100_100)));
        assert!(at_once.base > 0.0);
    }
}
