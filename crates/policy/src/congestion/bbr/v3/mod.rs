//! BBR, version 3, as in draft-ietf-ccwg-bbr-05: the model of version 1, bounded by what losses say.
//!
//! ```text
//! bandwidth = min(largest delivery rate of this cycle and the last, short-term bound)
//! pacing rate = 0.99 · pacing gain · bandwidth
//! window = window gain · bandwidth · min RTT + aggregation, at most the bounds of what is in flight
//! ```
//!
//! | state | pacing gain | window gain | until |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | three round trips without a quarter more bandwidth, or six losses and more than 2 % in a round trip |
//! | Drain | 0.5 | 2 | no more is in flight than the bandwidth-delay product, or three round trips |
//! | ProbeBW_DOWN | 0.9 | 2 | what is in flight leaves 15 % of the long-term bound free, and is at most a product |
//! | ProbeBW_CRUISE | 1 | 2 | 2 to 3 s since DOWN began, or as many round trips as packets are to be in flight, at most 63 |
//! | ProbeBW_REFILL | 1 | 2 | a round trip |
//! | ProbeBW_UP | 1.25 | 2.25 | three round trips without a quarter more bandwidth, or more than 2 % loss |
//! | ProbeRTT | 1 | 0.5 | 200 ms and a round trip, every 5 s if no smaller RTT was seen |
//!
//! **Bounds.** The long-term bound of what is in flight is where probing lost more than 2 %, and grows while UP reaches it
//! without that. The short-term bounds of bandwidth and of what is in flight are 0.7 of themselves, but at least what
//! was delivered, after each round trip with losses, and end when the next probing begins.
//!
//! **Differences from the draft.** What was in flight when a packet was sent is not recorded but computed: what was
//! delivered and what was lost since. It is the same if nothing is reordered and all losses are detected. The excess of an
//! acknowledgment and the bursts of the hosts are those of [version 1](super). ECN marks are ignored, as in the draft.
//!
//! | concern | file |
//! |---|---|
//! | bandwidth, RTT, rounds, the full pipe | `model.rs` |
//! | bounds that losses set | `bounds.rs` |
//! | states with their gains | `states.rs` |
//! | the cycle of ProbeBW | `cycle.rs` |

mod bounds;
mod cycle;
mod model;
mod states;
#[cfg(test)]
mod tests;

use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Catalogued, Description};

use super::super::{DeliverySample, Path, PathModel, RateSample};
use super::bandwidth::{Bandwidth, GAIN_UNIT};
use super::pacing::Pacing;
use super::versions::{ByPath, Version};
use super::window::{Recovery, is_repairing};
use cycle::Cycle;
use model::Model;
use states::{PROBE_RTT_WINDOW_GAIN, STARTUP_GAIN, State};

/// The least window in packets (`MinPipeCwnd`).
const MIN_WINDOW: u32 = 4;
/// The window before there is an RTT sample, in packets.
const INITIAL_WINDOW: u32 = 10;
/// Bursts under way that the window allows for.
const BURSTS: u32 = 3;
/// What ProbeBW_UP may have in flight beyond that, in packets.
const PROBE_PACKETS: u32 = 2;
/// How long ProbeRTT lasts at least (`ProbeRTTDuration`).
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// BBR, version 3, for each path independently (uncoupled).
pub type Bbr3 = ByPath<Version3>;

/// The state of BBR, version 3, for one path.
#[derive(Clone, Debug)]
pub struct Version3 {
    model: Model,
    cycle: Cycle,
    recovery: Recovery,
    pacing: Pacing,
    has_samples: bool,
    /// The path sends again after an idle time, and nothing of that was delivered.
    is_restarting: bool,
}

impl Catalogued for Bbr3 {
    const DESCRIPTION: Description = Description {
        name: "bbr3",
        aliases: &["bbrv3"],
        summary: "as bbr, bounded by losses above 2 %, with probes of bandwidth every 2 to 3 s; uncoupled",
        source: "draft-ietf-ccwg-bbr-05",
    };
}

impl Version for Version3 {
    fn new(seed: u64) -> Self {
        Self {
            model: Model::new(),
            cycle: Cycle::new(seed),
            recovery: Recovery::default(),
            pacing: Pacing::new(STARTUP_GAIN),
            has_samples: false,
            is_restarting: false,
        }
    }

    fn begin(&mut self, path: &Path, now: Instant) {
        self.model.begin(path.min_rtt, now);
        self.pacing.begin(path);
    }

    /// The order is that of the draft's `BBRUpdateModelAndState` and `BBRUpdateControlParameters`.
    fn on_delivered(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        self.has_samples = true;
        let sampled = self.model.sample(sample, rate);
        self.model.adapt_short_term(self.cycle.state(), path.cwnd);
        self.model.update_aggregation(sample, rate, path.cwnd);
        self.model.update_full_pipe(&sampled);
        if self.cycle.state() == State::Startup {
            let product = self.product(self.model.bandwidth(), GAIN_UNIT);
            let is_losing = sample.lost > 0;
            self.model.check_startup_losses(&sampled, is_losing, is_repairing(path.state), product);
        }
        self.drain_after_startup(path, sample, rate);
        self.update_cycle(path, sample, rate, &sampled);
        self.probe_rtt_if_expired(path, sample, rate);
        self.model.end_sample(&sampled);
        self.pacing.update(path, self.model.bandwidth(), self.cycle.state().pacing_gain(), self.model.is_full());
        self.set_window(path, sample, rate);
    }

    fn has_samples(&self) -> bool {
        self.has_samples
    }

    fn save_window(&mut self, path: &Path) {
        self.recovery.save_window(path, self.cycle.state() == State::ProbeRtt);
    }

    fn on_timeout(&mut self) {
        self.recovery.on_timeout();
        self.model.reset_full_pipe(Bandwidth::default());
    }

    fn on_undo(&mut self) {
        self.model.undo();
    }

    fn pacing_rate(&self, path: &Path, unit_bytes: u32) -> u64 {
        self.pacing.rate(path, unit_bytes)
    }

    fn is_probing_rtt(&self) -> bool {
        self.cycle.state() == State::ProbeRtt
    }

    fn on_restart(&mut self, path: &mut Path, now: Instant) {
        self.is_restarting = true;
        self.model.aggregation.restart(now);
        if self.cycle.state().is_probe_bw() {
            self.pacing.update(path, self.model.bandwidth(), GAIN_UNIT, self.model.is_full());
        }
        if self.cycle.state() == State::ProbeRtt {
            self.leave_probe_rtt(path, now);
        }
    }

    fn model(&self, unit_bytes: u32) -> PathModel {
        let bandwidth = self.model.bandwidth().bytes_per_second(unit_bytes, GAIN_UNIT);
        PathModel { bandwidth, min_rtt: self.model.min_rtt() }
    }
}

impl Version3 {
    fn drain_after_startup(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        let full = self.in_flight_at(GAIN_UNIT, path, rate);
        if self.cycle.state() == State::Startup && self.model.is_full() {
            self.cycle.drain(self.model.rounds());
            path.ssthresh = full;
        }
        if self.cycle.state() == State::Drain
            && (sample.in_flight <= full || self.cycle.has_drained_for_long(self.model.rounds()))
        {
            self.go_down(rate.delivered_at);
        }
    }

    /// Enters ProbeRTT if no smaller RTT was seen for 5 s, or leaves it.
    fn probe_rtt_if_expired(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        let now = sample.ack.now;
        let expired = self.model.update_min_rtt(sample.ack.rtt, now);
        if expired && !self.is_restarting && self.cycle.state() != State::ProbeRtt {
            self.cycle.probe_rtt();
            self.save_window(path);
            self.model.begin_round();
        } else if self.cycle.state() == State::ProbeRtt {
            if self.cycle.probe_rtt_end.is_none() && sample.in_flight <= self.probe_rtt_window() {
                self.cycle.probe_rtt_end = Some(now + PROBE_RTT_TIME);
                self.cycle.has_seen_round = false;
                self.model.begin_round();
            } else {
                self.cycle.has_seen_round |= self.model.is_round_start;
                if self.cycle.has_seen_round {
                    self.leave_probe_rtt(path, now);
                }
            }
        }
        if rate.delivered > 0 {
            self.is_restarting = false;
        }
    }

    /// Leaves ProbeRTT if it has lasted long enough.
    fn leave_probe_rtt(&mut self, path: &mut Path, now: Instant) {
        if self.cycle.probe_rtt_end.is_some_and(|end| now > end) {
            self.model.renew_probe_rtt(now);
            path.cwnd = path.cwnd.max(self.recovery.prior_window());
            self.model.end_short_term();
            if self.model.is_full() {
                self.go_down(now);
                self.cycle.cruise();
            } else {
                self.cycle.start_up();
            }
        }
    }

    /// `gain` times the product of `bandwidth` and the smallest RTT, in packets.
    fn product(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        self.model.min_rtt().map_or(INITIAL_WINDOW, |rtt| bandwidth.product(rtt.as_micros(), gain))
    }

    /// `packets`, at least what bursts of the end hosts need (`BBRQuantizationBudget`).
    fn with_bursts(&self, packets: u32, path: &Path, rate: &RateSample) -> u32 {
        let least = (BURSTS * self.pacing.burst(path, rate.unit_bytes)).max(MIN_WINDOW);
        let probe = if self.cycle.state() == State::Up { PROBE_PACKETS } else { 0 };
        packets.max(least).saturating_add(probe)
    }

    /// What may be in flight at `gain` times the largest bandwidth (`BBRInflight`).
    fn in_flight_at(&self, gain: u32, path: &Path, rate: &RateSample) -> u32 {
        self.with_bursts(self.product(self.model.largest(), gain), path, rate)
    }

    fn probe_rtt_window(&self) -> u32 {
        self.product(self.model.bandwidth(), PROBE_RTT_WINDOW_GAIN).max(MIN_WINDOW)
    }

    /// Sets the window after a delivery (`BBRSetCwnd`).
    fn set_window(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        let before = self.recovery.follow(path.state);
        let mut cwnd = path.cwnd;
        if is_repairing(before) && !is_repairing(path.state) {
            cwnd = cwnd.max(self.recovery.prior_window());
        }
        let product = self.product(self.model.largest(), self.cycle.state().window_gain());
        let allowance = self.model.aggregation.allowance(self.model.bandwidth());
        let most = self.with_bursts(product.saturating_add(allowance), path, rate);
        let grown = cwnd.saturating_add(sample.ack.acked);
        if self.model.is_full() {
            cwnd = grown.min(most);
        } else if cwnd < most || sample.delivered < u64::from(INITIAL_WINDOW) {
            cwnd = grown;
        }
        let probing = if self.cycle.state() == State::ProbeRtt { self.probe_rtt_window() } else { Path::INFINITE };
        path.cwnd = cwnd.min(probing).min(self.model.bounds.window_bound(self.cycle.state())).max(MIN_WINDOW);
    }
}
