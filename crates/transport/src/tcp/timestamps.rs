//! Timestamps (RFC 7323): TSval of this side, TS.Recent and PAWS, and the peer's echoes.

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpSegment, Timestamps};

use super::Connection;

/// Age from which TS.Recent is invalid (RFC 7323, section 5.5): the peer's clock may have advanced by half of its
/// range.
const TS_RECENT_LIFETIME: Duration = Duration::from_secs(24 * 24 * 3600);

/// TSval at `now`: milliseconds modulo 2^32 (the unit of Linux). Zero is never used, because TSecr is zero in a
/// segment that echoes nothing, such as a SYN.
pub(crate) fn timestamp(now: Instant) -> u32 {
    ((now.as_nanos() / 1_000_000) as u32).wrapping_add(1).max(1)
}

/// Time between the TSval `echo` and `now`, in whole milliseconds; `None` if the echo lies in the future.
fn elapsed_since(echo: u32, now: Instant) -> Option<Duration> {
    let elapsed = timestamp(now).wrapping_sub(echo).max(1);
    (elapsed < u32::MAX / 2).then(|| Duration::from_millis(u64::from(elapsed)))
}

/// State of the peer's timestamps.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerTimestamps {
    /// TS.Recent, and the time of its arrival; zero if there is none.
    recent: u32,
    recent_at: Instant,
    /// TSecr of the segment that is being processed; zero if it echoes nothing.
    echo: u32,
    /// TSecr of the segment before: the same echo gives no second RTT sample.
    previous_echo: u32,
}

impl PeerTimestamps {
    /// The value to send as TSecr; zero if there is none.
    pub(super) fn to_echo(&self) -> u32 {
        self.recent
    }

    /// Sets TS.Recent from a SYN or SYN/ACK.
    pub(super) fn on_syn(&mut self, timestamps: Option<Timestamps>, now: Instant) {
        self.recent = timestamps.map_or(0, |timestamps| timestamps.value);
        self.recent_at = now;
    }

    /// PAWS (RFC 7323, section 5.3): whether TSval `value` is older than TS.Recent. A TS.Recent that is too old or
    /// zero is not used, because some stacks send zero in the SYN and the values of another clock later (Linux
    /// `tcp_paws_check`).
    #[inline]
    pub(crate) fn is_stale(&self, value: u32, now: Instant) -> bool {
        let is_older = (value.wrapping_sub(self.recent) as i32) < 0;
        is_older && self.recent != 0 && now.since(self.recent_at) <= TS_RECENT_LIFETIME
    }

    /// Takes the timestamps of an acceptable segment; `is_next`: they set TS.Recent (RFC 7323, section 4.3). Returns
    /// whether they echo another value than those of the segment before.
    #[inline]
    pub(super) fn take(&mut self, theirs: Option<Timestamps>, is_next: bool, now: Instant) -> bool {
        self.echo = 0;
        let Some(theirs) = theirs else { return false };
        self.echo = theirs.echo;
        if is_next {
            self.recent = theirs.value;
            self.recent_at = now;
        }
        core::mem::replace(&mut self.previous_echo, theirs.echo) != theirs.echo
    }

    /// TSecr of the segment that is being processed; `None` if it echoes nothing.
    #[inline]
    pub(super) fn latest_echo(&self) -> Option<u32> {
        (self.echo != 0).then_some(self.echo)
    }
}

impl Connection {
    /// Processes the timestamps of an acceptable segment that begins at `start`, and the RTT sample of the receiver.
    pub(super) fn note_timestamps(&mut self, segment: &TcpSegment, start: u64, now: Instant) {
        let theirs = segment.options.timestamps.filter(|_| self.negotiated.timestamps);
        // Only full-sized segments give the receiver an RTT sample (Linux `tcp_rcv_rtt_measure_ts`).
        if self.receive.take_timestamps(theirs, start, now)
            && u64::from(segment.payload.length) >= self.acknowledge.segment_size()
            && let Some(rtt) = self.echoed_rtt(now)
        {
            self.receive.on_rtt(rtt);
        }
    }

    /// TSecr of the segment that is being processed.
    pub(super) fn latest_echo(&self) -> Option<u32> {
        self.receive.timestamps().latest_echo()
    }

    /// The RTT sample from TSecr of the segment that is being processed (RFC 7323, section 4.1).
    pub(super) fn echoed_rtt(&self, now: Instant) -> Option<Duration> {
        elapsed_since(self.latest_echo()?, now)
    }

    /// Whether TSecr of the segment that is being processed precedes the transmission at `sent_at`.
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
