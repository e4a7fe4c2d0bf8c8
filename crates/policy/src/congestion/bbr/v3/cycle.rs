//! The state of a path, and the cycle in which ProbeBW looks for more bandwidth.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use super::super::super::{DeliverySample, Path, RateSample};
use super::bounds::decreased;
use super::model::Sampled;
use super::states::State;
use super::{Bandwidth, GAIN_UNIT, Version3};

/// The least time between two probings, and what chance adds to it at most.
const PROBE_WAIT: Duration = Duration::from_secs(2);
const MOST_RANDOM_MICROS: u64 = 1_000_000;
/// The most round trips between two probings, so that Reno finds room.
const MOST_PROBE_ROUNDS: u32 = 63;
/// The round trips that Drain lasts at most.
const DRAIN_ROUNDS: u32 = 3;
/// The long-term bound grows by 2^n packets in round n of a probing, at most by that many.
const MOST_UP_ROUNDS: u32 = 30;

/// What the acknowledgments say of probing (`ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    None,
    Starting,
    Given,
    Stopping,
}

#[derive(Clone, Debug)]
pub(super) struct Cycle {
    state: State,
    feedback: Feedback,
    /// Whether acknowledgments are those of data that probed (`bw_probe_samples`).
    has_probe_samples: bool,
    since: Instant,
    wait: Duration,
    rounds_since_probe: u32,
    drain_round: u32,
    /// The growth of the long-term bound: rounds, packets acknowledged, and packets per packet of growth.
    up_rounds: u32,
    up_acked: u32,
    up_count: u32,
    /// When ProbeRTT may end: `None` until as little is in flight as it wants.
    pub(super) probe_rtt_end: Option<Instant>,
    pub(super) has_seen_round: bool,
    random: Pcg64Mcg,
}

impl Cycle {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: State::Startup,
            feedback: Feedback::None,
            has_probe_samples: false,
            since: Instant::ZERO,
            wait: Duration::ZERO,
            rounds_since_probe: 0,
            drain_round: 0,
            up_rounds: 0,
            up_acked: 0,
            up_count: u32::MAX,
            probe_rtt_end: None,
            has_seen_round: false,
            random: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn start_up(&mut self) {
        self.state = State::Startup;
    }

    pub(super) fn drain(&mut self, round: u32) {
        (self.state, self.drain_round) = (State::Drain, round);
    }

    /// Whether Drain has lasted for more than three round trips.
    pub(super) fn has_drained_for_long(&self, round: u32) -> bool {
        round > self.drain_round + DRAIN_ROUNDS
    }

    pub(super) fn cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn probe_rtt(&mut self) {
        (self.state, self.probe_rtt_end, self.feedback) = (State::ProbeRtt, None, Feedback::Stopping);
    }

    fn pick_wait(&mut self) {
        self.rounds_since_probe = self.random.next_u32() >> 31;
        let micros = (u64::from(self.random.next_u32()) * MOST_RANDOM_MICROS) >> 32;
        self.wait = PROBE_WAIT + Duration::from_micros(micros);
    }

    /// The long-term bound grows twice as fast from now on.
    fn raise_slope(&mut self, cwnd: u32) {
        let growth = 1_u32 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.up_count = (cwnd / growth).max(1);
    }
}

impl Version3 {
    /// Updates the long-term bound, and takes the next state of ProbeBW if it is time (`BBRUpdateProbeBWCyclePhase`).
    pub(super) fn update_cycle(&mut self, path: &Path, sample: &DeliverySample, rate: &RateSample, sampled: &Sampled) {
        self.cycle.rounds_since_probe += u32::from(self.model.is_round_start);
        if !self.model.is_full() {
            return;
        }
        self.adapt_long_term(path, sample, sampled, rate.delivered_at);
        match self.cycle.state {
            State::Down | State::Cruise if self.is_time_to_probe(path, rate.delivered_at) => self.refill(),
            State::Down if self.is_time_to_cruise(path, sample, rate) => self.cycle.cruise(),
            State::Refill if self.model.is_round_start => self.go_up(path, sampled.bandwidth),
            State::Up => self.go_down_if_full(path, sample, sampled.bandwidth, rate.delivered_at),
            _ => {}
        }
    }

    /// `BBRAdaptLongTermModel`, and what the draft does at each loss (`BBRHandleInflightTooHigh`).
    fn adapt_long_term(&mut self, path: &Path, sample: &DeliverySample, sampled: &Sampled, now: Instant) {
        if self.model.is_round_start {
            match self.cycle.feedback {
                Feedback::Starting => self.cycle.feedback = Feedback::Given,
                Feedback::Stopping => {
                    (self.cycle.feedback, self.cycle.has_probe_samples) = (Feedback::None, false);
                    if self.cycle.state.is_probe_bw() && !sampled.application_limited {
                        self.model.advance_cycle();
                    }
                }
                Feedback::None | Feedback::Given => {}
            }
        }
        if sampled.is_too_high {
            if self.cycle.has_probe_samples {
                self.bound_long_term(path, sampled, now);
            }
        } else if let Some(bound) = self.model.bounds.long_term {
            self.model.bounds.long_term = Some(bound.max(sampled.in_flight));
            if self.cycle.state == State::Up {
                self.probe_upward(path, sample);
            }
        }
    }

    /// Probing has lost too much.
    fn bound_long_term(&mut self, path: &Path, sampled: &Sampled, now: Instant) {
        self.cycle.has_probe_samples = false;
        if !sampled.application_limited {
            self.model.bounds.long_term = Some(sampled.in_flight.max(decreased(self.target(path))));
        }
        if self.cycle.state == State::Up {
            self.go_down(now);
        }
    }

    /// What is to be in flight (`BBRTargetInflight`).
    fn target(&self, path: &Path) -> u32 {
        self.product(self.model.bandwidth(), GAIN_UNIT).min(path.cwnd)
    }

    /// `BBRProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, path: &Path, sample: &DeliverySample) {
        let Some(bound) = self.model.bounds.long_term else { return };
        if !sample.window_limited || path.cwnd < bound {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.up_acked = cycle.up_acked.saturating_add(sample.ack.acked);
        let growth = cycle.up_acked / cycle.up_count;
        cycle.up_acked -= growth * cycle.up_count;
        self.model.bounds.long_term = Some(bound.saturating_add(growth));
        if self.model.is_round_start {
            cycle.raise_slope(path.cwnd);
        }
    }

    /// The time has passed, or as many round trips as Reno takes for a packet of each in flight
    /// (`BBRIsTimeToProbeBW`).
    fn is_time_to_probe(&self, path: &Path, now: Instant) -> bool {
        let rounds = self.target(path).min(MOST_PROBE_ROUNDS);
        now.since(self.cycle.since) > self.cycle.wait || self.cycle.rounds_since_probe >= rounds
    }

    fn is_time_to_cruise(&self, path: &Path, sample: &DeliverySample, rate: &RateSample) -> bool {
        let most = self.model.bounds.with_headroom().min(self.in_flight_at(GAIN_UNIT, path, rate));
        sample.in_flight <= most
    }

    /// Goes down if the pipe is full. While the long-term bound holds the window back, it is not (`BBRIsTimeToGoDown`).
    fn go_down_if_full(&mut self, path: &Path, sample: &DeliverySample, bandwidth: Bandwidth, now: Instant) {
        if sample.window_limited && self.model.bounds.long_term.is_some_and(|bound| path.cwnd >= bound) {
            self.model.reset_full_pipe(bandwidth);
        } else if self.model.is_full_now {
            self.go_down(now);
        }
    }

    /// ProbeBW_DOWN begins.
    pub(super) fn go_down(&mut self, now: Instant) {
        self.model.reset_signals();
        self.model.begin_round();
        let cycle = &mut self.cycle;
        cycle.pick_wait();
        (cycle.state, cycle.since, cycle.feedback, cycle.up_count) = (State::Down, now, Feedback::Stopping, u32::MAX);
    }

    fn refill(&mut self) {
        self.model.end_short_term();
        self.model.begin_round();
        let cycle = &mut self.cycle;
        (cycle.state, cycle.feedback, cycle.up_rounds, cycle.up_acked) = (State::Refill, Feedback::None, 0, 0);
    }

    fn go_up(&mut self, path: &Path, bandwidth: Bandwidth) {
        self.model.begin_round();
        self.model.reset_full_pipe(bandwidth);
        (self.cycle.state, self.cycle.feedback, self.cycle.has_probe_samples) = (State::Up, Feedback::Starting, true);
        self.cycle.raise_slope(path.cwnd);
    }
}
