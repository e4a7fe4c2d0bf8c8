//! BBR, version 1, as in Linux 6.12 (`tcp_bbr.c`): the sending rate follows a model of the path, not losses.
//!
//! Source: Cardwell et al., "BBR: Congestion-Based Congestion Control" (ACM Queue 14, 5, 2016), with the additions of the
//! kernel: long-term bandwidth for policers, aggregation of acknowledgments, random phase.
//!
//! ```text
//! bandwidth = largest delivery rate of 10 round trips     pacing rate = 0.99 · pacing gain · bandwidth
//! min RTT   = smallest RTT of 10 s                        window      = window gain · bandwidth · min RTT + bursts
//! ```
//!
//! | mode | pacing gain | window gain | until |
//! |---|---|---|---|
//! | STARTUP | 2.89 | 2.89 | three round trips without a quarter more bandwidth |
//! | DRAIN | 0.35 | 2.89 | no more is in flight than the bandwidth-delay product |
//! | PROBE_BW | 1.25, 0.75, 1, 1, 1, 1, 1, 1 | 2 | min RTT was not seen for 10 s; each part lasts a min RTT, the first one until 1.25 products are in flight or something is lost, the second one at most until one is |
//! | PROBE_RTT | 1 | 4 packets | 200 ms and a round trip; then PROBE_BW, or STARTUP if that had not ended |
//!
//! **Losses** do not change the model. In the first round trip of a recovery as much is sent as is delivered; afterwards the
//! window grows again, and it is restored when the recovery ends. ECN marks are ignored.
//!
//! **Payload of a packet.** The pacing rate is the bandwidth in packets times the payload of a packet without MPTCP's
//! options ([`unit_bytes`](super::Outstanding::unit_bytes)), and a packet takes its own payload divided by that rate.
//! Where a DSS option makes the payload smaller, as with MPTCP, packets leave faster than 0.99 of the bandwidth, as in the
//! kernel.
//!
//! **Units.** Packets. Scenarios refuse BBR where there are no [rate samples](DeliverySample::rate).
//!
//! **Differences from Linux.** Losses that a timeout marks count for the long-term estimate at the next acknowledgment.
//!
//! | concern | file |
//! |---|---|
//! | bandwidth in fixed point, its largest value | `bandwidth.rs` |
//! | bandwidth, RTT, rounds, the full pipe | `model.rs` |
//! | modes and gains | `phases.rs` |
//! | pacing rate, bursts of end hosts | `pacing.rs` |
//! | window, recovery | `window.rs` |
//! | policers | `long_term.rs` |
//! | aggregated acknowledgments | `aggregation.rs` |
//! | C-MPBBR, which couples the paths of a connection | `coupled.rs` |
//! | the events of a transport, for all versions | `versions.rs` |
//! | version 3, which shares bandwidth, pacing and aggregation | `v3/` |

mod aggregation;
mod bandwidth;
pub mod coupled;
mod long_term;
mod model;
mod pacing;
mod phases;
#[cfg(test)]
mod tests;
pub mod v3;
mod versions;
mod window;

use subflow_quantity::Instant;

use crate::catalogue::{Catalogued, Description};

use super::{DeliverySample, Path, PathModel, RateSample};
use bandwidth::{Bandwidth, GAIN_UNIT};
use coupled::Sharing;
use long_term::Verdict;
use model::{Model, tick};
use pacing::Pacing;
use phases::{Mode, Phase};
use versions::{ByPath, Version};
use window::Recovery;

/// The least window in packets, which PROBE_RTT takes (Linux: `bbr_cwnd_min_target`).
const MIN_WINDOW: u32 = 4;
/// The ticks that PROBE_RTT lasts at least: 200 ms.
const PROBE_RTT_TICKS: u64 = 50;

/// BBR, version 1, for each path independently (uncoupled).
pub type Bbr = ByPath<PathState<false>>;

/// The state of BBR, version 1, for one path; coupled with the others or not.
#[derive(Clone, Debug)]
pub struct PathState<const COUPLED: bool> {
    model: Model,
    phase: Phase,
    recovery: Recovery,
    pacing: Pacing,
    sharing: Sharing,
    /// Whether the transport measures delivery rates.
    has_samples: bool,
    /// The path sends again after an idle time, and nothing of that was delivered.
    is_restarting: bool,
}

impl Catalogued for Bbr {
    const DESCRIPTION: Description = Description {
        name: "bbr",
        aliases: &["bbrv1"],
        summary: "paces by a model of the path: its largest delivery rate and its smallest RTT; uncoupled",
        source: "Cardwell et al., ACM Queue 2016; Linux 6.12",
    };
}

impl<const COUPLED: bool> Version for PathState<COUPLED> {
    fn new(seed: u64) -> Self {
        Self {
            model: Model::new(),
            phase: Phase::new(seed),
            recovery: Recovery::default(),
            pacing: Pacing::new(Phase::high_gain()),
            sharing: Sharing::NONE,
            has_samples: false,
            is_restarting: false,
        }
    }

    fn begin(&mut self, path: &Path, now: Instant) {
        self.model.begin(path.min_rtt, now);
        self.pacing.begin(path);
    }

    /// The order is that of Linux `bbr_main`.
    fn on_delivered(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        self.has_samples = true;
        let verdict = self.model.update_bandwidth(sample, rate, self.phase.mode() == Mode::ProbeBw);
        if self.model.is_round_start {
            self.recovery.on_round();
        }
        match verdict {
            Verdict::Nothing => {}
            Verdict::Policed => self.phase.cruise(),
            Verdict::Expired => self.phase.probe_bandwidth(rate.delivered_at),
        }
        self.model.update_aggregation(sample, rate, path.cwnd);
        if self.phase.mode() == Mode::ProbeBw && self.has_cycle_part_ended(path, sample, rate) {
            self.phase.advance(rate.delivered_at);
        }
        self.model.update_full_pipe(rate);
        self.drain_after_startup(path, sample, rate);
        self.probe_rtt_if_expired(path, sample, rate);
        self.phase.update_gains(self.model.long_term.bandwidth().is_some());
        self.pacing.update(path, self.bandwidth(), self.phase.pacing_gain(), self.model.is_full());
        self.set_window(path, sample, rate);
    }

    fn couple(states: &mut [Self], paths: &[Path], path: usize) {
        if COUPLED {
            coupled::couple(states, paths, path);
        }
    }

    fn has_samples(&self) -> bool {
        self.has_samples
    }

    fn save_window(&mut self, path: &Path) {
        self.recovery.save_window(path, self.phase.mode() == Mode::ProbeRtt);
    }

    fn on_timeout(&mut self) {
        self.recovery.on_timeout();
        if self.model.on_timeout(self.phase.mode() == Mode::ProbeBw) == Verdict::Policed {
            self.phase.cruise();
        }
    }

    fn on_undo(&mut self) {
        self.model.on_undo();
    }

    fn pacing_rate(&self, path: &Path, unit_bytes: u32) -> u64 {
        self.pacing.rate(path, unit_bytes)
    }

    fn is_probing_rtt(&self) -> bool {
        self.phase.mode() == Mode::ProbeRtt
    }

    fn on_restart(&mut self, path: &mut Path, now: Instant) {
        self.is_restarting = true;
        self.model.aggregation.restart(now);
        match self.phase.mode() {
            Mode::ProbeBw => self.pacing.update(path, self.model.bandwidth(), GAIN_UNIT, self.model.is_full()),
            Mode::ProbeRtt => self.leave_probe_rtt(path, now, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn model(&self, unit_bytes: u32) -> PathModel {
        let bandwidth = self.model.bandwidth().bytes_per_second(unit_bytes, GAIN_UNIT);
        PathModel { bandwidth, min_rtt: self.model.min_rtt() }
    }
}

impl<const COUPLED: bool> PathState<COUPLED> {
    fn has_cycle_part_ended(&self, path: &Path, sample: &DeliverySample, rate: &RateSample) -> bool {
        let lasted = rate.delivered_at.since(self.phase.since()).as_micros() > self.model.min_rtt_micros();
        let gain = self.phase.pacing_gain();
        if gain == GAIN_UNIT {
            return lasted;
        }
        let in_network = self.in_network_at_departure(sample.ack.in_flight, path, rate, sample.ack.now);
        if gain > GAIN_UNIT {
            // A short queue may not hold what the gain would put into it.
            lasted && (sample.lost > 0 || in_network >= self.in_flight_at(gain, path, rate))
        } else {
            lasted || in_network <= self.in_flight_at(GAIN_UNIT, path, rate)
        }
    }

    fn drain_after_startup(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        if self.phase.mode() == Mode::Startup && self.model.is_full() {
            self.phase.drain();
            path.ssthresh = self.in_flight_at(GAIN_UNIT, path, rate);
        }
        let is_drained = |state: &Self| {
            let in_network = state.in_network_at_departure(sample.in_flight, path, rate, sample.ack.now);
            in_network <= state.in_flight_at(GAIN_UNIT, path, rate)
        };
        if self.phase.mode() == Mode::Drain && is_drained(self) {
            self.phase.probe_bandwidth(rate.delivered_at);
        }
    }

    /// Takes the RTT, and enters PROBE_RTT if the smallest one was not seen for 10 s, or leaves it.
    fn probe_rtt_if_expired(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        let now = sample.ack.now;
        let expired = self.model.update_min_rtt(sample.ack.rtt, rate.ack_delayed, now);
        if expired && !self.is_restarting && self.phase.mode() != Mode::ProbeRtt {
            self.phase.probe_rtt();
            self.save_window(path);
        }
        if self.phase.mode() == Mode::ProbeRtt {
            if self.phase.end_tick.is_some() {
                self.phase.has_seen_round |= self.model.is_round_start;
                if self.phase.has_seen_round {
                    self.leave_probe_rtt(path, rate.delivered_at, now);
                }
            } else if sample.in_flight <= MIN_WINDOW {
                self.phase.end_tick = Some(tick(now) + PROBE_RTT_TICKS);
                self.phase.has_seen_round = false;
                self.model.begin_round();
            }
        }
        if rate.delivered > 0 {
            self.is_restarting = false;
        }
    }

    /// Leaves PROBE_RTT if it has lasted long enough.
    fn leave_probe_rtt(&mut self, path: &mut Path, delivered_at: Instant, now: Instant) {
        if self.phase.end_tick.is_some_and(|end| tick(now) > end) {
            self.model.renew_min_rtt(now);
            path.cwnd = path.cwnd.max(self.recovery.prior_window());
            self.phase.resume(self.model.is_full(), delivered_at);
        }
    }

    /// The bandwidth, or a coupled path's share of it.
    fn bandwidth(&self) -> Bandwidth {
        let whole = self.model.bandwidth();
        match self.phase.part() {
            Some(part) if COUPLED => self.sharing.share_of(whole, part),
            _ => whole,
        }
    }
}
