//! A cellular link: transport blocks in transmission time intervals, with hybrid ARQ.

use std::collections::BTreeSet;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant, Rate};

use crate::Probability;

/// A link that a scheduler of LTE or 5G gives a transport block in each transmission time interval (TTI).
///
/// A block has the bytes of one interval at the rate. Packets share blocks and are divided among them; only what waits when
/// an interval begins is in its block. A block that is not decoded is sent again one HARQ round trip later, in place of a
/// new one, until it is; each transmission fails with the same probability. Packets are delivered in order: those behind a
/// block that is sent again wait for it. With the probability p, new data get 1 − p of the rate, and a block needs k
/// retransmissions with the probability pᵏ (1 − p).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellularConfig {
    /// The rate of a link without errors: a block has at least one byte.
    pub rate: Rate,
    /// The transmission time interval, above zero.
    pub tti: Duration,
    /// The probability that a transmission of a block is not decoded; below 1.
    pub block_error_rate: Probability,
    /// The number of intervals from a transmission to the next one of the same block, at least one.
    pub harq_intervals: u32,
    /// The time that a packet waits for a grant if the link is idle, before the next interval may be its own.
    pub grant_delay: Duration,
}

impl CellularConfig {
    /// The bytes of a block.
    pub fn block_bytes(&self) -> u64 {
        self.rate.bytes_in(self.tti)
    }
}

/// The blocks of a link up to the current one.
#[derive(Debug)]
pub(crate) struct TransportBlocks {
    config: CellularConfig,
    /// Decides on what is decoded, interval by interval, whatever is sent in them.
    seed: u64,
    /// The interval of the current block, counted from the start of the run.
    interval: u64,
    /// The bytes of it that are free.
    free: u64,
    /// When the current block is decoded: at the end of the interval of its last transmission.
    decoded: Instant,
    /// Later intervals in which blocks are sent again.
    taken: BTreeSet<u64>,
    /// When the last packet was delivered.
    delivered: Instant,
}

impl TransportBlocks {
    pub(crate) fn new(config: CellularConfig, seed: u64) -> Self {
        Self {
            config,
            seed,
            interval: 0,
            free: 0,
            decoded: Instant::ZERO,
            taken: BTreeSet::new(),
            delivered: Instant::ZERO,
        }
    }

    /// The rate without errors.
    pub(crate) fn rate(&self) -> Rate {
        self.config.rate
    }

    /// When a packet of `bytes` that comes at `now` is delivered: all blocks that carry it are decoded, and the packets
    /// before it are delivered. `now` never decreases.
    pub(crate) fn delivery(&mut self, now: Instant, bytes: u32) -> Instant {
        self.leave_begun_blocks(now);
        let mut left = u64::from(bytes);
        let mut decoded = self.decoded;
        loop {
            let taken = left.min(self.free);
            (self.free, left) = (self.free - taken, left - taken);
            decoded = if taken > 0 { decoded.max(self.decoded) } else { decoded };
            if left == 0 {
                break;
            }
            self.next_block(self.interval + 1);
        }
        self.delivered = self.delivered.max(decoded);
        self.delivered
    }

    /// When the block begins that a packet can have which comes, or has waited since, `now`.
    pub(crate) fn next_free(&self, now: Instant) -> Instant {
        if self.has_room(now) {
            return self.begin(self.interval);
        }
        let first = self.first_from(self.granted_from(now)).max(self.interval + 1);
        self.begin((first..).find(|interval| !self.taken.contains(interval)).unwrap_or(first))
    }

    /// All packets that are not delivered by `now` were dropped.
    pub(crate) fn clear(&mut self, now: Instant) {
        let interval = self.first_from(now).saturating_sub(1);
        let delivered = self.delivered.min(now);
        *self = Self { interval, delivered, ..Self::new(self.config, self.seed) };
    }

    /// If the current block has begun before `now`, what comes now is for a later one.
    fn leave_begun_blocks(&mut self, now: Instant) {
        if self.has_room(now) {
            return;
        }
        let first = self.first_from(self.granted_from(now));
        if first > self.interval {
            self.next_block(first);
        }
    }

    /// Whether what comes at `now` fits into the current block, at least its first bytes.
    fn has_room(&self, now: Instant) -> bool {
        self.free > 0 && self.begin(self.interval) >= now
    }

    /// From when on what comes at `now` may have intervals: without data under way a grant has to come first.
    fn granted_from(&self, now: Instant) -> Instant {
        if self.delivered <= now { now.saturating_add(self.config.grant_delay) } else { now }
    }

    /// Whether what is sent in `interval` is not decoded.
    fn fails_in(&self, interval: u64) -> bool {
        // An odd multiplier: intervals have different seeds, which `seed_from_u64` mixes.
        let seed = self.seed.wrapping_add(interval.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.config.block_error_rate.draw(&mut Pcg64Mcg::seed_from_u64(seed))
    }

    /// The first interval that begins at or after `from`.
    fn first_from(&self, from: Instant) -> u64 {
        from.as_nanos().div_ceil(self.config.tti.as_nanos())
    }

    fn begin(&self, interval: u64) -> Instant {
        Instant::from_nanos(interval.saturating_mul(self.config.tti.as_nanos()))
    }

    /// Begins a new block in the first interval from `from` on in which none is sent again.
    fn next_block(&mut self, from: u64) {
        self.taken = self.taken.split_off(&from);
        self.interval = from;
        while self.taken.remove(&self.interval) {
            self.interval += 1;
        }
        self.free = self.config.block_bytes();
        let mut last = self.interval;
        while self.fails_in(last) {
            last = last.saturating_add(self.config.harq_intervals.into());
            self.taken.insert(last);
        }
        self.decoded = self.begin(last.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTI: Duration = Duration::from_millis(1);

    /// 12 Mbit/s: blocks of 1500 bytes.
    fn blocks(block_error_rate: f64) -> TransportBlocks {
        let config = CellularConfig {
            rate: Rate::from_mbit(12),
            tti: TTI,
            block_error_rate: Probability::new(block_error_rate).expect("a probability"),
            harq_intervals: 8,
            grant_delay: Duration::ZERO,
        };
        TransportBlocks::new(config, 1)
    }

    fn us(microseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(microseconds)
    }

    #[test]
    fn packets_wait_for_the_next_interval_and_share_or_fill_blocks() {
        let mut link = blocks(0.0);
        assert_eq!(link.delivery(us(300), 500), us(2000), "sent from 1 ms to 2 ms");
        assert_eq!(link.delivery(us(900), 1000), us(2000), "there is room for it");
        assert_eq!(link.delivery(us(900), 2000), us(4000), "1500 bytes in the next block, 500 in the one after");
        assert_eq!(link.delivery(us(1000), 1000), us(4000));
        assert_eq!(link.delivery(us(10_000), 1), us(11_000), "what begins now is its own");
    }

    #[test]
    fn an_idle_link_asks_for_a_grant_first() {
        let mut link = blocks(0.0);
        link.config.grant_delay = Duration::from_millis(10);
        assert_eq!(link.delivery(us(300), 1500), us(12_000));
        assert_eq!(link.delivery(us(11_500), 1500), us(13_000), "it is not idle");
        assert_eq!(link.delivery(us(50_000), 1500), us(61_000));
    }

    #[test]
    fn a_busy_link_has_the_rate_less_what_is_sent_again() {
        for error_rate in [0.0, 0.1, 0.3] {
            let mut link = blocks(error_rate);
            let packets = 100_000;
            (0..packets).for_each(|_| {
                link.delivery(Instant::ZERO, 1500);
            });
            let share = f64::from(packets) / (link.interval as f64 + 1.0);
            // Four standard errors of a share of so many intervals.
            let error = 4.0 * (error_rate * (1.0 - error_rate) / link.interval as f64).sqrt();
            assert!((share - (1.0 - error_rate)).abs() <= error + 1e-4, "{share} with {error_rate}");
        }
    }

    #[test]
    fn the_delay_is_geometric_in_round_trips_of_eight_intervals() {
        let mut link = blocks(0.2);
        let count = 50_000u64;
        let mut retransmissions = [0u64; 3];
        for number in 0..count {
            // So far apart that none waits for another.
            let comes = us((number + 1) * 1_000_000);
            let delay = link.delivery(comes, 1500).since(comes);
            let again = (delay - TTI).as_micros() / 8000;
            assert_eq!(delay, TTI + Duration::from_millis(8 * again));
            if let Some(of) = retransmissions.get_mut(again as usize) {
                *of += 1;
            }
        }
        for (again, found) in retransmissions.into_iter().enumerate() {
            let expected = 0.8 * 0.2f64.powi(again as i32);
            let error = 4.0 * (expected * (1.0 - expected) / count as f64).sqrt();
            let share = found as f64 / count as f64;
            assert!((share - expected).abs() < error, "{again} retransmissions: {share}, not {expected}");
        }
    }

    #[test]
    fn packets_are_delivered_in_order() {
        let mut link = blocks(0.3);
        let all: Vec<Instant> = (0..5000).map(|number| link.delivery(us(number * 1100), 1400)).collect();
        assert!(all.is_sorted());
        // What waits for a block that is sent again is delivered with it.
        assert!(all.windows(2).filter(|pair| pair[0] == pair[1]).count() > 500);
    }

    #[test]
    fn the_next_free_block_is_the_one_that_a_packet_gets() {
        let mut link = blocks(0.3);
        for number in 0..2000u64 {
            let now = us(number * 700);
            let begins = link.next_free(now);
            let delivered = link.delivery(now, 700);
            assert!(begins >= now && begins <= link.begin(link.interval), "{number}");
            assert!(delivered >= begins + TTI, "{number}");
        }
    }
}
