//! One path: a delay, and optionally a rate with a queue, random loss, jitter, duplication; it can be taken down.

use std::collections::VecDeque;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use super::ms;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    /// Arrives twice.
    Twice,
    /// Arrives so much later than it would.
    Late(Duration),
}

/// A path between one address of each host, alike in both directions.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// One way.
    pub(crate) delay: Duration,
    /// Bits per second; none for no limit.
    pub(crate) rate: Option<u64>,
    /// Packets that wait for the rate at most.
    pub(crate) queue: usize,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// A share of packets arrives up to so much later, and so out of order.
    pub(crate) reordering: (f64, Duration),
    pub(crate) up: bool,
    /// When the packets before each side's rate limit leave.
    pub(crate) departures: [VecDeque<Instant>; 2],
}

impl Default for Path {
    fn default() -> Self {
        Self::with_delay(ms(10))
    }
}

impl Path {
    pub(crate) fn with_delay(delay: Duration) -> Self {
        Self {
            delay,
            rate: None,
            queue: usize::MAX,
            loss: 0.0,
            duplication: 0.0,
            reordering: (0.0, Duration::ZERO),
            up: true,
            departures: Default::default(),
        }
    }

    /// Limits the rate, in Mbit/s, behind a queue of so many packets.
    pub(crate) fn rate(self, mbps: u64, queue: usize) -> Self {
        Self { rate: Some(mbps * 1_000_000), queue, ..self }
    }

    pub(crate) fn loss(self, loss: f64) -> Self {
        Self { loss, ..self }
    }

    /// When a packet of `size` bytes that leaves `side` at `now` arrives; `None` where it is lost.
    pub(crate) fn arrivals(&mut self, side: usize, now: Instant, size: usize, rng: &mut Pcg64Mcg) -> Vec<Instant> {
        if !self.up || chance(rng, self.loss) {
            return Vec::new();
        }
        let Some(departure) = self.departure(side, now, size) else { return Vec::new() };
        let mut arrivals = vec![departure + self.delay];
        if chance(rng, self.duplication) {
            arrivals.push(arrivals[0]);
        }
        let (share, most) = self.reordering;
        for arrival in &mut arrivals {
            if chance(rng, share) {
                *arrival += Duration::from_nanos(rng.next_u64() % most.as_nanos().max(1));
            }
        }
        arrivals
    }

    fn departure(&mut self, side: usize, now: Instant, size: usize) -> Option<Instant> {
        let Some(rate) = self.rate else { return Some(now) };
        let waiting = &mut self.departures[side];
        while waiting.front().is_some_and(|&at| at <= now) {
            waiting.pop_front();
        }
        // The packet in service is not in the queue.
        if waiting.len() > self.queue {
            return None;
        }
        let start = waiting.back().copied().unwrap_or(now);
        let departure = start + Duration::from_nanos(size as u64 * 8 * 1_000_000_000 / rate);
        waiting.push_back(departure);
        Some(departure)
    }
}

fn chance(rng: &mut Pcg64Mcg, probability: f64) -> bool {
    probability > 0.0 && (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= probability
}
