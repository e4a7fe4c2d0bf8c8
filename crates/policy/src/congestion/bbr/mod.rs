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
//! options ([`Outstanding::unit_bytes`]), and a packet takes its own payload divided by that rate. Where a DSS option makes
//! the payload smaller, as with MPTCP, packets leave faster than 0.99 of the bandwidth, as in the kernel.
//!
//! **Units.** Packets. A path without [rate samples](DeliverySample::rate), such as one of SCTP, follows Reno; scenarios
//! refuse BBR there.
//!
//! **Differences from Linux.** Losses that a timeout marks count for the long-term estimate at the next acknowledgment.
//!
//! | concern | file |
//! |---|---|
//! | bandwidth in fixed point, its largest value | `bandwidth.rs` |
//! | bandwidth, RTT, rounds, the full pipe | `model.rs` |
//! | modes and gains | `phases.rs` |
//! | window, recovery | `window.rs` |
//! | policers | `long_term.rs` |
//! | aggregated acknowledgments | `aggregation.rs` |

mod aggregation;
mod bandwidth;
mod long_term;
mod model;
mod phases;
#[cfg(test)]
mod tests;
mod window;

use subflow_quantity::Instant;

use crate::FlowEnd;
use crate::catalogue::{Catalogued, Description};

use super::{
    CongestionControl, DeliverySample, Loss, Outstanding, Path, PathModel, RateSample, RecoveryState, Timeout, reno,
    set_state,
};
use bandwidth::{Bandwidth, GAIN_UNIT};
use long_term::Verdict;
use model::{Model, tick};
use phases::{Mode, Phase};
use window::Recovery;

/// The least window in packets, which PROBE_RTT takes (Linux: `bbr_cwnd_min_target`).
const MIN_WINDOW: u32 = 4;
/// The ticks that PROBE_RTT lasts at least: 200 ms.
const PROBE_RTT_TICKS: u64 = 50;
/// The RTT that is assumed before the first sample, in microseconds.
const NOMINAL_RTT_MICROS: u64 = 1000;

/// BBR for each path independently (uncoupled).
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    seed: u64,
    paths: Vec<PathState>,
}

/// BBR's state for one path.
#[derive(Clone, Debug)]
struct PathState {
    model: Model,
    phase: Phase,
    recovery: Recovery,
    /// Bandwidth and gain of the pacing rate; `None` before the handshake.
    pacing: Option<(Bandwidth, u32)>,
    has_seen_rtt: bool,
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

impl CongestionControl for Bbr {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, PathState::new(self.seed.wrapping_add(path as u64)));
    }

    fn on_established(&mut self, paths: &[Path], path: usize, now: Instant) {
        let (state, path) = (&mut self.paths[path], &paths[path]);
        state.model.begin(path.min_rtt, now);
        state.begin_pacing(path);
    }

    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        match &sample.rate {
            Some(rate) => self.paths[path].on_delivered(&mut paths[path], sample, rate),
            None if paths[path].take_delivery(sample) => reno::grow(&mut paths[path], sample.ack.acked),
            None => {}
        }
    }

    /// Losses leave the threshold as it is.
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        if !self.paths[path].has_samples {
            return reno::half(&paths[path], 2);
        }
        self.paths[path].save_window(&paths[path]);
        paths[path].ssthresh.max(paths[path].quantum)
    }

    fn enter_recovery(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        let ssthresh = self.ssthresh_after_loss(paths, path, loss.now);
        match self.paths[path].has_samples {
            true => paths[path].ssthresh = ssthresh,
            false => paths[path].enter_recovery(ssthresh, loss),
        }
    }

    fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
        if !self.paths[path].has_samples {
            paths[path].leave_recovery();
        }
    }

    fn undo(&mut self, paths: &mut [Path], path: usize) {
        match self.paths[path].has_samples {
            true => self.paths[path].model.on_undo(),
            false => paths[path].undo(),
        }
    }

    fn restart_after_idle(&mut self, paths: &mut [Path], path: usize, timeouts: u32) {
        if !self.paths[path].has_samples {
            paths[path].reduce_after_idle(timeouts);
        }
    }

    fn on_application_limited(&mut self, paths: &mut [Path], path: usize, used: u32) {
        if !self.paths[path].has_samples {
            paths[path].reduce_unused(used);
        }
    }

    fn pacing_rate(&self, paths: &[Path], path: usize, outstanding: Outstanding) -> Option<u64> {
        Some(self.paths[path].pacing_rate(&paths[path], outstanding.unit_bytes))
    }

    fn takes_rate_samples(&self) -> bool {
        true
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn holds_back(&self, path: usize) -> bool {
        self.paths[path].phase.mode() == Mode::ProbeRtt
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        self.paths[path].on_restart(&mut paths[path], now);
    }

    fn model(&self, path: usize, unit_bytes: u32) -> Option<PathModel> {
        let model = &self.paths[path].model;
        let bandwidth = model.bandwidth().bytes_per_second(unit_bytes, GAIN_UNIT);
        Some(PathModel { bandwidth, min_rtt: model.min_rtt() })
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
        if !timeout.repeated {
            let ssthresh = self.ssthresh_after_loss(paths, path, timeout.now);
            paths[path].reduce_threshold(ssthresh);
        }
        paths[path].enter_loss(timeout.in_flight);
    }

    fn on_state(&mut self, _paths: &[Path], path: usize, new: RecoveryState) {
        if new == RecoveryState::Loss {
            let state = &mut self.paths[path];
            state.recovery.on_timeout();
            if state.model.on_timeout(state.phase.mode() == Mode::ProbeBw) == Verdict::Policed {
                state.phase.cruise();
            }
        }
    }

    fn begin(&mut self, end: FlowEnd) {
        self.seed = end.seed;
    }
}

impl PathState {
    fn new(seed: u64) -> Self {
        Self {
            model: Model::new(),
            phase: Phase::new(seed),
            recovery: Recovery::default(),
            pacing: None,
            has_seen_rtt: false,
            has_samples: false,
            is_restarting: false,
        }
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
        self.pace(path, self.phase.pacing_gain());
        self.set_window(path, sample, rate);
    }

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

    fn on_restart(&mut self, path: &mut Path, now: Instant) {
        self.is_restarting = true;
        self.model.aggregation.restart(now);
        match self.phase.mode() {
            Mode::ProbeBw => self.pace(path, GAIN_UNIT),
            Mode::ProbeRtt => self.leave_probe_rtt(path, now, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// Paces at `gain` times the bandwidth; before the pipe was full, not slower than before.
    fn pace(&mut self, path: &Path, gain: u32) {
        if !self.has_seen_rtt && path.srtt.is_some() {
            self.begin_pacing(path);
        }
        let product = |(bandwidth, gain): (Bandwidth, u32)| u128::from(bandwidth.0) * u128::from(gain);
        let new = (self.model.bandwidth(), gain);
        if self.model.is_full() || self.pacing.is_none_or(|current| product(new) > product(current)) {
            self.pacing = Some(new);
        }
    }

    /// Paces a window per RTT, times the gain of STARTUP.
    fn begin_pacing(&mut self, path: &Path) {
        self.has_seen_rtt = path.srtt.is_some();
        self.pacing = Some(initial_pacing(path));
    }

    /// In bytes per second.
    fn pacing_rate(&self, path: &Path, unit_bytes: u32) -> u64 {
        let (bandwidth, gain) = self.pacing.unwrap_or_else(|| initial_pacing(path));
        bandwidth.pacing_rate(unit_bytes, gain)
    }
}

fn initial_pacing(path: &Path) -> (Bandwidth, u32) {
    let micros = path.srtt.map_or(NOMINAL_RTT_MICROS, |srtt| srtt.as_micros().max(1));
    (Bandwidth::of(path.cwnd.into(), micros), Phase::high_gain())
}
