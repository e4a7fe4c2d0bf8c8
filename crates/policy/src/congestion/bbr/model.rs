//! The model of a path: its bandwidth, its round-trip time without queues, and whether the pipe was ever full.

use subflow_quantity::{Duration, Instant};

use super::super::{DeliverySample, RateSample};
use super::aggregation::Aggregation;
use super::bandwidth::{Bandwidth, MaxFilter};
use super::long_term::{LongTerm, Progress, Totals, Verdict};

/// The rounds over which the largest bandwidth counts (Linux: `bbr_bw_rtts`): a cycle of PROBE_BW and two more.
const BANDWIDTH_ROUNDS: u32 = 10;
/// A kernel's tick at HZ = 250; as the kernel does, BBR counts the age of the smallest RTT and PROBE_RTT in ticks.
const TICK_NANOS: u64 = 4_000_000;
/// After this many ticks, 10 s, a smallest RTT is out of date.
const MIN_RTT_TICKS: u64 = 2500;
/// The pipe is full after this many rounds...
const FULL_ROUNDS: u32 = 3;
/// ... in which the bandwidth did not grow by a quarter: 5/4 in numerator and denominator.
const FULL_GROWTH: (u64, u64) = (5, 4);

/// The kernel's clock.
pub(super) fn tick(now: Instant) -> u64 {
    now.as_nanos() / TICK_NANOS
}

/// What BBR knows of a path.
#[derive(Clone, Debug)]
pub(super) struct Model {
    largest: MaxFilter,
    pub(super) long_term: LongTerm,
    pub(super) aggregation: Aggregation,
    /// Round trips so far.
    rounds: u32,
    /// A round trip ends when a packet is delivered that was sent after so much had been delivered.
    round_end: u64,
    pub(super) is_round_start: bool,
    /// The smallest RTT of the last 10 s, and the tick at which it was measured.
    min_rtt: Option<Duration>,
    min_rtt_tick: u64,
    /// The bandwidth that has to grow by a quarter, and the rounds in which it did not.
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    is_full: bool,
    totals: Totals,
    unit_bytes: u32,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            largest: MaxFilter::default(),
            long_term: LongTerm::NEW,
            aggregation: Aggregation::default(),
            rounds: 0,
            round_end: 0,
            is_round_start: false,
            min_rtt: None,
            min_rtt_tick: 0,
            full_bandwidth: Bandwidth::default(),
            full_rounds: 0,
            is_full: false,
            totals: Totals::NONE,
            unit_bytes: 0,
        }
    }

    /// The handshake has given the RTT `rtt`, if any.
    pub(super) fn begin(&mut self, rtt: Option<Duration>, now: Instant) {
        (self.min_rtt, self.min_rtt_tick) = (rtt, tick(now));
    }

    /// Takes `bandwidth` as the largest one.
    #[cfg(test)]
    pub(super) fn set_bandwidth(&mut self, bandwidth: Bandwidth) {
        self.largest.add(bandwidth, self.rounds, BANDWIDTH_ROUNDS);
    }

    /// The largest bandwidth of recent rounds.
    pub(super) fn largest(&self) -> Bandwidth {
        self.largest.largest()
    }

    /// The bandwidth that is used: the largest one, or a policer's.
    pub(super) fn bandwidth(&self) -> Bandwidth {
        self.long_term.bandwidth().unwrap_or_else(|| self.largest())
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// In microseconds, as all of BBR's arithmetic; the largest time without a sample.
    pub(super) fn min_rtt_micros(&self) -> u64 {
        self.min_rtt.map_or(u64::MAX, Duration::as_micros)
    }

    /// Whether STARTUP has found the bandwidth.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Processes the bandwidth of a sample. Returns what the long-term estimate says.
    pub(super) fn update_bandwidth(
        &mut self,
        sample: &DeliverySample,
        rate: &RateSample,
        is_cruising: bool,
    ) -> Verdict {
        self.is_round_start = false;
        self.totals = Totals { delivered: sample.delivered, lost: rate.lost, at: rate.delivered_at };
        self.unit_bytes = rate.unit_bytes;
        let Some(micros) = rate.interval.map(Duration::as_micros).filter(|&micros| micros > 0) else {
            return Verdict::Nothing;
        };
        if rate.prior_delivered >= self.round_end {
            self.begin_round();
            self.rounds += 1;
            self.is_round_start = true;
        }
        let verdict = self.long_term.sample(&self.progress(sample.lost > 0, rate.application_limited, is_cruising));
        let bandwidth = Bandwidth::of(rate.delivered, micros);
        if !rate.application_limited || bandwidth >= self.largest() {
            self.largest.add(bandwidth, self.rounds, BANDWIDTH_ROUNDS);
        }
        verdict
    }

    /// A round trip begins with what was delivered so far.
    pub(super) fn begin_round(&mut self) {
        self.round_end = self.totals.delivered;
    }

    fn progress(&self, has_losses: bool, application_limited: bool, is_cruising: bool) -> Progress {
        let (totals, is_round_start, unit_bytes) = (self.totals, self.is_round_start, self.unit_bytes);
        Progress { totals, has_losses, application_limited, is_round_start, is_cruising, unit_bytes }
    }

    /// A retransmission timeout counts as the end of a round with losses.
    pub(super) fn on_timeout(&mut self, is_cruising: bool) -> Verdict {
        self.full_bandwidth = Bandwidth::default();
        self.is_round_start = true;
        self.long_term.sample(&self.progress(true, false, is_cruising))
    }

    /// Losses were none: what was concluded from them is forgotten.
    pub(super) fn on_undo(&mut self) {
        (self.full_bandwidth, self.full_rounds) = (Bandwidth::default(), 0);
        self.long_term.reset(self.totals);
    }

    pub(super) fn update_aggregation(&mut self, sample: &DeliverySample, rate: &RateSample, cwnd: u32) {
        if sample.ack.acked > 0 && rate.interval.is_some() {
            let bandwidth = self.bandwidth();
            self.aggregation.update(sample.ack.acked, rate.delivered_at, self.is_round_start, bandwidth, cwnd);
        }
    }

    /// Finds whether the pipe is full: three rounds without a quarter more bandwidth.
    pub(super) fn update_full_pipe(&mut self, rate: &RateSample) {
        if self.is_full || !self.is_round_start || rate.application_limited {
            return;
        }
        let (numerator, denominator) = FULL_GROWTH;
        if self.largest().0 >= self.full_bandwidth.0.saturating_mul(numerator) / denominator {
            (self.full_bandwidth, self.full_rounds) = (self.largest(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Processes an RTT sample. Returns whether the smallest one was out of date.
    pub(super) fn update_min_rtt(&mut self, rtt: Option<Duration>, ack_delayed: bool, now: Instant) -> bool {
        let expired = tick(now) > self.min_rtt_tick + MIN_RTT_TICKS;
        let is_smaller = |rtt: Duration| self.min_rtt.is_none_or(|min| rtt <= min);
        if let Some(rtt) = rtt.filter(|&rtt| is_smaller(rtt) || expired && !ack_delayed) {
            (self.min_rtt, self.min_rtt_tick) = (Some(rtt), tick(now));
        }
        expired
    }

    /// The smallest RTT was found again.
    pub(super) fn renew_min_rtt(&mut self, now: Instant) {
        self.min_rtt_tick = tick(now);
    }
}
