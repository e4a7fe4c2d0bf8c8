//! Version 3 over a pipe of rounds: each is a window that is delivered and lost in parts.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};

use super::super::super::{Ack, CongestionControl, DeliverySample, Path, RateSample, RecoveryState};
use super::*;

const RTT: Duration = Duration::from_millis(100);
/// Acknowledgments of a round trip.
const PARTS: u32 = 10;

/// A path that delivers `capacity` packets in a round trip, and loses what is sent beyond `holds`.
struct Pipe {
    bbr: Bbr3,
    paths: [Path; 1],
    now: Instant,
    delivered: u64,
    lost: u64,
    capacity: u32,
    holds: u32,
    /// What was delivered when, for each acknowledgment of the last round trip.
    progress: VecDeque<(u64, Instant)>,
    states: Vec<State>,
}

impl Pipe {
    fn new(capacity: u32, holds: u32) -> Self {
        let mut paths = [Path { established: true, min_rtt: Some(RTT), ..Path::new(1, 10) }];
        paths[0].set_srtt(RTT);
        let mut bbr = Bbr3::default();
        bbr.on_path_added(&paths, 0);
        bbr.on_established(&paths, 0, Instant::ZERO);
        let states = vec![State::Startup];
        let progress = VecDeque::from(vec![(0, Instant::ZERO); PARTS as usize]);
        Self { bbr, paths, now: Instant::ZERO, delivered: 0, lost: 0, capacity, holds, progress, states }
    }

    fn path(&self) -> &Version3 {
        &self.bbr.paths[0]
    }

    /// What is sent in a round trip: the window, or what the pacing rate lets leave.
    fn sent(&self) -> u32 {
        let paced = self.path().pacing_rate(&self.paths[0], 1000) * RTT.as_micros() / 1_000_000_000;
        self.paths[0].cwnd.min(u32::try_from(paced).unwrap_or(u32::MAX)).max(1)
    }

    /// A round trip with ten acknowledgments. What was sent is delivered at the capacity; with the last of them it
    /// is known what the path did not hold.
    fn round(&mut self) {
        let sent = self.sent();
        let lost = sent.saturating_sub(self.holds);
        let delivered = sent - lost;
        let time = RTT.max(RTT * u64::from(delivered) / u64::from(self.capacity));
        for part in 0..PARTS {
            let share = delivered * (part + 1) / PARTS - delivered * part / PARTS;
            self.now += time / u64::from(PARTS);
            self.delivered += u64::from(share);
            self.acknowledge(share, if part + 1 == PARTS { lost } else { 0 }, sent, time);
        }
    }

    fn acknowledge(&mut self, acked: u32, lost: u32, sent: u32, rtt: Duration) {
        self.lost += u64::from(lost);
        self.progress.push_back((self.delivered, self.now));
        let (prior_delivered, prior_now) = self.progress.pop_front().expect("a round trip is in it");
        let rate = RateSample {
            delivered: self.delivered - prior_delivered,
            prior_delivered,
            interval: Some(self.now.since(prior_now)),
            application_limited: false,
            ack_delayed: false,
            lost: self.lost,
            delivered_at: self.now,
            departure: self.now,
            unit_bytes: 1000,
        };
        let ack = Ack { now: self.now, acked, rtt: Some(rtt), una: 0, nxt: 0, in_flight: sent };
        let sample = DeliverySample {
            ack,
            delivered: self.delivered,
            lost,
            in_flight: sent,
            ce: 0,
            advanced: true,
            progress: true,
            window_limited: sent == self.paths[0].cwnd,
            rate: Some(rate),
        };
        self.paths[0].state = if sent > self.holds { RecoveryState::Recovery } else { RecoveryState::Open };
        self.bbr.on_delivered(&mut self.paths, 0, &sample);
        let state = self.path().cycle.state();
        if self.states.last() != Some(&state) {
            self.states.push(state);
        }
    }

    fn run(&mut self, rounds: u32) {
        (0..rounds).for_each(|_| self.round());
    }

    fn run_to(&mut self, state: State) {
        let reached = (0..200).any(|_| {
            self.round();
            self.path().cycle.state() == state
        });
        assert!(reached, "{state:?} after {:?}", self.states);
    }
}

#[test]
fn it_finds_the_bandwidth_and_then_cycles_through_the_states_of_probe_bw() {
    let mut pipe = Pipe::new(100, u32::MAX);
    pipe.run(45);
    use State::{Cruise, Down, Drain, Refill, Startup, Up};
    // The queue of Startup is drained when ProbeBW begins: the first DOWN ends at once.
    assert_eq!(pipe.states[..7], [Startup, Drain, Cruise, Refill, Up, Down, Cruise]);
    let model = pipe.bbr.model(0, 1000).expect("it has a model");
    // 100 packets of 1000 bytes in 100 ms.
    assert!((990_000..=1_010_000).contains(&model.bandwidth), "{model:?}");
    assert_eq!(model.min_rtt, Some(RTT));
}

#[test]
fn probing_that_loses_too_much_bounds_what_is_in_flight_and_cruising_leaves_room() {
    let mut pipe = Pipe::new(100, 110);
    pipe.run_to(State::Up);
    // 125 are sent, of which 15 are lost; what is left is about what the path holds.
    pipe.run_to(State::Down);
    let bound = pipe.path().model.bounds.long_term.expect("a bound");
    assert!((100..=116).contains(&bound), "{bound}");
    pipe.run_to(State::Cruise);
    pipe.run(1);
    assert!(pipe.paths[0].cwnd <= bound * 85 / 100 + 1, "{} of {bound}", pipe.paths[0].cwnd);
}

#[test]
fn a_round_trip_with_losses_while_it_cruises_leaves_seven_tenths_or_what_was_delivered() {
    let mut pipe = Pipe::new(100, u32::MAX);
    pipe.run_to(State::Cruise);
    (pipe.capacity, pipe.holds) = (40, 40);
    pipe.run(3);
    let bounds = pipe.path().model.bounds;
    assert!(bounds.short_term.is_some() && bounds.bandwidth.is_some(), "{bounds:?}");
    assert!(pipe.path().model.bandwidth() < pipe.path().model.largest(), "{bounds:?} {:?}", pipe.path().model);
    // Random losses of less than that change nothing for long: the next probing ends the bounds.
    (pipe.capacity, pipe.holds) = (100, u32::MAX);
    pipe.run_to(State::Refill);
    assert_eq!((pipe.path().model.bounds.short_term, pipe.path().model.bounds.bandwidth), (None, None));
}

#[test]
fn every_five_seconds_it_halves_the_product_to_see_the_smallest_round_trip() {
    let mut pipe = Pipe::new(100, u32::MAX);
    pipe.run_to(State::ProbeRtt);
    assert!((5000..5400).contains(&(pipe.now.as_nanos() / 1_000_000)), "{:?}", pipe.now);
    pipe.run(1);
    assert!((45..=55).contains(&pipe.paths[0].cwnd), "{}", pipe.paths[0].cwnd);
    pipe.run_to(State::Cruise);
    assert!(pipe.now.as_nanos() < 5_900_000_000, "{:?}", pipe.now);
}

#[test]
fn an_undo_restores_the_bounds_of_before_the_losses() {
    let mut pipe = Pipe::new(100, u32::MAX);
    pipe.run_to(State::Cruise);
    let before = pipe.path().model.bounds;
    (pipe.capacity, pipe.holds) = (40, 40);
    pipe.run(2);
    assert_ne!(pipe.path().model.bounds, before);
    pipe.bbr.undo(&mut pipe.paths, 0);
    assert_eq!(pipe.path().model.bounds, before);
}
