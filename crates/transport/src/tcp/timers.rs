//! The timers of a connection. As in Linux (`icsk_pending`), one timer serves retransmission, tail loss probe,
//! reordering and zero-window probe, of which only one is pending at a time.

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};

use super::{Closed, Connection};

/// Granularity of the kernel's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    /// Timers expire at multiples of it; zero makes them exact.
    pub(crate) tick: Duration,
    /// Long timers have a coarser granularity, as in Linux since 4.8 (`kernel/time/timer.c`, `calc_wheel_index`).
    pub(crate) wheel: bool,
}

/// Timers shorter than this number of ticks are on the first level of the timer wheel. Each further level covers eight
/// times the range, with slots eight times as long.
const FIRST_WHEEL_LEVEL: u64 = 63;
/// Number of levels of the timer wheel.
const WHEEL_LEVELS: u32 = 9;

impl Tick {
    /// Expiry of a timer that is started at `now` with `delay`. The delay is rounded up to ticks, and one slot is
    /// added so that the timer never expires early.
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
    (0..WHEEL_LEVELS - 1).find(|level| ahead < FIRST_WHEEL_LEVEL << (3 * level)).unwrap_or(WHEEL_LEVELS - 1)
}

/// Purpose of the transmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Retransmission timeout (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985, section 7).
    LossProbe,
    /// RACK's reordering timer (RFC 8985, section 6.3).
    Reordering,
    /// Zero-window probe (RFC 9293, section 3.8.6.1).
    WindowProbe,
}

/// The transmission timer. Nearly every acknowledgment restarts it and it rarely expires; therefore it is rounded to
/// ticks only when it may have expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TransmissionTimer {
    /// Earliest time of expiry, the exact time if `rounded`; [`Instant::MAX`] if the timer does not run.
    at: Instant,
    set_at: Instant,
    /// `None` if it does not run.
    purpose: Option<Purpose>,
    rounded: bool,
}

impl TransmissionTimer {
    /// A timer that does not run.
    pub(super) const STOPPED: Self = Self { at: Instant::MAX, set_at: Instant::ZERO, purpose: None, rounded: false };

    /// Starts it anew.
    #[inline]
    pub(super) fn arm(&mut self, purpose: Purpose, now: Instant, delay: Duration) {
        *self = Self { at: now.saturating_add(delay), set_at: now, purpose: Some(purpose), rounded: false };
    }

    #[inline]
    pub(super) fn stop(&mut self) {
        (self.at, self.purpose) = (Instant::MAX, None);
    }

    /// What it runs for.
    #[inline]
    pub(super) fn purpose(&self) -> Option<Purpose> {
        self.purpose
    }

    /// Whether it runs for `purpose`.
    #[inline]
    pub(super) fn is_pending(&self, purpose: Purpose) -> bool {
        self.purpose == Some(purpose)
    }

    /// Time at which [`expire`](Self::expire) is to be called; [`Instant::MAX`] if it does not run.
    #[inline]
    pub(super) fn wake_at(&self) -> Instant {
        self.at
    }

    /// Stops it if it expires at `now`, and returns its purpose. Rounding may move the expiry to a later tick, which
    /// `wake_at` then returns.
    pub(super) fn expire(&mut self, now: Instant, tick: Tick) -> Option<Purpose> {
        if self.at <= now && !self.rounded {
            self.at = tick.deadline(self.set_at, self.at.since(self.set_at));
            self.rounded = true;
        }
        let purpose = self.purpose.filter(|_| self.at <= now)?;
        self.stop();
        Some(purpose)
    }
}

impl Connection {
    /// The time at which [`on_timeout`](Self::on_timeout) is to be called next.
    #[inline]
    pub fn timeout(&self) -> Option<Instant> {
        let deadline = self.deadline();
        (deadline != Instant::MAX).then_some(deadline)
    }

    /// [`Self::timeout`], with [`Instant::MAX`] for never. Called after every packet, therefore without branches.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        let own = self.acknowledge.deadline().min(self.timer.wake_at()).min(self.lifecycle.deadline());
        own.min(self.pacer.wake_at())
    }

    /// Earliest expiry of the transmission timer.
    pub(crate) fn transmission_deadline(&self) -> Option<Instant> {
        self.timer.purpose().map(|_| self.timer.wake_at())
    }

    /// Handles the timers that have expired at `now`.
    pub fn on_timeout(&mut self, now: Instant, cc: &mut Controller) {
        self.acknowledge.on_timeout(now, self.rto.base());
        if self.lifecycle.deadline() <= now {
            self.close(Closed::Gracefully);
        }
        if let Some(purpose) = self.timer.expire(now, self.config.tick()) {
            self.on_transmission_timer(purpose, now, cc);
        }
        if self.pacer.wake(now) {
            self.resume();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transmission_timer_fires_at_the_tick_after_its_delay() {
        let (tick, start) = (Tick { tick: Duration::from_millis(4), wheel: false }, Instant::from_nanos(5_000_000));
        let mut timer = TransmissionTimer::STOPPED;
        timer.arm(Purpose::Retransmission, start, Duration::from_millis(40));
        assert_eq!(timer.wake_at(), Instant::from_nanos(45_000_000));
        assert_eq!(timer.expire(timer.wake_at(), tick), None);
        assert_eq!(timer.wake_at(), Instant::from_nanos(48_000_000));
        assert_eq!(timer.expire(timer.wake_at(), tick), Some(Purpose::Retransmission));
        assert_eq!((timer.wake_at(), timer.purpose()), (Instant::MAX, None));
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
