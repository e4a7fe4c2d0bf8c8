//! COBALT, the queue management of CAKE: CoDel, whose drop rate also falls step by step, and BLUE (Feng et al., "The BLUE
//! Active Queue Management Algorithms", 2002) for flows that do not react (Linux `sch_cake`, functions `cobalt_*`).
//!
//! Unlike CoDel's reference, one schedule serves both the wait before the first signal and the distance between
//! signals, a queue that has gone below the target loses its drop rate as it has gained it, and packets that may be
//! marked are marked only, whatever their number. Times are nanoseconds from the start of the run.

use super::super::Codepoint;

/// What COBALT depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Params {
    /// The time from the first packet above the target to the first signal.
    pub(super) interval: u64,
    /// The waiting time that a packet may have; also the least time between two changes of BLUE's probability.
    pub(super) target: u64,
    /// The transmission time of a full-sized packet.
    pub(super) mtu_time: u64,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// CoDel's count.
    count: u32,
    /// 1 / √count in 2⁻³². 0 in a queue that was never in use: as in the kernel, the first signal there does not wait for
    /// an interval.
    inverse_root: u32,
    /// When the next signal is due; while the count is 0, until when the queue counts as active.
    drop_next: u64,
    dropping: bool,
    /// BLUE's probability, in 2⁻³².
    p_drop: u32,
    /// When it changed last.
    blue_timer: u64,
}

/// What is done with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signal {
    pub(super) drop: bool,
    pub(super) mark: bool,
}

/// BLUE's steps: 1/256 up, 1/4096 down.
const P_INC: u32 = 1 << 24;
const P_DEC: u32 = 1 << 20;

/// Counts below this have a root that is exact to the last bits; the others follow from the one before.
const EXACT: usize = 16;

/// One Newton step from `root` towards 1 / √count.
const fn newton_step(root: u32, count: u32) -> u32 {
    let square = (root as u64 * root as u64) >> 32;
    // A step that overshoots stays at zero.
    let rest = (3_u64 << 32).saturating_sub(count as u64 * square);
    (((rest >> 2) * root as u64) >> 31) as u32
}

const ROOTS: [u32; EXACT] = {
    let mut roots = [u32::MAX; EXACT];
    let mut count = 1;
    while count < EXACT {
        let mut root = roots[count - 1];
        let mut step = 0;
        while step < 4 {
            root = newton_step(root, count as u32);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

impl Cobalt {
    /// A packet of the queue was dropped because the buffer was full.
    pub(super) fn on_overflow(&mut self, params: &Params, now: u64) {
        if now.saturating_sub(self.blue_timer) > params.target {
            self.p_drop = self.p_drop.saturating_add(P_INC);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The turn of the queue has found it empty.
    pub(super) fn on_empty(&mut self, params: &Params, now: u64) {
        if self.p_drop > 0 && now.saturating_sub(self.blue_timer) > params.target {
            self.p_drop = self.p_drop.saturating_sub(P_DEC);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step_down(params);
        }
    }

    /// Whether nothing is left to decay.
    pub(super) fn is_at_rest(&self, now: u64) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// What is done with a packet that leaves after it has waited for `sojourn`. `draw` is a random number of 32 bits.
    pub(super) fn on_departure(
        &mut self,
        params: &Params,
        (now, sojourn): (u64, u64),
        ecn: Codepoint,
        draw: impl FnOnce() -> u32,
    ) -> Signal {
        let is_due = self.is_due(now);
        let mut is_late = now > self.drop_next;
        let is_over = sojourn > params.target && sojourn > params.mtu_time.saturating_mul(4);
        if is_over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control_law(now, params);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }

        let mut signal = Signal::default();
        if is_due && self.dropping {
            signal = Signal { drop: ecn == Codepoint::NotEct, mark: ecn != Codepoint::NotEct };
            self.count = self.count.saturating_add(1);
            self.follow_count();
            self.drop_next = self.control_law(self.drop_next, params);
            is_late = now > self.drop_next;
        } else {
            let mut decays = is_due;
            while decays {
                self.step_down(params);
                is_late = now > self.drop_next;
                decays = self.is_due(now);
            }
        }
        // BLUE drops also what could be marked.
        signal.drop |= self.p_drop > 0 && draw() < self.p_drop;

        if self.count == 0 {
            self.drop_next = now.saturating_add(params.interval);
        } else if is_late && !signal.drop {
            self.drop_next = now;
        }
        signal
    }

    fn is_due(&self, now: u64) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    fn step_down(&mut self, params: &Params) {
        self.count -= 1;
        self.follow_count();
        self.drop_next = self.control_law(self.drop_next, params);
    }

    /// The count has changed by one.
    fn follow_count(&mut self) {
        self.inverse_root = match ROOTS.get(self.count as usize) {
            Some(root) => *root,
            None => newton_step(self.inverse_root, self.count),
        };
    }

    /// `t` + interval / √count.
    fn control_law(&self, t: u64, params: &Params) -> u64 {
        let distance = (u128::from(params.interval) * u128::from(self.inverse_root)) >> 32;
        t.saturating_add(distance as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const PARAMS: Params = Params { interval: 100 * MS, target: 5 * MS, mtu_time: MS };

    /// One packet each millisecond for so long; the times of signals, in milliseconds.
    fn signals(cobalt: &mut Cobalt, from_ms: u64, for_ms: u64, sojourn_ms: u64) -> Vec<u64> {
        (from_ms..from_ms + for_ms)
            .filter(|&ms| {
                let times = (ms * MS, sojourn_ms * MS);
                cobalt.on_departure(&PARAMS, times, Codepoint::Ect0, || u32::MAX).mark
            })
            .collect()
    }

    #[test]
    fn roots_are_those_of_the_counts() {
        for (count, &root) in ROOTS.iter().enumerate().skip(1) {
            let expected = f64::from(u32::MAX) / (count as f64).sqrt();
            assert!((f64::from(root) / expected - 1.0).abs() < 1e-3, "{count}: {root} instead of {expected}");
        }
    }

    #[test]
    fn signals_come_at_the_interval_over_the_root_of_their_number() {
        let mut cobalt = Cobalt::default();
        signals(&mut cobalt, 1000, 10, 1);
        // The queue was never in use: the signal comes with the second packet above the target, the others
        // 100 / √2, 100 / √3, … later.
        let times = signals(&mut cobalt, 1010, 300, 20);
        let mut expected = vec![1011];
        let mut due = 1010.0;
        for count in 2..=5 {
            due += 100.0 / f64::from(count).sqrt();
            expected.push(due.ceil() as u64);
        }
        assert_eq!(&times[..5], &expected[..], "{times:?}");
    }

    #[test]
    fn below_the_target_the_drop_rate_falls_as_it_has_risen_and_then_an_interval_passes_before_a_signal() {
        let mut cobalt = Cobalt::default();
        signals(&mut cobalt, 1000, 10, 1);
        let count = signals(&mut cobalt, 1010, 500, 20).len() as u32 + 1;
        assert_eq!(cobalt.count, count);
        assert_eq!(signals(&mut cobalt, 1510, 100, 4), []);
        assert!((1..count).contains(&cobalt.count), "{} of {count}", cobalt.count);
        assert_eq!(signals(&mut cobalt, 1610, 2000, 4), []);
        assert_eq!(cobalt.count, 0);
        assert_eq!(signals(&mut cobalt, 3610, 110, 20), [3710]);
    }

    #[test]
    fn waits_of_four_packets_are_no_queue_on_a_slow_link() {
        let slow = Params { mtu_time: 10 * MS, ..PARAMS };
        let mut cobalt = Cobalt::default();
        for ms in 0..1000 {
            let signal = cobalt.on_departure(&slow, (ms * MS, 40 * MS), Codepoint::NotEct, || u32::MAX);
            assert_eq!(signal, Signal::default());
        }
        assert!(cobalt.on_departure(&slow, (2000 * MS, 41 * MS), Codepoint::NotEct, || u32::MAX) == Signal::default());
        assert!(cobalt.on_departure(&slow, (2001 * MS, 41 * MS), Codepoint::NotEct, || u32::MAX).drop);
    }

    #[test]
    fn blue_rises_by_a_256th_per_target_of_overflow_and_falls_by_a_4096th_per_target_without_packets() {
        let mut cobalt = Cobalt::default();
        for ms in 100..200 {
            cobalt.on_overflow(&PARAMS, ms * MS);
        }
        // At 100, 106, 112, …: more than 5 ms apart.
        assert_eq!(cobalt.p_drop, 17 * P_INC);
        let dropped = cobalt.on_departure(&PARAMS, (200 * MS, 0), Codepoint::Ect0, || 17 * P_INC - 1);
        assert!(dropped.drop, "also what is ECN-capable");
        assert!(!cobalt.on_departure(&PARAMS, (201 * MS, 0), Codepoint::Ect0, || 17 * P_INC).drop);
        for ms in 300..330 {
            cobalt.on_empty(&PARAMS, ms * MS);
        }
        assert_eq!(cobalt.p_drop, 17 * P_INC - 5 * P_DEC);
        assert!(!cobalt.is_at_rest(330 * MS));
    }
}
