//! Timestamps (RFC 7323): this side's clock, the peer's latest value, and what the peer echoes.

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpSegment, Timestamps};

use super::Connection;

/// Age at which TS.Recent no longer tells old from new (RFC 7323, section 5.5): the peer's clock may have gone half round.
const TS_RECENT_LIFETIME: Duration = Duration::from_secs(24 * 24 * 3600);

/// TSval at `now`: milliseconds modulo 2^32 (Linux uses the same tick), without zero. An echo of zero says that there is none:
/// it stands in every SYN.
pub(crate) fn timestamp(now: Instant) -> u32 {
    ((now.as_nanos() / 1_000_000) as u32).wrapping_add(1).max(1)
}

/// Time from the TSval `echo` to `now`, to the millisecond; `None` where the echo lies in the future.
fn elapsed_since(echo: u32, now: Instant) -> Option<Duration> {
    let elapsed = timestamp(now).wrapping_sub(echo).max(1);
    (elapsed < u32::MAX / 2).then(|| Duration::from_millis(u64::from(elapsed)))
}

/// What the peer's timestamps say.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerTimestamps {
    /// The value to echo (TS.Recent), and when it arrived.
    recent: Option<(u32, Instant)>,
    /// What the segment that is being taken in echoes.
    echo: Option<u32>,
    /// What the segment before it echoed: the same echo gives no second sample.
    previous_echo: u32,
}

impl PeerTimestamps {
    /// The value to echo; zero where there is none.
    pub(crate) fn to_echo(&self) -> u32 {
        self.recent.map_or(0, |(value, _)| value)
    }

    /// Takes the value of a SYN or SYN/ACK.
    pub(crate) fn on_syn(&mut self, timestamps: Option<Timestamps>, now: Instant) {
        self.recent = timestamps.map(|timestamps| (timestamps.value, now));
    }

    /// PAWS (RFC 7323, section 5.3): whether `value` is older than the one last accepted. That one is not compared with where
    /// it is itself too old, or zero: some stacks begin with zero in the SYN and go on with another clock (Linux
    /// `tcp_paws_check`).
    #[inline]
    pub(crate) fn is_stale(&self, value: u32, now: Instant) -> bool {
        self.recent.is_some_and(|(recent, arrived)| {
            (value.wrapping_sub(recent) as i32) < 0 && recent != 0 && now.since(arrived) <= TS_RECENT_LIFETIME
        })
    }
}

impl Connection {
    /// Notes what an acceptable segment that begins at `start` says in its timestamps.
    pub(super) fn note_timestamps(&mut self, segment: &TcpSegment, start: u64, now: Instant) {
        let theirs = segment.options.timestamps.filter(|_| self.negotiated.timestamps);
        let known = &mut self.receive.timestamps;
        known.echo = theirs.map(|theirs| theirs.echo).filter(|&echo| echo != 0);
        let Some(theirs) = theirs else { return };
        if start <= self.receive.acknowledged {
            known.recent = Some((theirs.value, now));
        }
        // The receiver measures round trips by full-sized segments (Linux `tcp_rcv_rtt_measure_ts`).
        if core::mem::replace(&mut known.previous_echo, theirs.echo) != theirs.echo
            && u64::from(segment.payload.length) >= self.acknowledge.segment_size
            && let Some(rtt) = known.echo.and_then(|echo| elapsed_since(echo, now))
        {
            self.receive.window.on_rtt(rtt);
        }
    }

    /// What the segment that is being taken in echoes.
    pub(super) fn latest_echo(&self) -> Option<u32> {
        self.receive.timestamps.echo
    }

    /// The round-trip time that the segment's echo shows (RFC 7323, section 4.1).
    pub(super) fn echoed_rtt(&self, now: Instant) -> Option<Duration> {
        elapsed_since(self.latest_echo()?, now)
    }

    /// Whether the echoed timestamp is older than the transmission at `sent_at`.
    pub(super) fn echo_precedes(&self, sent_at: Instant) -> bool {
        self.latest_echo().is_some_and(|echo| (echo.wrapping_sub(timestamp(sent_at)) as i32) < 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_passes_2_to_the_32_milliseconds_without_a_zero() {
        let at = |ms: u64| timestamp(Instant::from_nanos(ms * 1_000_000));
        assert_eq!([0, 1, (1 << 32) - 2, (1 << 32) - 1, 1 << 32].map(at), [1, 2, u32::MAX, 1, 1]);
        let later = Instant::from_nanos(((1 << 32) + 10) * 1_000_000);
        assert_eq!(elapsed_since(u32::MAX, later), Some(Duration::from_millis(12)));
        assert_eq!(elapsed_since(500, later), None);
    }

    #[test]
    fn values_are_compared_around_the_circle_for_24_days() {
        let mut known = PeerTimestamps::default();
        let recent = |value| Some(Timestamps { value, echo: 0 });
        known.on_syn(recent(u32::MAX - 5), Instant::ZERO);
        let days = |n: u64| Instant::ZERO + Duration::from_secs(n * 24 * 3600);
        assert!(!known.is_stale(3, days(1)) && known.is_stale(u32::MAX - 6, days(1)));
        assert!(known.is_stale(u32::MAX - 6, days(24)) && !known.is_stale(u32::MAX - 6, days(25)));
        known.on_syn(recent(0), Instant::ZERO);
        assert!(!known.is_stale(u32::MAX - 6, days(1)));
    }
}
