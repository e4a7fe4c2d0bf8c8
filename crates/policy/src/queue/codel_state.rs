//! The state of CoDel for one queue (RFC 8289, section 5), which several disciplines have: one, or one for each flow.

use subflow_quantity::{Duration, Instant};

use super::{Codepoint, Departure, Verdict};
use crate::catalogue::Choice;

/// The parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// TARGET: the acceptable standing delay. Default: 5 ms.
    pub target: Duration,
    /// INTERVAL: how long waiting times must exceed the target until the first drop; about the round-trip time of most
    /// flows. Default: 100 ms.
    pub interval: Duration,
    /// MAXPACKET: a queue of no more than so many bytes, including link overhead, is no standing queue. Default: 1500.
    pub max_packet: u32,
    /// Whether packets of transports that use ECN are marked instead of dropped. Default: no.
    pub ecn: bool,
    /// Packets of transports that use ECN are marked also if they have waited for longer than this (Linux
    /// `ce_threshold`). Default: zero, which is off.
    pub ce_threshold: Duration,
    /// How 1 / √count is computed. Default: exactly.
    pub square_root: SquareRoot,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            max_packet: super::FULL_PACKET,
            ecn: false,
            ce_threshold: Duration::ZERO,
            square_root: SquareRoot::Exact,
        }
    }
}

impl CoDelConfig {
    /// What is done with a packet with `ecn` that passes CoDel after it has waited for `sojourn`.
    pub(super) fn at_threshold(&self, sojourn: Duration, ecn: Codepoint) -> Verdict {
        let is_above = !self.ce_threshold.is_zero() && sojourn > self.ce_threshold;
        if is_above && ecn != Codepoint::NotEct { Verdict::Mark } else { Verdict::Pass }
    }
}

/// How CoDel computes 1 / √count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SquareRoot {
    /// Exactly.
    #[default]
    Exact,
    /// By one Newton step for each drop, in 16 bits (Linux `codel_Newton_step`). The first steps are far off: 0.5 for
    /// 1 / √2.
    Newton,
}

impl SquareRoot {
    pub(super) const ALL: [Choice<Self>; 2] = [
        Choice::new("exact", Self::Exact, "exactly").source("RFC 8289, section 5.1"),
        Choice::new("newton", Self::Newton, "by one Newton step for each drop").source("Linux codel_Newton_step"),
    ];
}

/// The options of a discipline, and others. `$config` is its field that is a [`CoDelConfig`].
macro_rules! codel_options {
    ($($config:ident).+ $(; $($others:expr),* $(,)?)?) => {
        &[
            Attribute::positive_duration(
                "target",
                "the waiting time that a packet may have although the queue does not go empty",
                |queue| queue.$($config).+.target,
                |queue, target| queue.$($config).+.target = target,
            ),
            Attribute::positive_duration(
                "interval",
                "how long all packets must have waited for the target or more until the first is dropped: about a \
                 round-trip time",
                |queue| queue.$($config).+.interval,
                |queue, interval| queue.$($config).+.interval = interval,
            ),
            Attribute::flag(
                "ecn",
                $crate::queue::ECN_DOC,
                |queue| queue.$($config).+.ecn,
                |queue, ecn| queue.$($config).+.ecn = ecn,
            ),
            Attribute::duration(
                "ce_threshold",
                "the waiting time above which packets of transports that use ECN are marked in any case; 0 s is off",
                |queue| queue.$($config).+.ce_threshold,
                |queue, threshold| queue.$($config).+.ce_threshold = threshold,
            ),
            Attribute::name(
                "square_root",
                "how the distance between drops is computed",
                || $crate::catalogue::Choice::descriptions(&$crate::queue::SquareRoot::ALL),
                |queue| $crate::catalogue::Choice::name_of(&$crate::queue::SquareRoot::ALL, queue.$($config).+.square_root),
                |queue, name| {
                    let choice = $crate::catalogue::Choice::find(&$crate::queue::SquareRoot::ALL, name);
                    queue.$($config).+.square_root = choice.unwrap_or(queue.$($config).+.square_root);
                },
            ),
            $($($others),*)?
        ]
    };
}
pub(super) use codel_options;

/// The state of one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoDelState {
    /// first_above_time: when a packet may be dropped if waiting times exceed the target until then; `None` while they
    /// do not.
    first_above_time: Option<Instant>,
    /// drop_next.
    drop_next: Instant,
    pub(super) count: u32,
    pub(super) lastcount: u32,
    pub(super) dropping: bool,
    dropped: Option<Dropped>,
    /// 1 / √count of [`SquareRoot::Newton`], in 2⁻¹⁶.
    inverse_root: u16,
}

/// The packet before this one was dropped, at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    /// It was the first drop: this packet is transmitted in any case.
    First,
    /// It was a later one: this packet decides whether drops go on.
    Later,
}

impl CoDelState {
    /// That of an empty queue.
    pub(super) const NEW: Self = Self {
        first_above_time: None,
        drop_next: Instant::ZERO,
        count: 0,
        lastcount: 0,
        dropping: false,
        dropped: None,
        inverse_root: u16::MAX,
    };

    /// What is done with a packet that leaves.
    pub(super) fn on_departure(&mut self, config: &CoDelConfig, departure: &Departure<'_>) -> Verdict {
        let ok_to_drop = self.ok_to_drop(config, departure);
        match self.dropped.take() {
            Some(Dropped::First) => return Verdict::Pass,
            Some(Dropped::Later) if ok_to_drop => self.drop_next = self.control_law(config, self.drop_next),
            Some(Dropped::Later) | None => {}
        }
        if !ok_to_drop {
            self.dropping = false;
            return Verdict::Pass;
        }
        if !self.dropping {
            self.begin_dropping(config, departure.at);
            return self.signal(config, departure.ecn, Dropped::First);
        }
        if departure.at < self.drop_next {
            return Verdict::Pass;
        }
        self.count = self.count.saturating_add(1);
        self.step_root();
        self.signal(config, departure.ecn, Dropped::Later)
    }

    /// The queue has gone empty.
    pub(super) fn on_empty(&mut self) {
        self.first_above_time = None;
        self.dropping = false;
        self.dropped = None;
    }

    /// A packet was dropped for want of room, which counts like a drop of CoDel.
    pub(super) fn on_overflow(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// `dodequeue`: whether waiting times have exceeded the target for an interval.
    fn ok_to_drop(&mut self, config: &CoDelConfig, departure: &Departure<'_>) -> bool {
        if departure.sojourn < config.target || departure.waiting.bytes() <= config.max_packet.into() {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            Some(time) => departure.at >= time,
            None => {
                self.first_above_time = Some(departure.at.saturating_add(config.interval));
                false
            }
        }
    }

    /// The time of the next drop: `t` + INTERVAL / √count.
    fn control_law(&self, config: &CoDelConfig, t: Instant) -> Instant {
        let interval = config.interval.as_nanos();
        let nanos = match config.square_root {
            SquareRoot::Exact => (interval as f64 / libm::sqrt(f64::from(self.count))) as u64,
            SquareRoot::Newton => ((u128::from(interval) * u128::from(self.inverse_root)) >> 16) as u64,
        };
        t.saturating_add(Duration::from_nanos(nanos))
    }

    /// One Newton step towards 1 / √count: x (3 − count x²) / 2, in 32 bits.
    fn step_root(&mut self) {
        let root = u64::from(self.inverse_root) << 16;
        let square = (root * root) >> 32;
        self.inverse_root = match (3_u64 << 32).checked_sub(u64::from(self.count) * square) {
            Some(rest) => (((rest >> 2) * root) >> 47) as u16,
            // Drops for want of room have raised the count so far that the step does not converge.
            None => (65536.0 / libm::sqrt(f64::from(self.count))) as u16,
        };
    }

    /// Enters the dropping state. If the last one ended a short time ago, drops go on at its rate.
    fn begin_dropping(&mut self, config: &CoDelConfig, now: Instant) {
        let delta = self.count.wrapping_sub(self.lastcount);
        let recently = now.since(self.drop_next) < config.interval.saturating_mul(16);
        if delta > 1 && recently {
            self.count = delta;
            self.step_root();
        } else {
            (self.count, self.inverse_root) = (1, u16::MAX);
        }
        self.lastcount = self.count;
        self.drop_next = self.control_law(config, now);
        self.dropping = true;
    }

    /// Drops or marks a packet, and remembers it if it is dropped.
    fn signal(&mut self, config: &CoDelConfig, ecn: Codepoint, dropped: Dropped) -> Verdict {
        if config.ecn && ecn != Codepoint::NotEct {
            // The pseudocode schedules the next drop after it has seen the packet that follows, which a mark does not.
            if dropped == Dropped::Later {
                self.drop_next = self.control_law(config, self.drop_next);
            }
            return Verdict::Mark;
        }
        self.dropped = Some(dropped);
        Verdict::Drop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newton_steps_are_those_of_linux() {
        // From 65535 / 65536, by hand: count 2 gives x (3 − 2 x²) / 2 = 0.50002, count 3 gives 0.5625, count 4 0.4878.
        let mut state = CoDelState { count: 1, ..CoDelState::NEW };
        let roots: Vec<u16> = (2..=5)
            .map(|count| {
                state.count = count;
                state.step_root();
                state.inverse_root
            })
            .collect();
        let expected = [0.500, 0.5625, 0.4878, 0.4416].map(|root: f64| root * 65536.0);
        for (root, expected) in roots.iter().zip(expected) {
            assert!((f64::from(*root) - expected).abs() < 80.0, "{roots:?}");
        }
        // It converges if the count stays.
        (0..10).for_each(|_| state.step_root());
        assert!((f64::from(state.inverse_root) - 65536.0 / 5f64.sqrt()).abs() < 10.0, "{}", state.inverse_root);
    }

    #[test]
    fn a_packet_above_the_threshold_is_marked_if_its_transport_uses_ecn() {
        let config = CoDelConfig { ce_threshold: Duration::from_millis(1), ..CoDelConfig::default() };
        let at = |config: &CoDelConfig, micros, ecn| config.at_threshold(Duration::from_micros(micros), ecn);
        assert_eq!(at(&config, 1001, Codepoint::Ect0), Verdict::Mark);
        assert_eq!(at(&config, 1000, Codepoint::Ect0), Verdict::Pass);
        assert_eq!(at(&config, 1001, Codepoint::NotEct), Verdict::Pass);
        assert_eq!(at(&CoDelConfig::default(), 1_000_000, Codepoint::Ect0), Verdict::Pass);
    }
}
