//! CUBIC: the window as a cubic function of the time since the last loss (RFC 9438), computed as Linux 6.12 does.
//!
//! ```text
//! W(t) = C (t − K)³ + W_max        K = ∛((W_max − cwnd) / C)        C = 0.4 packets/s³, t in seconds
//! ```
//!
//! The table has the values for the default [`Constants`]: β = 717/1024, C = 410/1024.
//!
//! | phase | rule | source |
//! |---|---|---|
//! | slow start | as Reno; ended early by [HyStart](super::hystart), if enabled, or the first by [HyStart++](super::hystart_plus_plus) instead | RFC 9438, 4.10; RFC 9406 |
//! | congestion avoidance | one packet per `cnt` acknowledged, `cnt = cwnd / (W(t + delay_min) − cwnd)`, at least 2 | RFC 9438, 4.2 to 4.5 |
//! | Reno-friendly region | an estimate grows 1 packet per `15 cwnd / 8` acknowledged; `cnt` at most `cwnd / (estimate − cwnd)` | RFC 9438, 4.3 |
//! | loss | `ssthresh = max(717/1024 cwnd, 2 packets)` | RFC 9438, 4.6 |
//! | mark in congestion avoidance, with `abe` | `ssthresh = max(0.85 cwnd, 2 packets)` | RFC 8511, 3.1 |
//! | fast convergence | a loss below `W_max` sets `W_max = (1 + 717/1024)/2 cwnd` | RFC 9438, 4.7 |
//! | timeout | all state is reset, including `W_max` | RFC 9438, 4.8; Linux |
//! | idle | the epoch moves by the idle time | RFC 9438, 4.2 (application-limited) |
//!
//! **Linux's integers.** Time is counted in ticks of 4 ms (HZ = 250) and converted to 1/1024 s for the cubic function;
//! `cnt` changes at most once per tick, and not for 7 ticks while the window does not change; `C = 410/1024` in those
//! units; W is in whole packets. `delay_min` is the smallest RTT, measured outside the first second of an epoch. One
//! difference: Linux computes the cube root from a table with one Newton step (mean error 0.2 %), here it is exact.
//!
//! **Units.** The cubic function is in packets; the windows of a transport that counts bytes are divided by
//! [`Path::quantum`].

use subflow_quantity::{Duration, Instant, Ratio};

use crate::catalogue::{Attribute, Catalogued, Description};

use super::hystart::{HyStart, Sample};
use super::hystart_plus_plus::HyStartPlusPlus;
use super::reno;
use super::{
    ABE_DOC, Ack, CongestionControl, HYSTART_PLUS_PLUS_DOC, Loss, Path, RecoveryState, additive_increase, set_state,
    slow_start,
};

/// Length of a Linux tick at HZ = 250.
const TICK: Duration = Duration::from_millis(4);
/// Ticks per second.
const HZ: u64 = 250;
/// β and C are kept in 1/1024.
const SCALE: u64 = 1024;
/// β of Linux.
const BETA: Ratio = Ratio::new(717, SCALE as u32).expect("it is not divided by zero");
/// What a mark leaves of the window with alternative backoff (RFC 8511, section 3.1).
const ABE_BETA: Ratio = Ratio::new(85, 100).expect("it is not divided by zero");
/// C of Linux.
const C: Ratio = Ratio::new(410, SCALE as u32).expect("it is not divided by zero");
/// Largest `cnt` before the first loss: growth of at least 5 % per round trip while the capacity is unknown.
const MAX_CNT_BEFORE_LOSS: u32 = 20;
/// Smallest `cnt`: growth of at most half a packet per acknowledged packet.
const MIN_CNT: u32 = 2;

/// The constants of CUBIC (RFC 9438, section 4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// `beta`: what is left of the window after a loss, above 0 and below 1; rounded to 1/1024.
    pub beta: Ratio,
    /// `c`: how fast the window grows far from its last maximum, in packets per cubic second, from 1/1000 to 10; rounded
    /// to 1/1024.
    pub c: Ratio,
    /// `fast_convergence`: whether a loss below the last maximum lowers the maximum further (section 4.7).
    pub fast_convergence: bool,
}

/// Those of Linux.
impl Default for Constants {
    fn default() -> Self {
        Self { beta: BETA, c: C, fast_convergence: true }
    }
}

/// The constants as the arithmetic needs them.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    /// β in 1/1024.
    beta: u64,
    /// C times 1024, for times in 1/1024 s: `C · (t/1024)³ = 410 t³ / 2⁴⁰`.
    c: u64,
    /// 1/C in units of (1/1024 s)³ per packet: `2⁴⁰ / 410`.
    cube_factor: u64,
    /// Eight times the ratio of acknowledged windows to packets of Reno-friendly growth, `(1 + β)/(3 (1 − β))`, rounded
    /// down twice as in Linux (`beta_scale`).
    friendly: u64,
    fast_convergence: bool,
}

impl Scaled {
    fn new(constants: Constants) -> Self {
        let scaled =
            |ratio: Ratio| (u64::from(ratio.numerator()) * 2 * SCALE / u64::from(ratio.denominator())).div_ceil(2);
        let beta = scaled(constants.beta).clamp(1, SCALE - 1);
        let c = scaled(constants.c).max(1);
        Self {
            beta,
            c,
            cube_factor: (1 << 40) / c,
            friendly: 8 * (SCALE + beta) / 3 / (SCALE - beta),
            fast_convergence: constants.fast_convergence,
        }
    }
}

/// CUBIC for each path independently (uncoupled).
#[derive(Clone, Debug)]
pub struct Cubic {
    hystart: bool,
    hystart_plus_plus: bool,
    abe: bool,
    constants: Constants,
    scaled: Scaled,
    paths: Vec<PathState>,
}

impl Cubic {
    /// Creates CUBIC with or without HyStart, and with these constants.
    pub fn new(hystart: bool, constants: Constants) -> Self {
        Self {
            hystart,
            hystart_plus_plus: false,
            abe: false,
            constants,
            scaled: Scaled::new(constants),
            paths: Vec::new(),
        }
    }

    /// The same with other constants, before the first path.
    fn set_constants(&mut self, constants: Constants) {
        (self.constants, self.scaled) = (constants, Scaled::new(constants));
    }
}

/// CUBIC of Linux, with HyStart.
impl Default for Cubic {
    fn default() -> Self {
        Self::new(true, Constants::default())
    }
}

impl Catalogued for Cubic {
    const DESCRIPTION: Description = Description {
        name: "cubic",
        aliases: &[],
        summary: "the window is a cubic function of the time since the last loss; uncoupled",
        source: "RFC 9438, Linux 6.12; abe: RFC 8511; hystart_plus_plus: RFC 9406",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::ratio(
            "beta",
            "what is left of the window after a loss, rounded to 1/1024",
            [(1, 100), (99, 100)],
            |cubic| cubic.constants.beta,
            |cubic, beta| cubic.set_constants(Constants { beta, ..cubic.constants }),
        ),
        Attribute::ratio(
            "c",
            "the growth far from the last maximum, in packets per cubic second, rounded to 1/1024",
            [(1, 1000), (10, 1)],
            |cubic| cubic.constants.c,
            |cubic, c| cubic.set_constants(Constants { c, ..cubic.constants }),
        ),
        Attribute::flag(
            "fast_convergence",
            "whether a loss below the last maximum lowers the maximum further",
            |cubic| cubic.constants.fast_convergence,
            |cubic, fast_convergence| cubic.set_constants(Constants { fast_convergence, ..cubic.constants }),
        ),
        Attribute::flag("abe", ABE_DOC, |cubic| cubic.abe, |cubic, abe| cubic.abe = abe),
        Attribute::flag(
            "hystart_plus_plus",
            HYSTART_PLUS_PLUS_DOC,
            |cubic| cubic.hystart_plus_plus,
            |cubic, on| cubic.hystart_plus_plus = on,
        ),
    ];

    const SWITCHES: &'static [Attribute<Self>] = &[Attribute::flag(
        "hystart",
        "whether HyStart ends slow start when the delay increases",
        |cubic| cubic.hystart,
        |cubic, on| cubic.hystart = on,
    )];
}

impl CongestionControl for Cubic {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, PathState::default());
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        let (state, path) = (&mut self.paths[path], &mut paths[path]);
        state.latest_nxt = ack.nxt;
        if self.hystart_plus_plus {
            state.plus_plus.on_sample(path, ack);
        }
        let Some(rtt) = ack.rtt else {
            return;
        };
        if state.epoch.is_some_and(|epoch| tick(ack.now) < epoch.start + HZ) {
            return;
        }
        let rtt = rtt.max(Duration::from_nanos(1));
        let delay_min = state.delay_min.map_or(rtt, |min| min.min(rtt));
        state.delay_min = Some(delay_min);
        if self.hystart && !self.hystart_plus_plus && path.in_slow_start() {
            let sample = Sample { cwnd: packets(path), rtt, delay_min, srtt: path.srtt, paced: path.paced };
            if state.hystart.should_exit(ack, sample) {
                path.ssthresh = path.cwnd;
            }
        }
    }

    #[inline]
    fn slow_start(&mut self, paths: &mut [Path], path: usize, acked: u32) -> u32 {
        match self.hystart_plus_plus {
            true => self.paths[path].plus_plus.grow(&mut paths[path], acked),
            false => slow_start(&mut paths[path], acked),
        }
    }

    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, ack: &Ack, acked: u32) {
        let (state, path) = (&mut self.paths[path], &mut paths[path]);
        state.update(path, acked, tick(ack.now), &self.scaled);
        additive_increase(path, state.cnt.saturating_mul(path.quantum), acked);
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        let (state, path, constants) = (&mut self.paths[path], &paths[path], self.scaled);
        let cwnd = u64::from(packets(path));
        state.epoch = None;
        state.w_max = if constants.fast_convergence && packets(path) < state.w_max {
            (cwnd * (SCALE + constants.beta) / (2 * SCALE)) as u32
        } else {
            packets(path)
        };
        let reduced = u64::from(path.cwnd) * constants.beta / SCALE;
        (reduced as u32).max(path.quantum.saturating_mul(2))
    }

    /// With alternative backoff a mark leaves more of the window than a loss; the last maximum follows by the same rule.
    fn on_mark(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        let after_loss = self.ssthresh_after_loss(paths, path, loss.now);
        let is_milder = self.abe && !paths[path].in_slow_start();
        let ssthresh = if is_milder { reno::part(&paths[path], ABE_BETA) } else { after_loss };
        paths[path].enter_recovery(ssthresh, loss);
    }

    fn on_state(&mut self, _paths: &[Path], path: usize, state: RecoveryState) {
        self.paths[path].plus_plus.on_state(state);
        if state == RecoveryState::Loss {
            let PathState { latest_nxt, plus_plus, .. } = self.paths[path];
            let hystart = HyStart::new(latest_nxt);
            self.paths[path] = PathState { latest_nxt, hystart, plus_plus, ..PathState::default() };
        }
    }

    fn on_window_restart(&mut self, _paths: &[Path], path: usize) {
        self.paths[path].plus_plus.end();
    }

    fn on_transmit_after_idle(&mut self, _paths: &[Path], path: usize, now: Instant, idle: Duration) {
        if let Some(epoch) = &mut self.paths[path].epoch {
            let idle = tick(now) - tick(now - idle);
            epoch.start = (epoch.start + idle).min(tick(now));
        }
    }
}

/// A period of congestion avoidance between two losses.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its first tick.
    start: u64,
    /// K, in 1/1024 s.
    k: u64,
    /// The plateau of the cubic function, in packets: W_max, or the window if that is larger.
    origin: u32,
}

/// CUBIC's state for one path.
#[derive(Clone, Copy, Debug, Default)]
struct PathState {
    /// The number of packets to acknowledge per packet of growth.
    cnt: u32,
    /// Window before the last loss, in packets; 0 before the first loss.
    w_max: u32,
    /// Window and tick of the last evaluation of the cubic function.
    last_cwnd: u32,
    last_tick: u64,
    epoch: Option<Epoch>,
    /// Acknowledged amount that has not yet increased `w_est`, in the path's unit.
    friendly_credit: u64,
    /// Window that Reno would have, in packets (RFC 9438: W_est).
    w_est: u32,
    delay_min: Option<Duration>,
    hystart: HyStart,
    plus_plus: HyStartPlusPlus,
    /// Last SND.NXT seen, for HyStart's round after a timeout.
    latest_nxt: u64,
}

impl PathState {
    /// Updates `cnt` for `acked` at tick `now`.
    fn update(&mut self, path: &Path, acked: u32, now: u64, constants: &Scaled) {
        let cwnd = packets(path);
        self.friendly_credit += u64::from(acked);
        if self.last_cwnd == cwnd && now - self.last_tick.min(now) <= HZ / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.last_tick {
            self.last_cwnd = cwnd;
            self.last_tick = now;
            let epoch = *self.epoch.get_or_insert_with(|| {
                self.friendly_credit = u64::from(acked);
                self.w_est = cwnd;
                Epoch::begin(now, cwnd, self.w_max, constants)
            });
            self.cnt = self.cubic_cnt(epoch, cwnd, now, constants);
        }
        self.cnt = self.cnt.min(self.friendly_cnt(path, constants)).max(MIN_CNT);
    }

    fn cubic_cnt(&self, epoch: Epoch, cwnd: u32, now: u64, constants: &Scaled) -> u32 {
        let ahead = self.delay_min.map_or(0, |delay| delay.as_micros().div_ceil(TICK.as_micros()));
        let target = epoch.window_at(now - epoch.start.min(now) + ahead, constants);
        let cnt = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.w_max == 0 { cnt.min(MAX_CNT_BEFORE_LOSS) } else { cnt }
    }

    /// Increases the Reno estimate and returns the `cnt` with which the window follows it.
    fn friendly_cnt(&mut self, path: &Path, constants: &Scaled) -> u32 {
        let cwnd = packets(path);
        let per_packet = (u64::from(cwnd) * constants.friendly / 8).max(1) * u64::from(path.quantum.max(1));
        if self.friendly_credit > per_packet {
            let steps = (self.friendly_credit - 1) / per_packet;
            self.friendly_credit -= steps * per_packet;
            self.w_est = self.w_est.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        }
        if self.w_est > cwnd { cwnd / (self.w_est - cwnd) } else { u32::MAX }
    }
}

impl Epoch {
    fn begin(now: u64, cwnd: u32, w_max: u32, constants: &Scaled) -> Self {
        let below = w_max.saturating_sub(cwnd);
        Self {
            start: now,
            k: cube_root(constants.cube_factor.saturating_mul(u64::from(below))),
            origin: w_max.max(cwnd),
        }
    }

    /// W(t) in whole packets, `ticks` after the epoch's start.
    fn window_at(&self, ticks: u64, constants: &Scaled) -> u32 {
        let t = (ticks << 10) / HZ;
        let distance = u128::from(t.abs_diff(self.k).min(1 << 32));
        let delta = u32::try_from((u128::from(constants.c) * distance * distance * distance) >> 40).unwrap_or(u32::MAX);
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) }
    }
}

/// The largest integer whose cube is at most `a`, determined bit by bit.
fn cube_root(a: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let candidate = root | 1 << bit;
        if u128::from(candidate).pow(3) <= u128::from(a) {
            root = candidate;
        }
    }
    root
}

/// The window in whole packets.
fn packets(path: &Path) -> u32 {
    (path.cwnd / path.quantum.max(1)).max(1)
}

/// Linux's clock (`jiffies`) at `now`.
fn tick(now: Instant) -> u64 {
    now.as_nanos() / TICK.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: u32, denominator: u32) -> Ratio {
        Ratio::new(numerator, denominator).expect("a ratio")
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    fn cubic_on(cwnd: u32, ssthresh: u32) -> (Cubic, [Path; 1]) {
        let mut cubic = Cubic::default();
        let paths = [Path { ssthresh, established: true, ..Path::new(1, cwnd) }];
        cubic.on_path_added(&paths, 0);
        (cubic, paths)
    }

    fn ack(now: Instant) -> Ack {
        Ack { now, acked: 1, rtt: Some(Duration::from_millis(40)), una: 1, nxt: 2, in_flight: 10 }
    }

    #[test]
    fn cube_roots_are_exact() {
        for (a, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (u64::MAX, 2_642_245)] {
            assert_eq!(cube_root(a), root);
        }
    }

    #[test]
    fn the_default_constants_are_those_of_linux() {
        let linux = Scaled::new(Constants::default());
        assert_eq!((linux.friendly, linux.cube_factor), (15, 2_681_735_677));
        let rounded = Scaled::new(Constants { beta: ratio(7, 10), c: ratio(4, 10), ..Constants::default() });
        assert_eq!((rounded.beta, rounded.c), (linux.beta, linux.c));
    }

    #[test]
    fn a_loss_reduces_the_window_by_three_tenths_and_stores_it() {
        let (mut cubic, paths) = cubic_on(100, 50);
        assert_eq!(cubic.ssthresh_after_loss(&paths, 0, ms(0)), 70);
        assert_eq!(cubic.paths[0].w_max, 100);
    }

    #[test]
    fn a_loss_below_the_last_maximum_lowers_the_maximum_further() {
        let (mut cubic, mut paths) = cubic_on(100, 50);
        cubic.ssthresh_after_loss(&paths, 0, ms(0));
        paths[0].cwnd = 90;
        assert_eq!(cubic.ssthresh_after_loss(&paths, 0, ms(1)), 63);
        assert_eq!(cubic.paths[0].w_max, 76, "90 * (1024 + 717) / 2048");
    }

    #[test]
    fn k_is_the_cube_root_of_the_loss_over_c() {
        // ∛((100 − 70) / 0.4004) = 4.215 s
        let linux = Scaled::new(Constants::default());
        let epoch = Epoch::begin(0, 70, 100, &linux);
        assert_eq!(epoch.k, 4316, "4.215 s in 1/1024 s");
        assert_eq!(epoch.window_at(0, &linux), 71, "the distance to the plateau rounds down");
        assert_eq!(epoch.window_at(1054, &linux), 100);
        assert_eq!(epoch.window_at(2108, &linux), 130);
    }

    #[test]
    fn before_the_first_loss_growth_is_5_percent_per_round() {
        let (mut cubic, mut paths) = cubic_on(100, 100);
        for _ in 0..100 {
            cubic.on_ack(&mut paths, 0, &ack(ms(1000)));
        }
        assert_eq!(paths[0].cwnd, 105);
    }

    #[test]
    fn its_constants_can_be_chosen() {
        let constants = Constants { beta: ratio(1, 2), c: ratio(4, 5), fast_convergence: false };
        let paths = [Path { ssthresh: 50, established: true, ..Path::new(1, 100) }];
        let mut cubic = Cubic::new(true, constants);
        cubic.on_path_added(&paths, 0);
        assert_eq!(cubic.ssthresh_after_loss(&paths, 0, ms(0)), 50);
        let lower = [Path { cwnd: 90, ..paths[0] }];
        cubic.ssthresh_after_loss(&lower, 0, ms(1));
        assert_eq!(cubic.paths[0].w_max, 90, "without fast convergence");
        // ∛((100 − 50) / 0.8) = 3.969 s
        assert_eq!(Epoch::begin(0, 50, 100, &cubic.scaled).k, 4064, "3.969 s in 1/1024 s");
    }

    #[test]
    fn an_idle_time_does_not_count() {
        let (mut cubic, mut paths) = cubic_on(100, 100);
        cubic.on_ack(&mut paths, 0, &ack(ms(1000)));
        cubic.on_transmit_after_idle(&paths, 0, ms(6000), Duration::from_secs(4));
        assert_eq!(cubic.paths[0].epoch.map(|e| e.start), Some(tick(ms(5000))));
    }

    #[test]
    fn a_timeout_resets_all_state() {
        let (mut cubic, mut paths) = cubic_on(100, 100);
        cubic.on_sample(&mut paths, 0, &ack(ms(1000)));
        cubic.ssthresh_after_loss(&paths, 0, ms(1300));
        cubic.on_state(&paths, 0, RecoveryState::Loss);
        assert_eq!((cubic.paths[0].w_max, cubic.paths[0].delay_min), (0, None));
    }

    #[test]
    fn delay_samples_of_an_epochs_first_second_are_discarded() {
        let (mut cubic, mut paths) = cubic_on(100, 100);
        cubic.on_ack(&mut paths, 0, &ack(ms(1000)));
        cubic.on_sample(&mut paths, 0, &ack(ms(1996)));
        assert_eq!(cubic.paths[0].delay_min, None);
        cubic.on_sample(&mut paths, 0, &ack(ms(2000)));
        assert_eq!(cubic.paths[0].delay_min, Some(Duration::from_millis(40)));
    }
}
