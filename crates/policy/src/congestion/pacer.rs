//! Pacing: when the next packet of a path may leave, so that packets leave at the path's pacing rate.
//!
//! As TCP's internal pacing in Linux (`tcp_pacing_check`, `tcp_update_skb_after_send`): each packet moves the earliest
//! departure time of the next one by its length divided by the rate. A packet that leaves late is followed sooner, by at
//! most half of that time. The first packets are not paced.

use subflow_quantity::{Duration, Instant};

/// Packets with data at the start of a connection that are not paced (Linux: `data_segs_out >= 10`).
const UNPACED: u8 = 10;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The departure times of one path. It needs a timer: after [`admits`](Self::admits) has refused a packet, the transport
/// tries again at [`wake_at`](Self::wake_at).
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Earliest departure of the next packet (Linux: `tcp_wstamp_ns`).
    departure: Instant,
    /// When a packet that waits may leave; [`Instant::MAX`] if none waits.
    wake_at: Instant,
    /// Packets sent, up to [`UNPACED`].
    sent: u8,
    on: bool,
}

impl Pacer {
    /// One that lets every packet leave at once.
    pub const OFF: Self = Self { departure: Instant::ZERO, wake_at: Instant::MAX, sent: 0, on: false };
    /// One that has not yet seen a packet.
    pub const ON: Self = Self { on: true, ..Self::OFF };

    /// Whether it spaces packets.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether a packet may leave at `now`. If not, a packet waits.
    #[inline]
    pub fn admits(&mut self, now: Instant) -> bool {
        if !self.on || self.departure <= now {
            return true;
        }
        self.wake_at = self.departure;
        false
    }

    /// When the packet that waits may leave; [`Instant::MAX`] if none waits.
    #[inline]
    pub fn wake_at(&self) -> Instant {
        self.wake_at
    }

    /// A packet waits until `at` for another reason than the pacing rate.
    pub fn wait_until(&mut self, at: Instant) {
        self.wake_at = at;
    }

    /// Processes that `now` has come. Returns whether a packet waited for it.
    #[inline]
    pub fn wake(&mut self, now: Instant) -> bool {
        let is_due = self.wake_at <= now;
        if is_due {
            self.wake_at = Instant::MAX;
        }
        is_due
    }

    /// Earliest departure of the next packet; a time in the past if it may leave now.
    pub fn departure(&self) -> Instant {
        self.departure
    }

    /// A packet with `bytes` of payload left at `now`; the pacing rate is `rate`, in bytes per second.
    pub fn on_sent(&mut self, bytes: u32, rate: Option<u64>, now: Instant) {
        let late = now.since(self.departure);
        self.departure = self.departure.max(now);
        self.sent = (self.sent + 1).min(UNPACED);
        let Some(rate) = rate.filter(|&rate| rate > 0 && self.sent == UNPACED) else { return };
        let gap = Duration::from_nanos(u64::from(bytes) * NANOS_PER_SECOND / rate);
        self.departure += gap - late.min(gap / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// One that has sent its unpaced packets at 0, at 1 MB/s.
    fn pacing() -> Pacer {
        let mut pacer = Pacer::ON;
        for _ in 0..9 {
            assert!(pacer.admits(at(0)));
            pacer.on_sent(1000, Some(1_000_000), at(0));
        }
        pacer
    }

    #[test]
    fn the_tenth_packet_is_the_first_that_another_follows_at_a_distance() {
        let mut pacer = pacing();
        assert!(pacer.admits(at(0)));
        pacer.on_sent(1000, Some(1_000_000), at(0));
        assert!(!pacer.admits(at(999)));
        assert_eq!((pacer.departure(), pacer.wake_at()), (at(1000), at(1000)));
        assert!(!pacer.wake(at(999)) && pacer.wake(at(1000)) && pacer.admits(at(1000)));
        assert_eq!(pacer.wake_at(), Instant::MAX);
    }

    #[test]
    fn a_late_packet_is_followed_sooner_by_at_most_half_of_the_distance() {
        let after = |late: u64| {
            let mut pacer = pacing();
            pacer.on_sent(1000, Some(1_000_000), at(0));
            pacer.on_sent(1000, Some(1_000_000), at(1000 + late));
            pacer.departure()
        };
        assert_eq!([0, 200, 500, 9000].map(after), [at(2000), at(2000), at(2000), at(10_500)]);
    }

    #[test]
    fn without_a_rate_and_without_payload_nothing_is_spaced() {
        let mut pacer = pacing();
        pacer.on_sent(1000, None, at(5));
        pacer.on_sent(0, Some(1), at(5));
        pacer.on_sent(1000, Some(0), at(5));
        assert_eq!(pacer.departure(), at(5));
        let mut off = Pacer::OFF;
        (0..20).for_each(|_| off.on_sent(1000, Some(1), at(0)));
        assert!(off.admits(at(0)));
    }
}
