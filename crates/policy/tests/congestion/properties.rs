//! Properties that hold in every state that a transport can reach, and in many that it cannot.

use proptest::prelude::*;
use subflow_policy::congestion::{Ack, Algorithm, CmtRpV2Form, Controller, Options, RecoveryState, cubic, wvegas};
use subflow_quantity::{Duration, Instant, Ratio};

/// An event that a transport reports to its controller.
#[derive(Clone, Debug)]
enum Event {
    Ack { acked: u32, rtt: Option<u64> },
    Loss,
    State(RecoveryState),
    Idle { nanos: u64 },
    Restart,
    Rtt { nanos: u64 },
    Window { cwnd: u32, ssthresh: u32 },
    Established(bool),
}

/// A duration from 1 ns to 1000 s; every order of magnitude has the same probability.
fn span() -> impl Strategy<Value = u64> {
    (0_u32..40, any::<u64>()).prop_map(|(bits, n)| (1 + n % (1 << bits)).min(1_000_000_000_000))
}

fn window() -> impl Strategy<Value = u32> {
    (0_u32..=30, any::<u32>()).prop_map(|(bits, n)| 1 + n % (1 << bits))
}

fn state() -> impl Strategy<Value = RecoveryState> {
    use RecoveryState::{Disorder, Loss, Open, Recovery, WindowReduced};
    prop::sample::select(vec![Open, Disorder, WindowReduced, Recovery, Loss])
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (prop_oneof![1_u32..4, window()], prop::option::of(span()))
            .prop_map(|(acked, rtt)| Event::Ack { acked, rtt }),
        2 => Just(Event::Loss),
        2 => state().prop_map(Event::State),
        1 => span().prop_map(|nanos| Event::Idle { nanos }),
        1 => Just(Event::Restart),
        2 => span().prop_map(|nanos| Event::Rtt { nanos }),
        2 => (window(), any::<u32>()).prop_map(|(cwnd, ssthresh)| Event::Window { cwnd, ssthresh }),
        1 => any::<bool>().prop_map(Event::Established),
    ]
}

/// A connection with the offsets of its streams.
struct Driver {
    controller: Controller,
    now: Instant,
    una: u64,
}

impl Driver {
    fn new(name: &str, options: Options, paths: usize, quantum: u32) -> Self {
        let mut controller = Controller::new(Algorithm::with_options(name, options).expect("a name of the catalogue"));
        for _ in 0..paths {
            let path = controller.add_path(quantum, 10 * quantum);
            controller.set_established(path, true);
        }
        Self { controller, now: Instant::ZERO, una: 0 }
    }

    fn tell(&mut self, path: usize, event: &Event) {
        let controller = &mut self.controller;
        match *event {
            Event::Ack { acked, rtt } => {
                self.now += Duration::from_millis(1);
                self.una += u64::from(acked);
                let rtt = rtt.map(Duration::from_nanos);
                let ack = Ack { now: self.now, acked, rtt, una: self.una, nxt: self.una + 10, in_flight: acked };
                controller.on_sample(path, &ack);
                controller.on_ack(path, &ack);
            }
            Event::Loss => {
                let ssthresh = controller.ssthresh_after_loss(path, self.now);
                controller.on_state(path, RecoveryState::Recovery);
                controller.path_mut(path).cwnd = ssthresh;
            }
            Event::State(state) => controller.on_state(path, state),
            Event::Idle { nanos } => {
                self.now += Duration::from_nanos(nanos);
                controller.on_transmit_after_idle(path, self.now, Duration::from_nanos(nanos));
            }
            Event::Restart => controller.on_window_restart(path),
            Event::Rtt { nanos } => controller.set_rtt(path, Duration::from_nanos(nanos), Duration::from_nanos(1)),
            Event::Window { cwnd, ssthresh } => {
                let path = controller.path_mut(path);
                path.cwnd = cwnd.max(path.quantum);
                path.ssthresh = ssthresh;
            }
            Event::Established(established) => controller.set_established(path, established),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn windows_and_thresholds_stay_at_least_one_segment(
        name in prop::sample::select(Algorithm::NAMES.to_vec()),
        (hystart, fixed_point, two_segment_floor) in any::<(bool, bool, bool)>(),
        cmt_rpv2 in prop::sample::select(vec![CmtRpV2Form::Formula, CmtRpV2Form::KernelModule]),
        (beta, c, fast_convergence) in (1_u32..100, 1_u32..10_000, any::<bool>()),
        (alpha, gamma) in (1_u32..=1000, 1_u32..=1000),
        paths in 1_usize..=64,
        quantum in prop::sample::select(vec![1_u32, 1452]),
        events in prop::collection::vec((any::<prop::sample::Index>(), event()), 1..200),
    ) {
        let ratio = |numerator, denominator| Ratio::new(numerator, denominator).expect("a ratio");
        let cubic = cubic::Constants { beta: ratio(beta, 100), c: ratio(c, 1000), fast_convergence };
        let wvegas = wvegas::Constants { alpha, gamma };
        let options = Options { hystart, fixed_point, two_segment_floor, cmt_rpv2, cubic, wvegas };
        let mut driver = Driver::new(name, options, paths, quantum);
        for (index, event) in &events {
            let path = index.index(paths);
            driver.tell(path, event);
            prop_assert!(driver.controller.path(path).cwnd >= quantum, "{name}: window after {event:?}");
            if matches!(event, Event::Loss) {
                prop_assert!(driver.controller.path(path).ssthresh >= quantum, "{name}: threshold");
            }
        }
    }

    #[test]
    fn a_path_in_the_place_of_a_closed_one_inherits_nothing(
        name in prop::sample::select(Algorithm::NAMES.to_vec()),
        (hystart, fixed_point, two_segment_floor) in any::<(bool, bool, bool)>(),
        before in prop::collection::vec(event(), 1..60),
        after in prop::collection::vec((0_usize..2, event()), 1..60),
    ) {
        let options = Options { hystart, fixed_point, two_segment_floor, ..Options::default() };
        let mut used = Driver::new(name, options, 2, 1);
        let mut fresh = Driver::new(name, options, 2, 1);
        before.iter().for_each(|event| used.tell(1, event));
        used.controller.set_established(1, false);
        fresh.now = used.now;
        used.una = 0;
        for driver in [&mut used, &mut fresh] {
            driver.controller.set_path(1, 1, 10);
            driver.controller.set_established(1, true);
        }
        for (path, event) in &after {
            used.tell(*path, event);
            fresh.tell(*path, event);
            for index in 0..2 {
                let [a, b] = [&used, &fresh].map(|driver| driver.controller.path(index).clone());
                prop_assert_eq!((a.cwnd, a.ssthresh, a.credit, a.state), (b.cwnd, b.ssthresh, b.credit, b.state));
            }
        }
    }

    #[test]
    fn a_lone_path_grows_no_faster_than_reno(
        name in prop::sample::select(vec!["lia", "olia", "balia", "cmt-rpv1", "cmt-rpv2"]),
        cwnd in 1_u32..10_000,
        acks in 1_usize..2000,
    ) {
        let grown = |name: &str| {
            let mut driver = Driver::new(name, Options::default(), 1, 1);
            driver.tell(0, &Event::Rtt { nanos: 50_000_000 });
            driver.tell(0, &Event::Window { cwnd, ssthresh: 1 });
            (0..acks).for_each(|_| driver.tell(0, &Event::Ack { acked: 1, rtt: None }));
            driver.controller.path(0).cwnd
        };
        prop_assert!(grown(name) <= grown("reno"));
    }

    #[test]
    fn uncoupled_algorithms_do_not_change_the_siblings(
        name in prop::sample::select(vec!["reno", "cubic"]),
        events in prop::collection::vec((0_usize..2, event()), 1..100),
    ) {
        let mut both = Driver::new(name, Options::default(), 2, 1);
        let mut alone = Driver::new(name, Options::default(), 1, 1);
        for (path, event) in &events {
            if *path == 0 {
                (alone.now, alone.una) = (both.now, both.una);
                alone.tell(0, event);
            }
            both.tell(*path, event);
            prop_assert_eq!(both.controller.path(0).cwnd, alone.controller.path(0).cwnd);
        }
    }
}
