//! HyStart: ends slow start before the queue overflows, as Linux 6.12 does for CUBIC.
//!
//! Source: Ha and Rhee, "Hybrid Slow Start for High-Bandwidth and Long-Distance Networks" (PFLDnet 2008), with the
//! constants and changes of Linux 6.12. (RFC 9406's HyStart++ is another algorithm; Linux has not adopted it.)
//!
//! A *round* ends when the data that was sent last at its beginning is acknowledged. From a window of 16 packets on,
//! slow start ends (`ssthresh = cwnd`) as soon as one of two conditions holds:
//!
//! * **ACK train**: acknowledgments follow each other within 2 ms, and the train that began with the round is longer
//!   than `(delay_min + cushion) / 2`: the packets in flight fill the one-way path. The cushion accounts for packets
//!   that segmentation offload groups. The sum is not halved if the sender paces, which delays packets by up to half a
//!   round trip in slow start.
//! * **Delay**: the smallest RTT of the round, from its 9th sample on, exceeds
//!   `delay_min + clamp(delay_min / 8, 4 ms, 16 ms)`: a queue has formed.
//!
//! Times are in nanoseconds; Linux uses microseconds.

use subflow_quantity::{Duration, Instant};

use super::Ack;

/// Smallest window at which HyStart is active, in packets (Linux: `hystart_low_window`).
const LOW_WINDOW: u32 = 16;
/// Longest gap within an ACK train (Linux: `hystart_ack_delta_us`).
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// The number of RTT samples at the start of a round that only set its minimum (Linux: `HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// Lower and upper bound of the delay increase that indicates a queue.
const DELAY_BOUNDS: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// Largest cushion for offloading.
const MAX_CUSHION: Duration = Duration::from_millis(1);
/// The packets of four offload bursts of the maximum size (64 KiB), divided by the factor of two between Linux's pacing
/// rate in slow start and `cwnd / srtt`.
const CUSHION_PACKETS: u64 = 4 * 45 / 2;

/// The state of the path at an acknowledgment, as far as HyStart uses it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Window in packets.
    pub cwnd: u32,
    /// RTT measured by this acknowledgment.
    pub rtt: Duration,
    /// Smallest RTT that CUBIC has recorded (Linux: `delay_min`), including this one.
    pub delay_min: Duration,
    /// Smoothed RTT, for the cushion.
    pub srtt: Option<Duration>,
    /// Whether the sender paces.
    pub paced: bool,
}

/// Detects the end of slow start on one path.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStart {
    found: bool,
    /// The round ends when `una` passes this.
    round_end: u64,
    round_start: Instant,
    /// Last acknowledgment of the round's train.
    last_ack: Instant,
    round_min: Option<Duration>,
    samples: u32,
}

impl HyStart {
    /// Creates a detector for a slow start in which data up to `nxt` has been sent.
    pub fn new(nxt: u64) -> Self {
        Self { round_end: nxt, ..Self::default() }
    }

    /// Processes an RTT sample in slow start. Returns `true` once, when slow start should end.
    pub fn should_exit(&mut self, ack: &Ack, sample: Sample) -> bool {
        if self.found {
            return false;
        }
        if ack.una > self.round_end {
            self.begin_round(ack);
        }
        if sample.cwnd < LOW_WINDOW {
            return false;
        }
        let train = self.train_is_long(ack.now, sample);
        let delay = self.delay_has_grown(sample);
        self.found = train || delay;
        self.found
    }

    fn begin_round(&mut self, ack: &Ack) {
        *self = Self { round_start: ack.now, last_ack: ack.now, ..Self::new(ack.nxt) };
    }

    fn train_is_long(&mut self, now: Instant, sample: Sample) -> bool {
        if now - self.last_ack > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > (sample.delay_min + cushion(sample)) / if sample.paced { 1 } else { 2 }
    }

    fn delay_has_grown(&mut self, sample: Sample) -> bool {
        let round_min = self.round_min.map_or(sample.rtt, |min| min.min(sample.rtt));
        self.round_min = Some(round_min);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let (low, high) = DELAY_BOUNDS;
        round_min > sample.delay_min + (sample.delay_min / 8).clamp(low, high)
    }
}

/// How much longer than the path's delay an ACK train may be because of segmentation offload: four bursts at the pacing
/// rate (Linux: `hystart_ack_delay`), which is 1 ms below about 2 Gbit/s.
fn cushion(sample: Sample) -> Duration {
    let Some(srtt) = sample.srtt else {
        return MAX_CUSHION;
    };
    (srtt.saturating_mul(CUSHION_PACKETS) / u64::from(sample.cwnd)).min(MAX_CUSHION)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgment at `at` microseconds within the round that ends at 100.
    fn ack(at: u64, una: u64) -> Ack {
        Ack { now: Instant::from_nanos(at * 1000), acked: 1, rtt: None, una, nxt: 100, in_flight: 20 }
    }

    fn sample(cwnd: u32, rtt_ms: u64) -> Sample {
        let delay_min = Duration::from_millis(40);
        Sample { cwnd, rtt: Duration::from_millis(rtt_ms), delay_min, srtt: Some(delay_min), paced: false }
    }

    #[test]
    fn a_train_longer_than_half_the_delay_and_the_cushion_ends_slow_start() {
        let mut hystart = HyStart::new(0);
        for at in (0..=20_500).step_by(500) {
            assert!(!hystart.should_exit(&ack(at, 1), sample(20, 40)), "at {at} us");
        }
        assert!(hystart.should_exit(&ack(20_501, 1), sample(20, 40)));
    }

    #[test]
    fn a_paced_train_has_to_be_as_long_as_the_delay_and_the_cushion() {
        let mut hystart = HyStart::new(0);
        let paced = Sample { paced: true, ..sample(20, 40) };
        for at in (0..=41_000).step_by(500) {
            assert!(!hystart.should_exit(&ack(at, 1), paced), "at {at} us");
        }
        assert!(hystart.should_exit(&ack(41_001, 1), paced));
    }

    #[test]
    fn a_gap_of_more_than_2_ms_breaks_the_train() {
        let mut hystart = HyStart::new(0);
        for at in (0..=30_000).step_by(2001) {
            assert!(!hystart.should_exit(&ack(at, 1), sample(20, 40)), "at {at} us");
        }
    }

    #[test]
    fn the_ninth_sample_decides_whether_a_queue_has_formed() {
        let mut hystart = HyStart::new(0);
        for _ in 0..8 {
            assert!(!hystart.should_exit(&ack(0, 1), sample(20, 46)));
        }
        assert!(hystart.should_exit(&ack(0, 1), sample(20, 46)));
    }

    #[test]
    fn an_eighth_of_the_delay_is_not_yet_a_queue() {
        let mut hystart = HyStart::new(0);
        for _ in 0..50 {
            assert!(!hystart.should_exit(&ack(0, 1), sample(20, 45)));
        }
    }

    #[test]
    fn it_is_inactive_below_16_packets() {
        let mut hystart = HyStart::new(0);
        for at in (0..=30_000).step_by(500) {
            assert!(!hystart.should_exit(&ack(at, 1), sample(15, 60)));
        }
    }

    #[test]
    fn a_new_round_resets_the_samples() {
        let mut hystart = HyStart::new(0);
        for _ in 0..8 {
            hystart.should_exit(&ack(0, 1), sample(20, 46));
        }
        assert!(!hystart.should_exit(&ack(0, 101), sample(20, 46)));
    }
}
