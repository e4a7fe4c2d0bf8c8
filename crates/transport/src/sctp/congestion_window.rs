//! Which acknowledgments grow windows, and windows that shrink while they are not used (RFC 9260, section 7.2;
//! leitner2019, chapter 3).

use subflow_policy::congestion::{Ack, DeliverySample, RecoveryState};
use subflow_quantity::{Duration, Instant};

use super::Association;
use super::config::WindowGrowth;

/// When data was sent to a destination last, and by how much its window has shrunk since then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdleTime {
    last_sent: Option<Instant>,
    /// Halvings of the window since then.
    halvings: u64,
}

impl IdleTime {
    /// Data is sent.
    #[inline]
    pub(super) fn end(&mut self, now: Instant) {
        *self = Self { last_sent: Some(now), halvings: 0 };
    }

    /// Whether data was sent less than `interval` ago.
    pub(super) fn is_below(&self, interval: Duration, now: Instant) -> bool {
        self.last_sent.is_some_and(|last| now.since(last) < interval)
    }

    /// By how many halvings the window is to shrink now: one for every RTO without data (section 7.2.1). If it is asked
    /// for repeatedly meanwhile, the window does not shrink again.
    #[inline]
    fn take_halvings(&mut self, rto: Duration, now: Instant) -> u32 {
        let idle = self.last_sent.map_or(Duration::ZERO, |last| now.since(last));
        let due = idle.as_nanos() / rto.as_nanos().max(1);
        let halvings = due.saturating_sub(self.halvings).min(31) as u32;
        self.halvings = self.halvings.max(due);
        halvings
    }
}

impl Association {
    /// `bytes` sent to a destination are newly acknowledged, of `flight_before` in flight: its window may grow, where the
    /// mode allows it.
    pub(super) fn grow_window(&mut self, index: usize, bytes: u64, flight_before: u64, now: Instant) {
        let path = self.congestion.path(index);
        let slow_start = path.cwnd() <= path.ssthresh();
        let window_limited = flight_before >= u64::from(path.cwnd());
        let acked = path.counted(u32::try_from(bytes).unwrap_or(u32::MAX));
        if path.state() == RecoveryState::Loss {
            self.enter_state(index, RecoveryState::Open);
        }
        let destination = &self.destinations[index];
        let ack = Ack {
            now,
            acked,
            rtt: destination.rtt().latest(),
            una: destination.counters.bytes_acknowledged,
            nxt: destination.counters.data_bytes_sent,
            in_flight: u32::try_from(flight_before).unwrap_or(u32::MAX),
        };
        let sample = DeliverySample {
            ack,
            delivered: ack.una,
            lost: 0,
            in_flight: destination.flight.amount(),
            ce: 0,
            advanced: self.newly_acked.cumulative_advanced(),
            progress: self.may_grow(index, slow_start),
            window_limited,
            rate: None,
        };
        self.congestion.on_sample(index, &ack);
        self.congestion.on_delivered(index, &sample);
    }

    fn may_grow(&self, index: usize, slow_start: bool) -> bool {
        if self.is_recovering(index) && (slow_start || !self.config.avoidance_in_recovery) {
            return false;
        }
        match self.config.window_growth {
            WindowGrowth::Rfc4960 => self.newly_acked.cumulative_advanced(),
            WindowGrowth::Rfc9260 | WindowGrowth::PerDestination => true,
            WindowGrowth::Cuc(_) => self.destinations[index].cuc.has_new(),
        }
    }

    /// A window that was not used shrinks.
    pub(super) fn decay_idle_window(&mut self, index: usize, now: Instant) {
        let destination = &mut self.destinations[index];
        if !self.config.idle_decay || destination.flight.bytes() > 0 {
            return;
        }
        let halvings = destination.idle.take_halvings(destination.timer.rto(), now);
        if halvings > 0 {
            self.congestion.restart_after_idle(index, halvings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_halved_once_for_every_rto_without_data() {
        let (mut idle, rto) = (IdleTime::default(), Duration::from_secs(1));
        let at = |seconds: u64| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(idle.take_halvings(rto, at(9)), 0, "nothing was ever sent");
        idle.end(at(10));
        assert_eq!([10, 11, 11, 14].map(|now| idle.take_halvings(rto, at(now))), [0, 1, 0, 3]);
        idle.end(at(14));
        assert_eq!(idle.take_halvings(rto, at(15)), 1);
    }
}
