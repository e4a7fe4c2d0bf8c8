//! The programs decide as the algorithms of `subflow-policy` do, which the simulator runs: over random states, the same
//! events happen to both.
//!
//! **Rounding.** Both round down or up what a formula gives, a number of packets. The programs compute with 32-bit
//! mantissas and take what lies within one part in 2^25 of an integer for that integer; `policy` computes with 53 bits
//! and takes it as it comes. So they may differ by one packet: in the number of packets to be acknowledged for one of
//! growth (LIA, BALIA), in a threshold (BALIA, CMT/RPv2), or in a window until the next acknowledgment (OLIA, CMT/RP),
//! and do
//! * in less than one of 10 000 states whose subflows have nothing in common,
//! * more often where they are alike and the formula's value is an integer: there `policy` is one below it as often as
//!   its 53rd bit falls that way.

use subflow_policy::congestion::{Ack, Algorithm, CongestionControl, Path, RecoveryState, slow_start};
use subflow_quantity::{Duration, Instant};

use crate::native::{Answer, Event, Native, Socket};
use crate::states::{ESTABLISHED, Kind, States};

/// States of each [`Kind`] for each algorithm.
const STATES: usize = 500_000;
/// States with up to 64 subflows, which take more time.
const MANY: usize = 20_000;
/// Cases that are sent before their answers are read: they have to fit into a pipe.
const BATCH: usize = 256;

/// A connection and what happens to it.
struct Case {
    paths: Vec<Socket>,
    events: Vec<(usize, Event)>,
}

#[test]
fn lia_decides_as_in_the_simulator() {
    let program = Program { name: "lia", algorithm: "lia", bound: same_counted_window };
    assert!(program.differing(Kind::Unlike, growth_and_loss) < STATES / 1000);
    assert!(program.differing(Kind::Alike, growth_and_loss) < STATES / 4);
    assert!(program.differing(Kind::Many, growth_and_loss) < MANY / 100);
}

#[test]
fn balia_decides_as_in_the_simulator() {
    let program = Program { name: "balia", algorithm: "balia", bound: same_counted_window };
    assert!(program.differing(Kind::Unlike, growth_and_loss) < STATES / 1000);
    assert!(program.differing(Kind::Alike, growth_and_loss) < STATES / 4);
    assert!(program.differing(Kind::Many, growth_and_loss) < MANY / 100);
}

#[test]
fn olia_decides_as_in_the_simulator() {
    let program = Program { name: "olia", algorithm: "olia", bound: same_window };
    assert!(program.differing(Kind::Unlike, losses_before) < STATES / 1000);
    assert!(program.differing(Kind::Alike, losses_before) < STATES / 10);
    assert!(program.differing(Kind::Many, losses_before) < MANY / 100);
}

#[test]
fn wvegas_decides_as_in_the_simulator() {
    let program = Program { name: "wvegas", algorithm: "wvegas", bound: same_window };
    assert!(program.differing(Kind::Unlike, rounds) < STATES / 1000);
    assert!(program.differing(Kind::Alike, rounds) < STATES / 1000);
    assert!(program.differing(Kind::Many, rounds) < MANY / 100);
}

#[test]
fn cmt_rpv1_decides_as_in_the_simulator() {
    let program = Program { name: "cmt_rpv1", algorithm: "cmt-rpv1", bound: same_window };
    assert!(program.differing(Kind::Unlike, growth_and_loss) < STATES / 1000);
    assert!(program.differing(Kind::Alike, growth_and_loss) < STATES / 1000);
    assert!(program.differing(Kind::Many, growth_and_loss) < MANY / 100);
}

#[test]
fn cmt_rpv2_decides_as_in_the_simulator() {
    let program = Program { name: "cmt_rpv2", algorithm: "cmt-rpv2", bound: same_window };
    assert!(program.differing(Kind::Unlike, growth_and_loss) < STATES / 1000);
    assert!(program.differing(Kind::Alike, growth_and_loss) < STATES / 10);
    assert!(program.differing(Kind::Many, growth_and_loss) < MANY / 100);
}

/// A threshold is asked for, then the window grows.
fn growth_and_loss(states: &mut States, kind: Kind) -> Case {
    let (paths, own) = states.connection(kind);
    let ack = Event::Ack { acked: states.acked() };
    Case { paths, events: vec![(own, Event::Loss), (own, ack)] }
}

/// The same after losses on every path.
fn losses_before(states: &mut States, kind: Kind) -> Case {
    let Case { paths, events: last } = growth_and_loss(states, kind);
    let mut events = Vec::new();
    for (path, socket) in paths.iter().enumerate() {
        let mut una = 0;
        for recovery in [3, 0, 4, 0, socket.recovery] {
            una += if states.once_in(5) { 0 } else { states.magnitude(1, 1 << 40) };
            events.push((path, Event::Sample { una, rtt_us: -1, nxt: 0 }));
            events.push((path, Event::State(recovery)));
        }
    }
    events.extend(last);
    Case { paths, events }
}

/// Some rounds on every path, each with a few RTT samples and a window that may grow at its end; now and then a loss,
/// the way back to normal, or a pause.
fn rounds(states: &mut States, kind: Kind) -> Case {
    let (paths, own) = states.connection(kind);
    let mut events = Vec::new();
    let mut una = vec![0; paths.len()];
    for _ in 0..states.within(1, 4) {
        for (path, socket) in paths.iter().enumerate() {
            let base = i64::from(socket.srtt.max(8) / 8);
            for _ in 0..states.within(0, 5) {
                una[path] += states.within(1, 10_000);
                let queued = states.within(0, base as u64 / 2) as i64 * i64::from(!states.once_in(3));
                let rtt_us = if states.once_in(10) { -1 } else { (base + queued) as i32 };
                let nxt = una[path] as u32 + states.within(0, 10_000) as u32;
                events.push((path, Event::Sample { una: una[path], rtt_us, nxt }));
            }
            events.push((path, Event::Ack { acked: states.acked() }));
            match states.within(0, 15) {
                0 => events.push((path, Event::State(states.within(0, 4) as u32))),
                1 => events.push((path, Event::State(0))),
                2 => events.push((path, Event::Restart)),
                _ => {}
            }
        }
    }
    events.push((own, Event::Loss));
    Case { paths, events }
}

/// A program, the algorithm that it has to follow, and how far it may be from it after an event on the given path.
struct Program {
    name: &'static str,
    algorithm: &'static str,
    bound: fn(&Socket, Event, Answer, Answer) -> bool,
}

impl Program {
    /// Runs many cases both ways; returns in how many they differed, each time within the bound. Beyond it, it panics.
    fn differing(&self, kind: Kind, case: impl Fn(&mut States, Kind) -> Case) -> usize {
        let Some(mut native) = Native::start(self.name) else { return 0 };
        let mut states = States::new(1);
        let mut differing = 0;
        let (count, batch) = if kind == Kind::Many { (MANY, 1) } else { (STATES, BATCH) };
        for _ in 0..count.div_ceil(batch) {
            let cases: Vec<Case> = (0..batch).map(|_| case(&mut states, kind)).collect();
            cases.iter().for_each(|case| ask(&mut native, case));
            native.flush();
            for case in &cases {
                let theirs: Vec<Answer> = case.questions().map(|_| native.answer()).collect();
                let ours = decisions(self.algorithm, case);
                if theirs != ours {
                    differing += 1;
                    self.assert_within_bound(case, &ours, &theirs);
                }
            }
        }
        println!("{}: {differing} of {count} states differ by a packet ({kind:?})", self.name);
        differing
    }

    fn assert_within_bound(&self, case: &Case, ours: &[Answer], theirs: &[Answer]) {
        for ((&(path, event), &ours), &theirs) in case.questions().zip(ours).zip(theirs) {
            assert!(
                ours == theirs || (self.bound)(&case.paths[path], event, ours, theirs),
                "{}: path {path} has {theirs:?} where policy has {ours:?}\n{:?}\n{:?}",
                self.name,
                case.paths,
                case.events
            );
        }
    }
}

/// Windows and thresholds differ by one packet at most.
fn same_window(_: &Socket, _: Event, ours: Answer, theirs: Answer) -> bool {
    let near = |a: u32, b: u32| a.abs_diff(b) <= 1;
    near(ours.cwnd, theirs.cwnd) && near(ours.asked, theirs.asked) && ours.ssthresh == theirs.ssthresh
}

/// What is to be acknowledged for one packet of growth differs by one packet at most; so do thresholds.
fn same_counted_window(before: &Socket, event: Event, ours: Answer, theirs: Answer) -> bool {
    let Event::Ack { acked } = event else { return ours.asked.abs_diff(theirs.asked) <= 1 };
    let mut path = path(before);
    let left = if path.in_slow_start() { slow_start(&mut path, acked) } else { acked };
    let counted = path.credit() + left;
    // Of what was counted, each step took a window.
    let window = |answer: Answer| match answer.cwnd - path.cwnd() {
        0 => counted + 1,
        steps => (counted - answer.credit) / steps,
    };
    window(ours).abs_diff(window(theirs)) <= 1
}

fn ask(native: &mut Native, case: &Case) {
    native.begin(case.paths.len());
    for (path, &socket) in case.paths.iter().enumerate() {
        native.set(path, socket);
    }
    for &(path, event) in &case.events {
        native.happen(path, event);
    }
}

impl Case {
    /// The events that are answered.
    fn questions(&self) -> impl Iterator<Item = &(usize, Event)> {
        self.events.iter().filter(|(_, event)| matches!(event, Event::Ack { .. } | Event::Loss))
    }
}

/// What `policy` decides.
fn decisions(algorithm: &str, case: &Case) -> Vec<Answer> {
    let mut algorithm = Algorithm::from_name(algorithm).expect("it has a name");
    let mut paths: Vec<Path> = Vec::new();
    for (at, socket) in case.paths.iter().enumerate() {
        paths.push(path(socket));
        algorithm.on_path_added(&paths, at);
    }
    let mut latest = vec![Ack { now: Instant::ZERO, acked: 0, rtt: None, una: 0, nxt: 0, in_flight: 0 }; paths.len()];
    let mut answers = Vec::new();
    for &(at, event) in &case.events {
        let mut asked = 0;
        match event {
            Event::Sample { una, rtt_us, nxt } => {
                let rtt = u64::try_from(rtt_us).ok().map(Duration::from_micros);
                latest[at] = Ack { una, nxt: nxt.into(), rtt, ..latest[at] };
                algorithm.on_sample(&mut paths, at, &latest[at]);
            }
            Event::Ack { acked } => algorithm.on_ack(&mut paths, at, &Ack { acked, ..latest[at] }),
            Event::Loss => asked = algorithm.ssthresh_after_loss(&paths, at, Instant::ZERO),
            Event::State(state) => {
                algorithm.on_state(&paths, at, recovery(state));
                paths[at] = paths[at].clone().with_state(recovery(state));
            }
            Event::Restart => algorithm.on_window_restart(&paths, at),
        }
        if matches!(event, Event::Ack { .. } | Event::Loss) {
            let path = &paths[at];
            answers.push(Answer { cwnd: path.cwnd(), ssthresh: path.ssthresh(), credit: path.credit(), asked });
        }
    }
    answers
}

fn path(socket: &Socket) -> Path {
    let path = Path::new(1, socket.cwnd).with_state(recovery(socket.recovery));
    let mut path = path.with_established(socket.state == ESTABLISHED);
    path.set_ssthresh(socket.ssthresh);
    path.set_credit(socket.credit);
    if socket.srtt > 0 {
        path.set_srtt(Duration::from_nanos(u64::from(socket.srtt) * 125));
    }
    path
}

fn recovery(state: u32) -> RecoveryState {
    use RecoveryState::{Disorder, Loss, Open, Recovery, WindowReduced};
    [Open, Disorder, WindowReduced, Recovery, Loss][state as usize]
}
