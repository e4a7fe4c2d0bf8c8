//! The state of PIE for one queue (RFC 8033, section 4), in the integers of Linux (`sch_pie`), without its estimator of
//! the departure rate: the delay of the queue is the time that the last packet has waited.
//!
//! The probability is computed once per *tupdate*. Here this happens when the next packet comes or leaves, for all
//! times until then: nothing that it depends on changes in between.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use super::{Codepoint, Verdict};

/// Probability 1.
pub(super) const WHOLE: u64 = u64::MAX >> 8;
/// Linux's unit of delays (`psched`): 64 ns.
const TICK: u64 = 64;
const TICKS_PER_SECOND: u64 = 1_000_000_000 / TICK;
/// A delay from which the probability grows faster (section 5.3).
const LONG: Duration = Duration::from_millis(250);
/// How long bursts pass at first (section 4.4: MAX_BURST).
const BURST: Duration = Duration::from_millis(150);

/// The parameters of PIE. The default is that of `tc pie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieConfig {
    /// QDELAY_REF: the delay that is aimed for.
    pub target: Duration,
    /// T_UPDATE: the time between two computations of the probability.
    pub tupdate: Duration,
    /// The weight of the difference from the target, in sixteenths per second: 2 is 0.125 Hz.
    pub alpha: u32,
    /// The weight of the change, in sixteenths per second: 20 is 1.25 Hz.
    pub beta: u32,
    /// Whether small packets are dropped less often.
    pub bytemode: bool,
    /// Whether packets of transports that use ECN are marked instead of dropped.
    pub ecn: bool,
    /// The highest probability with which packets are marked instead of dropped, in percent.
    pub ecn_percent: u32,
    /// A full-sized packet, in bytes.
    pub full_packet: u32,
}

impl Default for PieConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(15),
            alpha: 2,
            beta: 20,
            bytemode: false,
            ecn: false,
            ecn_percent: 10,
            full_packet: super::FULL_PACKET,
        }
    }
}

/// The options of a discipline, and others. `$config` is its field that is a [`PieConfig`].
macro_rules! pie_options {
    ($($config:ident).+ $(; $($others:expr),* $(,)?)?) => {
        &[
            Attribute::positive_duration(
                "target",
                "the waiting time that the probability aims for",
                |queue| queue.$($config).+.target,
                |queue, target| queue.$($config).+.target = target,
            ),
            Attribute::positive_duration(
                "tupdate",
                "the time between two computations of the probability",
                |queue| queue.$($config).+.tupdate,
                |queue, tupdate| queue.$($config).+.tupdate = tupdate,
            ),
            Attribute::integer(
                "alpha",
                "the weight of the difference from the target, in 1/16 per second",
                [0, 32],
                |queue| queue.$($config).+.alpha.into(),
                |queue, alpha| queue.$($config).+.alpha = alpha as u32,
            ),
            Attribute::integer(
                "beta",
                "the weight of the change of the waiting time, in 1/16 per second",
                [0, 32],
                |queue| queue.$($config).+.beta.into(),
                |queue, beta| queue.$($config).+.beta = beta as u32,
            ),
            Attribute::flag(
                "bytemode",
                "whether small packets are dropped less often",
                |queue| queue.$($config).+.bytemode,
                |queue, bytemode| queue.$($config).+.bytemode = bytemode,
            ),
            Attribute::flag(
                "ecn",
                $crate::queue::ECN_DOC,
                |queue| queue.$($config).+.ecn,
                |queue, ecn| queue.$($config).+.ecn = ecn,
            ),
            $($($others),*)?
        ]
    };
}
pub(super) use pie_options;

/// The state of one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieState {
    /// The drop probability, in parts of [`WHOLE`].
    probability: u64,
    /// The sum of probabilities since the last drop (section 5.1: derandomisation).
    accumulated: u64,
    /// The delay now and at the last computation.
    delay: Duration,
    delay_before: Duration,
    /// Bursts pass for so long.
    burst: Duration,
    last_departure: Option<Instant>,
    next_update: Instant,
}

impl PieState {
    /// That of an empty queue whose first computation is due at `next_update`.
    pub(super) const fn new(next_update: Instant) -> Self {
        Self {
            probability: 0,
            accumulated: 0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst: BURST,
            last_departure: None,
            next_update,
        }
    }

    /// Computes the probability as often as it was due until `now`. `is_occupied`: packets have waited since the last
    /// event.
    pub(super) fn catch_up(&mut self, config: &PieConfig, now: Instant, is_occupied: bool) {
        while self.next_update <= now {
            if self.probability == 0 && self.delay.is_zero() && self.delay_before.is_zero() {
                // Each one begins a new measurement, and changes nothing else.
                let missed = now.since(self.next_update).as_nanos() / config.tupdate.as_nanos() + 1;
                *self = Self::new(self.next_update.saturating_add(config.tupdate.saturating_mul(missed)));
                return;
            }
            self.update(config, is_occupied);
            self.next_update = self.next_update.saturating_add(config.tupdate);
        }
    }

    /// Section 4.2 with the scaling of the table there: the lower the probability, the smaller its steps.
    fn update(&mut self, config: &PieConfig, is_occupied: bool) {
        let before = self.probability;
        let mut scale = 0;
        if before < WHOLE / 10 {
            scale = 1;
            let mut power = 100;
            while before < WHOLE / power && power <= 1_000_000 {
                scale += 2;
                power *= 10;
            }
        }
        let weight = |sixteenths: u32| i128::from((u64::from(sixteenths) * (WHOLE / TICKS_PER_SECOND)) >> (4 + scale));
        let ticks = |delay: Duration| i128::from(delay.as_nanos() / TICK);
        let mut delta = weight(config.alpha) * (ticks(self.delay) - ticks(config.target))
            + weight(config.beta) * (ticks(self.delay) - ticks(self.delay_before));
        let two_percent = i128::from(WHOLE / 50);
        if before >= WHOLE / 10 {
            delta = delta.min(two_percent);
        }
        if self.delay > LONG {
            delta += two_percent;
        }
        self.probability = (i128::from(before) + delta).clamp(0, i128::from(WHOLE)) as u64;
        let is_tiny = self.delay.is_zero() && is_occupied;
        if self.delay.is_zero() && self.delay_before.is_zero() && !is_tiny {
            self.probability -= self.probability / 64;
        }
        let is_low = |delay: Duration| delay < config.target / 2;
        if is_low(self.delay) && is_low(self.delay_before) && self.probability == 0 {
            *self = Self { delay: self.delay, next_update: self.next_update, ..Self::new(self.next_update) };
        }
        self.delay_before = self.delay;
    }

    /// What is done with a packet of `bytes` with `ecn` that comes at `now` to a queue of `held` bytes.
    pub(super) fn on_arrival(
        &mut self,
        config: &PieConfig,
        (now, bytes, ecn, held): (Instant, u32, Codepoint, u64),
        random: &mut Pcg64Mcg,
    ) -> Verdict {
        self.catch_up(config, now, held > 0);
        if !self.drops_early(config, bytes, held, random) {
            return Verdict::Pass;
        }
        let may_mark = self.probability <= WHOLE / 100 * u64::from(config.ecn_percent);
        if config.ecn && may_mark && ecn != Codepoint::NotEct {
            return Verdict::Mark;
        }
        self.accumulated = 0;
        Verdict::Drop
    }

    /// Section 4.1 and, for the sum of probabilities, 5.1.
    fn drops_early(&mut self, config: &PieConfig, bytes: u32, held: u64, random: &mut Pcg64Mcg) -> bool {
        let is_uncongested = self.delay < config.target / 2 && self.probability < WHOLE / 5;
        if !self.burst.is_zero() || is_uncongested || held < 2 * u64::from(config.full_packet) {
            return false;
        }
        let probability = match config.bytemode && bytes <= config.full_packet {
            true => u64::from(bytes) * (self.probability / u64::from(config.full_packet.max(1))),
            false => self.probability,
        };
        self.accumulated = if probability == 0 { 0 } else { self.accumulated.saturating_add(probability) };
        if self.accumulated < WHOLE / 100 * 85 {
            return false;
        }
        // 8.5 after which a packet is dropped for certain.
        let drops = self.accumulated >= WHOLE / 2 * 17 || random.next_u64() >> 8 < probability;
        if drops && self.accumulated < WHOLE / 2 * 17 {
            self.accumulated = 0;
        }
        drops
    }

    /// A packet leaves that has waited for `sojourn`, and leaves `held` bytes behind.
    pub(super) fn on_departure(&mut self, config: &PieConfig, now: Instant, sojourn: Duration, held: u64) {
        self.catch_up(config, now, true);
        self.delay = if held == 0 { Duration::ZERO } else { sojourn };
        let since = self.last_departure.map(|last| now.since(last));
        self.last_departure = Some(now);
        if let Some(since) = since {
            self.burst -= since;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    fn share(state: &PieState) -> f64 {
        state.probability as f64 / WHOLE as f64
    }

    /// The probability after computations with these delays, in milliseconds, from the probability `from`.
    fn after(from: f64, delays: &[u64]) -> f64 {
        let mut state = PieState::new(ms(15));
        state.probability = (from * WHOLE as f64) as u64;
        for &delay in delays {
            state.delay = Duration::from_millis(delay);
            state.update(&PieConfig::default(), true);
        }
        share(&state)
    }

    #[test]
    fn the_probability_takes_the_steps_of_the_rfc() {
        // p += (0.125 (delay − 15 ms) + 1.25 (delay − delay before)) / scale, by hand.
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        close(after(0.0, &[20]), (0.125 * 0.005 + 1.25 * 0.020) / 2048.0);
        close(after(0.5, &[10]), 0.5 + (1.25 * 0.010 - 0.125 * 0.005));
        close(after(0.05, &[20, 20]), 0.05 + (0.125 * 0.010 + 1.25 * 0.020) / 2.0);
        close(after(0.005, &[10]), 0.005 + (1.25 * 0.010 - 0.125 * 0.005) / 8.0);
        // From 10 % on at most 2 % per step; above 250 ms two more.
        close(after(0.5, &[200]), 0.52);
        close(after(0.5, &[300]), 0.54);
        assert_eq!(after(0.000_001, &[0, 0, 0]), 0.0);
        assert_eq!(after(1.0, &[400]), 1.0);
    }

    #[test]
    fn without_delay_the_probability_decays_by_a_sixty_fourth_per_step() {
        let mut state = PieState { probability: WHOLE / 2, ..PieState::new(ms(15)) };
        state.update(&PieConfig { alpha: 0, ..PieConfig::default() }, false);
        assert!((share(&state) - 0.5 * 63.0 / 64.0).abs() < 1e-9);
        state.probability = WHOLE / 2;
        state.update(&PieConfig { alpha: 0, ..PieConfig::default() }, true);
        assert!((share(&state) - 0.5).abs() < 1e-9, "packets wait, though none has left");
    }

    #[test]
    fn bursts_pass_for_150_ms_and_then_packets_are_dropped_by_the_sum_of_probabilities() {
        let (config, mut random) = (PieConfig::default(), Pcg64Mcg::seed_from_u64(7));
        let mut state = PieState::new(ms(u64::MAX / 2_000_000));
        state.probability = WHOLE / 4;
        let mut drops =
            |state: &mut PieState| (0..1000).filter(|_| state.drops_early(&config, 1500, 100_000, &mut random)).count();
        state.delay = Duration::from_millis(50);
        assert_eq!(drops(&mut state), 0);
        for n in 1..=16 {
            state.on_departure(&config, ms(10 * n), Duration::from_millis(50), 100_000);
        }
        // After a drop 0.85 / 0.25 packets pass at least: on average three of them and then one in four.
        let dropped = drops(&mut state);
        assert!((125..165).contains(&dropped), "{dropped}");
    }

    #[test]
    fn a_packet_is_marked_up_to_ten_percent_and_dropped_above() {
        let config = PieConfig { ecn: true, ..PieConfig::default() };
        let mut random = Pcg64Mcg::seed_from_u64(7);
        for (part, ecn, expected) in [
            (11, Codepoint::Ect0, Verdict::Mark),
            (9, Codepoint::Ect0, Verdict::Drop),
            (11, Codepoint::NotEct, Verdict::Drop),
        ] {
            let mut state = PieState { burst: Duration::ZERO, ..PieState::new(ms(1000)) };
            (state.probability, state.accumulated) = (WHOLE / part, WHOLE / 2 * 17);
            state.delay = Duration::from_millis(50);
            assert_eq!(state.on_arrival(&config, (ms(1), 1500, ecn, 100_000), &mut random), expected);
        }
    }
}
