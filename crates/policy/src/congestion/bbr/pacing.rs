//! The pacing rate of a path, and the bursts that end hosts make at it.

use super::super::Path;
use super::bandwidth::Bandwidth;

/// The RTT that is assumed before the first sample, in microseconds.
const NOMINAL_RTT_MICROS: u64 = 1000;
/// Below this rate, in bytes per second, a burst of an end host is one packet (Linux: `bbr_min_tso_rate`, 1.2 Mbit/s).
const SINGLE_PACKET_RATE: u64 = 150_000;
/// A burst is what is sent in 1/1024 s (Linux: `sk_pacing_shift`), but at most so many bytes and packets.
const BURST_SHIFT: u32 = 10;
const MOST_BURST_BYTES: u64 = 65_215;
const MOST_BURST: u64 = 127;

/// Bandwidth and gain of the pacing rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    /// `None` before the handshake.
    current: Option<(Bandwidth, u32)>,
    has_seen_rtt: bool,
    /// The gain of STARTUP.
    startup_gain: u32,
}

impl Pacing {
    pub(super) const fn new(startup_gain: u32) -> Self {
        Self { current: None, has_seen_rtt: false, startup_gain }
    }

    /// Paces a window per RTT, times the gain of STARTUP.
    pub(super) fn begin(&mut self, path: &Path) {
        self.has_seen_rtt = path.srtt.is_some();
        self.current = Some(self.initial(path));
    }

    fn initial(&self, path: &Path) -> (Bandwidth, u32) {
        let micros = path.srtt.map_or(NOMINAL_RTT_MICROS, |srtt| srtt.as_micros().max(1));
        (Bandwidth::of(path.cwnd.into(), micros), self.startup_gain)
    }

    /// Paces at `gain` times `bandwidth`; before the pipe was full, not slower than before.
    pub(super) fn update(&mut self, path: &Path, bandwidth: Bandwidth, gain: u32, is_full: bool) {
        if !self.has_seen_rtt && path.srtt.is_some() {
            self.begin(path);
        }
        let product = |(bandwidth, gain): (Bandwidth, u32)| u128::from(bandwidth.0) * u128::from(gain);
        let new = (bandwidth, gain);
        if is_full || self.current.is_none_or(|current| product(new) > product(current)) {
            self.current = Some(new);
        }
    }

    /// In bytes of payload per second.
    pub(super) fn rate(&self, path: &Path, unit_bytes: u32) -> u64 {
        let (bandwidth, gain) = self.current.unwrap_or_else(|| self.initial(path));
        bandwidth.pacing_rate(unit_bytes, gain)
    }

    /// The packets that an end host sends at once at the pacing rate.
    pub(super) fn burst(&self, path: &Path, unit_bytes: u32) -> u32 {
        let rate = self.rate(path, unit_bytes);
        let least = if rate < SINGLE_PACKET_RATE { 1 } else { 2 };
        let bytes = (rate >> BURST_SHIFT).min(MOST_BURST_BYTES);
        (bytes / u64::from(unit_bytes.max(1))).clamp(least, MOST_BURST) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::bandwidth::GAIN_UNIT;
    use super::*;

    #[test]
    fn before_the_pipe_was_full_the_rate_does_not_fall() {
        let (path, mut pacing) = (Path::new(1, 10), Pacing::new(2 * GAIN_UNIT));
        // Without an RTT 10 packets in a millisecond, times 2 and 0.99.
        assert_eq!(pacing.rate(&path, 1000), 19_799_981);
        pacing.begin(&path);
        let millis = |packets| Bandwidth::of(packets, 1000);
        pacing.update(&path, millis(5), 2 * GAIN_UNIT, false);
        assert_eq!(pacing.rate(&path, 1000), 19_799_981);
        pacing.update(&path, millis(5), 2 * GAIN_UNIT, true);
        assert_eq!(pacing.rate(&path, 1000), 9_899_990);
    }

    #[test]
    fn a_burst_is_what_is_sent_in_a_millisecond_and_at_least_two_packets_from_1_2_mbit_on() {
        let bursts = [100, 200, 10_000, 1_000_000].map(|per_second| {
            let mut pacing = Pacing::new(GAIN_UNIT);
            pacing.update(&Path::new(1, 10), Bandwidth::of(per_second, 1_000_000), GAIN_UNIT, true);
            pacing.burst(&Path::new(1, 10), 1448)
        });
        assert_eq!(bursts, [1, 2, 9, 45]);
    }
}
