//! The model of a path: its bandwidth over two cycles, its smallest RTT, and whether the pipe is full.

use subflow_quantity::{Duration, Instant};

use super::super::super::{DeliverySample, RateSample};
use super::super::aggregation::Aggregation;
use super::super::bandwidth::Bandwidth;
use super::bounds::{Bounds, LossHistory, in_flight_at_loss, is_too_high};
use super::states::State;

/// A smallest RTT is out of date after this (`MinRTTFilterLen`), and is looked for after that (`ProbeRTTInterval`).
const MIN_RTT_TIME: Duration = Duration::from_secs(10);
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// The pipe is full after this many rounds...
const FULL_ROUNDS: u32 = 3;
/// ... in which the bandwidth did not grow by a quarter: 5/4 in numerator and denominator.
const FULL_GROWTH: (u64, u64) = (5, 4);
/// Startup ends after so many acknowledgments with losses in a round (`BBRStartupFullLossCnt`).
const STARTUP_LOSSES: u32 = 6;

/// A smallest RTT, and when it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Smallest {
    rtt: Option<Duration>,
    at: Instant,
}

/// What an acknowledgment says of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) bandwidth: Bandwidth,
    /// What was delivered since the newest delivered packet was sent.
    pub(super) delivered: u32,
    /// What was in flight when it was sent, or with too many losses, where they became too many.
    pub(super) in_flight: u32,
    pub(super) is_too_high: bool,
    pub(super) application_limited: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Largest bandwidth of the last cycle and of this one.
    largest: [Bandwidth; 2],
    pub(super) bounds: Bounds,
    /// What an undo restores.
    before_loss: Bounds,
    pub(super) aggregation: Aggregation,
    rounds: u32,
    round_end: u64,
    pub(super) is_round_start: bool,
    history: LossHistory,
    /// A round in which losses are looked for: its end, whether it begins, whether it has losses, and by how many
    /// acknowledgments.
    loss_round_end: u64,
    is_loss_round_start: bool,
    has_losses: bool,
    loss_events: u32,
    /// Largest bandwidth and delivery of that round.
    latest: (Bandwidth, u32),
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    /// Whether the pipe is full since it was last looked for, and whether it ever was.
    pub(super) is_full_now: bool,
    is_full: bool,
    min_rtt: Smallest,
    probe_rtt: Smallest,
    delivered: u64,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            largest: [Bandwidth::default(); 2],
            bounds: Bounds::default(),
            before_loss: Bounds::default(),
            aggregation: Aggregation::default(),
            rounds: 0,
            round_end: 0,
            is_round_start: false,
            history: LossHistory::default(),
            loss_round_end: 0,
            is_loss_round_start: false,
            has_losses: false,
            loss_events: 0,
            latest: (Bandwidth::default(), 0),
            full_bandwidth: Bandwidth::default(),
            full_rounds: 0,
            is_full_now: false,
            is_full: false,
            min_rtt: Smallest::default(),
            probe_rtt: Smallest::default(),
            delivered: 0,
        }
    }

    /// The handshake has given the RTT `rtt`, if any.
    pub(super) fn begin(&mut self, rtt: Option<Duration>, now: Instant) {
        (self.min_rtt, self.probe_rtt) = (Smallest { rtt, at: now }, Smallest { rtt, at: now });
    }

    /// The largest bandwidth of this cycle and the last.
    pub(super) fn largest(&self) -> Bandwidth {
        self.largest[0].max(self.largest[1])
    }

    /// The bandwidth that is used.
    pub(super) fn bandwidth(&self) -> Bandwidth {
        self.bounds.bandwidth.map_or(self.largest(), |bound| bound.min(self.largest()))
    }

    /// The next cycle begins: the largest bandwidth of the last but one is forgotten, unless this one has none.
    pub(super) fn advance_cycle(&mut self) {
        if self.largest[1] > Bandwidth::default() {
            self.largest = [self.largest[1], Bandwidth::default()];
        }
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.rtt
    }

    /// Whether the pipe was ever full.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Round trips so far.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// A round trip begins with what was delivered so far.
    pub(super) fn begin_round(&mut self) {
        self.round_end = self.delivered;
    }

    /// Processes losses, rounds and the bandwidth of a sample.
    pub(super) fn sample(&mut self, sample: &DeliverySample, rate: &RateSample) -> Sampled {
        self.delivered = sample.delivered;
        if sample.lost > 0 {
            if !self.has_losses {
                self.loss_round_end = self.delivered;
                self.before_loss = self.bounds;
            }
            self.has_losses = true;
            self.history.add(sample.delivered, rate.lost);
        }
        let sampled = self.sampled(sample, rate);
        (self.is_loss_round_start, self.is_round_start) = (false, false);
        if rate.delivered == 0 {
            return sampled;
        }
        self.latest = (self.latest.0.max(sampled.bandwidth), self.latest.1.max(sampled.delivered));
        if rate.prior_delivered >= self.loss_round_end {
            (self.loss_round_end, self.is_loss_round_start) = (self.delivered, true);
        }
        if rate.prior_delivered >= self.round_end {
            self.begin_round();
            self.rounds += 1;
            self.is_round_start = true;
        }
        if !sampled.application_limited || sampled.bandwidth >= self.largest() {
            self.largest[1] = self.largest[1].max(sampled.bandwidth);
        }
        sampled
    }

    fn sampled(&mut self, sample: &DeliverySample, rate: &RateSample) -> Sampled {
        let micros = rate.interval.map(Duration::as_micros).filter(|&micros| micros > 0);
        let packets = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let delivered = packets(rate.delivered);
        let lost = packets(rate.lost.saturating_sub(self.history.lost_at(rate.prior_delivered)));
        let in_flight = delivered.saturating_add(lost);
        let is_too_high = is_too_high(in_flight, lost);
        Sampled {
            bandwidth: micros.map_or(Bandwidth::default(), |micros| Bandwidth::of(rate.delivered, micros)),
            delivered,
            in_flight: if is_too_high { in_flight_at_loss(in_flight, lost, sample.lost) } else { in_flight },
            is_too_high,
            application_limited: rate.application_limited,
        }
    }

    /// A round trip with losses sets the short-term bounds, except while it probes (`BBRUpdateCongestionSignals`).
    pub(super) fn adapt_short_term(&mut self, state: State, cwnd: u32) {
        if !self.is_loss_round_start {
            return;
        }
        if self.has_losses && !state.looks_for_more() {
            let (rate, delivered) = self.latest;
            self.bounds.lower(self.largest(), cwnd, rate, delivered);
        }
        self.has_losses = false;
    }

    /// The last step of a sample: a round in which losses are looked for begins with it.
    pub(super) fn end_sample(&mut self, sampled: &Sampled) {
        if self.is_loss_round_start {
            self.latest = (sampled.bandwidth, sampled.delivered);
            self.loss_events = 0;
        }
    }

    /// Forgets the current round's losses and deliveries (`BBRResetCongestionSignals`).
    pub(super) fn reset_signals(&mut self) {
        (self.has_losses, self.latest) = (false, (Bandwidth::default(), 0));
    }

    /// The next probing begins.
    pub(super) fn end_short_term(&mut self) {
        self.bounds.end_short_term();
    }

    pub(super) fn update_aggregation(&mut self, sample: &DeliverySample, rate: &RateSample, cwnd: u32) {
        if sample.ack.acked > 0 && rate.interval.is_some() {
            let bandwidth = self.bandwidth();
            self.aggregation.update(sample.ack.acked, rate.delivered_at, self.is_round_start, bandwidth, cwnd);
        }
    }

    /// Finds whether the pipe is full: three rounds without a quarter more bandwidth (`BBRCheckFullBWReached`).
    pub(super) fn update_full_pipe(&mut self, sampled: &Sampled) {
        if self.is_full_now || !self.is_round_start || sampled.application_limited {
            return;
        }
        let (numerator, denominator) = FULL_GROWTH;
        if sampled.bandwidth.0 >= self.full_bandwidth.0.saturating_mul(numerator) / denominator {
            return self.reset_full_pipe(sampled.bandwidth);
        }
        self.full_rounds += 1;
        self.is_full_now = self.full_rounds >= FULL_ROUNDS;
        self.is_full |= self.is_full_now;
    }

    /// Looks for a full pipe anew, from this bandwidth on.
    pub(super) fn reset_full_pipe(&mut self, bandwidth: Bandwidth) {
        (self.full_bandwidth, self.full_rounds, self.is_full_now) = (bandwidth, 0, false);
    }

    /// Too many losses in a round of a recovery fill the pipe (`BBRCheckStartupHighLoss`). `product`: what the path holds.
    pub(super) fn check_startup_losses(&mut self, sampled: &Sampled, is_losing: bool, repairs: bool, product: u32) {
        self.loss_events += u32::from(is_losing);
        let is_over = self.is_loss_round_start && repairs && self.loss_events >= STARTUP_LOSSES;
        if !self.is_full && is_over && sampled.is_too_high {
            self.is_full = true;
            self.bounds.long_term = Some(product.max(self.latest.1));
        }
    }

    /// Processes an RTT sample. Returns whether it is time to look for a smaller one (`BBRUpdateMinRTT`).
    pub(super) fn update_min_rtt(&mut self, rtt: Option<Duration>, now: Instant) -> bool {
        let expired = now > self.probe_rtt.at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rtt.filter(|&rtt| expired || self.probe_rtt.rtt.is_none_or(|min| rtt < min)) {
            self.probe_rtt = Smallest { rtt: Some(rtt), at: now };
        }
        let is_old = now > self.min_rtt.at + MIN_RTT_TIME;
        let is_smaller = |rtt: Duration| self.min_rtt.rtt.is_none_or(|min| rtt < min);
        if is_old || self.probe_rtt.rtt.is_some_and(is_smaller) {
            self.min_rtt = self.probe_rtt;
        }
        expired
    }

    /// The smallest RTT was looked for.
    pub(super) fn renew_probe_rtt(&mut self, now: Instant) {
        self.probe_rtt.at = now;
    }

    /// Losses were none: the bounds are at least those of before (`BBRHandleSpuriousLossDetection`).
    pub(super) fn undo(&mut self) {
        self.has_losses = false;
        self.reset_full_pipe(Bandwidth::default());
        let before = self.before_loss;
        self.bounds.raise_to(&before);
    }
}
