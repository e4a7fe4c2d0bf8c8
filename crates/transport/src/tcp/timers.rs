//! The connection's timers. One timer serves retransmission, loss probe, reordering and window probe, as in Linux
//! (`icsk_pending`): they exclude each other.

use subflow_quantity::{Duration, Instant};

/// The kernel's timer tick; a zero tick makes timers exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick(pub(crate) Duration);

impl Tick {
    /// When a timer set at `now` for `delay` fires: the delay is rounded up to ticks, and the timer wheel adds one so
    /// as never to fire early.
    pub(crate) fn deadline(self, now: Instant, delay: Duration) -> Instant {
        let tick = self.0.as_nanos();
        if tick == 0 {
            return now.saturating_add(delay);
        }
        let ticks = now.as_nanos() / tick + delay.as_nanos().div_ceil(tick) + 1;
        Instant::from_nanos(ticks.saturating_mul(tick))
    }
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

/// The transmission timer. It is set anew with nearly every acknowledgment and seldom fires, so the rounding to ticks is
/// put off until it might.
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
        let (tick, start) = (Tick(Duration::from_millis(4)), Instant::from_nanos(5_000_000));
        let mut timer = TransmissionTimer::new(Purpose::Retransmission, start, Duration::from_millis(40));
        assert_eq!(timer.wake_at(), Instant::from_nanos(45_000_000));
        assert!(!timer.fires(timer.wake_at(), tick));
        assert_eq!(timer.wake_at(), Instant::from_nanos(48_000_000));
        assert!(timer.fires(timer.wake_at(), tick));
    }

    #[test]
    fn a_ticking_timer_is_never_early() {
        let tick = Tick(Duration::from_millis(4));
        let now = Instant::from_nanos(5_000_000);
        assert_eq!(tick.deadline(now, Duration::from_millis(40)), Instant::from_nanos(48_000_000));
        assert_eq!(Tick(Duration::ZERO).deadline(now, Duration::from_millis(40)), Instant::from_nanos(45_000_000));
    }
}
