//! The connection's timers. One timer serves retransmission, loss probe, reordering and window probe, as in Linux
//! (`icsk_pending`): they exclude each other.

use subflow_quantity::{Duration, Instant};

/// When the kernel's timers fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    /// They fire on multiples of it; zero makes them exact.
    pub(crate) tick: Duration,
    /// Those far ahead fire on multiples of more, as in Linux since 4.8 (`kernel/time/timer.c`, `calc_wheel_index`).
    pub(crate) wheel: bool,
}

/// Timers less than so many ticks ahead are on the wheel's first level; each further level reaches eight times as far,
/// with slots eight times as long.
const FIRST_LEVEL: u64 = 63;
const LEVELS: u32 = 9;

impl Tick {
    /// When a timer set at `now` for `delay` fires: the delay is rounded up to ticks, and the slot after that one is
    /// taken so as never to fire early.
    pub(crate) fn deadline(self, now: Instant, delay: Duration) -> Instant {
        let tick = self.tick.as_nanos();
        if tick == 0 {
            return now.saturating_add(delay);
        }
        let ahead = delay.as_nanos().div_ceil(tick);
        let level = if self.wheel { level(ahead) } else { 0 };
        let slot = ((now.as_nanos() / tick).saturating_add(ahead) >> (3 * level)) + 1;
        Instant::from_nanos(slot.saturating_mul(1 << (3 * level)).saturating_mul(tick))
    }
}

fn level(ahead: u64) -> u32 {
    (0..LEVELS - 1).find(|level| ahead < FIRST_LEVEL << (3 * level)).unwrap_or(LEVELS - 1)
}

/// What the transmission timer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Retransmission timeout (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985, section 7).
    LossProbe,
    /// RACK's reordering window ends (RFC 8985, section 6.3).
    Reordering,
    /// Zero-window probe (RFC 9293, section 3.8.6.1).
    WindowProbe,
}

/// The transmission timer. It is set anew with nearly every acknowledgment and seldom fires, so the rounding to ticks
/// is put off until it might.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransmissionTimer {
    pub(crate) purpose: Purpose,
    set_at: Instant,
    /// When it fires at the earliest; exactly then, once `rounded`.
    at: Instant,
    rounded: bool,
}

impl TransmissionTimer {
    pub(crate) fn new(purpose: Purpose, now: Instant, delay: Duration) -> Self {
        Self { purpose, set_at: now, at: now.saturating_add(delay), rounded: false }
    }

    /// When to look at it again.
    pub(crate) fn wake_at(&self) -> Instant {
        self.at
    }

    /// Whether it fires at `now`. It may turn out that it fires later, at the tick that `wake_at` names from then on.
    pub(crate) fn fires(&mut self, now: Instant, tick: Tick) -> bool {
        if self.at <= now && !self.rounded {
            self.at = tick.deadline(self.set_at, self.at.since(self.set_at));
            self.rounded = true;
        }
        self.at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transmission_timer_fires_at_the_tick_after_its_delay() {
        let (tick, start) = (Tick { tick: Duration::from_millis(4), wheel: false }, Instant::from_nanos(5_000_000));
        let mut timer = TransmissionTimer::new(Purpose::Retransmission, start, Duration::from_millis(40));
        assert_eq!(timer.wake_at(), Instant::from_nanos(45_000_000));
        assert!(!timer.fires(timer.wake_at(), tick));
        assert_eq!(timer.wake_at(), Instant::from_nanos(48_000_000));
        assert!(timer.fires(timer.wake_at(), tick));
    }

    #[test]
    fn a_ticking_timer_is_never_early() {
        let tick = |tick| Tick { tick, wheel: true };
        let now = Instant::from_nanos(5_000_000);
        let ticking = tick(Duration::from_millis(4)).deadline(now, Duration::from_millis(40));
        assert_eq!(ticking, Instant::from_nanos(48_000_000));
        assert_eq!(tick(Duration::ZERO).deadline(now, Duration::from_millis(40)), Instant::from_nanos(45_000_000));
    }

    #[test]
    fn the_wheel_s_slots_grow_with_the_distance() {
        let fires = |wheel, delay| {
            let tick = Tick { tick: Duration::from_millis(4), wheel };
            tick.deadline(Instant::ZERO, Duration::from_millis(delay)).as_nanos() / 1_000_000
        };
        // 62 ticks are on the first level, 63 to 503 on the second (32 ms), 504 and more on the third (256 ms).
        assert_eq!(
            [248, 252, 300, 2012, 2016, 3000].map(|delay| fires(true, delay)),
            [252, 256, 320, 2016, 2048, 3072]
        );
        assert_eq!([248, 252, 2016].map(|delay| fires(false, delay)), [252, 256, 2020]);
    }
}
