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
pub(crate) enum Purpose {
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
pub(crate) struct TransmissionTimer {
    pub(crate) purpose: Purpose,
    set_at: Instant,
    /// Earliest time of expiry; the exact time if `rounded`.
    at: Instant,
    rounded: bool,
}

impl TransmissionTimer {
    pub(crate) fn new(purpose: Purpose, now: Instant, delay: Duration) -> Self {
        Self { purpose, set_at: now, at: now.saturating_add(delay), rounded: false }
    }

    /// Time at which [`fires`](Self::fires) is to be called.
    pub(crate) fn wake_at(&self) -> Instant {
        self.at
    }

    /// Whether it expires at `now`. Rounding may move the expiry to a later tick, which `wake_at` then returns.
    pub(crate) fn fires(&mut self, now: Instant, tick: Tick) -> bool {
        if self.at <= now && !self.rounded {
            self.at = tick.deadline(self.set_at, self.at.since(self.set_at));
            self.rounded = true;
        }
        self.at <= now
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
        let transmission = self.timer.map_or(Instant::MAX, |timer| timer.wake_at());
        self.acknowledge.deadline().min(transmission).min(self.close_timer.unwrap_or(Instant::MAX))
    }

    /// Earliest expiry of the transmission timer.
    pub(crate) fn transmission_deadline(&self) -> Option<Instant> {
        self.timer.map(|timer| timer.wake_at())
    }

    /// The retransmission timeout without backoff.
    pub(crate) fn rto(&self) -> Duration {
        self.rtt.rto().unwrap_or_else(|| self.rto_without_sample()).min(self.config.max_rto)
    }

    /// Before the first sample: the initial RTO in the handshake, and at least 3 s if that gave no sample since the SYN
    /// was retransmitted (RFC 6298, section 5.7; Linux `tcp_init_metrics`).
    #[cold]
    fn rto_without_sample(&self) -> Duration {
        const AFTER_HANDSHAKE: Duration = Duration::from_secs(3);
        let initial = self.config.initial_rto;
        if self.state.is_synchronised() { initial.max(AFTER_HANDSHAKE) } else { initial }
    }

    /// The retransmission timeout with exponential backoff (RFC 6298, section 5.5).
    pub(crate) fn backed_off_rto(&self) -> Duration {
        self.rto().saturating_mul(1u64.checked_shl(self.backoff).unwrap_or(u64::MAX)).min(self.config.max_rto)
    }

    fn tick(&self) -> Tick {
        self.config.tick()
    }

    /// Starts the transmission timer.
    pub(super) fn arm(&mut self, purpose: Purpose, now: Instant, delay: Duration) {
        self.timer = Some(TransmissionTimer::new(purpose, now, delay));
    }

    /// Whether the transmission timer runs for `purpose`.
    pub(super) fn pending(&self, purpose: Purpose) -> bool {
        self.timer.is_some_and(|timer| timer.purpose == purpose)
    }

    /// Handles the timers that have expired at `now`.
    pub fn on_timeout(&mut self, now: Instant, cc: &mut Controller) {
        self.acknowledge.on_timeout(now, self.rto());
        if self.close_timer.is_some_and(|at| at <= now) {
            self.close_timer = None;
            self.close(Closed::Gracefully);
        }
        let tick = self.tick();
        if let Some(purpose) = self.timer.as_mut().and_then(|timer| timer.fires(now, tick).then_some(timer.purpose)) {
            self.timer = None;
            self.on_transmission_timer(purpose, now, cc);
        }
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
