//! BBR over a pipe: a link of one packet per millisecond, a queue in front of it and a round trip of 20 ms behind it.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};

use super::super::{Ack, Algorithm, Controller, Loss, Pacer, Rules};
use super::super::{CongestionControl, DeliverySample, Outstanding, RateSample, RecoveryState, Timeout};
use super::*;
use crate::FlowEnd;

const UNIT_BYTES: u32 = 1000;
const GAP: Duration = Duration::from_millis(1);
const RTT: Duration = Duration::from_millis(20);

/// A packet that is in the network, with what was delivered when it was sent.
struct Packet {
    acked_at: Instant,
    sent_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
}

struct Pipe {
    controller: Controller,
    pacer: Pacer,
    now: Instant,
    /// When the link has sent what is queued.
    free_at: Instant,
    packets: VecDeque<Packet>,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// What the round trip has become longer by, per second.
    drift: Duration,
    /// Packets in the queue, at each transmission.
    queues: Vec<u64>,
    modes: Vec<Mode>,
}

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

impl Pipe {
    fn new(seed: u64) -> Self {
        let mut bbr = Bbr::default();
        bbr.begin(FlowEnd { seed, sends: true });
        let mut controller = Controller::new(bbr.into(), Rules::default());
        controller.add_path(1, 10);
        controller.set_rtt(0, RTT, RTT);
        controller.establish(0, true, Instant::ZERO);
        Self {
            controller,
            pacer: Pacer::ON,
            now: Instant::ZERO,
            free_at: Instant::ZERO,
            packets: VecDeque::new(),
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent_at: Instant::ZERO,
            drift: Duration::ZERO,
            queues: Vec::new(),
            modes: vec![Mode::Startup],
        }
    }

    fn bbr(&self) -> &PathState<false> {
        match self.controller.algorithm() {
            Algorithm::Bbr(bbr) => &bbr.paths[0],
            other => panic!("{other:?}"),
        }
    }

    fn cwnd(&self) -> u32 {
        self.controller.path(0).cwnd()
    }

    fn run_until(&mut self, end: Instant) {
        loop {
            let may_send = (self.packets.len() as u32) < self.cwnd();
            let sends_at = if may_send { self.pacer.departure().max(self.now) } else { Instant::MAX };
            let acked_at = self.packets.front().map_or(Instant::MAX, |packet| packet.acked_at);
            self.now = sends_at.min(acked_at);
            if self.now > end {
                return;
            }
            if sends_at <= acked_at { self.send() } else { self.acknowledge() }
        }
    }

    fn send(&mut self) {
        if self.packets.is_empty() {
            (self.delivered_at, self.first_sent_at) = (self.now, self.now);
        }
        let begin = self.free_at.max(self.now);
        self.queues.push(begin.since(self.now).as_micros() / GAP.as_micros());
        self.free_at = begin + GAP;
        let drift = Duration::from_nanos(self.drift.as_nanos() * (self.now.as_nanos() / 1_000_000) / 1000);
        self.packets.push_back(Packet {
            acked_at: self.free_at + RTT + drift,
            sent_at: self.now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
        });
        let rate = self.controller.pacing_rate(0, Outstanding { amount: 0, unit_bytes: UNIT_BYTES });
        self.pacer.on_sent(UNIT_BYTES, rate, self.now);
    }

    fn acknowledge(&mut self) {
        let in_flight = self.packets.len() as u32;
        let packet = self.packets.pop_front().expect("one is in the network");
        self.delivered += 1;
        (self.delivered_at, self.first_sent_at) = (self.now, packet.sent_at);
        let rtt = self.now.since(packet.sent_at);
        self.controller.set_rtt(0, rtt, rtt);
        let interval = packet.sent_at.since(packet.first_sent_at).max(self.now.since(packet.delivered_at));
        let rate = RateSample {
            delivered: self.delivered - packet.delivered,
            prior_delivered: packet.delivered,
            interval: Some(interval),
            application_limited: false,
            ack_delayed: false,
            lost: 0,
            delivered_at: self.now,
            departure: self.pacer.departure(),
            unit_bytes: UNIT_BYTES,
        };
        let ack = Ack {
            now: self.now,
            acked: 1,
            rtt: Some(rtt),
            una: self.delivered,
            nxt: self.delivered + u64::from(in_flight) - 1,
            in_flight,
        };
        self.deliver(ack, rate, 0);
        let mode = self.bbr().phase.mode();
        if self.modes.last() != Some(&mode) {
            self.modes.push(mode);
        }
    }

    fn deliver(&mut self, ack: Ack, rate: RateSample, lost: u32) {
        let sample = DeliverySample {
            ack,
            delivered: self.delivered,
            lost,
            in_flight: ack.in_flight - 1,
            ce: 0,
            advanced: true,
            progress: true,
            window_limited: false,
            rate: Some(rate),
        };
        self.controller.on_delivered(0, &sample);
    }
}

#[test]
fn it_fills_the_pipe_drains_the_queue_of_startup_and_keeps_a_small_one() {
    let mut pipe = Pipe::new(1);
    pipe.run_until(at(1000));
    assert_eq!(pipe.modes, [Mode::Startup, Mode::Drain, Mode::ProbeBw]);
    let startup = pipe.queues.iter().max().copied().expect("packets were sent");
    assert!((20..=60).contains(&startup), "about 1.9 bandwidth-delay products: {startup}");
    let (sent, delivered) = (pipe.queues.len(), pipe.delivered);
    pipe.run_until(at(9000));
    let rate = (pipe.delivered - delivered) as f64 / 8000.0;
    assert!(rate > 0.985, "{rate} of the link");
    let cruising = &pipe.queues[sent..];
    let mean = cruising.iter().sum::<u64>() as f64 / cruising.len() as f64;
    assert!(mean < 5.0 && cruising.iter().all(|&queue| queue < 14), "a mean queue of {mean} packets");
    let model = pipe.controller.model(0, UNIT_BYTES).expect("it has a model");
    assert!((990_000..=1_001_000).contains(&model.bandwidth), "{model:?}");
    assert_eq!(model.min_rtt, Some(RTT), "that of the handshake, which no packet waited for");
}

#[test]
fn the_window_of_probe_bw_is_two_products_and_the_bursts_of_the_hosts() {
    let mut pipe = Pipe::new(1);
    pipe.run_until(at(5000));
    // 21 ms at one packet each millisecond, twice, and three bursts of two; two more while it probes for bandwidth. What
    // was acknowledged at once beyond the bandwidth is next to nothing.
    assert!((48..=54).contains(&pipe.cwnd()), "{}", pipe.cwnd());
}

#[test]
fn it_probes_for_the_round_trip_when_the_smallest_was_not_seen_for_ten_seconds() {
    let mut pipe = Pipe { drift: Duration::from_micros(100), ..Pipe::new(3) };
    pipe.run_until(at(9900));
    let (window, before) = (pipe.cwnd(), pipe.delivered);
    assert_eq!(pipe.modes.last(), Some(&Mode::ProbeBw));
    pipe.run_until(at(10_200));
    assert_eq!((pipe.modes.last(), pipe.cwnd()), (Some(&Mode::ProbeRtt), MIN_WINDOW));
    pipe.run_until(at(10_500));
    assert_eq!(pipe.modes.last(), Some(&Mode::ProbeBw));
    assert!(pipe.cwnd() >= window - 3, "{} after {window}", pipe.cwnd());
    // Of 600 ms, 200 ms have a window of 4 for 22 ms.
    assert!((400..=480).contains(&(pipe.delivered - before)), "{}", pipe.delivered - before);
    let model = pipe.controller.model(0, UNIT_BYTES).expect("it has a model");
    assert!(model.min_rtt > Some(RTT + GAP), "{model:?}");
}

#[test]
fn the_first_round_of_a_recovery_conserves_packets_and_its_end_restores_the_window() {
    let mut pipe = Pipe::new(1);
    pipe.run_until(at(3000));
    let (window, in_flight) = (pipe.cwnd(), pipe.packets.len() as u32);
    pipe.controller.enter_recovery(0, &Loss { now: pipe.now, in_flight, by_timer: false });
    assert_eq!(pipe.cwnd(), window, "until the next acknowledgment");
    pipe.acknowledge();
    assert_eq!(pipe.cwnd(), in_flight, "what is in flight, and what was delivered");
    pipe.controller.leave_recovery(0);
    pipe.controller.on_state(0, RecoveryState::Open);
    pipe.acknowledge();
    assert!((window..=window + 1).contains(&pipe.cwnd()), "{} after {window}", pipe.cwnd());
}

#[test]
fn losses_do_not_change_the_bandwidth_and_timeouts_leave_one_packet_beyond_what_is_in_flight() {
    let mut pipe = Pipe::new(1);
    pipe.run_until(at(3000));
    let before = pipe.controller.model(0, UNIT_BYTES);
    pipe.controller.on_timeout(0, &Timeout { now: pipe.now, in_flight: 0, repeated: false });
    assert_eq!((pipe.cwnd(), pipe.controller.model(0, UNIT_BYTES)), (1, before));
    pipe.acknowledge();
    assert_eq!(pipe.cwnd(), MIN_WINDOW, "the window grows by what is delivered, to the least one at once");
}

#[test]
fn after_an_idle_time_it_sends_at_the_bandwidth() {
    let mut pipe = Pipe::new(1);
    pipe.run_until(at(3000));
    pipe.controller.on_restart(0, at(5000));
    let rate = pipe.controller.pacing_rate(0, Outstanding { amount: 0, unit_bytes: UNIT_BYTES });
    let bandwidth = pipe.controller.model(0, UNIT_BYTES).expect("it has a model").bandwidth;
    assert!(rate.is_some_and(|rate| rate.abs_diff(bandwidth * 99 / 100) <= 1), "{rate:?} of {bandwidth}");
}

#[test]
fn before_the_first_sample_a_window_per_round_trip_is_paced_at_the_gain_of_startup() {
    let pipe = Pipe::new(1);
    let rate = pipe.controller.pacing_rate(0, Outstanding { amount: 0, unit_bytes: UNIT_BYTES });
    // 10 packets of 1000 bytes in 20 ms, which are 8388/2^24 packets per microsecond, times 739/256 and 0.99.
    assert_eq!(rate, Some(1_428_822));
}
