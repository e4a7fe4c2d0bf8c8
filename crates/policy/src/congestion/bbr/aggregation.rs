//! Aggregation of acknowledgments: how much more is acknowledged at once than the bandwidth explains (Linux
//! `bbr_update_ack_aggregation`). The window allows for it, so that the path does not run dry between two bursts of
//! acknowledgments.

use subflow_quantity::Instant;

use super::bandwidth::Bandwidth;

/// The rounds after which the older of the two maxima is forgotten.
const WINDOW_ROUNDS: u32 = 5;
/// An epoch with so many acknowledged packets is ended.
const MOST_IN_EPOCH: u32 = 1 << 20;
/// What the window grows by is at most delivered in this time, 100 ms.
const MOST_MICROS: u64 = 100_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// The epoch began with a delivery, after which not less was acknowledged than the bandwidth explains.
    epoch: Instant,
    acked: u32,
    /// Largest excess in the current window of rounds, and in the one before.
    largest: [u32; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// The path begins to send again: an epoch begins.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.epoch, self.acked) = (now, 0);
    }

    /// Processes the delivery of `acked` packets at `at`.
    pub(super) fn update(&mut self, acked: u32, at: Instant, is_round_start: bool, bandwidth: Bandwidth, cwnd: u32) {
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current ^= 1;
                self.largest[self.current] = 0;
            }
        }
        let mut expected = bandwidth.packets_in(at.since(self.epoch).as_micros());
        if u64::from(self.acked) <= expected || self.acked.saturating_add(acked) >= MOST_IN_EPOCH {
            self.restart(at);
            expected = 0;
        }
        self.acked = self.acked.saturating_add(acked).min(MOST_IN_EPOCH - 1);
        let excess = u64::from(self.acked).saturating_sub(expected).min(cwnd.into()) as u32;
        self.largest[self.current] = self.largest[self.current].max(excess);
    }

    /// The packets that the window allows for it.
    pub(super) fn allowance(&self, bandwidth: Bandwidth) -> u32 {
        let largest = self.largest[0].max(self.largest[1]);
        largest.min(u32::try_from(bandwidth.packets_in(MOST_MICROS)).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn eight_packets_at_once_are_eight_in_excess_until_ten_rounds_have_passed() {
        // One packet each millisecond.
        let (bandwidth, mut aggregation) = (Bandwidth::of(1000, 1_000_000), Aggregation::default());
        for burst in 1..=3 {
            aggregation.update(8, ms(8 * burst), false, bandwidth, 100);
        }
        // The second and the third burst come when no more than 8 and 16 are expected: 7.99 and 15.99.
        assert_eq!(aggregation.allowance(bandwidth), 9);
        for packet in 40..1000 {
            aggregation.update(1, ms(packet), packet % 50 == 0, bandwidth, 100);
        }
        assert_eq!(aggregation.allowance(bandwidth), 2);
    }

    #[test]
    fn the_excess_is_at_most_the_window_and_what_is_delivered_in_100_ms() {
        let (slow, fast) = (Bandwidth::of(50, 1_000_000), Bandwidth::of(1000, 1_000_000));
        let mut aggregation = Aggregation::default();
        aggregation.update(80, ms(1), false, fast, 60);
        assert_eq!((aggregation.allowance(fast), aggregation.allowance(slow)), (60, 4));
    }
}
